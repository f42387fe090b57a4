/** The languages of the console. A page's texts are declared next to it, in each language that it is translated to. */

/** The browser's language, if there are texts in it. English is complete; others may be added text by text. */
export const language = 'en';

/** The texts in the browser's language. */
export function pick<Texts>({ en }: { readonly en: Texts }): Texts {
  return en;
}
