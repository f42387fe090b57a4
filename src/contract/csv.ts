/** CSV by RFC 4180, safe to open in a spreadsheet: for files of both the server's commands and the console. */

/**
 * A spreadsheet runs text that begins like a formula, and strangers choose such text. It skips leading spaces and
 * invisible characters, such as zero-width and bidirectional marks, and reads the full-width and small forms of the
 * signs as the signs. https://owasp.org/www-community/attacks/CSV_Injection
 */
const formula = /^[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]*[=+\-@＝＋－＠﹦﹢﹣﹫−]|^[\t\r\n]/u;
const number = /^-?\d{1,80}(\.\d{1,80})?$/;

/** An apostrophe in front turns a possible formula into plain text; numbers do not change. */
export const withoutFormula = (value: string): string =>
  formula.test(value) && !number.test(value) ? `'${value}` : value;

/** One field. */
function csvField(value: string): string {
  const safe = withoutFormula(value);
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** One line, with its end. */
export function csvLine(fields: readonly string[]): string {
  return `${fields.map(csvField).join(',')}\r\n`;
}
