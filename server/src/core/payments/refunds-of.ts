/** The refunds of payments, as far as payments show and count them. A module that makes refunds says where they are. */
import type { RefundStatus } from 'crypto-checkout/contract';
import { sql, type SelectQueryBuilder } from 'kysely';
import { unitsCodec } from '../db/codecs.js';
import type { Reader } from '../db/engine.js';
import { leftTablesOf, queryPartsOf } from '../db/query-parts.js';
import type { PaymentRow, Schema } from '../db/schema.js';
import { hasTaken } from './has-taken.js';

/** A refund as it is read with its payment. */
export interface RefundOfPayment {
  readonly id: string;
  readonly status: RefundStatus;
  readonly amount: bigint;
  readonly currency: string;
  readonly network: string;
  readonly tx_hash: string | null;
  /** The part of the payment's coins that it uses up. */
  readonly used: bigint;
  /** True if the payment was a success when these coins were set apart. */
  readonly of_success: boolean;
  readonly service_fee: bigint;
  /** True if the service fee goes back too. */
  readonly refund_fee: boolean;
}

/** A refund of a payment in its stored form. */
export type StoredRefund = {
  readonly [K in keyof RefundOfPayment]: RefundOfPayment[K] extends bigint
    ? string
    : RefundOfPayment[K] extends boolean
      ? 0 | 1
      : RefundOfPayment[K];
};

/** A refund for the accountant. */
export interface RefundToExport {
  readonly id: string;
  readonly payment_id: string;
  readonly status: RefundStatus;
  readonly kind: string;
  readonly currency: string;
  readonly network: string;
  readonly amount: bigint;
  readonly fee: bigint;
  readonly base_amount: bigint;
  readonly base_currency: string;
  readonly tx_hash: string | null;
  readonly created_at: number;
  /** When its transfer first succeeded. */
  readonly settled_at: number | null;
}

export interface FoundRefund {
  readonly id: string;
  readonly payment_id: string;
  readonly network: string;
  /** The one who bears the network's fee. */
  readonly network_fee: 'merchant' | 'payer';
}

/** SQL about the refunds of the payment in the query, and reads. */
export interface RefundQueries {
  /** Oldest first. */
  rows(): SelectQueryBuilder<Schema, 'payments', StoredRefund>;
  /** Decodes one of them. */
  read(row: StoredRefund): RefundOfPayment;
  /** The number of those that have not ended unpaid. */
  countKept(): SelectQueryBuilder<Schema, 'payments', { readonly count: number }>;
  /** Differs from the previous one once anything about them has changed. */
  mark(): SelectQueryBuilder<Schema, 'payments', { readonly mark: string }>;
  /** The refunds of these payments, oldest first. */
  list(reader: Reader, paymentIds: readonly string[]): Promise<RefundToExport[]>;
  /** The refunds with these ids. */
  find(reader: Reader, ids: readonly string[]): Promise<FoundRefund[]>;
}

declare module '../db/query-parts.js' {
  interface QueryParts {
    readonly refunds?: RefundQueries;
  }
}

/** Undefined on a server that makes no refunds. */
export const refundQueries = (reader: Reader): RefundQueries | undefined =>
  queryPartsOf(reader).find(({ refunds }) => refunds)?.refunds;

/**
 * Units of a payment's coins that refunds took before it was a success, on a server that makes no refunds but did: money that went
 * back does not count as received once the module is removed.
 */
export async function takenByRemoved(
  reader: Reader,
  { id, currency, network }: Pick<PaymentRow, 'id' | 'currency' | 'network'>,
): Promise<bigint> {
  if (!leftTablesOf(reader).some(({ name }) => name === 'refunds')) return 0n;
  const before = sql<Pick<StoredRefund, 'status' | 'used'>>`
    select status, used from refunds
    where payment_id = ${id} and currency = ${currency} and network = ${network} and of_success = 0`;
  const { rows } = await before.execute(reader);
  return rows
    .filter(({ status }) => hasTaken(status))
    .reduce((sum, { used }) => sum + unitsCodec.read(used), 0n);
}
