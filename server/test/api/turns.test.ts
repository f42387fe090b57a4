/** Requests of one IP address take turns: a flood of them leaves everybody else's their place. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setImmediate as immediate } from 'node:timers/promises';
import { api } from 'crypto-checkout/contract';
import express from 'express';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { createIpLimits } from '../../src/core/api/limits.js';
import { startTable, type TableServer } from '../support/table-server.js';

const plenty = 100_000;
const limits = {
  requestsPerSecondPerIp: plenty,
  failedKeysPerSecondPerIp: plenty,
  pagesPerSecondPerIp: plenty,
  secretPerSecond: plenty,
  publicPerSecond: plenty,
  paymentsPerMinutePerIp: plenty,
  paymentsPerMinutePerKey: plenty,
  paymentChangesPerHour: plenty,
  tokensPerMinutePerIp: plenty,
  storedMegabytesPerDay: plenty,
  testFactor: 1,
  sandboxPerSecond: plenty,
};

let server: TableServer | undefined;
const sockets: Socket[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const socket of sockets.splice(0)) socket.destroy();
  await server?.stop();
});

/** @param handle gets the id of the payment that the request is about */
async function start(
  handle: (id: string, signal: AbortSignal) => Promise<void>,
  requestsPerSecondPerIp = plenty,
): Promise<TableServer> {
  server = await startTable({
    table: { payments: { cancel: api.payments.cancel } },
    handlers: {
      payments: {
        cancel: async ({ params }, { signal }) => {
          await handle(params.payment_id, signal);
          return { data: undefined };
        },
      },
    },
    limits: { ...limits, requestsPerSecondPerIp },
  });
  return server;
}

/** @param from an address of loopback @returns sends a request at once, without waiting for a reply */
async function client({ url }: TableServer, from: string, key: string) {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', localAddress: from });
  sockets.push(socket.setNoDelay().resume());
  await once(socket, 'connect');
  // The server accepts one connection in each turn of its loop.
  await turns();
  return {
    socket,
    send: (id: string) =>
      socket.write(
        `PATCH /v1/payments/${id}/cancel HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Length: 0\r\n\r\n`,
      ),
  };
}

const clients = (count: number, ...[to, from, key]: Parameters<typeof client>) =>
  Promise.all(Array.from({ length: count }, () => client(to, from, key)));

it("One address's hundred requests at once leave another's request its turn", async () => {
  const handled: string[] = [];
  let sendOther: () => unknown = () => {};
  const running = await start((id) => {
    if (handled.push(id) === 1) sendOther();
    return Promise.resolve();
  });
  const flood = await clients(100, running, '127.0.0.2', running.public);
  const other = await client(running, '127.0.0.1', running.public);
  sendOther = () => other.send('other');
  for (const { send } of flood) send('flood');
  await vi.waitFor(() => expect(handled).toHaveLength(101), { timeout: 20_000 });
  expect(handled.indexOf('other')).toBeLessThan(10);
});

it('A caller with a secret key overtakes the requests of fifty addresses, and they are all answered after it', async () => {
  const handled: string[] = [];
  let sendSecret: () => unknown = () => {};
  const running = await start(async (id) => {
    if (handled.push(id) === 5) sendSecret();
    // As a request that reads the database: a few turns of the loop.
    for (let turn = 0; turn < 3; turn += 1) await immediate();
  });
  const merchant = await client(running, '127.0.0.1', running.secret);
  merchant.send('first');
  await vi.waitFor(() => expect(handled).toEqual(['first']), { timeout: 20_000 });
  // Now the server knows the key.
  const strangers = await Promise.all(
    Array.from({ length: 50 }, (_value, index) => client(running, `127.0.1.${index + 1}`, running.public)),
  );
  sendSecret = () => merchant.send('secret');
  for (const { send } of strangers) send('stranger');
  await vi.waitFor(() => expect(handled).toHaveLength(52), { timeout: 20_000 });
  expect(handled.indexOf('secret')).toBeLessThan(20);
});

it('A key that looks like a secret one overtakes nobody', async () => {
  const handled: string[] = [];
  const running = await start((id) => Promise.resolve(void handled.push(id)));
  const replies: string[] = [];
  const fake = await client(running, '127.0.0.2', `sk_test_${'x'.repeat(43)}`);
  fake.socket.on('data', (reply) => replies.push(String(reply).slice(0, 12)));
  fake.send('fake');
  await vi.waitFor(() => expect(replies).toEqual(['HTTP/1.1 401']), { timeout: 20_000 });
  expect(running.keys.isKnownSecret(`sk_test_${'x'.repeat(43)}`)).toBe(false);
  expect(running.keys.isKnownSecret(running.public)).toBe(false);
  expect(running.keys.isKnownSecret(running.secret)).toBe(false);
  const merchant = await client(running, '127.0.0.1', running.secret);
  merchant.send('own');
  await vi.waitFor(() => expect(handled).toEqual(['own']), { timeout: 20_000 });
  expect(running.keys.isKnownSecret(running.secret)).toBe(true);
  // It must be looked up again now, and overtakes until that has said otherwise.
  onTestFinished(() => void vi.useRealTimers());
  // The faked clock begins at 0.
  const now = performance.now();
  vi.useFakeTimers({ toFake: ['performance'] });
  vi.advanceTimersByTime(now + 60_000);
  expect(running.keys.isKnownSecret(running.secret)).toBe(true);
  await running.database.write(async (transaction) => {
    await transaction.updateTable('api_keys').set({ revoked_at: 1 }).where('kind', '=', 'secret').execute();
  });
  expect(await running.keys.authenticate(running.secret)).toBe(undefined);
  expect(running.keys.isKnownSecret(running.secret)).toBe(false);
});

it('Refusals take turns too', async () => {
  let replies = 0;
  let repliesBefore: number | undefined;
  const running = await start(() => Promise.resolve(void (repliesBefore = replies)));
  const refused = await clients(100, running, '127.0.0.2', `sk_test_${'x'.repeat(43)}`);
  const other = await client(running, '127.0.0.1', running.public);
  for (const { socket, send } of refused) {
    socket.on('data', () => {
      replies += 1;
      if (replies === 1) other.send('other');
    });
    send('refused');
  }
  await vi.waitFor(() => expect(replies).toBe(100), { timeout: 20_000 });
  expect(repliesBefore).toBeLessThan(10);
});

it("A payer's request that takes long keeps the others of its address waiting for 20 ms at most", async () => {
  const started: string[] = [];
  const ends: (() => void)[] = [];
  const running = await start(
    (id) =>
      new Promise((resolve) => {
        started.push(id);
        ends.push(resolve);
      }),
  );
  const [first, second] = await clients(2, running, '127.0.0.2', running.public);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  first?.send('first');
  await poll(() => started.length === 1);
  second?.send('second');
  await turns();
  vi.advanceTimersByTime(19);
  await turns();
  expect(started).toEqual(['first']);
  vi.advanceTimersByTime(1);
  await poll(() => started.length === 2);
  expect(started).toEqual(['first', 'second']);
  for (const end of ends) end();
});

it('A probe of an address with a long line does not wait', async () => {
  const ipLimits = createIpLimits(limits);
  const came: string[] = [];
  const app = express().use(async (request, response) => {
    await ipLimits.anyRequest(request, response);
    came.push(request.path);
    if (request.path === '/healthz') response.end();
  });
  const listening = createServer(app).listen(0, '127.0.0.1');
  await once(listening, 'listening');
  onTestFinished(() => listening.close().closeAllConnections());
  const ask = (path: string) => fetch(`http://127.0.0.1:${(listening.address() as AddressInfo).port}${path}`);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const kept = [ask('/first'), ask('/second')].map((reply) => reply.catch(() => undefined));
  await poll(() => came.length === 1);
  expect((await ask('/healthz')).status).toBe(200);
  expect(came).toEqual([expect.stringMatching(/first|second/), '/healthz']);
  listening.closeAllConnections();
  await Promise.all(kept);
});

it('The more requests of an address wait, the shorter is each turn', async () => {
  const ends: (() => void)[] = [];
  const running = await start(() => new Promise((resolve) => ends.push(resolve)));
  const slow = await clients(200, running, '127.0.0.2', running.public);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  for (const { send } of slow) send('slow');
  let waited = 0;
  for (; ends.length < 200 && waited < 4000; waited += 5) {
    vi.advanceTimersByTime(5);
    await turns();
  }
  // At 20 ms each, they would take 4 s.
  expect(waited).toBeLessThan(2600);
  for (const end of ends) end();
});

it('A client that left while it waited keeps nobody waiting, and its request is aborted', async () => {
  const started: string[] = [];
  const aborted: string[] = [];
  let end = () => {};
  const running = await start((id, signal) => {
    started.push(id);
    if (signal.aborted) aborted.push(id);
    signal.throwIfAborted();
    return id === 'first' ? new Promise((resolve) => (end = resolve)) : Promise.resolve();
  });
  const [first, leaving, last] = await clients(3, running, '127.0.0.2', running.public);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  first?.send('first');
  await poll(() => started.length === 1);
  leaving?.send('left');
  await turns();
  leaving?.socket.destroy();
  last?.send('last');
  await turns();
  end();
  await poll(() => started.includes('last'));
  expect(started).toEqual(['first', 'left', 'last']);
  expect(aborted).toEqual(['left']);
  // Strangers could fill the log with errors otherwise.
  expect(running.logged.filter((line) => line.includes('internal_error'))).toEqual([]);
});

it('No more requests of an address wait than it may send in a second: the others are refused at once', async () => {
  const ends: (() => void)[] = [];
  const running = await start(() => new Promise((resolve) => ends.push(resolve)), 10);
  const flood = await clients(30, running, '127.0.0.2', running.public);
  let refused = 0;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  for (const { socket, send } of flood) {
    socket.on('data', (reply) => (refused += String(reply).startsWith('HTTP/1.1 429') ? 1 : 0));
    send('flood');
  }
  await poll(() => ends.length === 1 && refused === 19);
  await turns();
  expect(ends).toHaveLength(1);
  expect(refused).toBe(19);
  for (const end of ends) end();
});

it('An address is refused no more often than it could be served, and others do not wait for that', async () => {
  const running = await start(() => Promise.resolve(), 10);
  const flood = await clients(13, running, '127.0.0.2', running.public);
  const other = await client(running, '127.0.0.1', running.public);
  const replies: string[] = [];
  const listen = (name: string, socket: Socket) =>
    socket.on('data', (reply) => replies.push(`${name} ${String(reply).slice(9, 12)}`));
  for (const { socket } of flood) listen('flood', socket);
  listen('other', other.socket);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  for (const { send } of flood.slice(0, 10)) send('flood');
  await poll(() => replies.length === 10);
  for (const { send } of flood.slice(10)) send('flood');
  await poll(() => replies.length === 11);
  other.send('other');
  await poll(() => replies.length === 12);
  const refused = () => replies.filter((reply) => reply === 'flood 429').length;
  const refusedAfter: number[] = [];
  for (const ms of [99, 1, 99, 1]) {
    vi.advanceTimersByTime(ms);
    await turns();
    refusedAfter.push(refused());
  }
  expect(refusedAfter).toEqual([1, 2, 2, 3]);
  expect(replies[11]).toBe('other 200');
});

it('The requests of a server with a secret key run at the same time', async () => {
  let open = 0;
  let end = () => {};
  const allAreOpen = new Promise<void>((resolve) => (end = resolve));
  const running = await start(() => {
    open += 1;
    return allAreOpen;
  });
  const shop = await clients(50, running, '127.0.0.2', running.secret);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  for (const { send } of shop) send('open');
  await poll(() => open === 50);
  await turns();
  expect(open).toBe(50);
  end();
});

/** Lets the server read what was sent, and run what is due. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 200; turn += 1) await immediate();
}

/** Waits without timers, which are stopped. */
async function poll(isTrue: () => boolean): Promise<void> {
  for (let turn = 0; turn < 10_000 && !isTrue(); turn += 1) await immediate();
}
