/** Words for the order's history: what happened to a payment, and what its shop should do. */
import type { MerchantClient, Verification } from 'crypto-checkout/client';

export type Transaction = Awaited<ReturnType<MerchantClient['transactions']['verify']>>['data'];
export type Refund = Awaited<ReturnType<MerchantClient['refunds']['retrieve']>>['data'];

/** `key` is the same while there is nothing new to say. */
export interface Note {
  readonly key: string;
  readonly text: string;
}

/**
 * The state of a payment in words; none while everything is as it should be.
 * @param link the payment in the console
 */
export function notesOf(
  transaction: Transaction,
  { isOverpaid, failed }: Verification,
  link: string,
): Note[] {
  const { state = '', currency = '', amount = 0, amountSeen = 0, amountReceived = 0, id } = transaction;
  const coins = (value: number) => `${value} ${currency}`;
  const credited = (transaction.credited ?? [])
    .map((credit) => `${credit.amount} ${credit.currency}`)
    .join(' and ');
  const say = (key: string, text: string): Note => ({
    key: `${id}:${key}`,
    text: `${testMark(transaction)}${text} ${link}`,
  });
  const reversals = transaction.transactionTimeLog.filter(({ code }) => code === 'reversed').length;
  const texts: Readonly<Record<string, () => Note>> = {
    partially_paid: () =>
      say(
        `part:${amountSeen}`,
        `Crypto: ${coins(amountSeen)} of ${coins(amount)} was sent. The payment stays open for the rest.`,
      ),
    settled_late: () => say('late', `Crypto: it was paid after its time was up, and was accepted.`),
    expired: () => say('expired', 'Crypto: nothing arrived in time. The customer can pay again.'),
    expired_partial: () =>
      say(
        `short:${amountReceived}`,
        `Crypto: time was up, and only ${credited || coins(amountReceived)} of ${coins(amount)} arrived. It is credited to you: refund it.`,
      ),
    expired_late: () =>
      say(
        `late:${credited}`,
        `Crypto: ${credited || coins(amount)} arrived too late. It is credited to you, and does not pay for the order: refund it.`,
      ),
    invalid: () =>
      say(`wrong:${credited}`, `Crypto: money arrived that does not count: ${credited}. Refund it.`),
    reversed: () =>
      say(
        `reversed:${reversals}`,
        'Crypto: the network removed the transfer of this payment. Do not deliver the order.',
      ),
    cancelled: () => say('cancelled', 'Crypto: the payment was cancelled.'),
    cancelled_paid: () =>
      say(
        `cancelled:${credited}`,
        `Crypto: ${credited} arrived after the payment was cancelled. It is credited to you: refund it.`,
      ),
  };
  const notes = [texts[state]?.()];
  const isPaid = state.startsWith('settled');
  if (isPaid && reversals > 0) {
    notes.push(say(`again:${reversals}`, 'Crypto: money came again, and the payment is complete again.'));
  }
  const { accepted } = transaction;
  if (isPaid && accepted && accepted.amount < amount) {
    notes.push(
      say(
        `accepted:${accepted.amount}`,
        `Crypto: ${coins(accepted.amount)} was accepted instead of ${coins(amount)}.`,
      ),
    );
  }
  const over = isPaid && isOverpaid;
  if (over) {
    notes.push(
      say(
        `over:${amountReceived}`,
        `Crypto: ${coins(amountReceived)} arrived, more than the ${coins(amount)} due. Refund the excess.`,
      ),
    );
  }
  const others = transaction.findings?.filter((finding) => finding.startsWith('wrong_')) ?? [];
  if (others.length > 0 && state !== 'invalid') {
    notes.push(
      say(`other:${credited}`, `Crypto: money in another coin or on another network arrived: ${credited}.`),
    );
  }
  const isRefunded = (transaction.refundedAmount ?? 0) > 0;
  if (transaction.status === 'success' && failed.length > 0 && !isRefunded) {
    const why = failed.map(({ message }) => message).join(' ');
    notes.push(say(`refused:${why}`, `Crypto: money arrived that does not pay for this order. ${why}`));
  }
  return notes.filter((note) => note !== undefined);
}

/** Anybody can make a test payment succeed, so no sentence about one looks like one about money. */
export const testMark = ({ mode }: Transaction) => (mode === 'test' ? '[test money] ' : '');

/** A refund in words, by its status. */
export function noteOfRefund({ id, status, amount, currency, txHash }: Refund, link: string): Note {
  const money = `${amount} ${currency}`;
  const texts: Readonly<Record<Refund['status'], string>> = {
    awaiting_address: `waits until the payer says where to.`,
    awaiting_approval: `waits for your approval: the payer has given an address.`,
    approved: 'is approved.',
    processing: 'is being sent.',
    paid: `is paid, by the transaction ${txHash ?? ''}.`,
    cancelled: 'was cancelled.',
    expired: 'has expired: nobody gave an address.',
    failed: 'failed, and its money is available again. Create another one.',
  };
  return { key: `refund:${id}:${status}`, text: `Crypto: the refund of ${money} ${texts[status]} ${link}` };
}
