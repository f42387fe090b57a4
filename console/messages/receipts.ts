/** Texts of the receipt that a payer gets. */
import { pick } from './pick.js';

interface Receipt {
  readonly order: string;
  readonly price: string;
  readonly paid: string;
  readonly network: string;
  readonly day: string;
  readonly url: string;
}

export const texts = pick({
  en: {
    title: (order: string) => `Receipt of ${order}`,
    text: ({ order, price, paid, network, day, url }: Receipt) =>
      `Receipt for ${order}: ${price}, paid with ${paid}${network === '' ? '' : ` on ${network}`} on ${day}. ${url}`,
    copyText: 'Text for the payer',
    link: 'Link',
    open: 'Open',
    mail: 'By e-mail',
    goesTo: (email: string) => `To ${email}`,
    send: 'Send by e-mail',
    sendAgain: 'Send it again',
    wasSent: (email: string, age: string) => `Sent to ${email}, ${age}`,
    isWaiting: (email: string, age: string) => `Asked for ${age}, and on its way to ${email}`,
    sentMeanwhile: 'It was sent already, so it is not sent twice',
    sent: 'The receipt is being sent',
    blockers: {
      off: 'No mail server is set up here. Copy the text or the link instead.',
      unpaid: 'The payment is not paid.',
      no_address: 'The payment has no e-mail address. Copy the text or the link instead.',
      unwanted: 'The payer has ended your messages. Copy the text or the link instead.',
    },
  },
});
