/** Hides the middle of an account number or an address: enough remains to recognise it, but not to use it. */

/** Keeps at most 6 characters at the start and 4 at the end, and never more than two thirds in total. */
export function maskDestination(text: string): string {
  const end = Math.min(4, Math.floor(text.length / 3));
  const start = Math.min(6, Math.floor((text.length - end) / 3));
  return `${text.slice(0, start)}…${text.slice(text.length - end)}`;
}
