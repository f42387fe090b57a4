/** Provokes every error code that an endpoint declares, over HTTP: each documented error can really happen. */
import { api, endpointsOf, type ErrorCode, errorStatus } from 'crypto-checkout/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { links } from '../src/modules/links/module.js';
import type { RateSource } from '../src/core/money/rates.js';
import type { Answer } from './support/call.js';
import { enginesOfQuick } from './support/engines.js';
import { createRecords, type Records } from './support/records.js';
import { startServer, type TestServer } from './support/server.js';

interface Fixture {
  readonly server: TestServer;
  readonly records: Records;
  /** The secret key of a live account. */
  readonly liveKey: string;
  send(method: string, path: string, body?: unknown, key?: string): Promise<Answer>;
  /** Makes a call while there is no rate at all, or only a stale one. */
  without(rates: 'any' | 'fresh', call: () => Promise<Answer>): Promise<Answer>;
}

type Refusals = Readonly<
  Record<string, Readonly<Partial<Record<ErrorCode, (fixture: Fixture) => Promise<Answer>>>>>
>;

const price = { amount: 10, baseCurrency: 'USD' };
const lamp = { title: 'Lamp', ...price };
const usdt = { amount: 0.5, currency: 'USDT', walletNetwork: 'ethereum' };

/** Endpoint → code → a call that fails with it. */
const refusals: Refusals = {
  'customers.create': {
    async customer_exists({ records, send }) {
      const { email } = await records.customer();
      return send('POST', '/v1/customers', { email: email.toUpperCase() });
    },
  },
  'customers.update': {
    async customer_exists({ records, send }) {
      const [{ id }, { email }] = [await records.customer(), await records.customer()];
      return send('PATCH', `/v1/customers/${id}`, { email });
    },
  },
  'bankAccounts.create': {
    unsupported_currency: ({ records, send }) =>
      send('POST', '/v1/bank-accounts', { ...records.bankAccountBody(), currency: 'XXX' }),
    async bank_account_exists({ records, send }) {
      const body = records.bankAccountBody();
      expect((await send('POST', '/v1/bank-accounts', body)).status).toBe(200);
      return send('POST', '/v1/bank-accounts', body);
    },
  },
  'paymentPlans.create': {
    unsupported_currency: ({ send }) =>
      send('POST', '/v1/payment-plans', {
        frequency: 'daily',
        planName: 'Example membership',
        numberOfTimesToCharge: 3,
        amount: 5,
        currency: 'USD',
        currencies: ['XXX'],
      }),
  },
  'subscribers.create': {
    async customer_not_allowed({ records, send }) {
      const [plan, { id, email }] = [await records.plan(), await records.customer()];
      await send('PATCH', `/v1/customers/${id}`, { isBlacklisted: true });
      return send('POST', `/v1/payment-plan-subscribers/${plan}`, { email });
    },
    async plan_inactive({ records, send }) {
      const plan = await records.plan();
      await send('PATCH', `/v1/payment-plans/${plan}`, { isActive: false });
      return send('POST', `/v1/payment-plan-subscribers/${plan}`, { email: records.email() });
    },
    async already_subscribed({ records, send }) {
      const { planId, email } = await records.subscriber();
      return send('POST', `/v1/payment-plan-subscribers/${planId}`, { email });
    },
    async rate_unavailable({ records, send, without }) {
      const plan = await records.plan();
      const body = { email: records.email() };
      return without('any', () => send('POST', `/v1/payment-plan-subscribers/${plan}`, body));
    },
  },
  'walletAddresses.create': {
    unsupported_currency: ({ records, send }) =>
      send('POST', '/v1/wallet-addresses', { address: records.evmAddress(), currency: 'XXX' }),
    invalid_address: ({ send }) =>
      send('POST', '/v1/wallet-addresses', { address: '0x1234', currency: 'USDT', network: 'ethereum' }),
    async address_exists({ records, send }) {
      const body = { address: records.evmAddress(), currency: 'USDT', network: 'ethereum' };
      expect((await send('POST', '/v1/wallet-addresses', body)).status).toBe(200);
      return send('POST', '/v1/wallet-addresses', body);
    },
  },
  'transfers.create': {
    unsupported_currency: ({ records, send }) =>
      send('POST', '/v1/transfers', { ...usdt, currency: 'XXX', walletAddress: records.evmAddress() }),
    invalid_address: ({ send }) => send('POST', '/v1/transfers', { ...usdt, walletAddress: '0x1234' }),
    insufficient_balance: ({ records, send }) =>
      send('POST', '/v1/transfers', { ...usdt, amount: 1_000_000, walletAddress: records.evmAddress() }),
    async balance_suspended({ server, records, send }) {
      await records.paidPayment('ethereum');
      return whileSuspended(server, () =>
        send('POST', '/v1/transfers', { ...usdt, walletAddress: records.evmAddress() }),
      );
    },
  },
  'transfers.quoteFee': {
    unsupported_currency: ({ records, send }) =>
      send('POST', '/v1/transfers/fee', { ...usdt, currency: 'XXX', walletAddress: records.evmAddress() }),
    invalid_address: ({ send }) => send('POST', '/v1/transfers/fee', { ...usdt, walletAddress: '0x1234' }),
  },
  'payments.create': {
    unsupported_currency: ({ send }) =>
      send('POST', '/v1/payments/checkout', { ...price, baseCurrency: 'XXX' }),
    async customer_not_allowed({ records, send }) {
      const { id, email } = await records.customer();
      await send('PATCH', `/v1/customers/${id}`, { isBlacklisted: true });
      return send('POST', '/v1/payments/checkout', { ...price, customer: { email } });
    },
    async duplicate_tx_ref({ records, send }) {
      const { txRef } = await records.lockedPayment();
      return send('POST', '/v1/payments/checkout', { ...price, txRef });
    },
    rate_unavailable: ({ send, without }) =>
      without('any', () => send('POST', '/v1/payments/checkout', price)),
    chain_unavailable: ({ liveKey, send }) => send('POST', '/v1/payments/checkout', price, liveKey),
  },
  'payments.cancel': {
    invalid_state: async ({ records, send }) =>
      send('PATCH', `/v1/payments/${await records.paidPayment()}/cancel`),
  },
  'payments.setCurrency': {
    unsupported_currency: async ({ records, send }) =>
      send('PATCH', `/v1/payments/${await records.payment()}/currency/set/USDT/bitcoin`),
    async amount_below_minimum({ send }) {
      const body = { amount: '0.02', baseCurrency: 'USD' };
      const created = await send('POST', '/v1/payments/checkout', body);
      const { id } = created.body.data['payment'] as { id: string };
      return send('PATCH', `/v1/payments/${id}/currency/set/TRX/tron`);
    },
    invalid_state: async ({ records, send }) =>
      send('PATCH', `/v1/payments/${await records.paidPayment()}/currency/set/USDT/tron`),
    currency_locked: async ({ records, send }) =>
      send('PATCH', `/v1/payments/${(await records.lockedPayment()).id}/currency/set/USDT/tron`),
    async rate_unavailable({ records, send, without }) {
      const id = await records.payment();
      return without('any', () => send('PATCH', `/v1/payments/${id}/currency/set/USDT/tron`));
    },
  },
  'payments.lockCurrency': {
    invalid_state: async ({ records, send }) =>
      send('PATCH', `/v1/payments/${await records.paidPayment()}/currency/lock`),
    async sold_out({ server, records, send }) {
      const { id } = (await records.merchant.links.create({ body: { ...lamp, stock: 1 } })).data;
      const { sales } = links.rules(server.app);
      const locks = [];
      for (const token of ['one', 'other']) {
        const order = { amount: undefined, quantity: 1, answers: {}, token, address: '127.0.0.1' };
        const paymentId = await sales.press(id, order);
        expect((await send('PATCH', `/v1/payments/${paymentId}/currency/set/USDT/tron`)).status).toBe(200);
        locks.push(() => send('PATCH', `/v1/payments/${paymentId}/currency/lock`));
      }
      const [first, second] = locks;
      expect((await first?.())?.status).toBe(200);
      if (!second) throw new Error('There are two payments');
      return second();
    },
    currency_not_set: async ({ records, send }) =>
      send('PATCH', `/v1/payments/${await records.payment()}/currency/lock`),
    async rate_unavailable({ records, send, without }) {
      const id = await records.setPayment();
      return without('fresh', () => send('PATCH', `/v1/payments/${id}/currency/lock`));
    },
  },
  'payments.checkTransfer': {
    currency_not_set: async ({ records, send }) =>
      send('GET', `/v1/payments/${await records.payment()}/transfers/${'ab'.repeat(32)}`),
    async chain_unavailable({ server, records, send }) {
      const { id } = await records.lockedPayment();
      // As if the operator had taken the network out of the settings since.
      await server.database.write((transaction) =>
        transaction
          .updateTable('payments')
          .set((e) => ({ network: 'removed-network', parts_version: e('parts_version', '+', 1) }))
          .where('id', '=', id)
          .execute(),
      );
      return send('GET', `/v1/payments/${id}/transfers/${'ab'.repeat(32)}`);
    },
  },
  'refunds.create': {
    async unsupported_currency({ server, records, send }) {
      const id = await records.paidPayment('ethereum');
      // As if the operator had taken the network out of the settings since.
      await server.database.write((transaction) =>
        transaction
          .updateTable('receipts')
          .set({ network: 'removed-network' })
          .where('payment_id', '=', id)
          .execute(),
      );
      return send('POST', `/v1/payments/${id}/refunds`, { kind: 'full' });
    },
    invalid_address: async ({ records, send }) =>
      send('POST', `/v1/payments/${await records.paidPayment('ethereum')}/refunds`, {
        kind: 'full',
        address: '0x1234',
      }),
    invalid_state: async ({ records, send }) =>
      send('POST', `/v1/payments/${await records.paidPayment()}/refunds`, { kind: 'excess' }),
    async insufficient_balance({ server, send }) {
      // Nothing else was paid to this merchant, so nothing is there for the network's fee.
      const key = await server.foreignKey('secret', 'test');
      const id = await createRecords(server, key).paidPayment('ethereum');
      return send('POST', `/v1/payments/${id}/refunds`, { kind: 'full' }, key);
    },
    async balance_suspended({ server, records, send }) {
      const id = await records.paidPayment('ethereum');
      return whileSuspended(server, () => send('POST', `/v1/payments/${id}/refunds`, { kind: 'full' }));
    },
    async rate_unavailable({ records, send, without }) {
      const id = await records.paidPayment('ethereum');
      return without('any', () => send('POST', `/v1/payments/${id}/refunds`, { kind: 'full' }));
    },
  },
  'refunds.quote': {
    async rate_unavailable({ records, send, without }) {
      const id = await records.paidPayment('ethereum');
      return without('any', () => send('GET', `/v1/payments/${id}/refunds/quotes`));
    },
  },
  'refunds.approve': {
    invalid_state: async ({ records, send }) =>
      send('POST', `/v1/refunds/${(await records.refund()).id}/approve`),
    async balance_suspended({ server, records, send }) {
      const { id } = await records.refund({ address: records.evmAddress() });
      return whileSuspended(server, () => send('POST', `/v1/refunds/${id}/approve`));
    },
    async rate_unavailable({ server, records, send, without }) {
      const { id } = await records.refund({ address: records.evmAddress() });
      const limit = (amount: string | null) =>
        server.database.write((transaction) =>
          server.app.merchants.update(transaction, server.bootstrapped.merchantId, {
            dailyRefunds: { EUR: amount },
          }),
        );
      await limit('1000');
      const answer = await without('any', () => send('POST', `/v1/refunds/${id}/approve`));
      await limit(null);
      return answer;
    },
  },
  'refunds.cancel': {
    async invalid_state({ records, send }) {
      const { id } = await records.refund({ address: records.evmAddress() });
      await send('POST', `/v1/refunds/${id}/approve`);
      return send('POST', `/v1/refunds/${id}/cancel`);
    },
  },
  'refunds.link': {
    async invalid_state({ records, send }) {
      const { id } = await records.refund();
      await send('POST', `/v1/refunds/${id}/cancel`);
      return send('POST', `/v1/refunds/${id}/link`);
    },
  },
  'refundClaims.setAddress': {
    invalid_address: async ({ records, send }) =>
      send('POST', '/v1/refund-claims/address', { ...(await records.refund()), address: '0x1234' }),
    async invalid_state({ records, send }) {
      const { id, token } = await records.refund({ address: records.evmAddress() });
      await send('POST', `/v1/refunds/${id}/approve`);
      return send('POST', '/v1/refund-claims/address', { token, address: records.evmAddress() });
    },
  },
  'transactions.accept': {
    invalid_state: async ({ records, send }) =>
      send('POST', `/v1/transactions/${await records.paidPayment()}/accept`, { amount: 1, note: 'Enough' }),
  },
  'transactions.resendWebhook': {
    webhook_not_configured: async ({ records, send }) =>
      send('POST', `/v1/transactions/${await records.payment()}/webhook`),
  },
  'webhooks.retry': {
    async webhook_not_configured({ server, records, send }) {
      await records.shop.setWebhookUrl('http://127.0.0.1:9/webhooks');
      const { id } = await records.delivery();
      const scope = { merchantId: server.bootstrapped.merchantId, mode: 'test' } as const;
      await server.database.write((transaction) => server.app.endpoints.set(transaction, scope, ''));
      return send('POST', `/v1/webhooks/${id}/retry`);
    },
  },
  'webhooks.retryFailed': {
    webhook_not_configured: ({ send }) => send('POST', '/v1/webhooks/retry-failed'),
  },
  'webhooks.sendSample': {
    webhook_not_configured: ({ send }) => send('POST', '/v1/webhooks/samples', { type: 'payment.success' }),
  },
  'links.create': {
    unsupported_currency: ({ send }) => send('POST', '/v1/links', { title: 'Lamp', baseCurrency: 'XXX' }),
  },
  'wallets.create': {
    unsupported_currency: ({ send }) => send('POST', '/v1/wallets', { currency: 'NGN' }),
  },
};

async function whileSuspended(server: TestServer, ask: () => Promise<Answer>): Promise<Answer> {
  const { balances } = server.app;
  const scope = { merchantId: server.bootstrapped.merchantId, mode: 'test' } as const;
  await server.database.write((transaction) => balances.suspend(transaction, scope, 'USDT'));
  const answer = await ask();
  await server.database.write((transaction) => balances.resume(transaction, scope, 'USDT'));
  return answer;
}

const rows = Object.entries(refusals).flatMap(([name, codes]) =>
  Object.entries(codes).map(([code, provoke]) => [name, code as ErrorCode, provoke] as const),
);

it('Every error that an endpoint declares is tested here', () => {
  const declared = endpointsOf(api).flatMap(({ name, endpoint: { errors = [] } }) =>
    errors.map((code) => `${name} ${code}`),
  );
  expect(rows.map(([name, code]) => `${name} ${code}`).sort()).toEqual(declared.sort());
});

describe.each(enginesOfQuick)('On $name', (engine) => {
  let fixture: Fixture;
  let server: TestServer;
  let missing: 'any' | 'fresh' | undefined;
  const rates: RateSource = {
    latest: () =>
      missing === 'any'
        ? undefined
        : { numerator: 1n, denominator: 1n, source: 'test', at: missing === 'fresh' ? 0 : Date.now() },
  };

  beforeAll(async () => {
    server = await startServer({ engine, overrides: { rates } });
    fixture = {
      server,
      records: createRecords(server),
      liveKey: await server.foreignKey('secret', 'live'),
      send: (method, path, body, key = server.secretKey) =>
        server.api(method, path, { key, ...(body !== undefined && { body }) }),
      async without(what, call) {
        missing = what;
        try {
          return await call();
        } finally {
          missing = undefined;
        }
      },
    };
  });
  afterAll(() => server.stop());

  it.each(rows)('%s fails with %s', async (_name, code, provoke) => {
    const { status, headers, body } = await provoke(fixture);
    expect([status, body.status, body.data.code]).toEqual([errorStatus[code], 'error', code]);
    expect(body.message).toMatch(/^[A-Z0-9].{10}/i);
    expect(body.data.requestId).toBe(headers.get('x-request-id'));
    expect(body.data['docsUrl']).toBe(`${server.url}/docs/errors#${code}`);
    expect(headers.has('retry-after')).toBe(status === 503);
  });
});
