/** Answers a payer who asks whether a transaction has paid their payment. It only reads. */
import type { TransferCheck } from 'crypto-checkout/contract';
import { exactNumber } from '../money/units.js';
import { Problem } from '../shared/problem.js';
import { shownConfirmations } from './depth.js';
import type { PaymentsDeps } from './payments-deps.js';
import { isLive } from './receipts/receipt-store.js';
import { viewReceipts } from './receipts/view.js';
import { listReceiptsOf, type StoredRecord } from './store.js';

/** @param hash 64 hexadecimal digits, with or without 0x. Problems: `currency_not_set`, `chain_unavailable` */
export async function checkTransfer(
  { database: { reader }, currencies, findTransfers }: PaymentsDeps,
  payment: StoredRecord,
  hash: string,
  signal: AbortSignal,
): Promise<TransferCheck> {
  const { network: code, address, mode } = payment;
  if (payment.locked_at === null || code === null || address === null) {
    throw new Problem('currency_not_set', 'The payment has no address yet: choose and lock a currency first');
  }
  const sumOf = (alike: readonly { readonly amount: bigint; readonly currency: string }[]) =>
    exactNumber(
      alike.reduce((sum, { amount }) => sum + amount, 0n),
      currencies.known(alike[0]?.currency ?? '').decimals,
    );
  const bare = hash.toLowerCase().replace(/^0x/, '');
  const booked = (await listReceiptsOf(reader, payment.id, bare)).filter(isLive);
  const views = viewReceipts(payment, booked, currencies);
  const first = views.find(({ counts }) => counts) ?? views[0];
  if (first) {
    const { counts, currency, network, confirmations, requiredConfirmations } = first;
    const amount = sumOf(booked.filter((one) => one.currency === currency && one.network === network));
    const answer = counts ? 'paid_this' : 'other_coin';
    return { answer, network, currency, amount, confirmations, requiredConfirmations };
  }

  const network = currencies.network(mode, code);
  if (!network) {
    throw new Problem(
      'chain_unavailable',
      `This server no longer reads ${code}, so nothing is known about this transfer`,
    );
  }
  const found = await findTransfers({ mode, network: code }, bare, signal);
  if (found === undefined) return { answer: 'unknown', network: code };
  if (found === 'failed') return { answer: 'failed', network: code };
  const here = found.filter((transfer) => transfer.address === address);
  const right = here.filter(({ currency }) => currency === payment.currency);
  const [one] = right.length > 0 ? right : here;
  if (!one) return { answer: 'other_address', network: code };
  return {
    answer: right.length > 0 ? 'paid_this' : 'other_coin',
    network: code,
    currency: one.currency,
    amount: sumOf(here.filter(({ currency }) => currency === one.currency)),
    // One node says so. The books follow when the block was read, and with them the depth.
    confirmations: 0,
    requiredConfirmations: shownConfirmations(payment.required_confirmations, network),
  };
}
