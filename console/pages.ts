/** The pages, in the order of the menu. Each loads when it is opened. `npm run lists` writes this file from `console/pages/`. */
import { pick } from './messages/pick.js';
import type { Page } from './page.js';

export interface Place {
  readonly name: string;
  /** Its entry in the menu, or in the menu of its parent; pages of one record have none. */
  readonly label?: string;
  /** The entry of the menu that it belongs to. */
  readonly parent?: string;
  /** The call that the role must be allowed for the page to be in the menu. */
  readonly permission: string;
  readonly load: () => Promise<{ readonly default: Page }>;
}

const labels = pick({
  en: {
    home: 'Home',
    payments: 'Payments',
    refunds: 'Refunds',
    money: 'Money',
    books: 'Books',
    links: 'Payment links',
    customers: 'Customers',
    plans: 'Plans',
    subscribers: 'Subscribers',
    wallets: 'Hosted wallets',
    developers: 'Developers',
    settings: 'Settings',
    shop: 'Shop',
    limits: 'Fee and limits',
    mail: 'E-mail to payers',
    team: 'Team',
    account: 'Your account',
    networks: 'Networks',
    audit: 'Audit log',
  },
});

export const places: readonly Place[] = [
  { name: 'home', label: labels.home, permission: 'home.retrieve', load: () => import('./pages/home.js') },
  {
    name: 'payments',
    label: labels.payments,
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
    label: labels.refunds,
    permission: 'refunds.list',
    load: () => import('./pages/refunds.js'),
  },
  { name: 'money', label: labels.money, permission: 'balances.list', load: () => import('./pages/money.js') },
  {
    name: 'transfer',
    parent: 'money',
    permission: 'transfers.retrieve',
    load: () => import('./pages/transfer.js'),
  },
  { name: 'banks', parent: 'money', permission: 'bankPayouts.list', load: () => import('./pages/banks.js') },
  {
    name: 'exports',
    parent: 'money',
    permission: 'payoutExports.list',
    load: () => import('./pages/exports.js'),
  },
  { name: 'sweeps', parent: 'money', permission: 'sweeps.list', load: () => import('./pages/sweeps.js') },
  {
    name: 'checks',
    parent: 'money',
    permission: 'chainChecks.list',
    load: () => import('./pages/checks.js'),
  },
  { name: 'books', label: labels.books, permission: 'books.list', load: () => import('./pages/books.js') },
  { name: 'links', label: labels.links, permission: 'links.list', load: () => import('./pages/links.js') },
  { name: 'link', parent: 'links', permission: 'links.retrieve', load: () => import('./pages/link.js') },
  {
    name: 'customers',
    label: labels.customers,
    permission: 'customers.list',
    load: () => import('./pages/customers.js'),
  },
  {
    name: 'customer',
    parent: 'customers',
    permission: 'customers.retrieve',
    load: () => import('./pages/customer.js'),
  },
  {
    name: 'plans',
    label: labels.plans,
    permission: 'paymentPlans.list',
    load: () => import('./pages/plans.js'),
  },
  {
    name: 'plan',
    parent: 'plans',
    permission: 'paymentPlans.retrieve',
    load: () => import('./pages/plan.js'),
  },
  {
    name: 'subscribers',
    label: labels.subscribers,
    permission: 'subscribers.list',
    load: () => import('./pages/subscribers.js'),
  },
  {
    name: 'wallets',
    label: labels.wallets,
    permission: 'wallets.list',
    load: () => import('./pages/wallets.js'),
  },
  {
    name: 'wallet',
    parent: 'wallets',
    permission: 'wallets.retrieve',
    load: () => import('./pages/wallet.js'),
  },
  {
    name: 'developers',
    label: labels.developers,
    permission: 'webhooks.list',
    load: () => import('./pages/developers.js'),
  },
  {
    name: 'delivery',
    parent: 'developers',
    permission: 'webhooks.retrieve',
    load: () => import('./pages/delivery.js'),
  },
  {
    name: 'settings',
    label: labels.settings,
    permission: 'sessions.list',
    load: () => import('./pages/settings.js'),
  },
  {
    name: 'shop',
    label: labels.shop,
    parent: 'settings',
    permission: 'shop.retrieve',
    load: () => import('./pages/shop.js'),
  },
  {
    name: 'limits',
    label: labels.limits,
    parent: 'settings',
    permission: 'shop.retrieve',
    load: () => import('./pages/limits.js'),
  },
  {
    name: 'mail',
    label: labels.mail,
    parent: 'settings',
    permission: 'payerMail.retrieve',
    load: () => import('./pages/mail.js'),
  },
  {
    name: 'team',
    label: labels.team,
    parent: 'settings',
    permission: 'team.list',
    load: () => import('./pages/team.js'),
  },
  {
    name: 'account',
    label: labels.account,
    parent: 'settings',
    permission: 'sessions.list',
    load: () => import('./pages/account.js'),
  },
  {
    name: 'networks',
    label: labels.networks,
    parent: 'settings',
    permission: 'home.listNetworks',
    load: () => import('./pages/networks.js'),
  },
  {
    name: 'audit',
    label: labels.audit,
    parent: 'settings',
    permission: 'auditLog.list',
    load: () => import('./pages/audit.js'),
  },
];

export const placeOf = (name: string) => places.find((one) => one.name === name);

/** The pages in the menu of a page. */
export const partsOf = (name: string) => places.filter(({ label, parent }) => label && parent === name);
