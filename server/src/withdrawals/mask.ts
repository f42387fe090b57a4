/** Hides the middle of an account number or an address: enough stays to know it again, not to use it. */

/** At most 6 characters at the start and 4 at the end, and never more than two thirds in all. */
export function maskDestination(text: string): string {
  const end = Math.min(4, Math.floor(text.length / 3));
  const start = Math.min(6, Math.floor((text.length - end) / 3));
  return `${text.slice(0, start)}…${text.slice(text.length - end)}`;
}
