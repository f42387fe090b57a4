/** `iterate` yields each row of a list once, even while rows are added. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createMerchantClient, type MerchantClient } from '../../src/client/merchant-client.js';
import { api, endpointsOf } from '../../src/contract/index.js';
import { reply, startLocalServer, type LocalServer } from './local-server.js';

const sample = api.customers.list.sample.data[0];
const start = Date.UTC(2026, 0, 1);

let server: LocalServer;
let merchant: MerchantClient;
/** Newest first, like the API's lists. */
let customers: { id: string; createdAt: string }[];
/** Runs after each page. */
let afterPage: () => void;
let hasMeta: boolean;

function add(count: number, time = start): void {
  for (let index = 0; index < count; index += 1) {
    customers.unshift({ ...sample, id: `c${customers.length}`, createdAt: new Date(time).toISOString() });
  }
}

beforeEach(async () => {
  customers = [];
  hasMeta = true;
  afterPage = () => {};
  server = await startLocalServer();
  merchant = createMerchantClient({ apiUrl: server.url, secretKey: 'sk_test_example' });
  server.answer = (response, request) => {
    const query = new URL(request.url, server.url).searchParams;
    const [page, skip, to] = [Number(query.get('page')), Number(query.get('skip')), query.get('to')];
    const matching = customers.filter(({ createdAt }) => to === null || createdAt <= to);
    const data = matching.slice((page - 1) * skip, page * skip);
    const from = data.length === 0 ? 0 : (page - 1) * skip + 1;
    const last = data.length === 0 ? 0 : from + data.length - 1;
    const pagination = { total: matching.length, count: data.length, from, to: last };
    const envelope = { status: 'success', message: 'Fine', data, ...(hasMeta && { meta: { pagination } }) };
    reply(200, envelope, { Date: new Date(start).toUTCString() })(response, request);
    afterPage();
  };
});
afterEach(() => server.close());

async function idsOf(rows: AsyncIterable<{ id: string }>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of rows) ids.push(id);
  return ids;
}

const newestFirst = (count: number) =>
  Array.from({ length: count }, (_none, index) => `c${count - 1 - index}`);

describe('yields every row once:', () => {
  test.each([
    [0, 1],
    [1, 1],
    [100, 1],
    [101, 2],
    [250, 3],
  ])('`iterate` yields each of %i rows once, in %i requests', async (count, requests) => {
    add(count);
    expect(await idsOf(merchant.customers.iterate())).toEqual(newestFirst(count));
    expect(server.received).toHaveLength(requests);
  });

  test('`iterate` yields every row once when rows are created after the first page', async () => {
    add(250);
    afterPage = () => add(30, start + 60_000);
    expect(await idsOf(merchant.customers.iterate())).toEqual(newestFirst(250));
  });

  test('`iterate` yields every row once when rows are created in the same second as the first page', async () => {
    add(250);
    afterPage = () => add(30, start + 500);
    expect(await idsOf(merchant.customers.iterate())).toEqual(newestFirst(250));
  });

  test('`iterate` yields every row once when the server sends no meta', async () => {
    hasMeta = false;
    add(250);
    expect(await idsOf(merchant.customers.iterate())).toEqual(newestFirst(250));
  });
});

test('`iterate` uses the caller’s filters, page size and first page', async () => {
  add(7);
  const query = { email: 'ada@example.com', skip: 2, page: 2, to: '2026-12-31' };
  expect(await idsOf(merchant.customers.iterate({ query }))).toEqual(newestFirst(7).slice(2));
  expect(server.received.map(({ url }) => url)).toEqual(
    [2, 3, 4].map((page) => `/v1/customers?skip=2&email=ada%40example.com&page=${page}&to=2026-12-31`),
  );
});

test('`iterate` fetches no more pages than needed', async () => {
  add(250);
  for await (const row of merchant.customers.iterate()) {
    const email: string = row.email;
    expect(email).toBe(sample.email);
    break;
  }
  expect(server.received).toHaveLength(1);
});

test('`iterate` stops on abort', async () => {
  add(250);
  const abort = new AbortController();
  const rows = merchant.customers.iterate({ signal: abort.signal });
  await rows.next();
  abort.abort();
  await expect(idsOf(rows)).rejects.toMatchObject({ name: 'AbortError' });
});

test('`iterate` exists for every list of records, and nothing else', () => {
  const having = Object.entries(merchant).flatMap(([name, verbs]) => ('iterate' in verbs ? [name] : []));
  const paginated = endpointsOf(api).flatMap(({ resource, endpoint }) =>
    endpoint.paginated ? [resource] : [],
  );
  expect(having).toEqual([...new Set(paginated)]);
  expect(having).toContain('payouts');
  // @ts-expect-error: reference lists have no pages
  expect(merchant.countries.iterate).toBeUndefined();
});
