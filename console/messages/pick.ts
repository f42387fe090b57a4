/** The languages of the console. A page's texts are declared next to it, in each language that it is translated to. */

/** The browser's language, of those that there are texts in. English is complete; others may be added text by text. */
export const language = 'en';

/** The texts in the browser's language. */
export function pick<Texts>({ en }: { readonly en: Texts }): Texts {
  return en;
}
