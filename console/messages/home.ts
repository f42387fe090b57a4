/** Texts of the first page. */
import type { AttentionCode } from '../../src/contract/home.js';
import { pick } from './pick.js';

const counted = (count: number, one: string, many: string): string =>
  count === 1 ? `1 ${one}` : `${count.toLocaleString('en')} ${many}`;

const attention: Readonly<Record<AttentionCode, (count: number) => string>> = {
  payments_late: (count) => `${count} paid late`,
  payments_short: (count) => `${count} paid too little`,
  payments_excess: (count) => `${count} paid too much`,
  payments_wrong_coin: (count) => `${count} paid in a wrong coin`,
  payments_reversed: (count) => `${count} reverted by the network`,
  refunds_to_approve: (count) => counted(count, 'refund waits for approval', 'refunds wait for approval'),
  refunds_failed: (count) => counted(count, 'refund failed', 'refunds failed'),
  transfers_waiting: (count) => counted(count, 'transfer waits to be sent', 'transfers wait to be sent'),
  webhooks_failing: (count) =>
    counted(
      count,
      'webhook is refused by your server, and tried again',
      'webhooks are refused by your server, and tried again',
    ),
  webhooks_failed: (count) => counted(count, 'webhook was given up', 'webhooks were given up'),
  webhooks_off: () => 'Webhooks are off: your server answered that the address is gone',
  balances_suspended: (count) => counted(count, 'balance is suspended', 'balances are suspended'),
  books_differ: (count) =>
    counted(
      count,
      'address holds a different amount from the books',
      'addresses hold different amounts from the books',
    ),
  payments_stuck: (count) =>
    counted(
      count,
      'payment cannot be brought up to date, and is tried again',
      'payments cannot be brought up to date, and are tried again',
    ),
  networks_failing: (count) => counted(count, 'network has a problem', 'networks have problems'),
  rates_missing: (count) =>
    counted(
      count,
      'coin has no exchange rate now, so nobody can choose it',
      'coins have no exchange rate now, so nobody can choose them',
    ),
};

export const texts = pick({
  en: {
    title: 'Home',
    attention: 'Needs attention',
    attentionOf: attention,
    mine: 'Assigned to you',
    since: 'Since',
    calm: 'Nothing to do. Money that came short, late or twice, and refunds to approve, will be here.',
    passkey: 'Sign in without a link next time',
    passkeyText: 'A passkey signs you in with a finger, a face or a PIN, and confirms what moves money.',
    passkeyAdd: 'Add a passkey',
    passkeyLater: 'Not now',
    operator: 'The server’s operator sees why:',
    volume: 'Paid in full',
    today: 'Today',
    week: 'Last 7 days',
    /** Compared with the 7 days before. */
    change: (sum: string, before: string) => {
      if (before === '0') return 'nothing in the 7 before';
      const percent = Math.round((Number(sum) / Number(before) - 1) * 100);
      return `${percent >= 0 ? '+' : '−'}${Math.abs(percent)} % on the 7 before`;
    },
    bar: (day: string, sum: string, count: number) =>
      `${day}: ${sum}, ${counted(count, 'payment', 'payments')}`,
    daysIn: (zone: string) => `Days in ${zone}`,
    month: 'Last 31 days',
    payments: (count: number) => counted(count, 'payment', 'payments'),
    noVolume: 'Nothing was paid in the last 31 days.',
    chart: (currency: string) => `Paid in ${currency} on each of the last 31 days`,
  },
});
