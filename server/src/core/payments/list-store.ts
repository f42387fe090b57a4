/** Lists payments by a filter, newest first. */
import type { PaymentReview, PaymentStatus } from 'crypto-checkout/contract';
import { sql, type Expression, type ExpressionBuilder, type SelectQueryBuilder, type SqlBool } from 'kysely';
import type { Reader } from '../db/engine.js';
import { isCreatedWithin, isListed, readCheckpointedPage, readPage } from '../db/pages.js';
import { needsReview, paymentStatusOf } from '../db/payment-status.js';
import { queryPartsOf } from '../db/query-parts.js';
import type { Schema } from '../db/schema.js';
import type { PageRequest } from '../shared/pagination.js';
import type { Scope } from '../shared/scope.js';
import { refundQueries } from './refunds-of.js';
import { readRecords } from './store.js';

declare module '../db/query-parts.js' {
  interface QueryParts {
    /** 1 if staff have handled the payment in the query, as it is now. */
    readonly countHandled?: () => SelectQueryBuilder<Schema, 'payments', { readonly count: number }>;
  }
}

/** Filters of the list. Texts are exact; currency and network in any case. */
export interface PaymentFilter {
  readonly txRef?: string | undefined;
  readonly status?: PaymentStatus | undefined;
  readonly currency?: string | undefined;
  readonly network?: string | undefined;
  /** The indexes that find a payment by the customer's email. */
  readonly payerIndexes?: readonly string[] | undefined;
  readonly txHash?: string | undefined;
  /** The address that it was due at, as the payer saw it. */
  readonly address?: string | undefined;
  readonly review?: PaymentReview | undefined;
  /** The payments that a search has found. */
  readonly ids?: readonly string[] | undefined;
}

/** Each filter has an index of its own, in the order of the list. */
function filters(
  reader: Reader,
  e: ExpressionBuilder<Schema, 'payments'>,
  { status, currency, network, payerIndexes, review }: PaymentFilter,
): Expression<SqlBool>[] {
  const refunds = refundQueries(reader)?.countKept();
  const handled = queryPartsOf(reader).flatMap(({ countHandled }) => countHandled?.() ?? []);
  return [
    ...(review === undefined ? [] : [needsReview[review]]),
    ...(review === undefined || !refunds ? [] : [e(refunds, '=', sql.lit(0))]),
    ...(review === undefined ? [] : handled.map((count) => e(count, '=', sql.lit(0)))),
    ...(status === undefined ? [] : [e(paymentStatusOf, '=', status)]),
    ...(currency === undefined ? [] : [e('currency', '=', currency.toUpperCase())]),
    ...(network === undefined ? [] : [e('network', '=', network.toLowerCase())]),
    ...(payerIndexes === undefined ? [] : [e('payer_index', 'in', payerIndexes)]),
  ];
}

/** People copy a hash with and without 0x, and in capitals. Each chain has one way to write it. */
function spellingsOf(txHash: string): string[] {
  const digits = /^(?:0x)?([0-9a-f]{64})$/i.exec(txHash)?.[1]?.toLowerCase();
  return digits === undefined ? [txHash] : [digits, `0x${digits}`];
}

/** The ids of the payments with a reference, a transfer or an address, which are few. */
function lookUps(
  e: ExpressionBuilder<Schema, 'payments'>,
  { merchantId, mode }: Scope,
  { txRef, txHash, address, ids }: PaymentFilter,
): Expression<SqlBool>[] {
  const byReference = e
    .selectFrom('payments as named')
    .select('named.id')
    .where('named.merchant_id', '=', merchantId)
    .where('named.mode', '=', mode)
    .where('named.tx_ref', '=', txRef ?? '');
  const byTransfer = e
    .selectFrom('receipts')
    .select('receipts.payment_id')
    .where('receipts.merchant_id', '=', merchantId)
    .where('receipts.mode', '=', mode)
    .where('receipts.tx_hash', 'in', spellingsOf(txHash ?? ''));
  const byAddress = e
    .selectFrom('addresses')
    .innerJoin('payments as paid', 'paid.id', 'addresses.payment_id')
    .select('paid.id')
    .where('addresses.address', '=', address ?? '')
    .where('addresses.mode', '=', mode)
    .where('paid.merchant_id', '=', merchantId);
  return [
    ...(txRef === undefined ? [] : [e('payments.id', 'in', byReference)]),
    ...(txHash === undefined ? [] : [e('payments.id', 'in', byTransfer)]),
    ...(address === undefined ? [] : [e('payments.id', 'in', byAddress)]),
    ...(ids === undefined ? [] : [e('payments.id', 'in', ids)]),
  ];
}

/** Few payments have what these look for. The other lists can be very long. */
const rarelyFound = ['txRef', 'txHash', 'address', 'ids', 'payerIndexes', 'review'] as const;
const lookedUp = ['txRef', 'txHash', 'address', 'ids'] as const;

export async function listRecords(reader: Reader, scope: Scope, query: PageRequest & PaymentFilter) {
  const hasLookUp = lookedUp.some((name) => query[name] !== undefined);
  const matching = reader
    .selectFrom('payments')
    .select('payments.id')
    // The look-ups are within the scope already. With the scope in the condition as well, SQLite would rather scan all
    // payments of the merchant, because it has no statistics.
    .where(hasLookUp ? isCreatedWithin('payments', query) : isListed('payments', scope, query))
    .where((e) => e.and([...lookUps(e, scope, query), ...filters(reader, e, query)]));
  const { rows, total } = rarelyFound.some((name) => query[name] !== undefined)
    ? await readPage(matching, 'payments', query)
    : await readCheckpointedPage(reader, matching, 'payments', scope, query, {
        status: query.status,
        currency: query.currency?.toUpperCase(),
        network: query.network?.toLowerCase(),
      });
  if (rows.length === 0) return { records: [], total };
  const ids = rows.map(({ id }) => id);
  return { records: await readRecords(reader, ids), total };
}
