/** Power cuts, a PostgreSQL that dies, has no connection or no disk left, names that are lost, and clocks that jump: under load, nothing is lost or doubled. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { HDKey } from '@scure/bip32';
import pg from 'pg';
import { parseEther } from 'viem';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startPostgres } from '../../scripts/find-postgres.mjs';
import { openDatabase } from '../src/database.js';
import { openExchanges } from './money/exchanges.js';
import { startAnvil } from './support/anvil.js';
import { call } from './support/call.js';
import { runCommandLine } from './support/command-line.js';
import {
  bootstrapKeys,
  expectAllThere,
  expectBooksInOrder,
  keepPaying,
  type Answered,
} from './support/confirmed-work.js';
import { engines, enginesOfSoak, sqlite } from './support/engines.js';
import { canFail, canMount, createFaults, cutPower, mountSmallDisk, type Faults } from './support/faults.js';
import { startProcess, type ServerProcess } from './support/process.js';
import { randomOf } from './support/random.js';
import { roundsOf, seedsOf, startRound } from './support/rounds.js';
import { startReceiver } from './webhooks/receiver.js';

const rounds = roundsOf({ usual: 1, soak: 20 });
/** The first cut keeps nothing that was not synced, the second half of it. */
const cuts = roundsOf({ usual: 2, soak: 20 });
const streams = 6;
const [seed = 1] = seedsOf(1);
const timeout = 120_000 + rounds * 20_000;

/** Longer than all jumps of a clock: no payment ends by one. */
const settings = { BLOCK_INTERVAL_MS: '100', PAYMENT_PAY_SECONDS: '8640000', ...bootstrapKeys };

async function faults(): Promise<Faults> {
  const made = await createFaults();
  onTestFinished(() => made.dispose());
  return made;
}

/** Runs payments for a while, at least until one more was answered. `during` is what happens meanwhile. */
async function load(
  url: string,
  answered: Map<string, Answered>,
  during: () => Promise<unknown>,
): Promise<void> {
  const stopped = new AbortController();
  const previous = answered.size;
  const running = Array.from({ length: streams }, () => keepPaying(url, answered, stopped.signal));
  await expect.poll(() => answered.size, { timeout: 30_000 }).toBeGreaterThan(previous);
  await during();
  stopped.abort();
  await Promise.all(running);
}

async function expectNothingLost(
  server: ServerProcess,
  databaseUrl: string,
  answered: ReadonlyMap<string, Answered>,
): Promise<void> {
  await expectAllThere(server.url, answered);
  expect(await server.stop()).toBe(0);
  await expectBooksInOrder(databaseUrl, answered);
  const database = await openDatabase(databaseUrl);
  const postings = await database.reader.selectFrom('ledger_postings').select('key').execute();
  await database.close();
  const settled = postings.filter(({ key }) => key.startsWith('settlement:'));
  const due = [...answered.values()].filter(({ sent, quote }) =>
    sent.some(({ amount }) => amount === quote?.amount),
  );
  // A transfer that was made, but not confirmed any more, may have paid some more.
  expect(settled.length).toBeGreaterThanOrEqual(due.length);
}

function printFigures(title: string, figures: Readonly<Record<string, number>>): void {
  const text = Object.entries(figures).map(([name, value]) => `${name} ${value}`);
  console.log(`${title}: ${text.join(', ')}; lost 0, doubled 0, ledger in order`);
}

const count = (answered: ReadonlyMap<string, Answered>) => ({
  payments: answered.size,
  transfers: [...answered.values()].reduce((sum, { sent }) => sum + sent.length, 0),
});

/** A PostgreSQL that can be killed, as durable as in production. */
async function ownPostgres(settings: readonly string[] = [], parent?: string) {
  const postgres = await startPostgres(settings, parent);
  if (!('url' in postgres)) throw new Error(postgres.reason);
  onTestFinished(() => postgres.stop());
  const { crash } = postgres;
  if (!crash) throw new Error('The PostgreSQL of TEST_DATABASE_URL cannot be killed');
  return { url: postgres.url, crash };
}

describe.skipIf(!canFail)('when the power is cut, on SQLite', () => {
  it(`SQLite loses nothing confirmed in ${cuts} power cuts (seed ${seed})`, { timeout }, async () => {
    // Pages that the server did not write itself would count as never synced.
    const { url: databaseUrl, dispose } = await sqlite.createEmpty();
    onTestFinished(dispose);
    const { env } = await faults();
    const random = randomOf(seed);
    const answered = new Map<string, Answered>();
    const start = () => startProcess({ DATABASE_URL: databaseUrl, ...settings, ...env });
    let lost = 0;
    for (let round = 0; round < cuts; round += 1) {
      startRound('power cuts', round, cuts);
      const server = await start();
      await load(server.url, answered, async () => {
        await delay(random(700));
        await server.kill();
      });
      // At first nothing that was not synced is kept, later more and more of it, sector by sector.
      const percent = Math.floor((round * 100) / cuts);
      lost += cutPower(databaseUrl, () => random(100) < percent).lostBytes;
    }
    await expectNothingLost(await start(), databaseUrl, answered);
    printFigures(`power cuts on SQLite, seed ${seed}`, {
      rounds: cuts,
      ...count(answered),
      'bytes dropped': lost,
    });
  });
});

describe.skipIf(engines.length === 1)('a PostgreSQL that fails', () => {
  it(`Nothing is lost or doubled when PostgreSQL is killed, ${rounds} times`, { timeout }, async () => {
    const { url, crash } = await ownPostgres();
    const servers = [
      await startProcess({ DATABASE_URL: url, ...settings }),
      await startProcess({ DATABASE_URL: url, ...settings }),
    ] as const;
    onTestFinished(() => servers[1].kill());
    onTestFinished(() => servers[0].kill());
    const answered = new Map<string, Answered>();
    for (let round = 0; round < rounds; round += 1) {
      startRound('PostgreSQL killed', round, rounds);
      await load(servers[round % 2]?.url ?? '', answered, async () => {
        await delay(randomInt(700));
        await crash();
        await expect
          .poll(async () => (await fetch(`${servers[round % 2]?.url ?? ''}/readyz`)).status, {
            timeout: 30_000,
          })
          .toBe(200);
      });
    }
    expect(await servers[1].stop()).toBe(0);
    await expectNothingLost(servers[0], url, answered);
    printFigures('PostgreSQL killed, two servers', { rounds, ...count(answered) });
  });

  it(`A server recovers after PostgreSQL had no connections left, ${rounds} times`, { timeout }, async () => {
    const { url } = await ownPostgres(['max_connections=12', 'superuser_reserved_connections=0']);
    const server = await startProcess({ DATABASE_URL: url, ...settings });
    onTestFinished(() => server.kill());
    const answered = new Map<string, Answered>();
    let taken = 0;
    for (let round = 0; round < rounds; round += 1) {
      startRound('no connections', round, rounds);
      await load(server.url, answered, async () => {
        const admin = new pg.Client({ connectionString: url });
        await admin.connect();
        const clients: pg.Client[] = [];
        // The server loses its connections, and others take them.
        await admin.query(
          'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
        );
        for (const client of Array.from({ length: 12 }, () => new pg.Client({ connectionString: url }))) {
          client.on('error', () => undefined);
          await client.connect().then(
            () => clients.push(client),
            () => undefined,
          );
        }
        taken += clients.length;
        await delay(1500);
        for (const client of [...clients, admin]) await client.end();
        await expect
          .poll(async () => (await fetch(`${server.url}/readyz`)).status, { timeout: 30_000 })
          .toBe(200);
      });
    }
    expect(taken).toBeGreaterThanOrEqual(rounds);
    await expectNothingLost(server, url, answered);
    printFigures('PostgreSQL without connections', {
      rounds,
      ...count(answered),
      'connections taken': taken,
    });
  });
});

describe.skipIf(engines.length === 1 || !canMount)('a PostgreSQL whose disk is full', () => {
  it(
    `A server loses and doubles nothing while the disk of PostgreSQL is full, and then continues, ${rounds} times`,
    { timeout },
    async () => {
      const disk = await mountSmallDisk('192m');
      onTestFinished(() => disk.dispose());
      const { url, crash } = await ownPostgres(['max_wal_size=32MB', 'min_wal_size=32MB'], disk.path);
      const server = await startProcess({ DATABASE_URL: url, ...settings });
      onTestFinished(() => server.kill());
      const answered = new Map<string, Answered>();
      const isReady = async () => (await fetch(`${server.url}/readyz`)).status === 200;
      const figures = { 'requests refused with 503': 0, 'restarts of PostgreSQL': 0 };
      for (let round = 0; round < rounds; round += 1) {
        startRound('disk full', round, rounds);
        await load(server.url, answered, async () => {
          disk.fill();
          await expect.poll(isReady, { timeout: 60_000 }).toBe(false);
          for (let index = 0; index < 20; index += 1) {
            const body = { amount: 10, baseCurrency: 'USD' };
            const { status } = await call(server.url, 'POST', '/v1/payments/checkout', {
              key: settings.BOOTSTRAP_SECRET_KEY,
              body,
            });
            expect([200, 503]).toContain(status);
            if (status === 503) figures['requests refused with 503'] += 1;
          }
          disk.empty();
          // PostgreSQL ends if it cannot write its log. Then an operator makes room, and starts it again.
          const deadline = Date.now() + 5000;
          while (Date.now() < deadline && !(await isReady())) await delay(100);
          if (await isReady()) return;
          figures['restarts of PostgreSQL'] += 1;
          await crash();
          await expect.poll(isReady, { timeout: 30_000 }).toBe(true);
        });
      }
      expect(figures['requests refused with 503']).toBeGreaterThan(0);
      await expectNothingLost(server, url, answered);
      printFigures('PostgreSQL with a full disk', { rounds, ...count(answered), ...figures });
    },
  );
});

/** A node or a receiver at a name. Each request needs a connection of its own, and so the name. */
async function forwardAt(target: string): Promise<string> {
  const proxy = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = 'GET' } = request;
      const headers = Object.entries(request.headers).filter(
        ([name]) => !/^(host|connection|content-length)$/.test(name),
      );
      fetch(target, { method, body: Buffer.concat(chunks), headers: headers as [string, string][] }).then(
        async (reply) => {
          response.writeHead(reply.status, { connection: 'close', 'content-type': 'application/json' });
          response.end(Buffer.from(await reply.arrayBuffer()));
        },
        () => response.destroy(),
      );
    });
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => void proxy.close());
  return `http://localhost:${(proxy.address() as AddressInfo).port}/`;
}

describe.skipIf(!canFail)('when no name can be resolved', () => {
  it('A server without DNS serves payers, and credits and reports payments later', { timeout }, async () => {
    const anvil = await startAnvil();
    onTestFinished(() => anvil.stop());
    const receiver = await startReceiver();
    onTestFinished(() => receiver.stop());
    const { url: databaseUrl, dispose } = await sqlite.create();
    onTestFinished(dispose);
    const surroundings = await faults();
    const file = join(surroundings.env['FAULTS_DIRECTORY'] ?? '', 'networks.json');
    await writeFile(
      file,
      JSON.stringify({ networks: { 'evm-dev': { nodes: [await forwardAt(anvil.url)] } } }),
    );
    const exchanges = await openExchanges();
    onTestFinished(() => exchanges.close());
    const sources = exchanges
      .setting('kraken', 'coinbase', 'binance', 'er-api')
      .replaceAll('127.0.0.1', 'localhost');
    const env = { NETWORKS_FILE: file, RATES: sources };
    const server = await startProcess({
      DATABASE_URL: databaseUrl,
      ...settings,
      ...env,
      ...surroundings.env,
    });
    onTestFinished(() => server.kill());
    const command = async (...args: string[]) => {
      const { exitCode, stdout, stderr } = await runCommandLine(databaseUrl, [...args, '--json'], env);
      expect(exitCode, stderr).toBe(0);
      return JSON.parse(stdout) as unknown;
    };
    const [{ id: merchant } = { id: '' }] = (await command('merchants', 'list')) as { id: string }[];
    const account = HDKey.fromMasterSeed(new Uint8Array(32).fill(7)).derive("m/44'/60'/0'").publicExtendedKey;
    await command(
      'deposit-keys',
      'set',
      '--merchant',
      merchant,
      '--mode',
      'test',
      '--family',
      'evm',
      '--xpub',
      account,
      '--yes',
    );
    await command('merchants', 'update', merchant, '--webhook-url', await forwardAt(receiver.url));

    const key = settings.BOOTSTRAP_SECRET_KEY;
    const ask = async (method: string, path: string, body?: object) => {
      const reply = await call(server.url, method, path, { key, ...(body && { body }) });
      expect(reply.status, JSON.stringify(reply.body)).toBe(200);
      return reply.body.data as Record<string, unknown>;
    };
    const created = await ask('POST', '/v1/payments/checkout', { amount: 10, baseCurrency: 'USD' });
    const { id } = created['payment'] as { id: string };
    await expect
      .poll(
        async () =>
          (await call(server.url, 'PATCH', `/v1/payments/${id}/currency/set/ETH/evm-dev`, { key })).status,
        { timeout: 30_000 },
      )
      .toBe(200);
    const locked = await ask('PATCH', `/v1/payments/${id}/currency/lock`);
    const { address } = locked['addressInformation'] as { address: string };
    const status = async () => (await ask('GET', `/v1/transactions/${id}/verify`))['status'];

    surroundings.loseNames();
    await anvil.send(address, parseEther(String(locked['amount'])));
    await anvil.mine(20);
    const answered = new Map<string, Answered>();
    const pageMs: number[] = [];
    await load(server.url, answered, async () => {
      const until = Date.now() + 15_000;
      while (Date.now() < until) {
        for (const path of ['/healthz', `/pay/${id}`, '/crypto-checkout.js', '/docs']) {
          const startedAt = performance.now();
          const reply = await fetch(server.url + path);
          await reply.arrayBuffer();
          expect(reply.status, path).toBe(200);
          pageMs.push(performance.now() - startedAt);
        }
        await delay(200);
      }
    });
    expect(await status()).toBe('in progress');
    // Prices of two minutes ago are still shown, but nobody is promised one.
    surroundings.jump(120);
    const late = await ask('POST', '/v1/payments/checkout', { amount: 5000, baseCurrency: 'NGN' });
    const waiting = `/v1/payments/${(late['payment'] as { id: string }).id}/currency`;
    await ask('PATCH', `${waiting}/set/USDT/tron`);
    const lock = async () => (await call(server.url, 'PATCH', `${waiting}/lock`, { key })).body.data.code;
    expect(await lock()).toBe('rate_unavailable');
    const successes = () =>
      receiver.received
        .filter(({ event }) => event.type === 'payment.success')
        .map(({ id: eventId }) => eventId);
    const before = successes().length;

    surroundings.findNames();
    await expect.poll(status, { timeout: 60_000 }).toBe('success');
    await expectAllThere(server.url, answered);
    // The third attempt is five minutes after the second one.
    surroundings.jump(720);
    await expect.poll(lock, { timeout: 60_000 }).toBe(undefined);
    const paid = [...answered.values()].filter(({ sent, quote }) =>
      sent.some(({ amount }) => amount === quote?.amount),
    );
    await expect.poll(() => new Set(successes()).size, { timeout: 60_000 }).toBeGreaterThan(paid.length);
    // Nothing waits for the resolver but what needs a name: it takes five seconds to fail. A single page can be as slow on a
    // busy machine.
    const medianMs = pageMs.sort((a, b) => a - b)[Math.floor(pageMs.length / 2)];
    expect(medianMs).toBeLessThan(2500);
    expect(await server.stop()).toBe(0);
    await expectBooksInOrder(databaseUrl, answered);
    printFigures('names lost for 15 s', {
      ...count(answered),
      'reported meanwhile': before,
      'slowest page in ms': Math.round(pageMs.at(-1) ?? 0),
    });
  });
});

describe.skipIf(!canFail).each(enginesOfSoak)('when the clock of the server jumps, on $name', (engine) => {
  it(
    `A server whose clock jumps loses and doubles nothing, over ${rounds} jumps (seed ${seed})`,
    { timeout: timeout + rounds * 20_000 },
    async () => {
      const { url: databaseUrl, dispose } = await engine.create();
      onTestFinished(dispose);
      const { env, jump } = await faults();
      const random = randomOf(seed);
      const server = await startProcess({ DATABASE_URL: databaseUrl, ...settings, ...env });
      onTestFinished(() => server.kill());
      const answered = new Map<string, Answered>();
      const hours = [-24, -1, 1, 24] as const;
      for (let round = 0; round < rounds; round += 1) {
        startRound(`clock on ${engine.name}`, round, rounds);
        await load(server.url, answered, async () => {
          jump((hours[random(hours.length)] ?? 1) * 3600 + random(60));
          await delay(500 + random(1000));
          jump(random(3) === 0 ? 3 : 0);
          await delay(300);
          jump(0);
        });
      }
      await expect
        .poll(async () => (await fetch(`${server.url}/readyz`)).status, { timeout: 60_000 })
        .toBe(200);
      // The simulated networks make their blocks by the clock, and none while the last one is of tomorrow. Real ones
      // continue.
      const mined = await call(server.url, 'POST', '/sandbox/blocks', {
        key: bootstrapKeys.BOOTSTRAP_SECRET_KEY,
        body: { network: 'tron', count: 10 },
      });
      expect(mined.status).toBe(200);
      await expectNothingLost(server, databaseUrl, answered);
      printFigures(`clock jumps on ${engine.name}, seed ${seed}`, { rounds, ...count(answered) });
    },
  );
});
