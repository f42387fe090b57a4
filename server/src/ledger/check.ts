/** The ledger's invariants, checked against what is stored; a command and the tests run them. */
import type { Reader } from '../db/database.js';
import { debitAccounts } from './ledger.js';

export interface LedgerCheck {
  /** What must hold. */
  readonly invariant: string;
  /** Where it does not; empty when it holds. */
  readonly violations: readonly string[];
}

/** Reads the whole ledger. Run it on a quiet database or inside one transaction for a consistent answer. */
export async function checkLedger(reader: Reader): Promise<LedgerCheck[]> {
  const postings = await reader.selectFrom('ledger_postings').selectAll().execute();
  const entries = await reader.selectFrom('ledger_entries').selectAll().execute();
  const accounts = await reader.selectFrom('ledger_accounts').selectAll().execute();
  const receipts = await reader
    .selectFrom('receipts')
    .select(['id', 'status', 'reversals', 'is_credited', 'payment_id', 'amount'])
    .execute();
  const settled = await reader
    .selectFrom('payments')
    .select('id')
    .where('settled_at', 'is not', null)
    .execute();
  const keys = new Set(postings.map((posting) => posting.key));

  const byPosting = new Map<string, bigint>();
  const byAccount = new Map<string, bigint>();
  for (const entry of entries) {
    const net = BigInt(entry.debit) - BigInt(entry.credit);
    byPosting.set(entry.posting_id, (byPosting.get(entry.posting_id) ?? 0n) + net);
    byAccount.set(entry.account_id, (byAccount.get(entry.account_id) ?? 0n) + net);
  }
  const settlements = postings.filter((posting) => posting.key.startsWith('settlement:'));
  const settlementKeys = new Set(settlements.map((posting) => posting.key));

  return [
    {
      invariant: 'Debits equal credits in every posting',
      violations: postings
        .filter((posting) => byPosting.get(posting.id) !== 0n)
        .map(
          (posting) => `${posting.key} is off by ${byPosting.get(posting.id) ?? 'all: it has no entries'}`,
        ),
    },
    {
      invariant: 'Every balance is the sum of its entries',
      violations: accounts
        .filter((account) => {
          const net = byAccount.get(account.id) ?? 0n;
          return BigInt(account.balance) !== (debitAccounts.has(account.kind) ? net : -net);
        })
        .map((account) => account.id),
    },
    {
      invariant: 'Available and reserved balances are not negative',
      violations: accounts
        .filter(({ kind }) => kind === 'available' || kind === 'reserved')
        .filter((account) => BigInt(account.balance) < 0n)
        .map((account) => `${account.id} is ${account.balance}`),
    },
    {
      invariant: 'Every confirmed receipt is posted once, and every lost one is taken back',
      violations: receipts.flatMap((receipt) => {
        const times = receipt.reversals + (receipt.status === 'confirmed' ? 1 : 0);
        const posted = numbered(`receipt:${receipt.id}`, times);
        const reversed = numbered(`reversal:${receipt.id}`, receipt.reversals);
        const surplus = [
          ...numbered(`receipt:${receipt.id}`, times + 1).slice(times),
          ...numbered(`reversal:${receipt.id}`, receipt.reversals + 1).slice(receipt.reversals),
        ].filter((key) => keys.has(key));
        const missing = [...posted, ...reversed].filter((key) => !keys.has(key));
        return [...surplus.map((key) => `${key} is too much`), ...missing.map((key) => `${key} is missing`)];
      }),
    },
    {
      invariant: 'Every success has one settlement',
      violations: [
        ...settled
          .filter(({ id }) => !settlementKeys.has(`settlement:${id}`))
          .map(({ id }) => `settlement:${id} is missing`),
        ...settlements
          .filter((posting) => !settled.some(({ id }) => posting.key === `settlement:${id}`))
          .map((posting) => `${posting.key} has no success`),
      ],
    },
  ];
}

/** The keys of the first `count` postings of a receipt. */
function numbered(key: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => (index === 0 ? key : `${key}:${index}`));
}
