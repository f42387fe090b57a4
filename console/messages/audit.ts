/** Texts of the audit log: a sentence for each action. The words in braces lead to the record. */
import { pick } from './pick.js';

type Fields = Readonly<Record<string, unknown>>;

export interface Audited {
  /** The fields of before and after, the later ones first. */
  readonly fields: Fields;
  readonly before: Fields;
  readonly after: Fields;
  /** A colleague's e-mail address, or a passkey's name; empty if the log knows none. */
  readonly named: string;
  /** An amount of the entry, as people read it; empty if it has none. */
  readonly sum: string;
}

const text = (value: unknown) =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';
const of = (sum: string) => (sum === '' ? '' : ` of ${sum}`);
const inQuotes = (value: unknown) => (text(value) === '' ? '' : ` “${text(value)}”`);
const counted = (value: unknown, one: string, many: string) => {
  const count = Array.isArray(value) ? value.length : Number(value);
  return count === 1 ? `{${one}}` : Number.isFinite(count) ? `{${count} ${many}}` : `{${many}}`;
};
const keyOf = ({ fields }: Audited) =>
  `the ${text(fields['mode'])} ${text(fields['kind'])} {key} …${text(fields['last4'])}${inQuotes(fields['label'])}`;
const transfers = ({ after }: Audited) => counted(after['transfers'], 'a transfer', 'transfers');

const english = {
  'merchant.created': () => 'opened the account',
  'merchant.updated': ({ after }: Audited) => {
    const names = Object.keys(after).map((name) => settings[name] ?? name);
    return `changed the {settings}: ${names.join(', ')}`;
  },
  // The address may be longer than a line: it is among the details.
  'webhook.set': () => 'set the address of the {webhook}',
  'webhook.removed': () => 'removed the {webhook}',
  'webhook.disabled': () => 'turned the {webhook} off, since it answered 410 Gone',
  'webhook.secret_rotated': () => 'made a new secret for the {webhook}',
  'key.created': (one: Audited) => `made ${keyOf(one)}`,
  'key.revoked': (one: Audited) => `revoked ${keyOf(one)}`,
  'wallet_address.created': ({ after }: Audited) =>
    `saved an {address} of ${text(after['currency']) || 'coins'}`,
  'wallet_address.made_primary': () => 'made a saved {address} the first choice',
  'deposit_key.set': ({ after }: Audited) => `set a deposit key for ${text(after['family']) || 'a network'}`,
  'deposit_key.withdrawn': () => 'withdrew a deposit key before it took effect',
  'deposit_key.took_effect': () => 'began to use a deposit key',
  'deposit_key.skipped': () => 'skipped addresses of a deposit key',
  'balance.suspended': ({ fields }: Audited) =>
    `stopped payouts of {${text(fields['currency']) || 'a balance'}}`,
  'balance.resumed': ({ fields }: Audited) =>
    `allowed payouts of {${text(fields['currency']) || 'a balance'}} again`,
  'balance.reconciled': ({ sum }: Audited) => `corrected a {balance} by what the chain says${of(sum)}`,
  'transfer.created': ({ sum }: Audited) => `asked for a {transfer}${of(sum)}`,
  'transfer.settled': () => 'recorded that a {transfer} was paid',
  'transfer.failed': () => 'gave up a {transfer}, whose amount is available again',
  'transfer.exported': (one: Audited) => `took out ${transfers(one)} for a wallet to sign`,
  'transfer.released': () => 'released a {transfer} that a wallet had been given',
  'transfer.handed': (one: Audited) => `handed ${transfers(one)} to a wallet`,
  'transfer.wallet_answered': ({ after }: Audited) =>
    `kept the wallet’s answer for ${counted(after['transfers'], 'a transfer', 'transfers')}`,
  'transfer.paid_late': () => 'saw a {transfer} paid on the chain that was given up, or was paid twice',
  'payout.created': ({ sum }: Audited) => `asked for a {payout}${of(sum)}`,
  'payout.settled': () => 'recorded that a {payout} was paid',
  'payout.failed': () => 'gave up a {payout}, whose amount is available again',
  'payment.accepted': ({ sum, after }: Audited) =>
    `accepted ${sum || 'less'} as the whole of a {payment}${inQuotes(after['note'])}`,
  'sandbox.reset': () => 'deleted all test data',
  'refund.created': ({ sum }: Audited) => `asked for a {refund}${of(sum)}`,
  'refund.approved': ({ sum }: Audited) => `approved a {refund}${of(sum)}`,
  'refund.cancelled': ({ sum }: Audited) => `cancelled a {refund}${of(sum)}`,
  'refund.linked': ({ sum }: Audited) => `made a new link for a {refund}${of(sum)}`,
  'psbt.exported': (one: Audited) => `took out ${transfers(one)} as a transaction to sign`,
  'psbt.bumped': () => 'raised the fee of a {transaction to sign}',
  'psbt.imported': () => 'brought back a signed {transaction}',
  'psbt.discarded': () => 'discarded a {transaction to sign}',
  'treasury.explained': ({ after }: Audited) =>
    `explained a {payment of the treasury}${inQuotes(after['note'])}`,
  'sweep.sent': () => 'handed a {sweep} to a wallet',
  'restore.confirmed': () => 'confirmed that the database was restored',
  'customer.erased': () => 'erased a {customer}',
  'link.created': ({ after }: Audited) => `made the {payment link}${inQuotes(after['title'])}`,
  'link.updated': ({ fields }: Audited) => `changed a {payment link}${inQuotes(fields['title'])}`,
  'mail.chosen': () => 'chose the {e-mail to payers}',
  'mail.staff_chosen': () => 'chose their own {e-mail}',
  'person.invited': ({ named, after }: Audited) => `added {${named}} to the team as ${text(after['role'])}`,
  'person.link_made': ({ named }: Audited) => `made a sign-in link for {${named}}`,
  'person.role_changed': ({ named, before, after }: Audited) =>
    `changed the role of {${named || 'a person'}} from ${text(before['role'])} to ${text(after['role'])}`,
  'person.removed': ({ named }: Audited) => `removed {${named}} from the team`,
  'person.signed_out': ({ named }: Audited) => `ended all sessions of {${named}}`,
  'person.erased': () => 'erased who an earlier colleague was',
  'session.started': ({ after }: Audited) =>
    after['by'] === 'passkey' ? 'signed in with a passkey' : 'signed in with a link',
  'session.ended': ({ after }: Audited) =>
    'of' in after
      ? 'ended a {session} of a colleague'
      : after['everywhere'] === true
        ? 'signed out everywhere'
        : 'ended a session of their own',
  'passkey.added': ({ named }: Audited) => `added the passkey${inQuotes(named)}`,
  'passkey.removed': ({ named }: Audited) => `removed the passkey${inQuotes(named)}`,
  'console.change': ({ after }: Audited) => calls[text(after['call'])] ?? `called {${text(after['call'])}}`,
};

/** Changes in the console that have no action of their own. */
const calls: Readonly<Record<string, string>> = {
  'payments.create': 'made a {payment}',
  'payments.cancel': 'cancelled a {payment}',
  'transactions.resendWebhook': 'sent the webhooks of a {payment} again',
  'customers.create': 'added a {customer}',
  'customers.update': 'changed a {customer}',
  'paymentPlans.create': 'made a {plan}',
  'paymentPlans.update': 'changed a {plan}',
  'subscribers.create': 'added a {subscriber}',
  'subscribers.remove': 'ended a {subscription}',
  'wallets.create': 'made a {hosted wallet}',
  'wallets.remove': 'closed a {hosted wallet}',
  'webhooks.retry': 'sent a {webhook} again',
  'webhooks.retryFailed': 'sent the failed {webhooks} again',
};

const settings: Readonly<Record<string, string>> = {
  name: 'the account’s name',
  businessName: 'name that payers see',
  logo: 'logo',
  supportUrl: 'help for payers',
  redirectOrigins: 'where pages may send payers',
  feeBasisPoints: 'service fee',
  transfers: 'where transfers may go',
  dailyLimits: 'transfers a day',
  dailyRefunds: 'refunds a day',
  autoRefund: 'refunds without approval',
  booksCurrency: 'the books’ currency',
  timeZone: 'the time zone',
};

export type DescribedAction = keyof typeof english;

export const texts = pick({
  en: {
    title: 'Audit log',
    when: 'When',
    what: 'Event',
    details: 'Details',
    person: 'Person',
    action: 'Action',
    empty:
      'Nothing was changed yet. Each change of keys, money, settings and the team will be here, with who made it.',
    command: 'Check that nobody changed the log',
    onlyBy: (name: string) => `Only what ${name} did`,
    erased: 'Somebody who was erased',
    server: 'The server',
    record: 'Record',
    request: 'By',
    before: 'Before',
    after: 'After',
    sentences: english,
    /** In the list of actions. */
    actionOf: (action: string) => action.replaceAll('_', ' ').replace('.', ': '),
  },
});
