/** Texts of the counter. */
import { pick } from './pick.js';

export const texts = pick({
  en: {
    title: 'Counter',
    loading: 'One moment …',
    signIn: 'Sign in to the console, then come back here.',
    openConsole: 'Open the console',
    notAllowed: 'Your role may not make payments.',
    noKey: 'The shop has no public key. An owner or manager makes one in the console, under Developers.',
    offline: 'No connection. The amount stays: press again when the connection is back.',
    refused: 'This did not work.',
    currency: 'Currency',
    amount: 'Amount',
    pad: 'Keys for the amount',
    erase: 'Erase',
    charge: 'Charge',
    chargeAmount: (amount: string) => `Charge ${amount}`,
    asking: 'Making the payment …',
    stop: 'Another amount',
    paid: 'Paid',
    next: 'Next customer',
    test: 'Test mode: no real money',
  },
});
