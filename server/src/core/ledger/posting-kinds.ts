/** The kinds of postings: the first part of each posting's key. Code that reads postings by kind has a row for each. */

export const postingKinds = [
  // Receipts: confirmed, lost again, and credited one by one or with a payment's success.
  ...(['receipt', 'reversal', 'credit', 'settlement'] as const),
  // Refunds: the amounts that they reserve and give back, and the service fee on those.
  ...(['refund-hold', 'refund-void', 'refund-fee'] as const),
  // Transfers: reserved, paid or given back; and what undoes that.
  ...(['hold', 'post', 'void', 'undo', 'lost', 'back', 'network-fee'] as const),
  // Payouts to banks.
  ...(['bank', 'bank-return'] as const),
  // Moves of coins between places, and gas costs. No merchant's balance changes.
  ...(['sweep', 'unsweep', 'treasury-fee', 'treasury-fee-back', 'gas', 'ungas'] as const),
] as const;

export type PostingKind = (typeof postingKinds)[number];

/** `receipt:<id>`, `hold:<transfer id>`. */
export type PostingKey = `${PostingKind}:${string}`;

/** The kind of a posting, by its key in the database. @throws if no kind is known by that name */
export function kindOfPosting(key: string): PostingKind {
  const name = key.slice(0, key.indexOf(':'));
  const kind = postingKinds.find((one) => one === name);
  if (!kind) throw new Error(`The posting ${key} has an unknown kind`);
  return kind;
}
