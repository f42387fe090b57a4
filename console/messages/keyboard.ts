/** Texts of the list of keys. */
import { pick } from './pick.js';

export const texts = pick({
  en: {
    title: 'Keyboard',
    of: [
      ['/', 'Search'],
      ['Ctrl K', 'Go to a page or a payment, or start something'],
      ['j', 'Next row'],
      ['k', 'Previous row'],
      ['Enter', 'Open the row'],
      ['?', 'This list'],
      ['Esc', 'Close'],
    ] as const,
  },
});
