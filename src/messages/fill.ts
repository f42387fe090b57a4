/** Puts values into a text. */
import type { Text } from './en.js';
import type { TextValues } from './plural.js';

/**
 * Fills in a text's placeholders. A placeholder without a value stays as it is.
 *
 * @param isRtl isolates each value, so that an amount or address inside Arabic keeps its own order
 */
export function fill(text: Text, values: TextValues = {}, isRtl = false): string {
  const template = typeof text === 'function' ? text(values) : text;
  return template.replace(/\{(\w+)\}/g, (placeholder, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    return value === undefined ? placeholder : isRtl ? `\u2068${value}\u2069` : String(value);
  });
}
