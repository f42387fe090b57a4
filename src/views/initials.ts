/** A shop's initials, in place of its logo. */

/** "Nightjar Lanterns" → "NL". */
export function initials(name: string): string {
  const words = name.trim().split(/\s+/);
  return words
    .slice(0, 2)
    .map(([letter]) => letter)
    .join('')
    .toUpperCase();
}
