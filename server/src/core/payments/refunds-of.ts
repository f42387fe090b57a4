/** The refunds of payments, as far as payments show and count them. A module that makes refunds says where they are. */
import type { RefundStatus } from 'crypto-checkout/contract';
import type { SelectQueryBuilder } from 'kysely';
import type { Reader } from '../db/engine.js';
import { queryPartsOf } from '../db/query-parts.js';
import type { Schema } from '../db/schema.js';

/** A refund as it is read with its payment. Units are integer text. */
export interface RefundOfPayment {
  readonly id: string;
  readonly status: RefundStatus;
  readonly amount: string;
  readonly currency: string;
  readonly network: string;
  readonly tx_hash: string | null;
  /** The part of the payment's coins that it uses up. */
  readonly used: string;
  /** 1 if the payment was a success when these coins were set apart. */
  readonly of_success: number;
  readonly service_fee: string;
  /** 1 if the service fee goes back too. */
  readonly refund_fee: number;
}

/** A refund for the accountant. Units are integer text. */
export interface RefundToExport {
  readonly id: string;
  readonly payment_id: string;
  readonly status: RefundStatus;
  readonly kind: string;
  readonly currency: string;
  readonly network: string;
  readonly amount: string;
  readonly fee: string;
  readonly base_amount: string;
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
  rows(): SelectQueryBuilder<Schema, 'payments', RefundOfPayment>;
  /** The number of those that have not ended unpaid. */
  countKept(): SelectQueryBuilder<Schema, 'payments', { readonly count: number }>;
  /** Differs from the previous one once anything about them has changed. */
  mark(): SelectQueryBuilder<Schema, 'payments', { readonly mark: string }>;
  /** The refunds of these payments, oldest first. */
  list(reader: Reader, paymentIds: readonly string[]): Promise<RefundToExport[]>;
  /** Those with these ids. */
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
