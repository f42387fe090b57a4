/** Finds a transaction's hash in a payer's input: the hash itself, or the link of a block explorer. */

/** @returns 64 lower-case hexadecimal digits; undefined if there is no hash, or it is part of something longer */
export function transactionHashIn(pasted: string): string | undefined {
  // No look-behind: browsers of phones that are still in use do not have it.
  const [, hash] = /(?:^|[^0-9a-z])(?:0x)?([0-9a-f]{64})(?![0-9a-z])/i.exec(pasted) ?? [];
  return hash?.toLowerCase();
}
