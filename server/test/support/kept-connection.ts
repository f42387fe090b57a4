/** One connection to a server, kept as proxies keep theirs: everything is sent on it, and nothing is sent twice. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { TestServer } from './server.js';

export interface Reply {
  readonly status: number;
  /** The header `Keep-Alive`. */
  readonly keepAlive: string | undefined;
}

export interface KeptConnection {
  /** Creates a payment. @param pauseMs in the middle of the headers @returns undefined without an answer */
  create(pauseMs?: number): Promise<Reply | undefined>;
  idle(seconds: number): Promise<void>;
  isOpen(): boolean;
  close(): void;
}

export async function openKept({
  url,
  secretKey,
}: Pick<TestServer, 'url' | 'secretKey'>): Promise<KeptConnection> {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  let received = '';
  let isOpen = true;
  socket.setEncoding('utf8');
  socket.on('data', (text: string) => (received += text));
  const closed = new Promise<void>((resolve) => {
    for (const event of ['end', 'close', 'error']) {
      socket.on(event, () => {
        isOpen = false;
        resolve();
      });
    }
  });
  await once(socket, 'connect');
  const body = JSON.stringify({ amount: 10, baseCurrency: 'USD' });
  return {
    async create(pauseMs = 0) {
      received = '';
      socket.write(`POST /v1/payments/checkout HTTP/1.1\r\nHost: ${host}\r\n`);
      if (pauseMs > 0) await delay(pauseMs);
      socket.write(
        `Authorization: Bearer ${secretKey}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      const isWhole = () => /^HTTP\/1\.1 [^]*\r\n\r\n[^]*\}$/.test(received);
      while (isOpen && !isWhole()) await Promise.race([once(socket, 'data'), closed]);
      if (!isWhole()) return undefined;
      return {
        status: Number(received.slice(9, 12)),
        keepAlive: /^keep-alive: (.*)$/im.exec(received)?.[1],
      };
    },
    idle: (seconds) => delay(seconds * 1000),
    isOpen: () => isOpen,
    close: () => void socket.destroy(),
  };
}
