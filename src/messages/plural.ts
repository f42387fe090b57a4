/** Picks the form of a word that a number asks for: Arabic has six, Chinese one. */
import { pluralCategory } from '../platform.js';

export type TextValues = Readonly<Record<string, string | number>>;
type Forms = Readonly<Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }>;

/** @param forms by plural category; `#` is the number, and a missing category is like `other` */
export function plural(language: string, count: string | number | undefined, forms: Forms): string {
  const category = pluralCategory(language, Number(count));
  return (forms[category] ?? forms.other).replace('#', String(count));
}
