/** The kinds of messages to a merchant's own people, the calls that show the same, and what causes them. */
import type { PaymentRecord, StaffMailKind, Unaccepted, WebhookEventType } from 'crypto-checkout/contract';

/** A sentence about each, for help and pages. */
export const staffKindTexts: Readonly<Record<StaffMailKind, string>> = {
  needsPerson: 'money came late, short, in excess or in a wrong coin, or was undone',
  refundToApprove: 'a refund has an address, and waits for approval',
  webhookFailing: "the shop's server does not take webhooks",
  nodeBehind: 'a network is not read up to now',
  shortage: 'an address holds less than the books say',
  signIn: 'somebody signed in as this person',
  newKey: 'an API key was made',
  digest: 'each morning of the shop’s time zone: what was paid the day before, and what waits',
};

/** The call that a role must be allowed. */
export const shownBy: Readonly<Record<StaffMailKind, string>> = {
  needsPerson: 'transactions.retrieve',
  refundToApprove: 'refunds.list',
  webhookFailing: 'webhooks.list',
  nodeBehind: 'home.listNetworks',
  shortage: 'balances.list',
  signIn: 'sessions.list',
  newKey: 'apiKeys.list',
  digest: 'home.retrieve',
};

/** Its page in the console. */
export const pageOf: Readonly<Record<StaffMailKind, string>> = {
  needsPerson: 'payment',
  refundToApprove: 'refunds',
  webhookFailing: 'developers',
  nodeBehind: 'settings',
  shortage: 'money',
  signIn: 'settings',
  newKey: 'developers',
  digest: 'home',
};

export const reasons = ['whyLate', 'whyShort', 'whyOver', 'whyWrong', 'whyReversed'] as const;
export type Reason = (typeof reasons)[number];

const byEvent: Readonly<Partial<Record<WebhookEventType, Reason>>> = {
  'payment.late': 'whyLate',
  'payment.error': 'whyShort',
  'payment.overpaid': 'whyOver',
  'payment.unaccepted': 'whyWrong',
  'payment.reversed': 'whyReversed',
};

/** Why an event needs a person; undefined if it does not. */
export function reasonOf(
  type: WebhookEventType,
  { state, unaccepted }: Partial<PaymentRecord> & { readonly unaccepted?: Unaccepted },
): Reason | undefined {
  const reason = byEvent[type];
  if (reason === 'whyWrong' && unaccepted?.reason === 'late') return 'whyLate';
  return reason === 'whyShort' && state !== 'expired_partial' ? undefined : reason;
}
