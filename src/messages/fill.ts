/** Puts values into a text. */
import type { Text } from './en.js';
import type { TextValues } from './plural.js';

/** Fills in a text's placeholders. A placeholder without a value stays as it is. */
export function fill(text: Text, values: TextValues = {}): string {
  const template = typeof text === 'function' ? text(values) : text;
  return template.replace(/\{(\w+)\}/g, (placeholder, name: string) =>
    String(Object.hasOwn(values, name) ? values[name] : placeholder),
  );
}
