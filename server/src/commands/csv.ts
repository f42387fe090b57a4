/** Writes CSV as RFC 4180 says, safe to open in a spreadsheet. */

import { withoutControls } from './printable.js';

/** One line, with its end. */
export function csvLine(fields: readonly string[]): string {
  return `${fields.map(csvField).join(',')}\r\n`;
}

/**
 * A spreadsheet runs text that begins like a formula, and a payer chooses such text. An apostrophe in front makes it plain
 * text. Numbers stay as they are. https://owasp.org/www-community/attacks/CSV_Injection
 */
export function csvField(value: string): string {
  const isFormula = /^\s*[=+\-@]|^[\t\r]/.test(value) && !/^-?\d+(\.\d+)?$/.test(value);
  const safe = withoutControls(isFormula ? `'${value}` : value);
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
