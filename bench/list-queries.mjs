/** The lists and filters to measure, and the console pages' other reads. */

/**
 * @typedef {object} ListQuery
 * @property {string} name
 * @property {string} path including the query string
 * @property {(pagination: { total: number, count: number }) => number} [page] which page to request; by default the first
 */

const day = 86_400_000;
const date = (/** @type {number} */ daysAgo) =>
  new Date(Date.now() - daysAgo * day).toISOString().slice(0, 10);
const last = (/** @type {{ total: number }} */ { total }) => Math.max(1, Math.floor(total / 25));
const middle = (/** @type {{ total: number }} */ { total }) => Math.max(1, Math.floor(total / 50));
const week = `from=${date(7)}`;
const month = `from=${date(400)}&to=${date(370)}`;
const old = `to=${date(365)}`;

/** A list without filters, for spans of time, and its middle and last pages. @param {string} path @returns {ListQuery[]} */
const spans = (path) => [
  { name: path, path: `/v1/${path}` },
  { name: `${path}, 100 rows`, path: `/v1/${path}?skip=100` },
  // One row, because the smaller database has fewer than a page of them for some resources.
  { name: `${path}, last week`, path: `/v1/${path}?${week}&skip=1` },
  { name: `${path}, a month`, path: `/v1/${path}?${month}` },
  { name: `${path}, until a year ago`, path: `/v1/${path}?${old}` },
  { name: `${path}, middle page`, path: `/v1/${path}`, page: middle },
  { name: `${path}, last page`, path: `/v1/${path}`, page: last },
];

/** @param {string} path @param {readonly string[]} filters @returns {ListQuery[]} */
const filtered = (path, filters) =>
  filters.map((filter) => ({ name: `${path}, ${filter}`, path: `/v1/${path}?${filter}` }));

/** The middle and last pages of a filter. @param {string} path @param {string} filter @returns {ListQuery[]} */
const deep = (path, filter) => [
  { name: `${path}, ${filter}, middle page`, path: `/v1/${path}?${filter}`, page: middle },
  { name: `${path}, ${filter}, last page`, path: `/v1/${path}?${filter}`, page: last },
];

/** A payment of the first merchant. */
const one = '11'.padStart(26, '0');

/** @type {readonly ListQuery[]} */
export const listQueries = [
  { name: 'home', path: '/v1/home' },
  { name: 'payment', path: `/v1/transactions/${one}` },
  { name: 'payment, its receipts', path: `/v1/transactions/${one}/receipts` },
  { name: 'payment, its refunds', path: `/v1/refunds?paymentId=${one}` },
  { name: 'payment, its webhooks', path: `/v1/webhooks?subjectId=${one}` },
  { name: 'balances', path: '/v1/balances' },
  { name: 'audit log', path: '/console/api/audit-log' },
  { name: 'keys', path: '/console/api/keys?skip=100' },
  ...filtered('transactions', [
    ...['late', 'short', 'excess', 'wrong_coin', 'reversed'].map((review) => `review=${review}`),
    // One row, because the smaller database has fewer than a page of them.
    `review=excess&from=${date(365)}&skip=1`,
    `address=${one}tron`,
  ]),
  { name: 'transactions, review=excess, last page', path: '/v1/transactions?review=excess', page: last },
  ...spans('webhooks'),
  ...filtered('webhooks', ['status=failed', 'status=failing', 'status=delivered', 'type=payment.success']),
  { name: 'webhooks, status=failed, last page', path: '/v1/webhooks?status=failed', page: last },
  ...spans('refunds'),
  ...filtered('refunds', [
    'status=awaiting_approval',
    'status=failed',
    'status=paid',
    'currency=USDT',
    'network=tron',
    `status=paid&currency=USDT&network=tron&${month}`,
  ]),
  ...deep('refunds', 'status=paid'),
  ...spans('transactions'),
  { name: 'transactions, a month, its last page', path: `/v1/transactions?${month}`, page: last },
  ...filtered('transactions', [
    'txRef=order-11',
    'status=success',
    'status=cancelled',
    'currency=USDT',
    'network=tron',
    'customer=customer-11@example.com&skip=1',
    `txHash=${'11'.padStart(26, '0')}`,
    'status=error',
    'status=success&currency=USDT&network=tron',
    `status=success&${week}`,
    `status=success&currency=USDT&${month}`,
  ]),
  ...deep('transactions', 'status=success'),
  ...deep('transactions', 'status=success&currency=USDT&network=tron'),
  ...spans('customers'),
  ...filtered('customers', [
    'isBlackListed=false',
    'isBlackListed=true',
    'email=customer-11@example.com',
    'phoneNumber=%2B2348000000011',
  ]),
  ...spans('payment-plan-subscribers'),
  ...filtered('payment-plan-subscribers', [
    'isActive=true',
    'isActive=false',
    'customer=customer-1@example.com',
  ]),
  ...spans('transfers'),
  ...filtered('transfers', ['status=success', 'status=pending']),
  ...deep('transfers', 'status=success'),
  ...spans('payouts'),
  ...filtered('payouts', [
    'currency=USDT',
    'status=failed',
    'minAmount=1&maxAmount=2',
    'maxAmount=2',
    'sort=amount',
    'sort=fee&isAscending=true',
    'sort=status',
    'sort=currency',
    'sort=updatedAt',
    'address=00000000000000000000000001',
    'bankAccount=00000000000000000000000001',
  ]),
  ...spans('wallets'),
  ...filtered('wallets', ['currency=USDT', 'label=label-11']),
  ...spans('wallet-addresses'),
  ...filtered('wallet-addresses', [
    'currency=USDT',
    'network=tron',
    'isPrimary=false',
    'label=label-1',
    'address=address-1',
  ]),
  ...spans('payment-plans'),
  ...filtered('payment-plans', ['currency=NGN']),
  ...spans('bank-accounts'),
  ...filtered('bank-accounts', ['country=NG', 'currency=NGN', 'accountBank=058', 'isPrimary=false']),
];
