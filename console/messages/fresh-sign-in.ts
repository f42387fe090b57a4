/** Texts of the question for a fresh sign-in. */
import { pick } from './pick.js';

export const texts = pick({
  en: {
    title: 'Sign in again for this',
    text: 'Money, keys and the team need a sign-in within the last 10 minutes. Use a passkey, or open a new sign-in link in this browser, then press “Continue”. Nothing was done.',
    link: 'Another owner makes a link for you under Settings, Team. On the server, this command makes one:',
    goOn: 'Continue',
    passkey: 'Use a passkey',
  },
});
