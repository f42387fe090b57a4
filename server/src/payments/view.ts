/** A payment as the API shows it. */
import type { CurrencyOption, Payment } from 'crypto-checkout/contract';
import type { Currencies } from '../currencies/currencies.js';
import { isoTime } from '../clock.js';
import type { MerchantTable, ReceiptTable } from '../db/schema.js';
import { counts, statusOf } from './assess.js';
import { toMoney, toNumber } from './numbers.js';
import type { LogRow, PaymentRow } from './store.js';

/** Everything that a view shows of one payment. */
export interface PaymentRecord {
  readonly row: PaymentRow;
  readonly log: readonly LogRow[];
  readonly receipts: readonly ReceiptTable[];
  /** Of the payment's network, or undefined where it does not matter or was not scanned yet. */
  readonly scannedHeight: number | undefined;
  /** What can be chosen, until the currency is locked. */
  readonly options: readonly CurrencyOption[] | undefined;
}

export function viewPayment(
  { row, log, receipts, scannedHeight, options }: PaymentRecord,
  currencies: Currencies,
): Payment {
  const base = currencies.known(row.base_currency);
  const counting = receipts.filter((receipt) => counts(row, receipt));
  const confirmed = receipts.filter((receipt) => receipt.status === 'confirmed');
  return {
    id: row.id,
    status: statusOf(row.state),
    state: row.state,
    description: row.description,
    txRef: row.tx_ref,
    redirectUrl: row.redirect_url,
    ...viewAmounts(row, counting, scannedHeight, currencies),
    nairaValue: toMoney(sum(confirmed.map((receipt) => receipt.naira_value))),
    dollarValue: toMoney(sum(confirmed.map((receipt) => receipt.dollar_value))),
    baseAmount: toNumber(BigInt(row.base_amount), base),
    baseCurrency: base.code,
    currencies: row.currency === null ? [...new Set(options?.map((option) => option.currency))] : [],
    ...(options && { currencyOptions: [...options] }),
    expiresBy: row.expires_at,
    transactionFees: toNumber(BigInt(row.transaction_fees), base),
    totalDue: toNumber(BigInt(row.base_amount), base),
    customer: row.customer_email ?? 'anonymous',
    customerDetails: {
      ...(row.customer_email !== null && { email: row.customer_email }),
      ...(row.customer_name !== null && { fullName: row.customer_name }),
      ...(row.customer_phone !== null && { phoneNumber: row.customer_phone }),
    },
    ...(row.locked_at !== null &&
      row.address !== null &&
      row.address_id !== null &&
      row.network !== null && {
        addressInformation: { address: row.address, network: row.network, id: row.address_id },
      }),
    addressSentFrom: [...new Set(receipts.flatMap((receipt) => readSenders(receipt.senders)))],
    transactionTimeLog: log.map(viewLogEntry),
    isCurrencyLocked: row.locked_at !== null,
    createdAt: isoTime(row.created_at),
  };
}

export function viewLogEntry({ time, type, event }: Pick<LogRow, 'time' | 'type' | 'event'>) {
  return { time: isoTime(time), type, event };
}

export function viewBranding(merchant: MerchantTable): NonNullable<Payment['branding']> {
  return {
    id: merchant.id,
    businessName: merchant.business_name,
    name: merchant.name,
    logo: merchant.logo,
    createdAt: isoTime(merchant.created_at),
    updatedAt: isoTime(merchant.updated_at),
  };
}

function viewAmounts(
  row: PaymentRow,
  counting: readonly ReceiptTable[],
  scannedHeight: number | undefined,
  currencies: Currencies,
): Partial<Payment> {
  if (row.currency === null || row.network === null) {
    return { amount: 0, amountReceived: 0, amountSeen: 0, amountDue: 0 };
  }
  const currency = currencies.known(row.currency);
  const network = currencies.network(row.network);
  const amount = BigInt(row.amount ?? '0');
  const seen = sum(counting.map((receipt) => receipt.amount));
  const received = sum(
    counting.filter((receipt) => receipt.status === 'confirmed').map((receipt) => receipt.amount),
  );
  return {
    currency: currency.code,
    currencyName: currency.name,
    currencyNetwork: row.network,
    ...(network && { networkName: network.name, confirmationsRequired: network.confirmations }),
    amount: toNumber(amount, currency),
    fee: toNumber(BigInt(row.fee ?? '0'), currency),
    amountReceived: toNumber(received, currency),
    amountSeen: toNumber(seen, currency),
    // From what is shown, so that the three numbers add up for the payer.
    amountDue: toNumber(seen >= amount ? 0n : amount - seen, currency),
    confirmations: youngestConfirmations(counting, scannedHeight, network?.confirmations ?? 0),
  };
}

/** Confirmations of the receipt that has the fewest, capped at what is needed. */
function youngestConfirmations(
  receipts: readonly ReceiptTable[],
  scannedHeight: number | undefined,
  needed: number,
): number {
  const each = receipts.map(({ status, block_height: height }) => {
    if (status === 'confirmed') return needed;
    return height === null || scannedHeight === undefined ? 0 : Math.max(0, scannedHeight - height + 1);
  });
  return each.length === 0 ? 0 : Math.min(needed, ...each);
}

function readSenders(json: string): string[] {
  const senders: unknown = JSON.parse(json);
  return Array.isArray(senders) ? senders.filter((sender) => typeof sender === 'string') : [];
}

function sum(units: readonly (string | null)[]): bigint {
  return units.reduce((total, value) => total + BigInt(value ?? '0'), 0n);
}
