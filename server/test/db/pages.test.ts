/** Pages of lists, on both engines: they are walked once if the page itself shows where the list ends. */
import type { KyselyPlugin } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readPage } from '../../src/core/db/pages.js';
import { engines } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';

const length = 12;

describe.each(engines)('A page of a list of 12 rows, on $name', (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ engine });
    const { merchantId: merchant_id } = server.bootstrapped;
    await server.database.write((transaction) =>
      transaction
        .insertInto('wallets')
        .values(
          Array.from({ length }, (_, index) => ({
            id: `wallet-${index + 10}`,
            merchant_id,
            mode: 'test' as const,
            currency: 'USDT',
            label: 'Till',
            created_at: index,
          })),
        )
        .execute(),
    );
  });
  afterAll(() => server.stop());

  async function read(page: number, skip: number, mostListed?: number) {
    let statements = 0;
    const counting: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      transformResult({ result }) {
        statements += 1;
        return Promise.resolve(result);
      },
    };
    const reader = server.database.reader.withPlugin(counting);
    const query = reader.selectFrom('wallets').select('wallets.id').where('wallets.label', '=', 'Till');
    const request = { page, skip, from: undefined, to: undefined };
    const bound = mostListed === undefined ? undefined : { reader, mostListed };
    const { rows, total } = await readPage(query, 'wallets', request, bound);
    return [rows.map(({ id }) => Number(id.slice(-2)) - 10), total, statements];
  }

  it.each([
    ['the first of several is counted', [1, 5], [[11, 10, 9, 8, 7], 12, 2]],
    ['the last is not', [3, 5], [[1, 0], 12, 1]],
    ['nor is a full last one', [3, 4], [[3, 2, 1, 0], 12, 1]],
    ['nor the only one', [1, 12], [[11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0], 12, 1]],
    ['one after the end is counted', [4, 5], [[], 12, 2]],
    ['a request for no rows only counts', [1, 0], [[], 12, 1]],
    ['the last of a list that ends at a bound is not counted', [2, 4, 8], [[7, 6, 5, 4], 8, 1]],
    ['and ends there', [2, 5, 8], [[6, 5, 4], 8, 1]],
    ['one after the bound is counted up to it', [3, 4, 8], [[], 8, 1]],
  ] as const)('%s', async (_, [page, skip, mostListed], expected) => {
    expect(await read(page, skip, mostListed)).toEqual(expected);
  });

  it('an empty list needs no count', async () => {
    await server.database.write((transaction) => transaction.deleteFrom('wallets').execute());
    expect(await read(1, 5)).toEqual([[], 0, 1]);
  });
});
