/** What helps payers choose a network: speed and cost. */

export interface NetworkFacts {
  /** The usual time between blocks. */
  readonly blockSeconds: number;
  /** True if sending usually costs a few cents, or at most a dollar from an exchange. */
  readonly isCheap: boolean;
}

const facts = new Map<string, NetworkFacts>([
  ['bitcoin', { blockSeconds: 600, isCheap: false }],
  ['litecoin', { blockSeconds: 150, isCheap: true }],
  ['ethereum', { blockSeconds: 12, isCheap: false }],
  ['base', { blockSeconds: 2, isCheap: true }],
  ['bsc', { blockSeconds: 1, isCheap: true }],
  ['polygon', { blockSeconds: 2, isCheap: true }],
  ['tron', { blockSeconds: 3, isCheap: true }],
]);

export function networkFacts(code: string): NetworkFacts | undefined {
  return facts.get(code);
}

/** The usual time for that many blocks, in whole minutes; undefined for networks that this file does not know. */
export function minutesFor(code: string, blocks: number): number | undefined {
  const { blockSeconds } = facts.get(code) ?? {};
  return blockSeconds && Math.max(1, Math.ceil((blockSeconds * blocks) / 60));
}
