/** Texts of the command palette. */
import { pick } from './pick.js';

export const texts = pick({
  en: {
    title: 'Go to, find or start',
    hint: 'A page, an order, an e-mail, a sum, or what to do',
    results: 'Results',
    nothing: 'Nothing found.',
    groups: { page: 'Page', action: 'Action', record: 'Payment' },
    actions: {
      payments: 'New payment',
      money: 'New transfer',
      customers: 'New customer',
      plans: 'New plan',
      wallets: 'New wallet',
      developers: 'New API key',
      team: 'Add a colleague',
    },
    toTest: 'Switch to test mode',
    toLive: 'Switch to live',
  },
});
