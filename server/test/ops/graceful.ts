/** Graceful shutdown of the built server under load: every accepted request gets its reply. */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { freePort } from '../../../scripts/system.mjs';
import type { TestEngine } from '../support/engines.js';
import { openDatabase } from '../../src/database.js';

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const secretKey = `sk_test_${randomBytes(32).toString('base64url')}`;

const children = new Set<ChildProcess>();
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
});

interface Sent {
  readonly txRef: string;
  readonly startedAt: number;
  /** Undefined if no response arrived. */
  status?: number;
  error?: string;
}

async function start(databaseUrl: string) {
  const port = await freePort();
  const child = spawn(process.execPath, [main], {
    env: {
      PATH: process.env['PATH'],
      PORT: String(port),
      DATABASE_URL: databaseUrl,
      BOOTSTRAP_SECRET_KEY: secretKey,
      RATE_LIMIT: 'off',
      LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.add(child);
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  const url = `http://127.0.0.1:${port}`;
  await expect.poll(() => isReady(url), { timeout: 30_000 }).toBe(true);
  return { child, port, url, exited };
}

const isReady = (url: string) =>
  fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );

/** Creates payments one after the other until the server accepts no more connections. */
async function load(port: number, agent: Agent | undefined, all: Sent[]): Promise<void> {
  for (;;) {
    const sent: Sent = { txRef: randomBytes(12).toString('hex'), startedAt: performance.now() };
    all.push(sent);
    await createOver(port, agent, sent);
    if (sent.status === undefined) return;
  }
}

function createOver(port: number, agent: Agent | undefined, sent: Sent): Promise<void> {
  const body = JSON.stringify({ amount: 10, baseCurrency: 'USD', txRef: sent.txRef });
  return new Promise((resolve) => {
    const outgoing = request(
      {
        host: '127.0.0.1',
        port,
        method: 'POST',
        path: '/v1/payments/checkout',
        ...(agent && { agent }),
        headers: {
          Authorization: `Bearer ${secretKey}`,
          'Content-Type': 'application/json',
          'Content-Length': Buffer.byteLength(body),
          ...(!agent && { Connection: 'close' }),
        },
      },
      (response) => {
        response.resume();
        response.once('end', () => {
          if (response.statusCode !== undefined) sent.status = response.statusCode;
          resolve();
        });
        response.once('error', fail);
      },
    );
    function fail(error: Error) {
      sent.error = error.message;
      resolve();
    }
    outgoing.once('error', fail);
    outgoing.end(body);
  });
}

export const testGraceful = (engine: TestEngine): unknown =>
  describe(`a server under load, on ${engine.name}`, () => {
    it.each(['SIGTERM', 'SIGINT'] as const)(
      'replies to every accepted request after %s, and exits with 0',
      { timeout: 60_000 },
      async (signal) => {
        const { url: databaseUrl, dispose } = await engine.create();
        const { child, port, exited } = await start(databaseUrl);
        const all: Sent[] = [];
        const agent = new Agent({ keepAlive: true });
        // Half of them reuse their connection, and half open one for each request.
        const streams = Array.from({ length: 12 }, (_, index) =>
          load(port, index % 2 === 0 ? agent : undefined, all),
        );
        await expect
          .poll(() => all.filter(({ status }) => status === 200).length, { timeout: 20_000 })
          .toBeGreaterThan(100);
        const signalledAt = performance.now();
        child.kill(signal);
        await Promise.all(streams);
        expect(await exited).toEqual([0, null]);
        expect(performance.now() - signalledAt).toBeLessThan(10_000);
        agent.destroy();

        // Every request sent before the signal was answered. One sent at the moment of closing may be refused, and then it
        // must have had no effect.
        const early = all.filter(({ startedAt }) => startedAt < signalledAt);
        expect(early.length).toBeGreaterThan(0);
        expect(early.filter(({ status }) => status !== 200)).toEqual([]);
        const unanswered = all.filter(({ status }) => status === undefined);
        expect(unanswered.length).toBeLessThanOrEqual(streams.length);
        expect(all.filter(({ status }) => status !== undefined && status !== 200)).toEqual([]);
        const database = await openDatabase(databaseUrl);
        const stored = new Set(
          (await database.reader.selectFrom('payments').select('tx_ref').execute()).map((row) => row.tx_ref),
        );
        await database.close();
        expect(unanswered.filter(({ txRef }) => stored.has(txRef))).toEqual([]);
        expect(stored.size).toBe(all.length - unanswered.length);
        await dispose();
      },
    );

    it('A server exits at once on a second signal, even while a request is running', async () => {
      const { url: databaseUrl, dispose } = await engine.create();
      const { child, port, exited, url } = await start(databaseUrl);
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      socket.on('error', () => undefined);
      socket.write(
        `POST /v1/payments/checkout HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secretKey}\r\n` +
          'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{',
      );
      expect(await isReady(url)).toBe(true);
      child.kill('SIGTERM');
      await expect.poll(() => isReady(url)).toBe(false);
      await delay(500);
      expect(child.exitCode).toBe(null);
      const secondAt = performance.now();
      child.kill('SIGTERM');
      expect(await exited).toEqual([null, 'SIGTERM']);
      // A single signal gives the request ten seconds.
      expect(performance.now() - secondAt).toBeLessThan(5000);
      await dispose();
    });
  });
