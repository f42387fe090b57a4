/** Texts of the choices of e-mail. */
import { pick } from './pick.js';

export const texts = pick({
  en: {
    own: 'E-mail to you',
    ownText: (email: string, mode: string) =>
      `The messages that the server sends to ${email} about ${mode} mode. No message can move money: each only leads here.`,
    payers: 'E-mail to payers',
    payersText: (mode: string) =>
      `The messages that payers get in ${mode} mode, at the address that they gave.`,
    isOff: 'Nothing is sent until the server’s operator sets SMTP_URL and MAIL_FROM.',
    modes: { test: 'test', live: 'live' },
    kinds: 'Messages',
    language: 'Language of messages',
    replyTo: 'Answers go to',
    replyToHint: 'An e-mail address. Nothing: the address that messages come from.',
    save: 'Save the choice',
    saved: 'Saved',
    test: 'See whether mail arrives',
    staffKinds: {
      needsPerson: 'A payment needs attention: late, short, too much, a wrong coin, undone',
      refundToApprove: 'A refund waits for approval',
      webhookFailing: 'The shop’s server does not take webhooks',
      nodeBehind: 'A network is not read up to now',
      shortage: 'An address holds less than the books say',
      signIn: 'Somebody signed in as you',
      newKey: 'An API key was made',
      digest: 'Each morning: what was paid, and what waits',
    },
    payerKinds: {
      receipt: 'The payment was received, with its receipt',
      part: 'A part arrived: what is missing, and until when',
      over: 'More arrived than was due',
      late: 'Money arrived after the time to pay',
      short: 'The time to pay has ended, and only a part arrived',
      wrong: 'Money arrived that does not pay for the order',
      reversed: 'The network removed a transfer of a paid order',
      refundLink: 'The link by which the payer says where a refund goes',
      refundPaid: 'The refund was sent',
      due: 'The payment of a subscription is due',
      reminder: 'An invoice is due in three days',
      overdue: 'An invoice is overdue',
    },
  },
});
