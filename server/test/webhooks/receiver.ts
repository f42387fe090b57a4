/** A merchant's server that receives webhooks: it verifies them with a Standard Webhooks library, and replies as set. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { onTestFinished } from 'vitest';
import type { WebhookEvent } from 'crypto-checkout/contract';
import type { TestCertificate } from '../support/certificate.js';

export interface Received {
  readonly id: string;
  /** The `webhook-timestamp` header, in seconds. */
  readonly timestamp: number;
  readonly signatures: readonly string[];
  /** The raw body. */
  readonly body: string;
  readonly event: WebhookEvent;
  /** True if the signature is valid for the receiver's secret. */
  readonly isVerified: boolean;
}

export interface Answer {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

export interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly received: Received[];
  /** `whsec_…` */
  secret: string;
  /** The reply to send from now on; `hang` sends none. */
  answer: Answer | 'hang' | ((received: Received) => Answer | 'hang');
  /** The number of connections made to it. */
  connections(): number;
  stop(): Promise<void>;
}

interface ReceiverOptions {
  readonly host?: string;
  readonly port?: number;
  readonly certificate?: TestCertificate;
}

export async function startReceiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const { host = '127.0.0.1', port = 0, certificate } = options;
  let connections = 0;
  const listener: RequestListener = (request, response) => void take(request, response);
  const server = certificate ? createTlsServer(certificate, listener) : createServer(listener);
  server.on('connection', () => (connections += 1));
  server.listen(port, host);
  await once(server, 'listening');
  const { port: actualPort } = server.address() as AddressInfo;

  const receiver: Receiver = {
    url: `${certificate ? 'https' : 'http'}://${host}:${actualPort}/hook`,
    port: actualPort,
    received: [],
    secret: '',
    answer: { status: 204 },
    connections: () => connections,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const received = read(request, Buffer.concat(chunks).toString('utf8'), receiver.secret);
    receiver.received.push(received);
    const answer = typeof receiver.answer === 'function' ? receiver.answer(received) : receiver.answer;
    if (answer === 'hang') return;
    response.writeHead(answer.status, answer.headers).end(answer.body);
  }
  return receiver;
}

/** A receiver that stops when the test has finished. */
export async function receive(options?: ReceiverOptions): Promise<Receiver> {
  const receiver = await startReceiver(options);
  onTestFinished(() => receiver.stop());
  return receiver;
}

function read(request: IncomingMessage, body: string, secret: string): Received {
  const header = (name: string) => String(request.headers[name] ?? '');
  const headers = {
    'webhook-id': header('webhook-id'),
    'webhook-timestamp': header('webhook-timestamp'),
    'webhook-signature': header('webhook-signature'),
  };
  return {
    id: headers['webhook-id'],
    timestamp: Number(headers['webhook-timestamp']),
    signatures: headers['webhook-signature'].split(' '),
    body,
    event: JSON.parse(body) as WebhookEvent,
    isVerified: isVerified(secret, body, headers),
  };
}

function isVerified(secret: string, body: string, headers: Record<string, string>): boolean {
  if (secret === '') return false;
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch {
    return false;
  }
}
