/** Puts values into a text. */
import type { Text, TextValues } from './en.js';

/** Fills in a text's placeholders. A placeholder without a value stays as it is. */
export function fill(text: Text, values: TextValues = {}): string {
  if (typeof text === 'function') return text(values);
  return text.replace(/\{(\w+)\}/g, (placeholder, name: string) => String(values[name] ?? placeholder));
}
