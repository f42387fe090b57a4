/** Reads postings as bookings, with the records that they are about, and keeps rates and the balances of days. */
import { sql, type Expression, type SqlBool } from 'kysely';
import { inChunks } from '../../core/db/chunks.js';
import { refundQueries } from '../../core/payments/refunds-of.js';
import type { Reader, Transaction } from '../../core/db/engine.js';
import { tables } from '../../core/db/schema.js';
import { sumUnits } from '../../core/db/units.js';
import { valuesOf } from '../../core/db/values.js';
import { balanceAccounts } from '../../core/ledger/ledger.js';
import type { Scope } from '../../core/shared/scope.js';
import type { PostedEntry } from './lines.js';
import { bookTables, type BookRateTable } from './tables.js';

const entryRows = valuesOf(tables.ledger_entries);
const balanceRows = valuesOf(bookTables.book_balances);

/** A place in the list of bookings: by time, and within one moment by a fixed order. */
export interface Place {
  readonly time: number;
  readonly rank: number;
  readonly id: string;
}

export interface PostingRow {
  readonly id: string;
  readonly key: string;
  readonly currency: string;
  readonly payment_id: string | null;
  readonly tx_hash: string | null;
  readonly created_at: number;
  readonly rank: number;
}

/** Receipts come before their credit, and a reservation before its payment. */
const rank = sql<number>`case
  when posting.key like 'receipt:%' then 0
  when posting.key like 'credit:%' or posting.key like 'settlement:%' then 1
  when posting.key like 'refund-%' then 2
  when posting.key like 'hold:%' then 3
  else 4 end`;

/** @param to the first moment that is not meant */
const isBooked = ({ merchantId, mode }: Scope, from: number, to: number) =>
  sql<SqlBool>`posting.merchant_id = ${merchantId} and posting.mode = ${mode}
    and posting.created_at >= ${from} and posting.created_at < ${to}`;

/** By keyset: the thousandth page costs as much as the first. */
export function readPostings(
  reader: Reader,
  scope: Scope,
  { from, to }: { readonly from: number; readonly to: number },
  after: Place | undefined,
  limit: number,
): Promise<PostingRow[]> {
  const isAfter: Expression<SqlBool> = after
    ? sql`(posting.created_at > ${after.time}
        or ${rank} > ${after.rank} or (${rank} = ${after.rank} and posting.id > ${after.id}))`
    : sql`true`;
  return reader
    .selectFrom('ledger_postings as posting')
    .where(isBooked(scope, Math.max(from, after?.time ?? from), to))
    .where(isAfter)
    .select(['posting.id', 'posting.key', 'posting.currency', 'posting.payment_id', 'posting.tx_hash'])
    .select(['posting.created_at', rank.as('rank')])
    .orderBy('posting.created_at')
    .orderBy(rank)
    .orderBy('posting.id')
    .limit(limit)
    .execute();
}

/** The entries of postings. */
export async function readEntries(
  reader: Reader,
  postingIds: readonly string[],
): Promise<(PostedEntry & { readonly posting_id: string })[]> {
  const rows = await inChunks(postingIds, (chunk) =>
    reader
      .selectFrom('ledger_entries as entry')
      .innerJoin('ledger_accounts as account', 'account.id', 'entry.account_id')
      .where('entry.posting_id', 'in', chunk)
      .select(['entry.posting_id', 'entry.debit', 'entry.credit', 'account.kind', 'account.network'])
      .execute(),
  );
  return rows.map(entryRows.decode);
}

/** The records that postings are about, those of a kind by id. */
export const readRecords = {
  receipt: (reader: Reader, ids: readonly string[]) =>
    inChunks(ids, (chunk) =>
      reader
        .selectFrom('receipts')
        .where('id', 'in', chunk)
        .select(['id', 'payment_id', 'network', 'tx_hash', 'found_above', 'first_seen_at', 'base_rate'])
        .execute(),
    ),
  payment: (reader: Reader, ids: readonly string[]) =>
    inChunks(ids, (chunk) =>
      reader
        .selectFrom('payments')
        .where('id', 'in', chunk)
        .select(['id', 'tx_ref', 'network', 'base_currency', 'payer', 'payer_index'])
        .execute(),
    ),
  refund: async (reader: Reader, ids: readonly string[]) =>
    (await refundQueries(reader)?.find(reader, ids)) ?? [],
  transfer: (reader: Reader, ids: readonly string[]) =>
    inChunks(ids, (chunk) =>
      reader
        .selectFrom('transfers')
        .where('id', 'in', chunk)
        .select(['id', 'network', 'address', 'refund_id', 'tx_hash', 'reversals'])
        .execute(),
    ),
  payout: (reader: Reader, ids: readonly string[]) =>
    inChunks(ids, (chunk) =>
      reader
        .selectFrom('payouts')
        .where('id', 'in', chunk)
        .select(['id', 'reference', 'destination'])
        .execute(),
    ),
};

/** By currency, how a merchant's balance changed in a time, in units. @param to the first moment that is not meant */
export async function sumBooked(
  reader: Reader,
  scope: Scope,
  from: number,
  to: number,
): Promise<Map<string, bigint>> {
  const rows = await reader
    .selectFrom('ledger_postings as posting')
    .innerJoin('ledger_entries as entry', 'entry.posting_id', 'posting.id')
    .innerJoin('ledger_accounts as account', 'account.id', 'entry.account_id')
    .where(isBooked(scope, from, to))
    .where('account.kind', 'in', balanceAccounts)
    .groupBy('posting.currency')
    .select('posting.currency')
    .select([sumUnits(reader, 'entry.debit').as('debits'), sumUnits(reader, 'entry.credit').as('credits')])
    .execute();
  return new Map(rows.map((row) => [row.currency, BigInt(row.credits) - BigInt(row.debits)]));
}

/** By currency, what a merchant has now by its accounts, in units. */
export async function sumAccounts(reader: Reader, { merchantId, mode }: Scope): Promise<Map<string, bigint>> {
  const rows = await reader
    .selectFrom('ledger_accounts')
    .where((e) => e.and({ merchant_id: merchantId, mode }))
    .where('kind', 'in', balanceAccounts)
    .groupBy('currency')
    .select(['currency', sumUnits(reader, 'balance').as('total')])
    .execute();
  return new Map(rows.map(({ currency, total }) => [currency, BigInt(total)]));
}

/** True if a posting waits for `nameMerchants`: its merchant's books would lack it. */
export async function hasUnnamed(reader: Reader): Promise<boolean> {
  const found = await reader
    .selectFrom('ledger_postings')
    .select('id')
    .where('merchant_id', 'is', null)
    .limit(1)
    .execute();
  return found.length > 0;
}

/** When a merchant's first booking was, from a time on. */
export async function firstBooked(
  reader: Reader,
  { merchantId, mode }: Scope,
  from: number,
): Promise<number | undefined> {
  const row = await reader
    .selectFrom('ledger_postings')
    .where((e) => e.and({ merchant_id: merchantId, mode }))
    .where('created_at', '>=', from)
    .orderBy('created_at')
    .limit(1)
    .select('created_at')
    .executeTakeFirst();
  return row?.created_at;
}

/** The newest balances that are kept of a time up to `time`. */
export async function keptBalances(
  reader: Reader,
  { merchantId, mode }: Scope,
  time: number,
): Promise<{ readonly at: number; readonly totals: Map<string, bigint> } | undefined> {
  const newest = await reader
    .selectFrom('book_balances')
    .where((e) => e.and({ merchant_id: merchantId, mode }))
    .where('at', '<=', time)
    .orderBy('at', 'desc')
    .limit(1)
    .select('at')
    .executeTakeFirst();
  if (!newest) return undefined;
  const rows = await reader
    .selectFrom('book_balances')
    .where((e) => e.and({ merchant_id: merchantId, mode, at: newest.at }))
    .where('currency', '<>', '')
    .select(['currency', 'total'])
    .execute();
  const totals = rows.map(balanceRows.decode).map(({ currency, total }) => [currency, total] as const);
  return { at: newest.at, totals: new Map(totals) };
}

/** Another server may have kept the same. */
export async function keepBalances(
  transaction: Transaction,
  { merchantId, mode }: Scope,
  at: number,
  totals: ReadonlyMap<string, bigint>,
): Promise<void> {
  const rows = [...totals, ...(totals.size === 0 ? [['', 0n] as const] : [])];
  await transaction
    .insertInto('book_balances')
    .values(
      rows.map(([currency, total]) =>
        balanceRows.encode({ merchant_id: merchantId, mode, at, currency, total }),
      ),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function deleteBalances(transaction: Transaction, { merchantId, mode }: Scope): Promise<void> {
  await transaction
    .deleteFrom('book_balances')
    .where((e) => e.and({ merchant_id: merchantId, mode }))
    .execute();
}

export async function listScopes(reader: Reader): Promise<Scope[]> {
  const rows = await reader.selectFrom('merchants').select('id').execute();
  return rows.flatMap(({ id }) => (['live', 'test'] as const).map((mode) => ({ merchantId: id, mode })));
}

/** By currency, the time of the last booking after a time, up to another, by any merchant's clock. */
export async function lastBooked(
  reader: Reader,
  after: number,
  upTo: number,
): Promise<ReadonlyMap<string, number>> {
  // From the merchants on, as SQLite keeps the order of a cross join: bookings are found by merchant and time.
  const { rows } = await sql<{ currency: string; at: number | string }>`
    select posting.currency, max(posting.created_at) as at from merchants
    cross join ledger_postings as posting
    where posting.merchant_id = merchants.id and posting.mode in ('test', 'live') and posting.created_at > ${after} and posting.created_at <= ${upTo}
    group by posting.currency`.execute(reader);
  return new Map(rows.map(({ currency, at }) => [currency, Number(at)]));
}

export async function newestRates(reader: Reader): Promise<number | undefined> {
  const row = await reader
    .selectFrom('book_rates')
    .orderBy('at', 'desc')
    .limit(1)
    .select('at')
    .executeTakeFirst();
  return row?.at;
}

export async function keepRates(transaction: Transaction, rows: readonly BookRateTable[]): Promise<void> {
  if (rows.length === 0) return;
  await transaction
    .insertInto('book_rates')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Oldest first. */
export function readRates(
  reader: Reader,
  currencies: readonly string[],
  from: number,
  to: number,
): Promise<BookRateTable[]> {
  return reader
    .selectFrom('book_rates')
    .selectAll()
    .where('at', '>=', from)
    .where('at', '<=', to)
    .where('currency', 'in', currencies)
    .orderBy('at')
    .execute();
}
