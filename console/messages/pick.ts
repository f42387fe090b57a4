/** The languages of the console. A page's texts are declared beside it, in each language that somebody has translated it to. */

/** The browser's language, of those that there are texts in. English is complete; others may be added text by text. */
export const language = 'en';

/** The texts in the browser's language. */
export function pick<Texts>({ en }: { readonly en: Texts }): Texts {
  return en;
}
