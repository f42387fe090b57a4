/** A real HTTP server on loopback. It sends the replies that a test sets, and records the requests. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';

export interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export type Answer = (response: ServerResponse, request: ReceivedRequest) => void;

export interface LocalServer {
  readonly url: string;
  readonly received: readonly ReceivedRequest[];
  /** Replies to the next requests. */
  answer: Answer;
  close(): Promise<void>;
}

export async function startLocalServer(): Promise<LocalServer> {
  const received: ReceivedRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const full = { method, url, headers, body: Buffer.concat(chunks).toString() };
      received.push(full);
      local.answer(response, full);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port');
  const local: LocalServer = {
    url: `http://127.0.0.1:${address.port}`,
    received,
    answer: reply(404, {}),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return local;
}

/** Sends JSON, or a string as HTML. */
export function reply(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return (response) => {
    const isText = typeof body === 'string';
    response.writeHead(status, { 'Content-Type': isText ? 'text/html' : 'application/json', ...headers });
    response.end(isText ? body : JSON.stringify(body));
  };
}
