/** Texts of the first page. */
import type { AttentionCode } from '../../src/contract/home.js';
import { pick } from './pick.js';

const attention: Readonly<Record<AttentionCode, (count: number) => string>> = {
  payments_late: (count) => `${count} paid late`,
  payments_short: (count) => `${count} paid too little`,
  payments_excess: (count) => `${count} paid too much`,
  payments_wrong_coin: (count) => `${count} paid in a wrong coin`,
  payments_reversed: (count) => `${count} taken back by the network`,
  refunds_to_approve: (count) => `${count} refunds wait for approval`,
  refunds_failed: (count) => `${count} refunds failed`,
  transfers_waiting: (count) => `${count} transfers wait to be sent`,
  webhooks_failing: (count) => `${count} webhooks are refused by your server, and tried again`,
  webhooks_failed: (count) => `${count} webhooks were given up`,
  webhooks_off: () => 'No webhook URL is set, so your shop is told nothing',
  balances_suspended: (count) => `${count} balances are suspended`,
  books_differ: (count) => `${count} addresses hold other sums than the books say`,
  payments_stuck: (count) => `${count} payments are set aside`,
  networks_failing: (count) => `${count} networks cannot be read`,
  rates_missing: (count) => `${count} rates are missing`,
};

export const texts = pick({
  en: {
    title: 'Home',
    attention: 'Needs a person',
    attentionOf: attention,
    calm: 'Nothing waits for you.',
    operator: 'Only whoever runs the server can look further.',
    volume: 'Paid in full',
    today: 'Today',
    month: 'Last 31 days',
    payments: (count: number) => (count === 1 ? '1 payment' : `${count.toLocaleString('en')} payments`),
    noVolume: 'Nothing was paid in the last 31 days.',
    chart: (currency: string) => `Paid in ${currency} on each of the last 31 days`,
  },
});
