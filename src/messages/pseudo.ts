/** A pseudo-language for trying layouts: English, longer by 40 %. It is laid out from right to left. */
import { enAfterQr } from './en-after-qr.js';
import { enTransfer } from './en-transfer.js';
import { en, type Text } from './en.js';
import type { TextValues } from './plural.js';

const accents: Readonly<Record<string, string>> = { a: 'áà', e: 'éè', i: 'íì', o: 'óò', u: 'úù', y: 'ýÿ' };

function lengthen(text: Text): Text {
  if (typeof text === 'function') return (values: TextValues) => lengthenText(text(values));
  return lengthenText(text);
}

/** Leaves placeholders as they are. The brackets show where a text was cut off. */
function lengthenText(text: string): string {
  const longer = text.replace(/\{\w+\}|[aeiouy]/g, (part) => accents[part] ?? part);
  const missing = Math.ceil(text.length * 1.4) - longer.length - 2;
  return `[${longer}${'~'.repeat(Math.max(0, missing))}]`;
}

/** Keeps the keys. */
function lengthenAll<Key extends string>(texts: Readonly<Record<Key, Text>>): Readonly<Record<Key, Text>> {
  const longer = Object.entries<Text>(texts).map(([key, text]) => [key, lengthen(text)]);
  return Object.fromEntries(longer) as Record<Key, Text>;
}

/** Not imported: the bundler would make a file of it that every page loads. */
const offer = '{coins} coins · no account · price fixed for {minutes} min';

export const texts = lengthenAll({ ...en, offer });
export const textsAfterQr = lengthenAll(enAfterQr);
export const textsTransfer = lengthenAll(enTransfer);
