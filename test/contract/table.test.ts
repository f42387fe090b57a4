/** Compares the table with the agreed API: the endpoints, their paths, and the keys that may call them. */
import { describe, expect, it } from 'vitest';
import { api, endpointsOf, pathsOf, placeholdersOf } from '../../src/contract/index.js';

const rows = endpointsOf(api);

/** The agreed API. It is repeated here so that no change to the table goes unnoticed. */
const secretEndpoints = `
GET /v1/meta/{*endpoint}
GET /v1/customers
GET /v1/customers/{customer_id}
POST /v1/customers
PATCH /v1/customers/{customer_id}
POST /v1/bank-accounts/account/name
POST /v1/bank-accounts
GET /v1/bank-accounts
GET /v1/bank-accounts/{bank_account_id}
GET /v1/bank-accounts/primary/{bank_account_id}
DELETE /v1/bank-accounts/account/archive/{bank_account_id}
GET /v1/bank-accounts/banks/{country_code}
GET /v1/countries
GET /v1/balances
GET /v1/currencies
GET /v1/payment-plans/misc
POST /v1/payment-plans
GET /v1/payment-plans
GET /v1/payment-plans/{payment_plan_id}
PATCH /v1/payment-plans/{payment_plan_id}
POST /v1/payment-plan-subscribers/{payment_plan_id}
GET /v1/payment-plan-subscribers
GET /v1/payment-plan-subscribers/{payment_plan_subscriber_id}
DELETE /v1/payment-plan-subscribers/{payment_plan_subscriber_id}
POST /v1/wallet-addresses
GET /v1/wallet-addresses
GET /v1/wallet-addresses/{wallet_address_id}
GET /v1/wallet-addresses/primary/{wallet_address_id}
POST /v1/transfers
POST /v1/transfers/fee
GET /v1/transfers/{transfer_id}
GET /v1/transfers
GET /v1/payouts
GET /v1/payouts/{payout_id}
GET /v1/books
GET /v1/payments/{payment_id}/refunds/quotes
POST /v1/payments/{payment_id}/refunds
GET /v1/refunds
GET /v1/refunds/{refund_id}
POST /v1/refunds/{refund_id}/approve
POST /v1/refunds/{refund_id}/cancel
POST /v1/refunds/{refund_id}/link
GET /v1/transactions
GET /v1/transactions/{transaction_id}
GET /v1/transactions/{transaction_id}/verify
GET /v1/transactions/{transaction_id}/events
GET /v1/transactions/{transaction_id}/receipts
GET /v1/transactions/{transaction_id}/fee
POST /v1/transactions/{transaction_id}/accept
POST /v1/transactions/{transaction_id}/webhook
GET /v1/wallets
GET /v1/wallets/{wallet_id}
POST /v1/wallets
DELETE /v1/wallets/{wallet_id}
GET /v1/webhooks
GET /v1/webhooks/{webhook_id}
POST /v1/webhooks/{webhook_id}/retry
POST /v1/webhooks/retry-failed
POST /v1/webhooks/samples
GET /v1/home
POST /v1/links
GET /v1/links
GET /v1/links/{link_id}
PATCH /v1/links/{link_id}
GET /v1/networks`;

/** The token in the body takes the place of a key. */
const openEndpoints = `
POST /v1/refund-claims/retrieve
POST /v1/refund-claims/address`;

const publicEndpoints = `
POST /v1/payments/checkout
GET /v1/payments/{payment_id}
GET /v1/payments/{payment_id}/transfers/{hash}
PATCH /v1/payments/{payment_id}/cancel
PATCH /v1/payments/{payment_id}/currency/set/{currency}/{network}
PATCH /v1/payments/{payment_id}/currency/lock
GET /v1/transactions/{transaction_id}/verify/checkout`;

const publicAliases = `
GET /v1/payments/checkout/{payment_id}
PATCH /v1/payments/checkout/{payment_id}/cancel
PATCH /v1/payments/checkout/{payment_id}/currency/set/{currency}/{network}
PATCH /v1/payments/checkout/{payment_id}/currency/lock`;

const lines = (list: string) => list.trim().split('\n').sort();

const declared = (kind: 'secret' | 'public' | 'none') =>
  rows
    .filter(({ endpoint }) => endpoint.key === kind)
    .map(({ endpoint }) => `${endpoint.method} ${endpoint.path}`)
    .sort();

describe('the table', () => {
  it('The table has the 74 endpoints of the API', () => {
    expect(rows).toHaveLength(74);
  });

  it('A public key has access only to the payment endpoints and verify/checkout', () => {
    expect(declared('public')).toEqual(lines(publicEndpoints));
  });

  it('Every endpoint that is neither public nor open requires a secret key', () => {
    expect(declared('secret')).toEqual(lines(secretEndpoints));
  });

  it('Only the claims of refunds require no key', () => {
    expect(declared('none')).toEqual(lines(openEndpoints));
  });

  it('The only aliases are the /checkout/ paths of the public endpoints', () => {
    const aliases = rows.flatMap(({ endpoint }) =>
      (endpoint.aliases ?? []).map((alias) => `${endpoint.method} ${alias}`),
    );
    expect(aliases.sort()).toEqual(lines(publicAliases));
  });

  it('Each method and path belongs to one endpoint, including aliases', () => {
    const places = rows.flatMap(({ endpoint }) =>
      pathsOf(endpoint).map((path) => `${endpoint.method} ${path.replace(/\{\*?[a-z_]+\}/g, '{}')}`),
    );
    expect(places).toHaveLength(78);
    expect(places.filter((place, index) => places.indexOf(place) !== index)).toEqual([]);
  });
});

describe.each(rows)('$name', ({ endpoint }) => {
  it.each(pathsOf(endpoint))('%s: the placeholders match the params', (path) => {
    const params = Object.keys(endpoint.params?.shape ?? {});
    expect(placeholdersOf(path).sort()).toEqual(params.sort());
  });

  it('The endpoint has a description in sentences', () => {
    expect(endpoint.description).toMatch(/^[A-Z].*\.$/);
  });

  it('The endpoint takes a body only with POST or PATCH', () => {
    expect(endpoint.body === undefined || ['POST', 'PATCH'].includes(endpoint.method)).toBe(true);
  });

  it('The endpoint is paginated if and only if it takes page and skip', () => {
    const query = Object.keys(endpoint.query?.shape ?? {});
    const asks = ['page', 'skip', 'from', 'to'].filter((name) => query.includes(name));
    // Lists that are read by a cursor have a period too.
    const others = query.includes('cursor') ? ['from', 'to'] : [];
    expect(asks).toEqual(endpoint.paginated ? ['page', 'skip', 'from', 'to'] : others);
    if (endpoint.paginated) expect(endpoint.sample.data).toBeInstanceOf(Array);
  });
});
