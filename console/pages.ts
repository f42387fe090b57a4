/** The pages, in the order of the menu. Each is loaded when it is opened. */
import { menuTexts } from './messages/common.js';
import type { Page } from './page.js';

export interface Place {
  readonly name: string;
  /** Its entry in the menu; pages of one record have none. */
  readonly label?: string;
  /** Which entry of the menu it belongs to. */
  readonly parent?: string;
  /** What the role must be able to call for the page to be in the menu. */
  readonly permission: string;
  readonly load: () => Promise<{ readonly default: Page }>;
}

export const places: readonly Place[] = [
  {
    name: 'home',
    label: menuTexts.home,
    permission: 'home.retrieve',
    load: () => import('./pages/home.js'),
  },
  {
    name: 'payments',
    label: menuTexts.payments,
    permission: 'transactions.list',
    load: () => import('./pages/payments.js'),
  },
  {
    name: 'payment',
    parent: 'payments',
    permission: 'transactions.retrieve',
    load: () => import('./pages/payment.js'),
  },
  {
    name: 'refunds',
    label: menuTexts.refunds,
    permission: 'refunds.list',
    load: () => import('./pages/refunds.js'),
  },
];

export const placeOf = (name: string) => places.find((one) => one.name === name);
