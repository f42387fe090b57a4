/** Mail servers that say nothing, or do not stop talking: one is never waited for longer than its time. */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterAll, expect, it } from 'vitest';
import { readConfig } from '../../src/core/config.js';
import { mailSettings } from '../../src/modules/mail/settings.js';
import { createTransports, type MailLimits } from '../../src/modules/mail/transport.js';

/** Much shorter than the real ones: the tests show that each ends a wait. */
const limits: MailLimits = { greetingMs: 2000, replyMs: 4000, messageMs: 6000 };

const sockets = new Set<Socket>();
const servers: Server[] = [];
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers) server.close();
});

async function listen(talk: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    talk(socket);
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function sendTo(url: string) {
  const config = readConfig({ SMTP_URL: url, MAIL_FROM: 'pay@checkout.example' }, mailSettings);
  const transport = await createTransports(config, limits)?.open();
  const started = performance.now();
  const failure = await transport?.send({
    id: 'one',
    to: 'payer@example.com',
    fromName: 'Shop',
    replyTo: undefined,
    offUrl: 'http://127.0.0.1/off',
    subject: 'Hello',
    text: 'Hello',
    html: '<p>Hello</p>',
  });
  transport?.close();
  return { failure, seconds: (performance.now() - started) / 1000 };
}

it.concurrent(
  'a server that does not greet',
  async () => {
    const { failure, seconds } = await sendTo(await listen(() => undefined));
    expect(failure).toMatchObject({ kind: 'unreachable' });
    expect(seconds).toBeLessThan(8);
  },
  20_000,
);

it.concurrent(
  'a server whose reply does not end',
  async () => {
    const line = 'x'.repeat(64 * 1024);
    const url = await listen((socket) => {
      socket.write('220-');
      const more = () => {
        while (!socket.destroyed && socket.write(line));
      };
      socket.on('drain', more);
      more();
    });
    const before = process.memoryUsage().rss;
    const { failure, seconds } = await sendTo(url);
    const grown = (process.memoryUsage().rss - before) / 1e6;
    expect(failure).toMatchObject({ kind: 'unreachable' });
    expect(seconds).toBeLessThan(14);
    expect(grown, 'megabytes').toBeLessThan(200);
  },
  30_000,
);

it.concurrent(
  'a server that answers a byte a second',
  async () => {
    const url = await listen((socket) => {
      socket.write('220 hello\r\n');
      const timer = setInterval(() => socket.write('2'), 1000);
      socket.on('close', () => clearInterval(timer));
    });
    const { failure, seconds } = await sendTo(url);
    expect(failure).toMatchObject({ kind: 'unreachable' });
    expect(seconds).toBeLessThan(14);
  },
  30_000,
);
