/** Texts of the limits of refunds. */
import { pick } from './pick.js';

export const texts = pick({
  en: {
    title: 'Refunds',
    daily: 'Refunds a day, at most',
    auto: 'Refunds without approval, up to',
    noLimit: 'No limit',
    allApproved: 'Not set: somebody approves every refund',
    byOwners: 'Owners set these limits.',
    buttons: { dailyRefunds: 'Daily limit…', autoRefund: 'Without approval…' },
    titles: {
      dailyRefunds: 'The most that may be refunded in 24 hours',
      autoRefund: 'Refunds without approval',
    },
    texts: {
      dailyRefunds: 'Above it, nobody can approve a refund.',
      autoRefund:
        'Money above the price, or that did not pay for the order, goes back at once, if the wallet that paid has signed for the address. All other refunds wait for a person.',
    },
    currency: 'Counted in',
    currencyHint: 'Money counts refunds in all coins by their value, a coin only its own.',
    option: (code: string, now: string) => (now.includes(code) ? `${now} now` : `${code}, ${now} now`),
    allCoins: 'All coins together, by their value',
    oneCoin: 'One coin only',
    amount: 'Up to',
    onlyLower: 'It can only be set and lowered here. The server’s command line raises it.',
    emptyRemoves: 'Empty: no limit of this kind.',
    next: 'Continue',
    same: 'That is the limit already',
    previewTitles: { dailyRefunds: 'Set the daily limit?', autoRefund: 'Change what needs approval?' },
    now: 'Now',
    then: 'Then',
    none: { dailyRefunds: 'No limit', autoRefund: 'Not set' },
    effects: {
      daily: (sum: string) =>
        `From now on, refunds above ${sum} within 24 hours are refused. You cannot raise the limit here again.`,
      auto: (sum: string, daily: string) =>
        `From now on, such a refund of at most ${sum} is paid without anybody seeing it, ${daily === '' ? 'and at most ten times as much within 24 hours' : `within the daily limit of ${daily}`}.`,
      removed: (currency: string) => `No refund is approved by its worth in ${currency} any longer.`,
    },
    set: 'Set the limit',
    remove: 'Remove the limit',
    saved: 'Saved',
  },
});
