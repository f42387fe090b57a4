/**
 * The interface specification, in its own order: every row of its tables of fields, states and endpoints has a test of
 * the same name, which makes real calls to a server.
 */
import { api, endpointsOf, type Payment } from 'crypto-checkout/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer, CallOptions } from './support/call.js';
import type { TestEngine } from './support/engines.js';
import { expectFields, type Fields } from './support/kinds.js';
import {
  accountFields,
  addressFields,
  balanceFields,
  countryFields,
  createdFields,
  customerFields,
  feeFields,
  lockedFields,
  planFields,
  subscriberFields,
  transactionFields,
  transferFields,
  walletFields,
} from './support/record-fields.js';
import { createRecords, type Records } from './support/records.js';
import { startServer, type TestServer } from './support/server.js';
import { startReceiver, type Receiver } from './webhooks/receiver.js';

type Json = Record<string, unknown>;

/** From yesterday to tomorrow, so that the tests also pass around midnight. */
const around = `from=${dayFrom(-1)}&to=${dayFrom(1)}`;

const frequencies = ['hourly', 'weekly', 'daily', 'monthly', 'quarterly', 'every six months', 'yearly'];

export const testSpecification = (engine: TestEngine): unknown =>
  describe(`The interface specification, on ${engine.name}`, () => {
    let server: TestServer;
    let records: Records;
    let receiver: Receiver;

    beforeAll(async () => {
      server = await startServer({ engine });
      records = createRecords(server);
      receiver = await startReceiver();
      receiver.secret = await records.shop.setWebhookUrl(receiver.url);
    });
    afterAll(async () => {
      await server.stop();
      await receiver.stop();
    });

    /** Makes a call that must succeed, with the secret key by default. */
    async function call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
      const answer = await server.api(method, path, options);
      expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).toBe(200);
      expect(answer.body.status).toBe('success');
      expect(answer.body.message).toMatch(/\w/);
      return answer;
    }
    const record = async (method: string, path: string, body?: unknown): Promise<Json> =>
      (await call(method, path, body === undefined ? {} : { body })).body.data;
    /** Fetches a list that must not be empty. Each record must have these fields. */
    async function list(path: string, fields: Fields): Promise<Json[]> {
      const { body } = await call('GET', path);
      const rows = body.data as unknown as Json[];
      expect(rows).toBeInstanceOf(Array);
      expect(rows.length).toBeGreaterThan(0);
      for (const row of rows) expectFields(row, fields);
      return rows;
    }
    /** Makes a call whose reply must have only status and message. */
    async function callWithoutData(method: string, path: string, body?: unknown): Promise<void> {
      const answer = await call(method, path, body === undefined ? {} : { body });
      expect(Object.keys(answer.body).sort()).toEqual(['message', 'status']);
    }
    const ids = (rows: readonly Json[]) => rows.map(({ id }) => id);
    const retrieve = (id: string) => record('GET', `/v1/payments/${id}`);
    const log = (payment: Json) => payment['transactionTimeLog'] as { type: string; event: string }[];

    describe('Response envelope', () => {
      it('status — `success` on success', async () => {
        const { body } = await call('GET', '/v1/countries');
        expect(body.status).toBe('success');
      });
      it('message — short human-readable text', async () => {
        const { body } = await call('GET', '/v1/countries');
        expect(body.message).toBe('Countries fetched');
      });
      it('data — a single record, an array for lists, absent where there is nothing to show', async () => {
        const { id } = await records.customer();
        expect((await call('GET', `/v1/customers/${id}`)).body.data).toBeTypeOf('object');
        expect((await call('GET', '/v1/customers')).body.data).toBeInstanceOf(Array);
        const cancelled = await call('PATCH', `/v1/payments/${await records.payment()}/cancel`);
        expect('data' in cancelled.body).toBe(false);
      });
      it('meta — meta.pagination with integers total, count, from, to', async () => {
        await records.customer();
        await records.customer();
        const { body } = await call('GET', '/v1/customers?skip=1&page=2');
        const { pagination } = body.meta as { pagination: Json };
        expectFields(pagination, { total: 'integer', count: 'integer', from: 'integer', to: 'integer' });
        expect(pagination).toMatchObject({ count: 1, from: 2, to: 2 });
        expect(Object.keys((await call('GET', '/v1/countries')).body)).not.toContain('meta');
      });
    });

    describe('Resources and their fields', () => {
      const seen = new Map<string, Json>();
      const tables: Record<string, Fields> = {
        Customer: customerFields,
        'Bank account': { ...accountFields, id: 'string', isPrimary: 'boolean' },
        Country: countryFields,
        Balance: balanceFields,
        'Payment plan': planFields,
        'Payment plan subscriber': { ...subscriberFields, accountId: 'string' },
        'Wallet address': addressFields,
        Transfer: transferFields,
        'Fee quote': { currency: 'string', amount: 'number' },
        Payment: { ...createdFields, ...lockedFields, branding: 'object' },
        'Created payment': { _id: 'string' },
        'Address information': { address: 'string', network: 'string', id: 'string' },
        'Customer details': { email: 'string', fullName: 'string', phoneNumber: 'string' },
        Branding: {
          businessName: 'string',
          name: 'string',
          logo: 'string',
          id: 'string',
          createdAt: 'timestamp',
          updatedAt: 'timestamp',
        },
        Transaction: transactionFields,
        'Time log entry': { time: 'timestamp', type: 'string', event: 'string' },
        'Transaction fee result': feeFields,
        'Hosted wallet': walletFields,
        'Address of a hosted wallet': { network: 'string', address: 'string' },
      };

      beforeAll(async () => {
        const first = async (path: string) => (await list(path, {}))[0] ?? {};
        const details = { email: records.email(), fullName: 'Ada Example', phoneNumber: '+15550100' };
        const created = await record('POST', '/v1/payments/checkout', {
          amount: 5000,
          baseCurrency: 'NGN',
          customer: details,
        });
        const id = String((created['payment'] as Json)['id']);
        await record('PATCH', `/v1/payments/${id}/currency/set/USDT/tron`);
        await record('PATCH', `/v1/payments/${id}/currency/lock`);
        const payment = await retrieve(id);
        const paid = await records.paidPayment();
        const { email } = await records.subscriber();
        const wallet = await record('GET', `/v1/wallets/${await records.wallet()}`);
        const quote = {
          amount: 3,
          currency: 'USDT',
          walletAddress: records.evmAddress(),
          walletNetwork: 'ethereum',
        };
        const found: Record<string, unknown> = {
          Customer: await record('GET', `/v1/customers/${(await records.customer()).id}`),
          'Bank account': await record('GET', `/v1/bank-accounts/${await records.bankAccount()}`),
          Country: await first('/v1/countries'),
          Balance: await first('/v1/balances'),
          'Payment plan': await record('GET', `/v1/payment-plans/${await records.plan()}`),
          'Payment plan subscriber': await first(`/v1/payment-plan-subscribers?customer=${email}`),
          'Wallet address': await record('GET', `/v1/wallet-addresses/${await records.walletAddress()}`),
          Transfer: await record('GET', `/v1/transfers/${await records.transfer()}`),
          'Fee quote': await record('POST', '/v1/transfers/fee', quote),
          Payment: payment,
          'Created payment': created['payment'],
          'Address information': payment['addressInformation'],
          'Customer details': payment['customerDetails'],
          Branding: payment['branding'],
          Transaction: await record('GET', `/v1/transactions/${paid}`),
          'Time log entry': await first(`/v1/transactions/${paid}/events`),
          'Transaction fee result': await record('GET', `/v1/transactions/${paid}/fee`),
          'Hosted wallet': wallet,
          'Address of a hosted wallet': (wallet['addresses'] as unknown[])[0],
        };
        for (const [name, value] of Object.entries(found)) seen.set(name, value as Json);
      });

      const fields = Object.entries(tables).flatMap(([name, table]) =>
        Object.entries(table).map(([field, kind]) => [name, field, kind] as const),
      );
      it.each(fields)('%s: %s — %s', (name, field, kind) => {
        expectFields(seen.get(name), { [field]: kind });
      });

      it('Customer: fullName and phoneNumber may be absent', async () => {
        const customer = await record('POST', '/v1/customers', { email: records.email() });
        expect(Object.keys(customer)).not.toContain('fullName');
        expect(Object.keys(customer)).not.toContain('phoneNumber');
      });
      it('Country: code is two letters and flag the URL of an image', async () => {
        const { code, flag } = seen.get('Country') ?? {};
        expect(code).toMatch(/^[A-Z]{2}$/);
        const image = await fetch(String(flag));
        expect(image.status).toBe(200);
        expect(image.headers.get('content-type')).toMatch(/^image\//);
      });
      it('Currency: codes and networks for bank accounts, wallet addresses, transfers and payments', async () => {
        const currencies = await list('/v1/currencies', { code: 'string', networks: 'array' });
        const codes = currencies.map(({ code }) => code);
        expect(codes).toEqual(expect.arrayContaining(['USDT', 'BTC', 'NGN']));
        const networks = currencies.flatMap((currency) => currency['networks'] as Json[]);
        for (const network of networks) expectFields(network, { code: 'string' });
      });
      it('Payment plan: frequency is one of the seven', () => {
        expect(frequencies).toContain(seen.get('Payment plan')?.['frequency']);
      });
      it('Wallet address: network may be an empty string', async () => {
        const body = { address: records.evmAddress(), currency: 'USDT' };
        expect(await record('POST', '/v1/wallet-addresses', body)).toMatchObject({ network: '' });
      });
      it('Payment: currencies is empty after the currency is set, addressSentFrom is empty initially', () => {
        expect(seen.get('Payment')).toMatchObject({ currencies: [], addressSentFrom: [] });
      });
      it('Payment: customer is the email, or a placeholder word for anonymous payers', async () => {
        const paymentFor = async (customer?: object) => {
          const body = { amount: 1, baseCurrency: 'USD', ...customer };
          return (await record('POST', '/v1/payments/checkout', body))['payment'];
        };
        const email = records.email();
        expect(await paymentFor({ customer: { email } })).toMatchObject({ customer: email });
        expect(await paymentFor()).toMatchObject({ customer: 'anonymous' });
      });
      it('Payment: txRef is unique per transaction', async () => {
        const txRef = `once-${records.email().slice(4, 20)}`;
        const body = { amount: 1, baseCurrency: 'USD', txRef };
        const { payment } = await record('POST', '/v1/payments/checkout', body);
        expect(payment).toMatchObject({ txRef });
        expect((await server.api('POST', '/v1/payments/checkout', { body })).status).toBe(409);
      });
      it('Payment: description names the payer', () => {
        expect(seen.get('Payment')?.['description']).toBe('Payment from Ada Example');
      });
    });

    describe('States and transitions', () => {
      it('(none) → in progress: create payment — start entry, isCurrencyLocked false, amount 0', async () => {
        const payment = await retrieve(await records.payment());
        expect(payment).toMatchObject({ status: 'in progress', isCurrencyLocked: false, amount: 0 });
        expect(log(payment)).toMatchObject([
          { type: 'event', event: expect.stringMatching(/start/i) as string },
        ]);
      });
      it('in progress → in progress: set currency — currency, currencyNetwork, an address, an entry naming both', async () => {
        const id = await records.payment();
        await call('PATCH', `/v1/payments/${id}/currency/set/USDT/tron`);
        const payment = await retrieve(id);
        expect(payment).toMatchObject({ status: 'in progress', currency: 'USDT', currencyNetwork: 'tron' });
        expect(log(payment)).toHaveLength(2);
        expect(log(payment)[1]?.event).toMatch(/USDT.*tron/);
        await call('PATCH', `/v1/payments/${id}/currency/lock`);
        expect(await retrieve(id)).toMatchObject({ addressInformation: { network: 'tron' } });
      });
      it('in progress → in progress: lock currency — isCurrencyLocked true, an entry; again, another entry', async () => {
        const id = await records.setPayment();
        await call('PATCH', `/v1/payments/${id}/currency/lock`);
        const locked = await retrieve(id);
        expect(locked).toMatchObject({ status: 'in progress', isCurrencyLocked: true });
        expect(log(locked)).toHaveLength(3);
        expect(log(locked)[2]?.event).toMatch(/lock/i);
        await call('PATCH', `/v1/payments/${id}/currency/lock`);
        expect(log(await retrieve(id))).toHaveLength(4);
      });
      it('lock currency — only after a currency has been set', async () => {
        const answer = await server.api('PATCH', `/v1/payments/${await records.payment()}/currency/lock`);
        expect([answer.status, answer.body.data.code]).toEqual([409, 'currency_not_set']);
      });
      it('in progress → cancelled: cancel — only status and message', async () => {
        const id = await records.payment();
        await callWithoutData('PATCH', `/v1/payments/${id}/cancel`);
        expect(await retrieve(id)).toMatchObject({ status: 'cancelled' });
      });
      it('the complete flow: create, set, lock, customer pays, verify', async () => {
        const transaction = await record('GET', `/v1/transactions/${await records.paidPayment()}/verify`);
        expect(transaction).toMatchObject({ status: 'success', amountReceived: transaction['amount'] });
        expect(log(transaction).at(-1)?.type).toBe('success');
        expect(transaction['addressSentFrom']).not.toEqual([]);
      });
      it('Transfer status — `pending` on creation', async () => {
        await records.paidPayment('ethereum');
        const body = {
          amount: 0.5,
          currency: 'USDT',
          walletAddress: records.evmAddress(),
          walletNetwork: 'ethereum',
        };
        expect(await record('POST', '/v1/transfers', body)).toMatchObject({ status: 'pending' });
      });
      it('Payment plan isActive — changed by the plan update operation', async () => {
        const id = await records.plan();
        await record('PATCH', `/v1/payment-plans/${id}`, { isActive: false });
        expect(await record('GET', `/v1/payment-plans/${id}`)).toMatchObject({ isActive: false });
      });
      it('Customer isBlacklisted — changed by the customer update operation', async () => {
        const { id } = await records.customer();
        await record('PATCH', `/v1/customers/${id}`, { isBlacklisted: true });
        expect(await record('GET', `/v1/customers/${id}`)).toMatchObject({ isBlacklisted: true });
      });
      it('Bank account and wallet address primary flag — set by the make-primary operations', async () => {
        for (const [resource, id] of [
          ['bank-accounts', await records.bankAccount()],
          ['wallet-addresses', await records.walletAddress()],
        ] as const) {
          expect(await record('GET', `/v1/${resource}/${id}`)).toMatchObject({ isPrimary: false });
          await record('GET', `/v1/${resource}/primary/${id}`);
          expect(await record('GET', `/v1/${resource}/${id}`)).toMatchObject({ isPrimary: true });
        }
      });
    });

    describe('Endpoints', () => {
      const asserted = new Set<string>();
      /** A test for a row of the endpoint tables: the endpoint, and the text of its response column. */
      function row(endpoint: string, response: string, test: () => Promise<unknown>): void {
        asserted.add(endpoint);
        it(`${endpoint} — ${response}`, async () => {
          await test();
        });
      }

      describe('Quick docs', () => {
        row('GET /v1/meta/{endpoint path after /v1}', 'self-description of that endpoint', async () => {
          const docs = await record('GET', '/v1/meta/customers/{customer_id}?method=PATCH');
          expectFields(docs, {
            description: 'string',
            endpoint: 'string',
            headers: 'object',
            request_spec: 'object',
            sample_request: 'string',
            sample_response: 'object',
          });
          expect(docs['endpoint']).toBe('PATCH /v1/customers/{customer_id}');
          expectFields(docs['request_spec'], { type: 'string', spec: 'object' });
          const { spec } = docs['request_spec'] as { spec: Json };
          expect(Object.keys(spec)).toEqual(
            expect.arrayContaining(['phoneNumber', 'isBlacklisted', 'fullName', 'email']),
          );
          expectFields(docs['sample_response'], { status: 'string', message: 'string', data: 'object' });
        });
      });

      describe('Customers', () => {
        row('GET /v1/customers', 'data: array of Customer; meta.pagination', async () => {
          const { id, email } = await records.customer();
          const blacklisted = await records.customer();
          await record('PATCH', `/v1/customers/${blacklisted.id}`, { isBlacklisted: true });
          const fields = {
            id: 'string',
            email: 'string',
            isBlacklisted: 'boolean',
            createdAt: 'timestamp',
          } as const;
          const found = (query: string) => list(`/v1/customers?${query}`, fields);
          expect(ids(await found(`email=${email}`))).toEqual([id]);
          expect(ids(await found('isBlackListed=true'))).toContain(blacklisted.id);
          expect(ids(await found('isBlackListed=true'))).not.toContain(id);
          expect(ids(await found('phoneNumber=%2B15550100'))).toContain(id);
          expect(ids(await found(`${around}&page=1`))).toContain(id);
        });
        row('GET /v1/customers/{customer_id}', 'data: Customer', async () => {
          const { id, email } = await records.customer();
          const customer = await record('GET', `/v1/customers/${id}`);
          expectFields(customer, customerFields);
          expect(customer).toMatchObject({ id, email });
        });
        row('POST /v1/customers', 'data: Customer', async () => {
          const body = {
            email: records.email(),
            fullName: 'Ada Example',
            phoneNumber: '+15550100',
            isBlacklisted: true,
          };
          const customer = await record('POST', '/v1/customers', body);
          expectFields(customer, customerFields);
          expect(customer).toMatchObject(body);
        });
        row('PATCH /v1/customers/{customer_id}', 'data: updated Customer', async () => {
          const { id } = await records.customer();
          const body = {
            phoneNumber: '+15550199',
            isBlacklisted: true,
            fullName: 'Ada Sample',
            email: records.email(),
          };
          expect(await record('PATCH', `/v1/customers/${id}`, body)).toMatchObject({ id, ...body });
        });
      });

      describe('Bank accounts', () => {
        row('POST /v1/bank-accounts/account/name', 'the holder name of an account', async () => {
          const body = { accountNumber: '0123456785', accountBank: '058' };
          const holder = await record('POST', '/v1/bank-accounts/account/name', body);
          expect(holder).toMatchObject(body);
          expect(holder['accountName']).toMatch(/\w/);
        });
        row('POST /v1/bank-accounts', 'the bank account', async () => {
          const body = records.bankAccountBody();
          const account = await record('POST', '/v1/bank-accounts', body);
          expectFields(account, { ...accountFields, id: 'string', isPrimary: 'boolean' });
          expect(account).toMatchObject(body);
        });
        row('GET /v1/bank-accounts', 'list of bank accounts with the five account fields', async () => {
          const id = await records.bankAccount();
          const primary = await records.bankAccount();
          await record('GET', `/v1/bank-accounts/primary/${primary}`);
          const found = (query: string) => list(`/v1/bank-accounts?${query}`, accountFields);
          expect(ids(await found('country=KE&currency=KES&accountBank=68&page=1&skip=100'))).toContain(id);
          expect(ids(await found('isPrimary=true'))).toEqual([primary]);
          expect(await found('skip=1')).toHaveLength(1);
          expect(ids(await found(around))).toContain(id);
        });
        row(
          'GET /v1/bank-accounts/{bank_account_id}',
          'one bank account with the five account fields',
          async () => {
            const id = await records.bankAccount();
            const account = await record('GET', `/v1/bank-accounts/${id}`);
            expectFields(account, accountFields);
            expect(account['id']).toBe(id);
          },
        );
        row(
          'GET /v1/bank-accounts/primary/{bank_account_id}',
          'makes the account the primary account: bank account with the five account fields',
          async () => {
            const [before, id] = [await records.bankAccount(), await records.bankAccount()];
            await record('GET', `/v1/bank-accounts/primary/${before}`);
            const account = await record('GET', `/v1/bank-accounts/primary/${id}`);
            expectFields(account, accountFields);
            expect(account).toMatchObject({ id, isPrimary: true });
            expect(await record('GET', `/v1/bank-accounts/${before}`)).toMatchObject({ isPrimary: false });
          },
        );
        row(
          'DELETE /v1/bank-accounts/account/archive/{bank_account_id}',
          'archives (deletes) the account',
          async () => {
            const id = await records.bankAccount();
            await call('DELETE', `/v1/bank-accounts/account/archive/${id}`);
            expect((await server.api('GET', `/v1/bank-accounts/${id}`)).status).toBe(404);
          },
        );
        row('GET /v1/bank-accounts/banks/{country_code}', 'the banks of a country', async () => {
          const banks = await list('/v1/bank-accounts/banks/NG', { code: 'string', name: 'string' });
          expect(banks.map(({ code }) => code)).toContain('058');
        });
      });

      describe('Reference data', () => {
        row('GET /v1/countries', 'data: array of Country', async () => {
          const countries = await list('/v1/countries', countryFields);
          expect(countries.map(({ code }) => code)).toEqual(expect.arrayContaining(['NG', 'GH', 'KE', 'ZA']));
        });
        row('GET /v1/balances', 'data: array of Balance', async () => {
          const balances = await list('/v1/balances', balanceFields);
          const codes = balances.map(({ currency }) => currency);
          expect(codes).toContain('USDT');
          expect(new Set(codes).size, 'one per currency').toBe(codes.length);
        });
        row('GET /v1/currencies', 'the currency codes and their networks', async () => {
          const currencies = await list('/v1/currencies', {
            code: 'string',
            name: 'string',
            networks: 'array',
          });
          const tether = currencies.find(({ code }) => code === 'USDT');
          expect((tether?.['networks'] as Json[]).map(({ code }) => code)).toContain('tron');
        });
      });

      describe('Payment plans', () => {
        const body = {
          frequency: 'every six months',
          planName: 'Example membership',
          numberOfTimesToCharge: 4,
          amount: 25.5,
          currency: 'USD',
          currencies: ['BTC', 'USDT'],
        };
        row('GET /v1/payment-plans/misc', 'data: {frequencies: array of string}', async () => {
          expect(await record('GET', '/v1/payment-plans/misc')).toEqual({ frequencies });
        });
        row('POST /v1/payment-plans', 'data: Payment plan', async () => {
          const plan = await record('POST', '/v1/payment-plans', body);
          expectFields(plan, planFields);
          expect(plan).toMatchObject({ ...body, isActive: true });
        });
        row('GET /v1/payment-plans', 'data: array of Payment plan', async () => {
          const { id } = await record('POST', '/v1/payment-plans', body);
          const naira = await records.plan();
          const found = await list(`/v1/payment-plans?currency=USD&${around}&page=1`, planFields);
          expect(ids(found)).toContain(id);
          expect(ids(found)).not.toContain(naira);
        });
        row('GET /v1/payment-plans/{payment_plan_id}', 'data: Payment plan', async () => {
          const id = await records.plan();
          const plan = await record('GET', `/v1/payment-plans/${id}`);
          expectFields(plan, planFields);
          expect(plan['id']).toBe(id);
        });
        row('PATCH /v1/payment-plans/{payment_plan_id}', 'data: updated Payment plan', async () => {
          const id = await records.plan();
          const change = { amount: 6000, isActive: false };
          expect(await record('PATCH', `/v1/payment-plans/${id}`, change)).toMatchObject({ id, ...change });
        });
      });

      describe('Payment plan subscribers', () => {
        row('POST /v1/payment-plan-subscribers/{payment_plan_id}', 'status and message only', async () => {
          const plan = await records.plan();
          await callWithoutData('POST', `/v1/payment-plan-subscribers/${plan}`, { email: records.email() });
        });
        row('GET /v1/payment-plan-subscribers', 'data: array of Subscriber', async () => {
          const { id, email, planId } = await records.subscriber();
          const query = `customer=${email}&isActive=true&${around}&page=1`;
          const found = await list(`/v1/payment-plan-subscribers?${query}`, {
            ...subscriberFields,
            accountId: 'string',
          });
          expect(found).toMatchObject([{ id, paymentPlanId: planId, isActive: true, noOfTimesPayed: 0 }]);
        });
        row('GET /v1/payment-plan-subscribers/{payment_plan_subscriber_id}', 'data: Subscriber', async () => {
          const { id } = await records.subscriber();
          const subscriber = await record('GET', `/v1/payment-plan-subscribers/${id}`);
          expectFields(subscriber, subscriberFields);
          expect(subscriber['id']).toBe(id);
        });
        row(
          'DELETE /v1/payment-plan-subscribers/{payment_plan_subscriber_id}',
          'removes the subscriber',
          async () => {
            const { id } = await records.subscriber();
            await call('DELETE', `/v1/payment-plan-subscribers/${id}`);
            expect((await server.api('GET', `/v1/payment-plan-subscribers/${id}`)).status).toBe(404);
          },
        );
      });

      describe('Wallet addresses', () => {
        row('POST /v1/wallet-addresses', 'data: Wallet address', async () => {
          const { address: _, ...body } = {
            address: '',
            currency: 'USDT',
            isPrimary: true,
            network: 'polygon',
          };
          const address = await record('POST', '/v1/wallet-addresses', {
            ...body,
            address: records.evmAddress(),
          });
          expectFields(address, addressFields);
          expect(address).toMatchObject(body);
          for (const missing of [{ currency: 'USDT' }, { address: records.evmAddress() }]) {
            const answer = await server.api('POST', '/v1/wallet-addresses', { body: missing });
            expect(answer.status, 'address and currency are required').toBe(400);
          }
        });
        row('GET /v1/wallet-addresses', 'data: array of Wallet address', async () => {
          const id = await records.walletAddress();
          const { address } = await record('GET', `/v1/wallet-addresses/${id}`);
          const found = (query: string) => list(`/v1/wallet-addresses?${query}`, addressFields);
          const query = `address=${String(address)}&network=ethereum&currency=USDT&label=Treasury&isPrimary=false`;
          expect(ids(await found(`${query}&${around}&page=1&skip=5`))).toEqual([id]);
          expect(await found('skip=1')).toHaveLength(1);
        });
        row('GET /v1/wallet-addresses/{wallet_address_id}', 'data: Wallet address', async () => {
          const id = await records.walletAddress();
          const address = await record('GET', `/v1/wallet-addresses/${id}`);
          expectFields(address, addressFields);
          expect(address['id']).toBe(id);
        });
        row(
          'GET /v1/wallet-addresses/primary/{wallet_address_id}',
          'makes the address primary: data: Wallet address with isPrimary true',
          async () => {
            const id = await records.walletAddress();
            const address = await record('GET', `/v1/wallet-addresses/primary/${id}`);
            expectFields(address, addressFields);
            expect(address).toMatchObject({ id, isPrimary: true });
          },
        );
      });

      describe('Transfers', () => {
        const body = () => ({
          amount: 0.5,
          currency: 'USDT',
          walletAddress: records.evmAddress(),
          walletNetwork: 'ethereum',
        });
        row('POST /v1/transfers', 'data: Transfer', async () => {
          await records.paidPayment('ethereum');
          const transfer = await record('POST', '/v1/transfers', body());
          expectFields(transfer, transferFields);
          expect(transfer).toMatchObject({ status: 'pending', amount: 0.5, currency: 'USDT' });
        });
        row('POST /v1/transfers/fee', 'data: {currency, amount} (the fee)', async () => {
          const quote = await record('POST', '/v1/transfers/fee', body());
          expectFields(quote, { currency: 'string', amount: 'number' });
          expect(Object.keys(quote).sort()).toEqual(['amount', 'currency']);
          await records.paidPayment('ethereum');
          expect(await record('POST', '/v1/transfers', body())).toMatchObject({ fee: quote['amount'] });
        });
        row('GET /v1/transfers/{transfer_id}', 'data: Transfer', async () => {
          const id = await records.transfer();
          const transfer = await record('GET', `/v1/transfers/${id}`);
          expectFields(transfer, transferFields);
          expect(transfer['id']).toBe(id);
        });
        row('GET /v1/transfers', 'data: array of Transfer', async () => {
          const id = await records.transfer();
          const found = await list(`/v1/transfers?${around}&page=1&skip=1`, transferFields);
          expect(ids(found)).toEqual([id]);
        });
      });

      describe('Payouts', () => {
        row(
          'GET /v1/payouts',
          'payouts by currency, status, amount, bank account and wallet address',
          async () => {
            const { id, walletAddressId } = await records.payout();
            const query = `${around}&page=1&skip=10&currency=USDT&status=success&minAmount=0.5&maxAmount=0.5`;
            const found = (more: string) =>
              list(`/v1/payouts?${query}${more}`, { id: 'string', status: 'string' });
            expect(ids(await found(`&address=${walletAddressId}`))).toEqual([id]);
            const another = await records.payout();
            const ascending = ids(await found('&sort=createdAt&isAscending=true'));
            expect(ascending.indexOf(another.id)).toBeGreaterThan(ascending.indexOf(id));
            expect(ids(await found('&sort=createdAt&isAscending=false'))).toEqual([...ascending].reverse());
            const { body: none } = await call(
              'GET',
              `/v1/payouts?bankAccount=${await records.bankAccount()}`,
            );
            expect(none.data).toEqual([]);
          },
        );
        row('GET /v1/payouts/{payout_id}', 'one payout', async () => {
          const { id, transferId } = await records.payout();
          const payout = await record('GET', `/v1/payouts/${id}`);
          expect(payout).toMatchObject({ id, transfer: transferId, status: 'success', currency: 'USDT' });
        });
      });

      describe('Payments', () => {
        row(
          'POST /v1/payments/checkout',
          'data: {payment: Payment, url: string (hosted payment page)}',
          async () => {
            const body = {
              customer: { name: 'Ada Example', email: records.email() },
              txRef: `spec-${records.email().slice(4, 20)}`,
              baseCurrency: 'NGN',
              amount: 5000,
              customerFullName: 'Ada Sample',
              customerphoneNumber: '+15550100',
              redirectUrl: 'https://shop.example/thanks',
            };
            const data = await record('POST', '/v1/payments/checkout', body);
            expectFields(data, { payment: 'object', url: 'string' });
            const payment = data['payment'] as Json;
            expectFields(payment, { ...createdFields, _id: 'string' });
            expect(payment).toMatchObject({
              _id: payment['id'],
              txRef: body.txRef,
              baseCurrency: 'NGN',
              baseAmount: 5000,
              redirectUrl: body.redirectUrl,
              customer: body.customer.email,
              customerDetails: { fullName: 'Ada Sample', phoneNumber: '+15550100' },
            });
            const page = await fetch(String(data['url']));
            expect([page.status, page.headers.get('content-type')]).toEqual([
              200,
              'text/html; charset=utf-8',
            ]);
          },
        );
        row('GET /v1/payments/{payment_id}', 'data: Payment including branding', async () => {
          const id = await records.payment();
          const payment = await retrieve(id);
          expectFields(payment, { ...createdFields, branding: 'object' });
          expect(payment['id']).toBe(id);
        });
        row('PATCH /v1/payments/{payment_id}/cancel', 'status, message', async () => {
          await callWithoutData('PATCH', `/v1/payments/${await records.payment()}/cancel`);
        });
        row(
          'PATCH /v1/payments/{payment_id}/currency/set/{currency}/{network}',
          'data: Payment with currency, currencyNetwork',
          async () => {
            const id = await records.payment();
            const payment = await record('PATCH', `/v1/payments/${id}/currency/set/BTC/bitcoin`);
            expectFields(payment, { ...createdFields, currency: 'string', currencyNetwork: 'string' });
            expect(payment).toMatchObject({
              id,
              currency: 'BTC',
              currencyNetwork: 'bitcoin',
              currencies: [],
            });
          },
        );
        row(
          'PATCH /v1/payments/{payment_id}/currency/lock',
          'data: Payment with isCurrencyLocked true, addressInformation, fee, amount',
          async () => {
            const id = await records.setPayment();
            const payment = await record('PATCH', `/v1/payments/${id}/currency/lock`);
            expectFields(payment, { ...createdFields, ...lockedFields });
            expect(payment).toMatchObject({ id, isCurrencyLocked: true });
            expectFields(payment['addressInformation'], {
              address: 'string',
              network: 'string',
              id: 'string',
            });
            expect(payment['amount']).toBeGreaterThan(0);
            expect(payment['fee']).toBeGreaterThan(0);
          },
        );
      });

      describe('Transactions', () => {
        row('GET /v1/transactions', 'data: array of transaction records', async () => {
          const id = await records.payment();
          expect(ids(await list('/v1/transactions', transactionFields))).toContain(id);
        });
        row('GET /v1/transactions/{transaction_id}', 'data: transaction record', async () => {
          const id = await records.paidPayment();
          const transaction = await record('GET', `/v1/transactions/${id}`);
          expectFields(transaction, transactionFields);
          expect(transaction).toMatchObject({ id, status: 'success' });
        });
        row('GET /v1/transactions/{transaction_id}/verify', 'data: transaction record', async () => {
          const id = await records.paidPayment();
          const transaction = await record('GET', `/v1/transactions/${id}/verify`);
          expectFields(transaction, transactionFields);
          expect(transaction).toMatchObject({ id, status: 'success' });
        });
        row(
          'GET /v1/transactions/{transaction_id}/verify/checkout',
          'same as verify, called with the public key',
          async () => {
            const path = `/v1/transactions/${await records.paidPayment()}/verify`;
            const { body } = await call('GET', `${path}/checkout`, { key: server.publicKey });
            const whole = (await call('GET', path)).body;
            const { credited, metadata, ...data } = whole.data;
            expect([credited, metadata]).toEqual([[expect.anything()], undefined]);
            // To a public key, the payer is abbreviated.
            const payer = { email: 'a…@example.com', fullName: 'A. E.' };
            expect(body).toEqual({
              ...whole,
              data: {
                ...data,
                description: 'Payment from A. E.',
                customer: payer.email,
                customerDetails: payer,
              },
            });
          },
        );
        row('GET /v1/transactions/{transaction_id}/events', 'data: array of log entries', async () => {
          const id = await records.setPayment();
          const entry = { time: 'timestamp', type: 'string', event: 'string' } as const;
          const events = await list(`/v1/transactions/${id}/events`, entry);
          expect(events).toEqual((await retrieve(id))['transactionTimeLog']);
        });
        row('GET /v1/transactions/{transaction_id}/fee', 'data: transaction fee result', async () => {
          const fee = await record('GET', `/v1/transactions/${await records.paidPayment()}/fee`);
          expectFields(fee, feeFields);
          expect(fee).toMatchObject({ baseAmount: 5000, baseCurrency: 'NGN' });
          expect(fee['amountReceived']).toBeGreaterThan(0);
        });
        row(
          'POST /v1/transactions/{transaction_id}/webhook',
          'triggers sending the webhook for that transaction; status and message only',
          async () => {
            const id = await records.payment();
            await callWithoutData('POST', `/v1/transactions/${id}/webhook`);
            await expect.poll(() => webhooksOf(id), { timeout: 10_000 }).toEqual(['payment.updated']);
          },
        );
      });

      describe('Hosted wallets', () => {
        row('GET /v1/wallets', 'data: array of Wallet', async () => {
          const id = await records.wallet();
          const { label } = await record('GET', `/v1/wallets/${id}`);
          const query = new URLSearchParams({ currency: 'USDT', label: String(label) });
          expect(ids(await list(`/v1/wallets?${query.toString()}`, walletFields))).toEqual([id]);
        });
        row('GET /v1/wallets/{wallet_id}', 'data: Wallet', async () => {
          const id = await records.wallet();
          const wallet = await record('GET', `/v1/wallets/${id}`);
          expectFields(wallet, walletFields);
          expect(wallet['id']).toBe(id);
        });
        row('POST /v1/wallets', 'data: Wallet', async () => {
          const wallet = await record('POST', '/v1/wallets', { currency: 'USDT', label: 'Donations' });
          expectFields(wallet, walletFields);
          expect(wallet).toMatchObject({ currency: 'USDT', label: 'Donations' });
          const addresses = wallet['addresses'] as Json[];
          expect(addresses.length).toBeGreaterThan(1);
          for (const address of addresses) expectFields(address, { network: 'string', address: 'string' });
        });
        row('DELETE /v1/wallets/{wallet_id}', 'deletes the wallet; notifications for it stop', async () => {
          const id = await records.wallet();
          await call('DELETE', `/v1/wallets/${id}`);
          expect((await server.api('GET', `/v1/wallets/${id}`)).status).toBe(404);
        });
      });

      it('The contract has the 50 endpoints of the specification, each with a test above', () => {
        const declared = endpointsOf(api).map(({ endpoint: { method, path } }) =>
          `${method} ${path}`.replace('{*endpoint}', '{endpoint path after /v1}'),
        );
        expect(declared).toEqual(expect.arrayContaining([...asserted]));
        expect(asserted.size).toBe(50);
      });
    });

    describe('Verification rules', () => {
      let transaction: Json;
      const sent = { txRef: 'verified-1', baseAmount: 5000, baseCurrency: 'NGN' };
      beforeAll(async () => {
        const { txRef, baseCurrency, baseAmount: amount } = sent;
        const created = await record('POST', '/v1/payments/checkout', { txRef, baseCurrency, amount });
        const id = String((created['payment'] as Json)['id']);
        await record('PATCH', `/v1/payments/${id}/currency/set/USDT/tron`);
        const locked = await record('PATCH', `/v1/payments/${id}/currency/lock`);
        const { address } = locked['addressInformation'] as Json;
        await records.shop.send(String(address), Number(locked['amount']));
        await records.shop.mine(3);
        transaction = await record('GET', `/v1/transactions/${id}/verify`);
      });

      it('1. the transaction reference matches', () => {
        expect(transaction['txRef']).toBe(sent.txRef);
      });
      it('2. status is success', () => {
        expect(transaction['status']).toBe('success');
      });
      it('3. currency is the expected one; baseAmount and baseCurrency equal what was sent', () => {
        expect(transaction).toMatchObject({ currency: 'USDT', ...sent });
      });
      it('4. amountReceived equals the amount on the transaction', () => {
        expect(transaction['amount']).toBeGreaterThan(0);
        expect(transaction['amountReceived']).toBe(transaction['amount']);
      });
    });

    describe('Authentication', () => {
      it('Header — Authorization: Bearer <API_KEY> on every request', async () => {
        const path = '/v1/customers';
        const callWith = (headers: Record<string, string>) =>
          server.api('GET', path, { key: undefined, headers });
        expect((await callWith({})).status).toBe(401);
        expect((await callWith({ Authorization: server.secretKey })).status).toBe(401);
        const headers = { Authorization: `Bearer ${server.secretKey}`, 'Content-Type': 'application/json' };
        expect((await callWith(headers)).status).toBe(200);
      });
      it('Private (secret) key — valid for all endpoints, verify included', async () => {
        const id = await records.payment();
        for (const path of [
          `payments/${id}`,
          `transactions/${id}/verify`,
          `transactions/${id}/verify/checkout`,
        ]) {
          await call('GET', `/v1/${path}`);
        }
      });
      it('Public key — valid on payment endpoints through the checkout form, and on verify/checkout', async () => {
        const key = server.publicKey;
        const body = { amount: 5, baseCurrency: 'USD' };
        const created = await call('POST', '/v1/payments/checkout', { key, body });
        const { id } = created.body.data['payment'] as Payment;
        await call('GET', `/v1/payments/checkout/${id}`, { key });
        await call('PATCH', `/v1/payments/checkout/${id}/currency/set/USDT/tron`, { key });
        await call('PATCH', `/v1/payments/checkout/${id}/currency/lock`, { key });
        await call('PATCH', `/v1/payments/checkout/${id}/cancel`, { key });
        await call('GET', `/v1/transactions/${id}/verify/checkout`, { key });
        const secretOnly = ['/v1/customers', '/v1/balances', `/v1/transactions/${id}/verify`];
        for (const path of secretOnly) {
          expect((await server.api('GET', path, { key })).status, path).toBe(403);
        }
      });
    });

    /** The types of the webhooks received for a record, in order of arrival. */
    function webhooksOf(id: string): string[] {
      return receiver.received
        .filter(({ event, isVerified }) => isVerified && (event.data as Json)['id'] === id)
        .map(({ event }) => event.type);
    }

    describe('Events', () => {
      it('Payment outcome is delivered by webhook', async () => {
        const id = await records.paidPayment();
        await expect.poll(() => webhooksOf(id), { timeout: 10_000 }).toContain('payment.success');
      });

      it('A webhook is sent when a hosted wallet receives a transaction, until the wallet is deleted', async () => {
        const id = await records.wallet();
        const { addresses } = (await record('GET', `/v1/wallets/${id}`)) as { addresses: Json[] };
        const { address } = addresses.find(({ network }) => network === 'tron') ?? {};
        const deposit = async () => {
          await records.shop.send(String(address), 7);
          await records.shop.mine(3);
        };
        const walletWebhooks = () =>
          receiver.received.filter(
            ({ event, body }) => event.type === 'wallet.transaction' && body.includes(id),
          ).length;
        await deposit();
        await expect.poll(walletWebhooks, { timeout: 10_000 }).toBe(1);
        await call('DELETE', `/v1/wallets/${id}`);
        await deposit();
        // The webhook of a later payment arrives, and none for the deposit before it.
        const later = await records.paidPayment();
        await expect.poll(() => webhooksOf(later), { timeout: 10_000 }).toContain('payment.success');
        expect(walletWebhooks()).toBe(1);
      });

      it('Each payment keeps a time log, returned by its events', async () => {
        const id = await records.paidPayment();
        const { body } = await call('GET', `/v1/transactions/${id}/events`);
        const types = (body.data as unknown as { type: string }[]).map(({ type }) => type);
        expect(types).toContain('event');
        expect(types.at(-1)).toBe('success');
      });
    });

    describe('Limits and versioning', () => {
      it('page and skip (rows per page) are inputs of lists; meta.pagination reports the rows', async () => {
        await records.customer();
        await records.customer();
        const page = async (number: number) =>
          (await call('GET', `/v1/customers?skip=1&page=${number}`)).body;
        const [first, second] = [await page(1), await page(2)];
        expect(first.meta).toMatchObject({ pagination: { count: 1, from: 1, to: 1 } });
        expect(second.meta).toMatchObject({ pagination: { count: 1, from: 2, to: 2 } });
        expect(ids(first.data as unknown as Json[])).not.toEqual(ids(second.data as unknown as Json[]));
      });
      it('the version is the path prefix /v1 on every endpoint', () => {
        for (const { endpoint } of endpointsOf(api)) expect(endpoint.path).toMatch(/^\/v1\//);
      });
    });
  });

function dayFrom(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
}
