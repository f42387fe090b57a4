/** Passes webhooks of the payment API to Medusa, once, twice or not at all, and keeps them. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';

export interface Delivery {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface Relay {
  readonly url: string;
  readonly deliveries: Delivery[];
  /** The number of times that each webhook reaches Medusa. With 0, the API gets its answer, as if Medusa had stopped right after it. */
  copies: number;
  close(): void;
}

export async function startRelay(target: string): Promise<Relay> {
  const server = createServer((request, response) => {
    void (async () => {
      const delivery = { path: request.url ?? '', headers: request.headers, body: await buffer(request) };
      relay.deliveries.push(delivery);
      let status = 200;
      for (let copy = 0; copy < relay.copies; copy += 1) status = await deliver(target, delivery);
      response.writeHead(status).end();
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No address');
  const relay: Relay = {
    url: `http://127.0.0.1:${address.port}`,
    deliveries: [],
    copies: 1,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
  return relay;
}

/** Sends a webhook to Medusa, with the headers that count. @returns the status; 502 if Medusa does not answer */
export async function deliver(target: string, { path, headers, body }: Delivery): Promise<number> {
  const sent = Object.entries(headers).flatMap(([name, value]) =>
    (name.startsWith('webhook-') || name === 'content-type') && typeof value === 'string'
      ? [[name, value] as const]
      : [],
  );
  const init = { method: 'POST', headers: Object.fromEntries(sent), body: new Uint8Array(body) };
  const reply = await fetch(target + path, init).catch(() => undefined);
  return reply?.status ?? 502;
}
