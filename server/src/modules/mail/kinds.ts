/** The kinds of messages to payers, and the events that cause them. */
import {
  payerMailKinds as kinds,
  type PayerMailKind as Kind,
  type PaymentRecord,
  type WebhookEventType,
} from 'crypto-checkout/contract';

export { kinds, type Kind };

export const isPayerKind = (kind: string): kind is Kind => kinds.some((one) => one === kind);

/** A sentence about each, for help and pages. */
export const kindTexts: Readonly<Record<Kind, string>> = {
  receipt: 'the payment was received, with its receipt',
  part: 'a part arrived: what is missing, and until when',
  over: 'more arrived than was due',
  late: 'money arrived after the time to pay',
  short: 'the time to pay has ended, and only a part arrived',
  wrong: 'money arrived that does not pay for the order',
  reversed: 'the network removed a transfer of a paid order',
  refundLink: 'the link by which the payer says where a refund goes',
  refundPaid: 'the refund was sent',
  due: 'the payment of a subscription is due',
  reminder: 'an invoice is due in three days',
  overdue: 'an invoice is overdue',
};

const byEvent: Readonly<Partial<Record<WebhookEventType, Kind>>> = {
  'payment.success': 'receipt',
  'payment.partial': 'part',
  'payment.overpaid': 'over',
  'payment.error': 'short',
  'payment.unaccepted': 'wrong',
  'payment.reversed': 'reversed',
  'refund.paid': 'refundPaid',
  'subscription.payment_due': 'due',
};

/** The kind of message that an event causes; undefined if none. */
export const kindOf = (type: WebhookEventType): Kind | undefined => byEvent[type];

/** False once a message would say what is no longer so. */
export function isCurrent(kind: Kind, { state, findings = [], isCurrencyLocked }: PaymentRecord): boolean {
  switch (kind) {
    case 'receipt':
      // `over` says that the order is paid.
      return (state === 'settled' || state === 'settled_late') && !findings.includes('over');
    case 'part':
      return state === 'partially_paid';
    case 'over':
      return state === 'settled_over' || findings.includes('over');
    case 'short':
      return state === 'expired_partial';
    case 'late':
      return state === 'expired_late' || state === 'expired_partial' || state === 'cancelled_paid';
    case 'reversed':
      return state === 'reversed';
    case 'due':
      return (
        state === 'created' || state === 'currency_set' || (isCurrencyLocked && state === 'awaiting_funds')
      );
    default:
      return true;
  }
}
