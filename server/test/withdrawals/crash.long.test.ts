/** Kills the built server at random moments while it sends transfers: each accepted one is on the chain once. */
import { randomBytes, randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { call } from '../support/call.js';
import { enginesOfSoak } from '../support/engines.js';
import { startProcess, type ServerProcess } from '../support/process.js';
import { externalAddresses } from '../support/shop.js';
import { roundsOf, startRound } from '../support/rounds.js';
import { openDatabase } from '../../src/database.js';
import { expectBooksInOrder } from '../support/violations.js';

const rounds = roundsOf({ usual: 1, soak: 12 });
const streams = 4;
const keys = {
  BOOTSTRAP_PUBLIC_KEY: `pk_test_${randomBytes(32).toString('base64url')}`,
  BOOTSTRAP_SECRET_KEY: `sk_test_${randomBytes(32).toString('base64url')}`,
};

interface Request {
  /** The Idempotency-Key. A request whose reply was lost is sent again with it. */
  readonly key: string;
  /** In units. Unique, to identify the transfer on the chain. */
  readonly amount: number;
  id?: string;
}

describe.concurrent.each(enginesOfSoak)('a server killed while it sends transfers, on $name', (engine) => {
  it(`each transfer is sent once after ${rounds} kills`, { timeout: 60_000 + rounds * 20_000 }, async () => {
    const { url: databaseUrl, dispose } = await engine.create();
    const env = { DATABASE_URL: databaseUrl, BLOCK_INTERVAL_MS: '100', ...keys };
    const requests: Request[] = [];
    let server: ServerProcess | undefined;
    try {
      server = await startProcess(env);
      const funded = await fund(server.url);
      for (let round = 0; round < rounds; round += 1) {
        startRound(`transfers on ${engine.name}`, round, rounds);
        const stopped = new AbortController();
        const { url } = server;
        const running = Array.from({ length: streams }, () => withdraw(url, requests, stopped.signal));
        // The server processes transfers every 500 ms: it is killed before that, after it, or in the middle.
        await delay(randomInt(100, 1300));
        await server.kill();
        stopped.abort();
        await Promise.all(running);
        server = await startProcess(env);
      }
      for (const request of requests) await requestTransfer(server.url, request);
      await expectAllSent(server.url, requests);
      expect(await server.stop()).toBe(0);
      await expectOnceOnChain(databaseUrl, requests, funded);
    } finally {
      await server?.kill();
      await dispose();
    }
  });
});

async function api<T>(url: string, method: string, path: string, body?: object, key?: string): Promise<T> {
  const { status, body: reply } = await call(url, method, path, {
    key: keys.BOOTSTRAP_SECRET_KEY,
    body,
    ...(key !== undefined && { headers: { 'Idempotency-Key': key } }),
  });
  expect(status, `${method} ${path}: ${JSON.stringify(reply)}`).toBe(200);
  return reply.data as T;
}

/** Pays the merchant. Returns the available balance, in units. */
async function fund(url: string): Promise<number> {
  const { payment } = await api<{ payment: { id: string } }>(url, 'POST', '/v1/payments/checkout', {
    amount: 10_000,
    baseCurrency: 'USD',
  });
  const path = `/v1/payments/${payment.id}/currency`;
  await api(url, 'PATCH', `${path}/set/USDT/tron`);
  const { addressInformation } = await api<{ addressInformation: { address: string } }>(
    url,
    'PATCH',
    `${path}/lock`,
  );
  const { address } = addressInformation;
  await api(url, 'POST', '/sandbox/transfers', {
    network: 'tron',
    currency: 'USDT',
    address,
    amount: 10_000,
  });
  return vi.waitFor(
    async () => {
      const balances = await api<{ currency: string; availableBalance: number }[]>(
        url,
        'GET',
        '/v1/balances',
      );
      const available = balances.find(({ currency }) => currency === 'USDT')?.availableBalance ?? 0;
      expect(available).toBe(9900);
      return available * 1_000_000;
    },
    { timeout: 20_000, interval: 100 },
  );
}

async function requestTransfer(url: string, request: Request): Promise<void> {
  const { id } = await api<{ id: string }>(
    url,
    'POST',
    '/v1/transfers',
    {
      amount: request.amount / 1_000_000,
      currency: 'USDT',
      walletAddress: externalAddresses.tron,
      walletNetwork: 'tron',
    },
    request.key,
  );
  // Fails if the repeated request created a second transfer.
  expect(request.id ?? id).toBe(id);
  request.id = id;
}

/** Requests transfers one after the other until the server is gone. */
async function withdraw(url: string, requests: Request[], signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const request: Request = { key: randomBytes(16).toString('hex'), amount: 1000 + requests.length };
    requests.push(request);
    try {
      await requestTransfer(url, request);
    } catch (error) {
      // Only a lost connection is expected. A refused request fails the test.
      if (!/^(ECONN|EPIPE)/.test((error as NodeJS.ErrnoException).code ?? '')) throw error;
      return;
    }
    await delay(randomInt(5, 40));
  }
}

async function expectAllSent(url: string, requests: readonly Request[]): Promise<void> {
  for (const { id = '' } of requests) {
    await vi.waitFor(
      async () => {
        const { status } = await api<{ status: string }>(url, 'GET', `/v1/transfers/${id}`);
        expect(status).toBe('success');
      },
      { timeout: 30_000, interval: 100 },
    );
  }
}

async function expectOnceOnChain(
  databaseUrl: string,
  requests: readonly Request[],
  funded: number,
): Promise<void> {
  const database = await openDatabase(databaseUrl);
  try {
    const sent = await database.reader
      .selectFrom('simulated_transfers')
      .select('amount')
      .where('address', '=', externalAddresses.tron)
      .execute();
    const ascending = (numbers: readonly number[]) => [...numbers].sort((a, b) => a - b);
    expect(ascending(sent.map(({ amount }) => Number(amount)))).toEqual(
      ascending(requests.map(({ amount }) => amount)),
    );
    await expectBooksInOrder(database);
    const available = await database.reader
      .selectFrom('ledger_accounts')
      .select('balance')
      .where('kind', '=', 'available')
      .executeTakeFirstOrThrow();
    const spent = requests.reduce((sum, { amount }) => sum + amount + 200_000, 0);
    expect(Number(available.balance)).toBe(funded - spent);
  } finally {
    await database.close();
  }
}
