/** Reads a merchant's payments for the accountant, with their receipts, and what the ledger credited and charged. */
import { statusOf, fromUnits } from 'crypto-checkout/contract';
import type { Database } from '../db/database.js';
import type { PersonalData } from '../db/personal-data.js';
import type { Currencies } from '../money/currencies.js';
import { isoTime } from '../shared/clock.js';
import type { Scope } from '../shared/scope.js';
import { creditsOf } from './credit.js';
import * as store from './export-store.js';

/** Amounts are exact decimals. Times are ISO 8601. */
export interface ExportedPayment {
  readonly id: string;
  readonly mode: string;
  readonly createdAt: string;
  readonly status: string;
  readonly txRef: string;
  readonly description: string;
  /** The email; empty if anonymous. */
  readonly customer: string;
  readonly baseAmount: string;
  readonly baseCurrency: string;
  /** What the payer was asked for; empty before a currency was chosen. */
  readonly currency: string;
  readonly network: string;
  readonly amount: string;
  /** When it first succeeded; empty if it never did. */
  readonly paidAt: string;
  readonly receipts: readonly ExportedReceipt[];
  /** By currency. The sum of `net` over all payments is what payments brought to the balance, before refunds. */
  readonly credited: readonly ExportedCredit[];
  readonly refunds: readonly ExportedRefund[];
}

export interface ExportedReceipt {
  readonly currency: string;
  readonly network: string;
  readonly amount: string;
  readonly txHash: string;
  /** seen, confirmed, dropped or reversed. */
  readonly status: string;
  readonly firstSeenAt: string;
  readonly confirmedAt: string;
}

export interface ExportedCredit {
  readonly currency: string;
  readonly amount: string;
  readonly fee: string;
  readonly net: string;
}

/** What was worth `baseAmount` in the base currency when the refund was created. */
export interface ExportedRefund {
  readonly id: string;
  readonly status: string;
  readonly kind: string;
  readonly createdAt: string;
  readonly currency: string;
  readonly network: string;
  readonly amount: string;
  /** What the network took of it, or of the balance. */
  readonly fee: string;
  /** Below 0: what it took from the balance. Empty unless it is paid. */
  readonly net: string;
  readonly baseAmount: string;
  readonly baseCurrency: string;
  readonly txHash: string;
  readonly paidAt: string;
}

export interface ExportRange {
  /** Epoch milliseconds, inclusive. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

export interface PaymentExportDeps {
  readonly database: Pick<Database, 'reader'>;
  readonly currencies: Pick<Currencies, 'known'>;
  readonly personalData: PersonalData;
}

export function createPaymentExport({ database, currencies, personalData }: PaymentExportDeps) {
  const decimal = (units: string | bigint | null, code: string | null) =>
    units === null || code === null ? '' : fromUnits(BigInt(units), currencies.known(code).decimals);
  const time = (at: number | null) => (at === null ? '' : isoTime(at));

  return {
    /** Oldest first, read page by page: the memory that it takes does not grow with the number of payments. */
    async *read(scope: Scope, range: ExportRange): AsyncGenerator<ExportedPayment> {
      for await (const page of store.pages(database.reader, scope, range)) {
        const ids = page.map(({ id }) => id);
        const receipts = await store.receiptsOf(database.reader, ids);
        const refunds = await store.refundsOf(database.reader, ids);
        for (const row of page) {
          const payer = personalData.payer(row);
          yield {
            id: row.id,
            mode: row.mode,
            createdAt: isoTime(row.created_at),
            status: statusOf(row.state),
            txRef: row.tx_ref,
            description: payer.description,
            customer: payer.email ?? '',
            baseAmount: decimal(row.base_amount, row.base_currency),
            baseCurrency: row.base_currency,
            currency: row.currency ?? '',
            network: row.network ?? '',
            amount: decimal(row.amount, row.currency),
            paidAt: time(row.settled_at),
            receipts: (receipts.get(row.id) ?? []).map((receipt) => ({
              currency: receipt.currency,
              network: receipt.network,
              amount: decimal(receipt.amount, receipt.currency),
              txHash: receipt.tx_hash,
              status: receipt.status,
              firstSeenAt: isoTime(receipt.first_seen_at),
              confirmedAt: time(receipt.confirmed_at),
            })),
            credited: creditsOf(receipts.get(row.id) ?? []).map(({ currency, amount, fee }) => ({
              currency,
              amount: decimal(amount, currency),
              fee: decimal(fee, currency),
              net: decimal(amount - fee, currency),
            })),
            refunds: (refunds.get(row.id) ?? []).map((refund) => ({
              ...{ id: refund.id, status: refund.status, kind: refund.kind },
              createdAt: isoTime(refund.created_at),
              ...{ currency: refund.currency, network: refund.network },
              amount: decimal(refund.amount, refund.currency),
              fee: decimal(refund.fee, refund.currency),
              net:
                refund.status === 'paid'
                  ? `-${decimal(BigInt(refund.amount) + BigInt(refund.fee), refund.currency)}`
                  : '',
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
