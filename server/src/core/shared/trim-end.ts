/** Takes a character away from the end of a text. */

/**
 * ("1200", "0") → "12". A pattern such as 0+ before $ starts over at each zero: its time grows with the square of the
 * length.
 */
export function trimEnd(text: string, character: string): string {
  let end = text.length;
  while (text[end - 1] === character) end -= 1;
  return text.slice(0, end);
}
