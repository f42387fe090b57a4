/** Keeps the bytes of webhooks as they came, which their signatures cover, before Vendure's parser takes them. */
import type { IncomingMessage, ServerResponse } from 'node:http';

export const webhookRoute = 'crypto-checkout/webhooks';

const maxBytes = 1_000_000;
const bodies = new WeakMap<IncomingMessage, Buffer>();

/** A middleware for `webhookRoute`. */
export function keepRawBody(request: IncomingMessage, response: ServerResponse, next: () => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= maxBytes) chunks.push(chunk);
  });
  request.once('end', () => {
    if (size > maxBytes) {
      response.writeHead(413).end();
      return;
    }
    bodies.set(request, Buffer.concat(chunks));
    next();
  });
}

export const rawBodyOf = (request: IncomingMessage): Buffer => bodies.get(request) ?? Buffer.alloc(0);
