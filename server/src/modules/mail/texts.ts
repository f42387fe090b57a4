/** The texts of messages, in the languages of the pages for payers. Only the English has been checked by a native reader. */
import data from './texts.json' with { type: 'json' };

export type MailTexts = Readonly<(typeof data)['en']>;

const texts: Readonly<Record<string, MailTexts>> = data;

export const mailLanguages: readonly string[] = Object.keys(texts);

/** English if there is no such language. */
export const textsOf = (language: string): MailTexts =>
  (Object.hasOwn(texts, language) ? texts[language] : undefined) ?? data.en;

/** Fills `{names}`. Braces in the values stay as they are. */
export const fill = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
