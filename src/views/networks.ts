/** What helps payers choose a network: speed and cost. */

/** The usual seconds between blocks, as in the server's presets. Test networks are left out: nothing is usual there. */
const blockSeconds = new Map([
  ['bitcoin', 600],
  ['litecoin', 150],
  ['ethereum', 12],
  ['tron', 3],
  ['base', 2],
  ['polygon', 2],
  ['optimism', 2],
  ['bsc', 1],
  ['arbitrum', 1],
]);

/**
 * Whether sending usually costs more than some cents, for networks that `minutesFor` knows. On Tron, a token costs dollars:
 * wallets without energy burn coins for it, and twice as many if the address is new, as those of payments are.
 */
export function isCostly(network: string, currency: string): boolean {
  return network === 'bitcoin' || network === 'ethereum' || (network === 'tron' && currency !== 'TRX');
}

/** The usual time for that many blocks, in whole minutes; undefined for networks that this file does not know. */
export function minutesFor(network: string, blocks: number): number | undefined {
  const seconds = blockSeconds.get(network);
  return seconds && Math.max(1, Math.ceil((seconds * blocks) / 60));
}
