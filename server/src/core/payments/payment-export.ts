/** Reads a merchant's payments for the accountant, with their receipts, credits and charges. */
import { statusOf, fromUnits } from 'crypto-checkout/contract';
import { inChunks } from '../db/chunks.js';
import type { Database } from '../db/database.js';
import type { Reader } from '../db/engine.js';
import { everyPage, isCreatedWithin } from '../db/pages.js';
import type { PersonalData } from '../db/personal-data.js';
import { tables, type PaymentRow } from '../db/schema.js';
import type { Currencies } from '../money/currencies.js';
import { valuesOf } from '../db/values.js';
import { isoTime } from '../shared/clock.js';
import { groupBy } from '../shared/group-by.js';
import type { PageRequest } from '../shared/pagination.js';
import type { Scope } from '../shared/scope.js';
import { creditsOf } from './receipts/view.js';
import { refundQueries } from './refunds-of.js';

type Read = ReturnType<typeof createPaymentExport>['read'];

/** Amounts are exact decimals. Times are ISO 8601. Missing values are empty texts. */
export type ExportedPayment = ReturnType<Read> extends AsyncGenerator<infer Payment> ? Payment : never;

export function createPaymentExport(
  { reader }: Pick<Database, 'reader'>,
  currencies: Pick<Currencies, 'known'>,
  personalData: PersonalData,
) {
  const decimal = (units: bigint | null, code: string | null) =>
    units === null || code === null ? '' : fromUnits(units, currencies.known(code).decimals);
  const time = (at: number | null) => (at === null ? '' : isoTime(at));

  return {
    /** Oldest first, read page by page: the memory that it takes does not grow with the number of payments. */
    async *read(scope: Scope, range: Pick<PageRequest, 'from' | 'to'>) {
      for await (const page of pages(reader, scope, range)) {
        const ids = page.map(({ id }) => id);
        const receiptsByPayment = await receiptsOf(reader, ids);
        const refunds = (await refundQueries(reader)?.list(reader, ids)) ?? [];
        const refundsByPayment = groupBy(refunds, (refund) => refund.payment_id);
        for (const row of page) {
          const payer = personalData.payer(row);
          const receipts = receiptsByPayment.get(row.id) ?? [];
          yield {
            id: row.id,
            mode: row.mode,
            createdAt: isoTime(row.created_at),
            status: statusOf(row.state),
            txRef: row.tx_ref,
            description: payer.description,
            /** The email; empty if anonymous. */
            customer: payer.email ?? '',
            baseAmount: decimal(row.base_amount, row.base_currency),
            baseCurrency: row.base_currency,
            /** The currency that the payer was asked for; empty before one was chosen. */
            currency: row.currency ?? '',
            network: row.network ?? '',
            amount: decimal(row.amount, row.currency),
            /** When it first succeeded. */
            paidAt: time(row.settled_at),
            receipts: receipts.map((receipt) => ({
              currency: receipt.currency,
              network: receipt.network,
              amount: decimal(receipt.amount, receipt.currency),
              txHash: receipt.tx_hash,
              status: receipt.status,
              firstSeenAt: isoTime(receipt.first_seen_at),
              confirmedAt: time(receipt.confirmed_at),
            })),
            /** Sums by currency. `net` of all payments together is what they added to the balance, before refunds. */
            credited: creditsOf(receipts).map(({ currency, amount, fee }) => ({
              currency,
              amount: decimal(amount, currency),
              fee: decimal(fee, currency),
              net: decimal(amount - fee, currency),
            })),
            refunds: (refundsByPayment.get(row.id) ?? []).map((refund) => ({
              id: refund.id,
              status: refund.status,
              kind: refund.kind,
              createdAt: isoTime(refund.created_at),
              currency: refund.currency,
              network: refund.network,
              amount: decimal(refund.amount, refund.currency),
              /** The part that the network charged, of it or of the balance. */
              fee: decimal(refund.fee, refund.currency),
              /** Below 0: what it took from the balance. Empty unless it is paid. */
              net: refund.status === 'paid' ? `-${decimal(refund.amount + refund.fee, refund.currency)}` : '',
              /** Its worth when it was created. */
              baseAmount: decimal(refund.base_amount, refund.base_currency),
              baseCurrency: refund.base_currency,
              txHash: refund.tx_hash ?? '',
              paidAt: refund.status === 'paid' ? time(refund.settled_at) : '',
            })),
          };
        }
      }
    },
  };
}

const paymentRows = valuesOf(tables.payments);
const receiptRows = valuesOf(tables.receipts);

const pageSize = 500;

/** Oldest first, by keyset: the thousandth page costs as much as the first. */
function pages(
  reader: Reader,
  { merchantId, mode }: Scope,
  range: Pick<PageRequest, 'from' | 'to'>,
): AsyncGenerator<PaymentRow[]> {
  return everyPage(pageSize, async (after) => {
    const rows = await reader
      .selectFrom('payments')
      .selectAll()
      .where((e) => e.and({ merchant_id: merchantId, mode }))
      .where(isCreatedWithin('payments', range))
      .where((e) =>
        after ? e(e.refTuple('created_at', 'id'), '>', e.tuple(after.created_at, after.id)) : e.lit(true),
      )
      .orderBy('created_at')
      .orderBy('id')
      .limit(pageSize)
      .execute();
    return rows.map(paymentRows.decode);
  });
}

/** The receipts of payments, oldest first, by payment. */
async function receiptsOf(reader: Reader, paymentIds: readonly string[]) {
  const rows = await inChunks(paymentIds, (chunk) =>
    reader
      .selectFrom('receipts')
      .selectAll()
      .where('payment_id', 'in', chunk)
      .orderBy('first_seen_at')
      .orderBy('id')
      .execute(),
  );
  return groupBy(rows.map(receiptRows.decode), (row) => row.payment_id);
}
