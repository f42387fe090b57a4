/**
 * Reads what a payment's state depends on: the sums of its receipts, computed by the database, so that a payment with
 * thousands of small receipts is assessed about as fast as any other.
 */
import { sql, type RawBuilder } from 'kysely';
import type { Reader, Transaction } from '../db/engine.js';
import { filledUp, prepared } from '../db/prepared.js';
import { readUnits, sumUnits } from '../db/units.js';
import { tables, type ReceiptRow } from '../db/schema.js';
import { valuesOf } from '../db/values.js';
import { deadlineOf, dependsOnWorth, type ReceiptFact } from './assess.js';
import { parseFraction } from '../money/fractions.js';
import type { Clock } from '../shared/clock.js';
import { scopeOf } from '../shared/scope.js';
import { isLive, type ReceiptChange } from './receipts/receipt-store.js';
import type { PaymentRow } from './store.js';

const receiptRows = valuesOf(tables.receipts);

/** Similar receipts, with the sum of their amounts. */
export interface ReceiptSum extends ReceiptFact {
  readonly isCredited: boolean;
  /** False for a receipt that the caller has confirmed, and stores with its credit. */
  readonly isStored: boolean;
}

/** One for each receipt that is left out; a single one without a receipt leaves out none. */
interface SumValues {
  readonly paymentId: string;
  readonly deadline: number;
  readonly leftOut?: string;
}

/** @param baseRate the column by which receipts are told apart as well, or null for all of them */
function selectSums(reader: Reader, values: readonly SumValues[], baseRate: RawBuilder<string | null>) {
  const [first] = values;
  if (!first) throw new Error('The sums of no payment were asked for');
  const { paymentId, deadline } = first;
  const leftOut = values.flatMap((one) => one.leftOut ?? []);
  return (
    reader
      .selectFrom('receipts')
      .select((e) => [
        'network',
        'currency',
        'status',
        'is_credited',
        baseRate.as('base_rate'),
        sumUnits(reader, 'amount', sql`first_seen_at <= ${deadline}`).as('in_time'),
        sumUnits(reader, 'amount', sql`first_seen_at > ${deadline}`).as('late'),
        e.fn
          .max(sql<number | null>`case when first_seen_at <= ${deadline} then awaited_until end`)
          .as('awaited_until'),
        e.fn.min('first_seen_at').as('earliest'),
        e.fn.max('first_seen_at').as('latest'),
      ])
      .where('payment_id', '=', paymentId)
      // Only then are the rows read: the index has no ids.
      .$if(leftOut.length > 0, (query) => query.where('id', 'not in', leftOut))
      // In the order of the index, and with all states, so that nothing has to be sorted.
      .groupBy(['network', 'currency', 'status', 'is_credited'])
  );
}

const readSums = prepared((reader, values: readonly SumValues[]) => selectSums(reader, values, sql`null`));

const readSumsByRate = prepared((reader, values: readonly SumValues[]) =>
  selectSums(reader, values, sql`base_rate`).groupBy('base_rate'),
);

function toFacts(deadline: number, rows: Awaited<ReturnType<typeof readSums>>): ReceiptSum[] {
  return rows.filter(isLive).flatMap(({ network, currency, status, is_credited, base_rate, ...sums }) => {
    const alike = {
      network,
      currency,
      isConfirmed: status === 'confirmed',
      isCredited: receiptRows.decode({ is_credited }).is_credited,
      isStored: true,
      awaitedUntil: sums.awaited_until ?? 0,
      baseRate: parseFraction(base_rate),
    };
    const inTime = { ...alike, amount: readUnits(sums.in_time), firstSeenAt: sums.earliest };
    const late = { ...alike, amount: readUnits(sums.late), firstSeenAt: sums.latest };
    return [...(sums.earliest <= deadline ? [inTime] : []), ...(sums.latest > deadline ? [late] : [])];
  });
}

const toFact = (receipt: ReceiptRow): ReceiptSum => ({
  currency: receipt.currency,
  network: receipt.network,
  amount: receipt.amount,
  firstSeenAt: receipt.first_seen_at,
  isConfirmed: true,
  awaitedUntil: receipt.awaited_until,
  baseRate: parseFraction(receipt.base_rate),
  isCredited: false,
  isStored: false,
});

/** Units of a payment's coins that do not count as received, because they are refunded. */
export type FactsOf = (transaction: Transaction, payment: PaymentRow) => Promise<bigint>;

/**
 * The time by which a payment is judged. A clock that was set back, or that of another primary, would otherwise open it again
 * after its deadline, and count money that a refund holds.
 */
export const nowFor = (payment: PaymentRow, clock: Clock): number =>
  Math.max(clock.now(scopeOf(payment)), payment.updated_at);

/**
 * The facts of a locked payment. Similar receipts are summed up.
 * @param now see `nowFor`
 * @param factsOf asked only about a payment that may have ended before: nothing of others is refunded
 * @param confirmed receipts that the caller has confirmed, and stores with their credit: their stored rows are left out
 */
export async function readFacts(
  transaction: Transaction,
  payment: PaymentRow,
  now: number,
  factsOf: FactsOf,
  confirmed: readonly ReceiptChange[] = [],
) {
  const mayHaveEnded =
    now >= payment.expires_at || payment.cancelled_at !== null || payment.settled_at !== null;
  const returned = mayHaveEnded ? await factsOf(transaction, payment) : 0n;
  const terms = { ...termsOf(payment), returned };
  const deadline = deadlineOf(terms);
  const all: SumValues = { paymentId: payment.id, deadline };
  const leftOut = confirmed.flatMap(({ before }) => (before ? [{ ...all, leftOut: before.id }] : []));
  const values = leftOut.length === 0 ? [all] : filledUp(leftOut);
  const own = confirmed.map(({ after }) => toFact(after));
  const facts = { ...terms, receipts: [...own, ...toFacts(deadline, await readSums(transaction, values))] };
  if (!dependsOnWorth(facts, now)) return facts;
  return { ...terms, receipts: [...own, ...toFacts(deadline, await readSumsByRate(transaction, values))] };
}

function termsOf(payment: PaymentRow) {
  return {
    currency: payment.currency,
    network: payment.network,
    amount: payment.locked_at === null ? null : payment.amount,
    baseAmount: payment.base_amount,
    expiresAt: payment.expires_at,
    cancelledAt: payment.cancelled_at,
    settledAt: payment.settled_at,
    accepted: payment.accepted_amount,
  };
}

const findCursor = prepared(
  (reader, { mode, network }: { readonly mode: PaymentRow['mode']; readonly network: string | null }) =>
    reader
      .selectFrom('chain_cursors')
      .select('read_until')
      .where('mode', '=', mode)
      .where('network', '=', network),
);

/** The real time up to which every block of a payment's network was read; -Infinity if none was. */
export async function readUntilOf(
  transaction: Transaction,
  { mode, network }: Pick<PaymentRow, 'mode' | 'network'>,
): Promise<number> {
  const [cursor] = await findCursor(transaction, { mode, network });
  return cursor?.read_until ?? Number.NEGATIVE_INFINITY;
}
