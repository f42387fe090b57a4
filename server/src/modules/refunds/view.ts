/** A refund as the API shows it: to its merchant, and to anyone who has the link of its claim. */
import type { Api, Data, RefundClaim, RefundStatus } from 'crypto-checkout/contract';
import { transactionPage } from '../../core/chains/networks.js';
import { addressFamilies } from '../../core/families/addresses.js';
import { isEvm } from '../../core/families/kinds.js';
import type { MerchantTable } from '../../core/db/schema.js';
import type { Currency } from '../../core/money/currency-list.js';
import type { Currencies } from '../../core/money/currencies.js';
import { multiply, parseFraction } from '../../core/money/fractions.js';
import { exactNumber, formatUnits, unitsToNumber } from '../../core/money/units.js';
import { isoTime } from '../../core/shared/clock.js';
import type { RefundRow } from './tables.js';
import { refundMetadata } from './tables.js';

export type Refund = Data<Api['refunds']['retrieve']>;

export function viewRefund(row: RefundRow, txRef: string, currencies: Currencies): Refund {
  const currency = currencies.known(row.currency);
  const base = currencies.known(row.base_currency);
  return {
    id: row.id,
    mode: row.mode,
    paymentId: row.payment_id,
    txRef,
    status: row.status,
    kind: row.kind,
    reason: row.reason,
    amount: unitsToNumber(row.amount, currency),
    currency: row.currency,
    network: row.network,
    networkFee: row.network_fee,
    fee: unitsToNumber(row.fee, currency),
    refundFee: row.refund_fee,
    feeKept: feeKept(row, currency),
    value: {
      baseAmount: unitsToNumber(row.base_amount, base),
      baseCurrency: base.code,
      rate: coinPrice(row, currency.decimals, base.decimals),
      rateAt: isoTime(row.rate_at),
      by: row.valued_by,
    },
    address: row.address,
    sameWallet: row.same_wallet,
    transferId: row.transfer_id,
    ...viewTransaction(row, currencies),
    cancelReason: row.cancel_reason,
    createdBy: row.created_by,
    expiresAt: isoTime(row.expires_at),
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
    ...(row.metadata !== null && { metadata: refundMetadata.read(row.metadata) }),
  };
}

/** The shop's part of the coins that the refund is for: the service fee on them. */
function feeKept({ refund_fee, service_fee }: RefundRow, currency: Currency): number {
  return refund_fee ? 0 : exactNumber(service_fee, currency.decimals);
}

/** The worth of one coin, in the base currency. */
function coinPrice({ rate }: Pick<RefundRow, 'rate'>, decimals: number, baseDecimals: number): number {
  const shift = { numerator: 10n ** BigInt(decimals), denominator: 10n ** BigInt(baseDecimals) };
  const price = multiply(parseFraction(rate) ?? { numerator: 0n, denominator: 1n }, shift);
  return exactNumber((price.numerator * 10n ** 18n) / price.denominator, 18);
}

function viewTransaction(row: RefundRow, currencies: Currencies) {
  const { tx_hash: txHash, mode, network } = row;
  const explorerUrl = txHash === null ? '' : transactionPage(currencies.network(mode, network), txHash);
  return { txHash, explorerUrl };
}

/** The number of completed steps of the four: address, approval, sending, sent. */
const stepsDone: Readonly<Record<RefundStatus, number>> = {
  awaiting_address: 0,
  awaiting_approval: 1,
  approved: 2,
  processing: 2,
  paid: 4,
  failed: 2,
  cancelled: 0,
  expired: 0,
};

/** The context in which a claim is shown. */
interface ClaimContext extends SignedContext {
  readonly merchant: MerchantTable;
  /** True if the holder of the link may give the address, or change the one that was given. */
  readonly mayGive: boolean;
}

export function viewClaim(
  row: RefundRow,
  txRef: string,
  { merchant, mayGive, ...context }: Omit<ClaimContext, 'shop'>,
): RefundClaim {
  const { currencies } = context;
  const currency = currencies.known(row.currency);
  const { network } = currencies.option(row.mode, row.currency, row.network);
  const done = stepsDone[row.status];
  const canSetAddress = mayGive && (row.status === 'awaiting_address' || row.status === 'awaiting_approval');
  return {
    mode: row.mode,
    status: row.status,
    kind: row.kind,
    reason: row.reason,
    amount: unitsToNumber(row.amount, currency),
    networkFee: row.network_fee,
    fee: unitsToNumber(row.fee, currency),
    feeKept: feeKept(row, currency),
    cancelReason: row.cancel_reason,
    currency: currency.code,
    currencyName: currency.name,
    network: network.code,
    networkName: network.name,
    txRef,
    shop: { name: merchant.business_name, logo: merchant.logo, supportUrl: merchant.support_url },
    steps: (['address', 'approval', 'sending', 'sent'] as const).map((name, index) => ({
      name,
      state: index < done ? 'done' : index === done ? 'current' : 'open',
    })),
    address: row.address === null ? null : masked(row.address),
    sameWallet: row.same_wallet,
    canSetAddress,
    addressKind: addressFamilies[network.family].kind,
    ...(canSetAddress &&
      isEvm(network.family) && {
        signatureText: signatureText(row, { ...context, shop: merchant.business_name }),
      }),
    ...viewTransaction(row, currencies),
    expiresAt: isoTime(row.expires_at),
    createdAt: isoTime(row.created_at),
  };
}

/** Its ends, by which its owner recognises it: later holders of the link need not learn where the money went. */
function masked(address: string): string {
  return `${address.slice(0, 6)}…${address.slice(-4)}`;
}

interface SignedContext {
  readonly shop: string;
  readonly currencies: Currencies;
  readonly publicUrl: string;
}

/**
 * The text that the paying wallet signs. It names the shop, the checkout, the chain and the refund, so that a
 * signature is worth nothing anywhere else, nor for another refund or address.
 */
export function signatureText(
  row: RefundRow,
  { shop, currencies, publicUrl }: SignedContext,
  address = '{address}',
): string {
  const amount = formatUnits(row.amount, currencies.known(row.currency));
  const { network } = currencies.option(row.mode, row.currency, row.network);
  // The name is the merchant's: it must not add lines, nor stand for the address.
  const name = shop.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}{}]/gu, ' ');
  return [
    `Refund from ${name}`,
    `Checkout: ${new URL(publicUrl).origin}`,
    `Refund: ${row.id}`,
    `Amount: ${amount} ${row.currency}`,
    `Network: ${network.name}, ${network.evm ? `chain ${network.evm.chainId}` : 'a simulated chain'}`,
    `Send it to: ${address}`,
  ].join('\n');
}
