/** Two servers on one PostgreSQL that have prices in different currencies: both say so, until they have the same. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call } from '../support/call.js';
import { engines, type TestDatabase } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';
import { market, openExchanges, type Exchanges } from './exchanges.js';

const sources = ['kraken', 'coinbase', 'er-api'];

describe.each(engines.filter(({ name }) => name === 'PostgreSQL'))('Servers on one $name', (engine) => {
  let exchanges: Exchanges;
  let database: TestDatabase;
  let time = Date.now();
  const running = new Set<TestServer>();
  beforeAll(async () => {
    exchanges = await openExchanges();
    for (const name of sources)
      exchanges.quote(name, { ...market, fiat: { ...market.fiat, CHF: '0.8', SEK: '9.5' } });
    database = await engine.create();
  });
  afterAll(async () => {
    for (const server of running) await server.stop();
    await database.dispose();
    await exchanges.close();
  });

  async function start(baseCurrencies: string): Promise<TestServer> {
    const server = await startServer({
      engine,
      databaseUrl: database.url,
      env: { BASE_CURRENCIES: baseCurrencies, RATES: exchanges.setting(...sources) },
      // Each look is later than the one before.
      overrides: { realNow: () => (time += 1) },
    });
    running.add(server);
    // Until each network has been scanned once, that is the reason a server is not ready.
    const readiness = async () => (await call(server.url, 'GET', '/readyz')).status;
    await expect.poll(readiness, { timeout: 15_000 }).toBe(200);
    return server;
  }
  async function stop(server: TestServer): Promise<void> {
    running.delete(server);
    await server.stop();
  }
  /** Their readiness after each has found the others and seen them write again. */
  async function look(...servers: readonly TestServer[]): Promise<string[]> {
    for (const { jobs } of [...servers, ...servers, ...servers]) {
      const job = jobs.find(({ name }) => name === 'currencies of servers');
      await job?.run(AbortSignal.timeout(10_000));
    }
    const replies = await Promise.all(servers.map(({ url }) => call(url, 'GET', '/readyz')));
    return replies.map(({ body }) => body.message);
  }

  it('Servers on one database report that their BASE_CURRENCIES differ, as long as both run', async () => {
    const one = await start('SEK,CHF');
    const other = await start('CHF');
    expect(await look(one, other)).toEqual([
      'Ready. BASE_CURRENCIES of the servers on this database differ: this one has CHF,SEK, and another has CHF. Set the same for all',
      'Ready. BASE_CURRENCIES of the servers on this database differ: this one has CHF, and another has CHF,SEK. Set the same for all',
    ]);

    await stop(other);
    const same = await start('chf, sek, USD');
    // The other wrote before it ended, and not after this start.
    expect(await look(same)).toEqual(['Ready']);
    time += 60_000;
    expect(await look(one, same)).toEqual(['Ready', 'Ready']);
  });
});
