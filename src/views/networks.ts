/** What payers like to know about a network before they choose it. */

export interface NetworkFacts {
  /** The usual time between two blocks. */
  readonly blockSeconds: number;
  /** True where sending usually costs less than a few cents or a flat dollar at an exchange. */
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
