/**
 * A proxy before the built server that holds the widget's chunks back, so that a test sets their order, in any engine.
 */
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'vitest';

export interface HeldChunks {
  /** The address of a shop's page with the element. */
  readonly pageUrl: string;
  /** The names of the delivered chunks, in order. */
  readonly delivered: readonly string[];
  /** The names of all requested chunks, once for each request. */
  readonly asked: readonly string[];
  /** The chunks that are held back now. */
  readonly held: () => string[];
  /** A new page, of which these chunks do not arrive. */
  show(body: string, ...names: readonly string[]): void;
  /** From now on, the chunk does not load at all. */
  refuse(name: string): void;
  /** The chunk loads again. */
  allow(name: string): void;
  /** Resolves when the chunk has arrived. */
  release(name: string): Promise<void>;
  stop(): Promise<void>;
}

/** Keeps the page's uncaught errors in `window.uncaught`. */
const errorScript = `<script>
  window.uncaught = [];
  addEventListener('error', ({ message }) => uncaught.push(message));
  addEventListener('unhandledrejection', ({ reason }) => uncaught.push(String(reason)));
</script>`;

const chunkPattern = /\/chunks\/(.+)-[\w-]{6}\.js$/;

/** @param serverUrl of the built server, without a trailing slash */
export async function holdChunks(serverUrl: string): Promise<HeldChunks> {
  let body = '';
  let names = new Set<string>();
  let delivered: string[] = [];
  let asked: string[] = [];
  let refused = new Set<string>();
  const waiting = new Map<string, () => void>();

  const pass = (incoming: IncomingMessage, outgoing: ServerResponse, name: string | undefined) => {
    const { method, headers, url = '' } = incoming;
    const passed = request(`${serverUrl}${url}`, { method, headers }, (reply) => {
      // Each page of a test requests each chunk again.
      outgoing.writeHead(reply.statusCode ?? 502, {
        ...reply.headers,
        ...(name && { 'cache-control': 'no-store' }),
      });
      reply.pipe(outgoing);
      if (name) outgoing.once('finish', () => delivered.push(name));
    });
    passed.once('error', () => outgoing.destroy());
    outgoing.once('close', () => passed.destroy());
    incoming.pipe(passed);
  };
  const server = createServer((incoming, outgoing) => {
    const { url = '' } = incoming;
    if (url.startsWith('/a-shop')) {
      outgoing.writeHead(200, { 'content-type': 'text/html' });
      outgoing.end(body);
      return;
    }
    const [, name] = chunkPattern.exec(decodeURI(url)) ?? [];
    if (name !== undefined) asked.push(name);
    if (name !== undefined && refused.has(name)) outgoing.writeHead(503).end();
    else if (name !== undefined && names.has(name)) waiting.set(name, () => pass(incoming, outgoing, name));
    else pass(incoming, outgoing, name);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    pageUrl: `http://127.0.0.1:${port}/a-shop`,
    get delivered() {
      return delivered;
    },
    get asked() {
      return asked;
    },
    held: () => [...waiting.keys()],
    refuse: (name) => void refused.add(name),
    allow: (name) => void refused.delete(name),
    show(content, ...held) {
      waiting.clear();
      names = new Set(held);
      delivered = [];
      asked = [];
      refused = new Set();
      body = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A shop</title>
        <link rel="icon" href="data:,">${errorScript}<script type="module" src="/crypto-checkout.js"></script></head>
        <body><main>${content}</main></body></html>`;
    },
    async release(name) {
      names.delete(name);
      waiting.get(name)?.();
      waiting.delete(name);
      await expect.poll(() => delivered).toContain(name);
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
