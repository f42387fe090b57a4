/** Two servers, each with a marker of its own, whose PostgreSQL fails over to a replica that lacks the last transactions. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HDKey } from '@scure/bip32';
import pg from 'pg';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { restore as restoreModule } from '../../src/modules/restore/module.js';
import { shippedRatesFile } from '../../src/core/money/fixed-rates.js';
import { commandContext, runWith } from '../support/command-context.js';
import { engines, lastEngine, type TestDatabase } from '../support/engines.js';
import { hasLitecoind, litecoinRegtest, startLitecoin, type LitecoinNode } from '../support/litecoin.js';
import { startServer, type TestServer } from '../support/server.js';
import { backUp, restoreFrom } from './backups.js';

const [postgres] = engines.filter(({ name }) => name === 'PostgreSQL');

describe.skipIf(!postgres || !hasLitecoind)('two servers after a failover to a replica that lags', () => {
  const engine = postgres ?? lastEngine;
  let node: LitecoinNode;
  let directory: string;
  let database: TestDatabase;
  let replica: TestDatabase;
  const servers: TestServer[] = [];
  let key: string;

  async function start(marker: string): Promise<TestServer> {
    const server = await startServer({
      engine,
      databaseUrl: database.url,
      env: {
        NETWORKS_FILE: join(directory, 'networks.json'),
        RATES_FILE: shippedRatesFile,
        SANDBOX: 'on',
        MARKER_DIRECTORY: join(directory, marker),
      },
      log: pino({ level: 'silent' }),
    });
    servers.push(server);
    return server;
  }

  /** The primary is lost. Its name leads to the replica from now on, as that of a load balancer does. */
  async function failOver(): Promise<void> {
    const names = [database, replica].map(({ url }) => new URL(url).pathname.slice(1));
    const admin = new URL(database.url);
    admin.pathname = '/postgres';
    const client = new pg.Client({ connectionString: admin.href });
    await client.connect();
    const end = 'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1';
    await client.query(`alter database ${names[0] ?? ''} allow_connections false`);
    await client.query(end, [names[0]]);
    await vi.waitFor(
      () => client.query(`alter database ${names[0] ?? ''} rename to ${names[0] ?? ''}_lost`),
      {
        timeout: 10_000,
      },
    );
    await client.query(`alter database ${names[1] ?? ''} rename to ${names[0] ?? ''}`);
    await client.query(`drop database ${names[0] ?? ''}_lost with (force)`);
    await client.end();
  }

  const wallet = (server: TestServer) =>
    server.api('POST', '/v1/wallets', { key, body: { currency: 'LTC', label: 'Till' } });
  async function address(server: TestServer): Promise<string> {
    const { status, body } = await wallet(server);
    expect(status, JSON.stringify(body)).toBe(200);
    return (body.data as { addresses: { address: string }[] }).addresses[0]?.address ?? '';
  }

  beforeEach(async () => {
    node = await startLitecoin();
    directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-'));
    [database, replica] = [await engine.create(), await engine.createEmpty()];
    const litecoin = { nodes: [node.url], genesisHash: litecoinRegtest.genesisHash };
    await writeFile(join(directory, 'networks.json'), JSON.stringify({ networks: { litecoin } }));
  });
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.stop();
    await database.dispose();
    await node.stop();
    await rm(directory, { recursive: true, force: true });
  });

  /** Two servers that have given addresses out, the last three of which the replica does not know. */
  async function openShop(markers: readonly [string, string]) {
    const [first, second] = [await start(markers[0]), await start(markers[1])];
    const { merchantId } = first.bootstrapped;
    const account = HDKey.fromMasterSeed(randomBytes(32)).derive("m/84'/2'/0'");
    ({ key } = await first.database.write(async (transaction) => {
      const scope = { merchantId, mode: 'live' } as const;
      const given = { extendedPublicKey: account.publicExtendedKey, script: 'p2wpkh' } as const;
      await first.app.depositKeys.set(transaction, scope, 'litecoin', given);
      return first.app.keys.create(transaction, { ...scope, kind: 'secret' });
    }));
    for (const { app } of [first, second]) await app.depositKeys.refresh();
    await first.app.scanner.scanNow({ mode: 'live', network: 'litecoin' });
    const given = [await address(first), await address(second)];
    const backup = join(directory, 'backup');
    await backUp(engine, database.url, backup, () => Promise.resolve());
    await restoreFrom(engine, replica.url, backup);
    for (const server of [first, second, first]) given.push(await address(server));

    return { first, second, given };
  }

  it('two servers give out no address again after a failover', { timeout: 90_000 }, async () => {
    const { first, second, given } = await openShop(['first', 'second']);
    await failOver();
    // Each compares its marker every five seconds, and says what it finds to the other one.
    await vi.waitFor(async () => expect(await restoreModule.rules(first.app).look()).toBeDefined(), {
      timeout: 30_000,
    });
    for (const server of [first, second]) {
      await vi.waitFor(
        async () => expect((await wallet(server)).body.data).toMatchObject({ code: 'service_unavailable' }),
        { timeout: 30_000 },
      );
    }

    // The other one may know of more than the one where it is confirmed: then it is confirmed there, too.
    for (const server of [first, second]) {
      if ((await restoreModule.rules(server.app).look()) === undefined) continue;
      await runWith(commandContext(server), 'restore confirm --yes');
    }
    for (const server of [first, second, first, second]) given.push(await address(server));
    expect(new Set(given).size).toBe(given.length);
  });

  it(
    'two servers that share the folder of the marker give out no address again right after a failover',
    { timeout: 90_000 },
    async () => {
      const { second, given } = await openShop(['shared', 'shared']);
      await failOver();
      // Requests fail while connections are made again.
      for (let tries = 0; tries < 20; tries += 1) {
        const { status, body } = await wallet(second);
        if (status === 200) {
          given.push((body.data as { addresses: { address: string }[] }).addresses[0]?.address ?? '');
        }
      }
      expect(new Set(given).size).toBe(given.length);
      expect((await wallet(second)).body.data).toMatchObject({ code: 'service_unavailable' });
    },
  );
});
