/** Finds the message to a payer that an event causes. */
import type { PaymentRecord, Unaccepted } from 'crypto-checkout/contract';
import { money } from '../../core/money/shown.js';
import type { NewEvent } from '../../core/webhooks/outbox.js';
import { isCurrent, kindOf, type Kind } from './kinds.js';
import type { MailRow } from './tables.js';

/** The kind of a message, its payment, and more facts of it. */
export type Subject = Partial<MailRow> & { readonly kind: Kind; readonly payment_id: string };

/** The message that an event causes; undefined if none. */
export function subjectOf({ type, subjectId, data }: NewEvent): Subject | undefined {
  const kind = kindOf(type);
  if (kind === undefined) return undefined;
  if (kind === 'due') return { kind, payment_id: (data['payment'] as PaymentRecord).id };
  if (kind === 'refundPaid') {
    const { paymentId, amount, currency, txHash } = data;
    return {
      kind,
      payment_id: String(paymentId),
      amount: money(Number(amount), String(currency)),
      tx_hash: typeof txHash === 'string' ? txHash : null,
    };
  }
  if (kind === 'wrong') {
    const { amount, currency, reason } = data['unaccepted'] as Unaccepted;
    // Also of money that comes after the first that was late.
    if (reason === 'late') return { kind: 'late', payment_id: subjectId };
    return { kind, payment_id: subjectId, amount: money(amount, currency) };
  }
  // The cast is safe: the record is what the other events carry.
  return isCurrent(kind, data as unknown as PaymentRecord) ? { kind, payment_id: subjectId } : undefined;
}
