/** The usual duration of confirmations. */

/** The usual time for that many blocks, in whole minutes. */
export function minutesFor(blockSeconds: number, blocks: number): number {
  return Math.max(1, Math.ceil((blockSeconds * blocks) / 60));
}
