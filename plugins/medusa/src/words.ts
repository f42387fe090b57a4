/** Sentences about a payment, for its order. */
import type { Answer, Transaction } from './answer.js';

type Refund = NonNullable<Transaction['refunds']>[number];

/** One sentence about the payment. */
export function paymentWords({ transaction, verification, paidAgain }: Answer): string {
  const { state, status, currency = '', amount = 0, amountReceived = 0, amountSeen = 0 } = transaction;
  const findings = transaction.findings ?? [];
  const got = `${amountReceived} ${currency}`;
  if (paidAgain.length > 0) {
    return `Paid twice. Refund ${paidAgain.map(({ id }) => id).join(', ')}.`;
  }
  if (state === 'reversed') return 'The network removed the transfer. Do not deliver the order.';
  if (verification.verified && verification.isOverpaid)
    return `Paid with ${got}; ${amount} were due. Refund the rest.`;
  if (verification.verified && transaction.accepted && amountReceived < amount)
    return `Paid with ${got}, which you accepted instead of ${amount}.`;
  if (verification.verified && findings.includes('late')) return `Paid with ${got}, after the time to pay.`;
  if (verification.verified) return `Paid with ${got}.`;
  if (status === 'success') {
    return (transaction.refundedAmount ?? 0) > 0
      ? `Paid, and refunded: ${transaction.refundedAmount} ${currency}.`
      : `Not settled. ${verification.failed.map(({ message }) => message).join(' ')}`;
  }
  if (status === 'in progress') {
    if (amountSeen === 0) return 'Waits for the payer.';
    return amountSeen < amount
      ? `A part came: ${amountSeen} of ${amount} ${currency}.`
      : `${amountSeen} ${currency} came, and are being confirmed.`;
  }
  const ended = status === 'cancelled' ? 'Cancelled' : 'The time to pay is over';
  const came = creditedWords(transaction);
  return came === '' ? `${ended}: nothing came.` : `${ended}, but money came: ${came}. Refund it.`;
}

/** One sentence for each refund. The order says "waits" until the money is out. */
export function refundWords({ refunds = [] }: Transaction): string {
  return refunds.map((refund) => `${refund.amount} ${refund.currency} ${stepOf(refund)}.`).join(' ');
}

function stepOf({ status, txHash }: Refund): string {
  switch (status) {
    case 'awaiting_address':
      return 'wait for the address of the payer';
    case 'awaiting_approval':
      return 'wait for your approval in the console';
    case 'approved':
    case 'processing':
      return 'are being sent';
    case 'paid':
      return `were paid back${txHash === undefined ? '' : ` with ${txHash}`}`;
    case 'cancelled':
      return 'stay: the refund was cancelled';
    case 'expired':
      return 'stay: the payer gave no address in time';
    case 'failed':
      return 'could not be sent: create another refund in the console';
    default:
      return status satisfies never;
  }
}

/** The money that was credited, in each coin; empty if there is none. */
export function creditedWords({ credited = [] }: Transaction): string {
  return credited
    .filter(({ amount }) => amount > 0)
    .map(({ amount, currency }) => `${amount} ${currency}`)
    .join(', ');
}
