/** Turns stored payments into the API's representation. */
import {
  statusOf,
  type CodedLogEntry,
  type CurrencyOption,
  type EvmAsset,
  type PaymentRecord,
} from 'crypto-checkout/contract';
import { transactionPage } from '../chains/networks.js';
import type { Currencies } from '../money/currencies.js';
import { isoTime } from '../shared/clock.js';
import { sealedJson, type Payer } from '../db/personal-data.js';
import { tables, type MerchantTable } from '../db/schema.js';
import { countsTowards } from './assess.js';
import { deeper, shownConfirmations } from './depth.js';
import { feeOf } from './quote.js';
import { isLive } from './receipts/receipt-store.js';
import { hasTaken } from './has-taken.js';
import { centsToNumber, exactNumber, roundUpToPayable, unitsToNumber } from '../money/units.js';
import { confirmationsOf, creditsOf, viewCredits, viewReceipts, viewUnlisted } from './receipts/view.js';
import type { LogRow, ReceiptSums, StoredRecord } from './store.js';

export interface PageUrls {
  /** Hosted pages are at `{checkoutUrl}/{payment id}`. */
  readonly checkoutUrl: string;
  /** Receipts are at `{publicUrl}/receipt/{payment id}`. */
  readonly publicUrl: string;
}

/**
 * @param options the currencies to choose from; undefined once the currency is locked
 */
export function viewPayment(
  row: StoredRecord,
  payer: Payer,
  options: readonly CurrencyOption[] | undefined,
  currencies: Currencies,
  { checkoutUrl, publicUrl }: PageUrls,
): PaymentRecord {
  const { description, ...customerDetails } = payer;
  const sums = row.sums.filter(isLive);
  const base = currencies.known(row.base_currency);
  const counting = sums.filter((one) => countsTowards(row, one));
  const confirmed = sums.filter((one) => one.status === 'confirmed');
  const unlisted = viewUnlisted(row, currencies);
  const unlistedEntries = row.log_count - row.log.length;
  return {
    id: row.id,
    mode: row.mode,
    status: statusOf(row.state),
    state: row.state,
    description,
    txRef: row.tx_ref,
    redirectUrl: row.redirect_url,
    isRedirectTrusted: row.is_redirect_trusted,
    ...viewAmounts(row, counting, currencies),
    nairaValue: centsToNumber(sum(confirmed.map((one) => one.naira_value))),
    dollarValue: centsToNumber(sum(confirmed.map((one) => one.dollar_value))),
    baseAmount: unitsToNumber(row.base_amount, base),
    baseCurrency: base.code,
    currencies: row.currency === null ? [...new Set(options?.map((option) => option.currency))] : [],
    ...(options && { currencyOptions: [...options] }),
    // The deposits of a hosted wallet have neither a page nor an end.
    ...(row.wallet_id === null && {
      expiresBy: row.expires_at,
      pageUrl: `${checkoutUrl}/${row.id}`,
      receiptUrl: `${publicUrl}/receipt/${row.id}`,
    }),
    transactionFees: unitsToNumber(feeInBase(row), base),
    totalDue: unitsToNumber(row.base_amount, base),
    customer: payer.email ?? 'anonymous',
    customerDetails,
    ...(row.locked_at !== null &&
      row.address !== null &&
      row.address_id !== null &&
      row.network !== null && {
        addressInformation: { address: row.address, network: row.network, id: row.address_id },
        ...viewEvm(row, currencies),
      }),
    addressSentFrom: [...new Set(row.receipts.filter(isLive).flatMap(({ senders }) => [...senders]))],
    transactionTimeLog: row.log.map(viewLogEntry),
    ...(unlistedEntries > 0 && { unlistedLogEntries: unlistedEntries }),
    isCurrencyLocked: row.locked_at !== null,
    createdAt: isoTime(row.created_at),
    receipts: viewReceipts(row, row.receipts, currencies),
    ...(unlisted.length > 0 && { unlistedReceipts: unlisted }),
    credited: viewCredits(row, currencies),
    ...viewRefunds(row, currencies),
    ...row.fields,
    ...(row.findings.length > 0 && { findings: [...row.findings] }),
    ...viewAccepted(row, currencies),
    ...(row.metadata !== null && { metadata: sealedJson.paymentMetadata.read(row.metadata) }),
  };
}

function viewAccepted(
  { accepted_at: at, accepted_amount: units, currency }: StoredRecord,
  currencies: Currencies,
): Pick<PaymentRecord, 'accepted'> {
  if (at === null || units === null || currency === null) return {};
  return { accepted: { amount: unitsToNumber(units, currencies.known(currency)), at: isoTime(at) } };
}

function viewRefunds(
  row: StoredRecord,
  currencies: Currencies,
): Pick<PaymentRecord, 'refunds' | 'refundedAmount'> {
  if (row.refunds.length === 0) return {};
  const numberOf = (units: bigint, code: string) => exactNumber(units, currencies.known(code).decimals);
  const paid = row.refunds.filter((refund) => refund.status === 'paid' && countsTowards(row, refund));
  return {
    refunds: row.refunds.map(({ id, status, amount, currency, network, tx_hash: txHash, ...refund }) => ({
      id,
      status,
      amount: numberOf(amount, currency),
      currency,
      network,
      feeKept: refund.refund_fee ? 0 : numberOf(refund.service_fee, currency),
      ...(status === 'paid' &&
        txHash !== null && {
          txHash,
          explorerUrl: transactionPage(currencies.network(row.mode, network), txHash),
        }),
    })),
    ...(row.currency !== null && {
      refundedAmount: numberOf(sum(paid.map(({ amount }) => amount)), row.currency),
    }),
  };
}

export function viewLogEntry({ time, type, event, code, entry_values: values }: LogRow): CodedLogEntry {
  return {
    time: isoTime(time),
    type,
    event,
    code,
    values: tables.log_entries.columns.entry_values.read(values),
  };
}

export function viewBranding(merchant: MerchantTable): NonNullable<PaymentRecord['branding']> {
  return {
    id: merchant.id,
    businessName: merchant.business_name,
    name: merchant.name,
    logo: merchant.logo,
    supportUrl: merchant.support_url,
    createdAt: isoTime(merchant.created_at),
    updatedAt: isoTime(merchant.updated_at),
  };
}

/** The details that a wallet in the payer's browser needs; none where the chain is simulated or of another kind. */
function viewEvm(row: StoredRecord, currencies: Currencies): { readonly evm?: EvmAsset } {
  const network = currencies.network(row.mode, row.network ?? '');
  const asset = network?.assets[row.currency ?? ''];
  if (!network?.evm || asset?.decimals === undefined) return {};
  const { chainId, coin, rpcUrl } = network.evm;
  return {
    evm: {
      chainId,
      decimals: asset.decimals,
      coin,
      ...(asset.contract !== undefined && { contract: asset.contract }),
      ...(rpcUrl !== undefined && { rpcUrl }),
      ...(network.explorer !== undefined && { explorer: network.explorer }),
    },
  };
}

/** The quoted fee until the payment ends, then the fee charged, which is 0 if nothing was paid. In units of the paying currency. */
function shownFee({ state, fee, currency, sums }: StoredRecord): bigint {
  if (statusOf(state) === 'in progress') return fee ?? 0n;
  return creditsOf(sums).find((credit) => credit.currency === currency)?.fee ?? 0n;
}

/** The fee in units of the base currency, at the price of the payment. */
function feeInBase(row: StoredRecord): bigint {
  const [base, amount] = [row.base_amount, row.amount ?? 0n];
  if (amount > 0n) return (shownFee(row) * base * 2n + amount) / (amount * 2n);
  return statusOf(row.state) === 'in progress' ? feeOf(base, row.fee_basis_points) : 0n;
}

function viewAmounts(
  row: StoredRecord,
  counting: readonly ReceiptSums[],
  currencies: Currencies,
): Partial<PaymentRecord> {
  if (row.currency === null || row.network === null) {
    return { amount: 0, amountReceived: 0, amountSeen: 0, amountDue: 0 };
  }
  const currency = currencies.known(row.currency);
  const network = currencies.network(row.mode, row.network);
  const depth = counting.reduce(
    (deepest, one) => deeper(deepest, one.required_confirmations),
    row.required_confirmations,
  );
  const required = network ? shownConfirmations(depth, network) : 0;
  const amount = row.amount ?? 0n;
  const seen = sum(counting.map((receipt) => receipt.amount));
  const confirmed = sum(
    counting.filter((receipt) => receipt.status === 'confirmed').map((receipt) => receipt.amount),
  );
  const taken = row.refunds.filter((refund) => hasTaken(refund.status) && countsTowards(row, refund));
  const received = confirmed - sum(taken.map(({ used }) => used));
  // Coins that a success returns are not due again.
  const kept = seen - sum(taken.filter((refund) => !refund.of_success).map(({ used }) => used));
  return {
    currency: currency.code,
    currencyName: currency.name,
    currencyNetwork: row.network,
    ...(network && {
      networkName: network.name,
      confirmationsRequired: required,
      ...(network.blockSeconds !== undefined && { blockSeconds: network.blockSeconds }),
    }),
    amount: unitsToNumber(amount, currency),
    fee: exactNumber(shownFee(row), currency.decimals),
    amountReceived: unitsToNumber(received > 0n ? received : 0n, currency),
    amountSeen: unitsToNumber(seen, currency),
    // Rounded up to an amount that a payer can send: paying it settles the payment.
    amountDue:
      kept >= amount || (row.accepted_at !== null && statusOf(row.state) === 'success')
        ? 0
        : unitsToNumber(roundUpToPayable(amount - kept, currency), currency),
    // The lowest number among them.
    confirmations:
      counting.length === 0
        ? 0
        : Math.min(...counting.map((receipt) => confirmationsOf(receipt, row, network))),
  };
}

function sum(units: readonly bigint[]): bigint {
  return units.reduce((total, value) => total + value, 0n);
}
