/** The listening socket, from before the server is ready until the last connection is closed. */
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { listen } from '../../src/core/ops/listener.js';

it('The listener replies 503 until the server is ready', async () => {
  const listener = await listen('127.0.0.1', 0);
  const early = await fetch(listener.url);
  expect([early.status, early.headers.get('retry-after')]).toEqual([503, '1']);
  listener.serve((_request, response) => response.end('served'));
  expect(await (await fetch(listener.url)).text()).toBe('served');
  await listener.close(0, 1000, () => undefined);
  await expect(fetch(listener.url)).rejects.toThrow();
});

it('The listener fails if the address is in use', async () => {
  const listener = await listen('127.0.0.1', 0);
  await expect(listen('127.0.0.1', Number(new URL(listener.url).port))).rejects.toMatchObject({
    code: 'EADDRINUSE',
  });
  await listener.close(0, 1000, () => undefined);
});

it('The listener writes an IPv6 address in brackets', async () => {
  const listener = await listen('::1', 0);
  expect(listener.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
  await listener.close(0, 1000, () => undefined);
});

it('The listener waits for running requests when it closes, but not for idle connections', async () => {
  const listener = await listen('127.0.0.1', 0);
  let finish: () => void = () => undefined;
  const arrived = new Promise<void>((resolve) => {
    listener.serve((_request, response) => {
      finish = () => response.end('late');
      resolve();
    });
  });
  const answer = fetch(listener.url);
  await arrived;
  let isClosed = false;
  const closed = listener.close(0, 10_000, () => expect.unreachable()).then(() => (isClosed = true));
  await expect(fetch(listener.url)).rejects.toThrow();
  expect(isClosed).toBe(false);
  finish();
  expect(await (await answer).text()).toBe('late');
  // `fetch` keeps the connection open, which would delay the close by five seconds.
  const start = performance.now();
  await closed;
  expect(performance.now() - start).toBeLessThan(4000);
});

it('The listener accepts requests while it lingers, and closes their connections after the reply', async () => {
  const listener = await listen('127.0.0.1', 0);
  listener.serve((_request, response) => response.end('served'));
  expect((await fetch(listener.url)).headers.get('connection')).toBe('keep-alive');
  const closed = listener.close(2000, 10_000, () => expect.unreachable());
  const answer = await fetch(listener.url);
  expect([await answer.text(), answer.headers.get('connection')]).toEqual(['served', 'close']);
  await closed;
  await expect(fetch(listener.url)).rejects.toThrow();
});

it.each([
  ['a new connection', false],
  ['an open connection', true],
])(
  'The listener serves a request that came on %s while the process was too busy to look, longer than it lingers',
  async (_on, keepAlive) => {
    const listener = await listen('127.0.0.1', 0);
    listener.serve((_request, response) => response.end('served'));
    const agent = new Agent({ keepAlive });
    const sendRequest = () =>
      new Promise<number | undefined>((resolve, reject) => {
        const outgoing = request(listener.url, { agent }, (response) => {
          response.resume().once('end', () => resolve(response.statusCode));
        });
        outgoing.once('error', reject).end();
      });
    expect(await sendRequest()).toBe(200);
    const closed = listener.close(20, 10_000, () => expect.unreachable());
    const answer = sendRequest();
    // By now the request is on its way, and nothing of it was read.
    process.nextTick(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60));
    expect(await answer).toBe(200);
    await closed;
    agent.destroy();
  },
);

it('The listener cuts the remaining connections when the time is up', async () => {
  const listener = await listen('127.0.0.1', 0);
  listener.serve(() => undefined);
  const { hostname, port } = new URL(listener.url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const cut = once(socket, 'close');
  let wasLate = false;
  await listener.close(0, 50, () => (wasLate = true));
  await cut;
  expect(wasLate).toBe(true);
});

it.each([
  ['whose body stops half way', 'Content-Length: 10', 'half'],
  // Node.js reads nothing more of it, and reports no error.
  [
    'whose broken body follows an Upgrade',
    'Upgrade: h2c\r\nTransfer-Encoding: chunked',
    'ZZ\r\nx\r\n0\r\n\r\n',
  ],
])('The listener cuts a request %s', async (_, headers, body) => {
  const listener = await listen('127.0.0.1', 0, { stopMs: 100 });
  listener.serve((request, response) => {
    request.resume().once('end', () => response.end('served'));
  });
  const socket = connect(Number(new URL(listener.url).port), '127.0.0.1');
  socket.on('error', () => undefined).resume();
  socket.write(`POST / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\n${headers}\r\n\r\n${body}`);
  await expect(once(socket, 'close', { signal: AbortSignal.timeout(5000) })).resolves.toBeDefined();
  await listener.close(0, 1000, () => undefined);
});

it('The listener waits for a reply that takes longer than a request may stop', async () => {
  const listener = await listen('127.0.0.1', 0, { stopMs: 20 });
  listener.serve((request, response) => {
    request.resume().once('end', () => setTimeout(() => response.end('served'), 100));
  });
  for (const init of [{}, { method: 'POST', body: 'whole' }]) {
    expect(await (await fetch(listener.url, init)).text()).toBe('served');
  }
  await listener.close(0, 1000, () => undefined);
});
