/** Lists of operators have the filters of the API's lists, and find the same records. */
import { api, type Endpoint } from 'crypto-checkout/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commands } from '../../src/command-line/registry.js';
import { optionName } from '../../src/core/commands/command.js';
import { enginesOfQuick } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';
import { externalAddresses, openShop, type Shop } from '../support/shop.js';

interface List {
  readonly endpoint: Endpoint;
  /** Options that have other names than the fields of the query. */
  readonly spelling?: Readonly<Record<string, string>>;
  /** Filters, each of which finds some of the records but not all. */
  readonly filters: readonly Readonly<Record<string, string>>[];
}

const lists: Readonly<Record<string, List>> = {
  'payments list': {
    endpoint: api.transactions.list,
    spelling: { txRef: 'reference', customer: 'email', txHash: 'transaction' },
    filters: [
      { status: 'success' },
      { txRef: 'order-1' },
      { customer: 'ADA@example.com' },
      { search: 'order-2' },
      { review: 'excess' },
      { network: 'tron' },
    ],
  },
  'refunds list': {
    endpoint: api.refunds.list,
    filters: [{ status: 'awaiting_address' }, { network: 'ETHEREUM' }, { currency: 'usdt', network: 'tron' }],
  },
  'links list': { endpoint: api.links.list, filters: [{ isActive: 'true' }, { isActive: 'false' }] },
  'transfers list': { endpoint: api.transfers.list, filters: [{ status: 'success' }, { status: 'pending' }] },
  'webhooks list': {
    endpoint: api.webhooks.list,
    filters: [{ type: 'payment.success' }, { type: 'refund.created' }],
  },
};

const optionOf = ({ spelling = {} }: List, field: string) => optionName(spelling[field] ?? field);

describe.each(Object.entries(lists))('%s', (name, list) => {
  it('a list command has an option for each filter of the API', () => {
    const known = Object.keys(commands.get(name)?.options ?? {}).map(optionName);
    const filters = Object.keys(list.endpoint.query?.def.shape ?? {}).filter(
      (field) => field !== 'page' && field !== 'skip',
    );
    expect(known).toEqual(expect.arrayContaining(filters.map((field) => optionOf(list, field))));
  });
});

describe.each(enginesOfQuick)('On $name', (engine) => {
  let server: TestServer;
  let merchant: Shop;
  let own: string[];
  beforeAll(async () => {
    server = await startServer({ engine, overrides: { paidByOperator: ['ethereum'] } });
    merchant = openShop(server);
    own = ['--merchant', server.bootstrapped.merchantId];
    await merchant.command('merchants', 'update', ...own.slice(1), '--webhook-url', 'http://127.0.0.1:9/');
    const customer = { email: 'ada@example.com' };
    const first = await merchant.lock({ txRef: 'order-1', customer });
    await merchant.pay(first.address, 15);
    const onEthereum = { currency: 'USDT', network: 'ethereum' };
    const second = await merchant.lock({ txRef: 'order-2', ...onEthereum });
    await merchant.pay(second.address, 15, onEthereum);
    await merchant.mine(20, 'ethereum');
    await merchant.lock({ txRef: 'order-3' });
    for (const { id, to } of [{ id: first.id }, { id: second.id, to: externalAddresses.evm }]) {
      const body = { kind: 'partial', amount: 1, address: to };
      await merchant.ask('POST', `/v1/payments/${id}/refunds`, { body });
    }
    await merchant.fund({ amount: 15 });
    for (const title of ['Ticket', 'Tip']) {
      const made = ['--title', title, '--amount', '5', '--currency', 'USD'];
      const { id } = (await merchant.command('links', 'create', ...own, ...made)) as { id: string };
      if (title === 'Tip') await merchant.command('links', 'update', id, '--off');
    }
    const sent = await merchant.transfer({});
    await merchant.until((sent.body.data as { id: string }).id, 'success');
    await merchant.transfer({ walletNetwork: 'ethereum', walletAddress: externalAddresses.evm });
  });
  afterAll(() => server.stop());

  type Found = readonly { readonly id: string }[];
  const idsOf = (found: Found) => found.map(({ id }) => id).sort();

  async function commandIds(name: string, list: List, query: Readonly<Record<string, string>>) {
    const given = Object.entries(query).flatMap(([field, value]) => [optionOf(list, field), value]);
    const found = await merchant.command(...name.split(' '), ...own, ...given);
    return idsOf(name === 'payments list' ? (found as { payments: Found }).payments : (found as Found));
  }

  const cases = Object.entries(lists).flatMap(([name, list]) =>
    list.filters.map((query) => [name, JSON.stringify(query), list, query] as const),
  );
  it.each(cases)('%s finds by %s what the API finds', async (name, _text, list, query) => {
    const { path } = list.endpoint;
    const asked = new URLSearchParams({ ...query, skip: '100' }).toString();
    const all = idsOf(await merchant.ask<Found>('GET', `${path}?skip=100`));
    const expected = idsOf(await merchant.ask<Found>('GET', `${path}?${asked}`));
    expect(expected.length).toBeGreaterThan(0);
    expect(expected.length).toBeLessThan(all.length);
    expect(await commandIds(name, list, query)).toEqual(expected);
  });

  it.each(Object.entries(lists))('%s is empty for a time before anything was made', async (name, list) => {
    expect(await commandIds(name, list, { to: '2020-01-01' })).toEqual([]);
    expect((await commandIds(name, list, { from: '2020-01-01' })).length).toBeGreaterThan(0);
  });

  it('refunds list and webhooks list find what belongs to one record', async () => {
    const [refund] = await merchant.ask<{ id: string; paymentId: string }[]>('GET', '/v1/refunds');
    const { id = '', paymentId = '' } = refund ?? {};
    expect(await merchant.command('refunds', 'list', '--payment-id', paymentId)).toMatchObject([{ id }]);
    expect(await merchant.command('webhooks', 'list', '--subject-id', id)).toMatchObject([{ subjectId: id }]);
  });

  it('audit list finds an action', async () => {
    const entries = (await merchant.command('audit', 'list', '--action', 'link.created')) as object[];
    expect(entries).toMatchObject([{ action: 'link.created' }, { action: 'link.created' }]);
  });
});

it.each([
  [['payments', 'list', '--merchant', 'X', '--page', '0'], '--page: Must be an integer, 1 or more, not "0"'],
  [['links', 'list', '--is-active', 'maybe'], '--is-active: Must be true or false, not "maybe"'],
  [['refunds', 'list', '--status', 'lost'], '--status must be awaiting_address, '],
  [['books', 'export', '--merchant', 'X', '--month', 'May'], '--month: Must be a month: 2026-12, not "May"'],
])('%j is refused in the words of the contract', (words, problem) => {
  const [group = '', verb = '', ...given] = words;
  expect(() => commands.get(`${group} ${verb}`)?.parse(given)).toThrow(problem);
});
