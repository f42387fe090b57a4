/** Serves what a Tron node answers: JSON-RPC at /jsonrpc, and the HTTP API at /wallet. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Answers a whole request. */
export class HttpAnswer {
  readonly status: number;
  readonly body: string;
  constructor(status: number, body: string) {
    this.status = status;
    this.body = body;
  }
}

export interface Question {
  readonly id?: number;
  readonly method?: string;
  readonly params?: readonly unknown[];
  readonly value?: string;
}

/** @param answer an Error is a JSON-RPC error */
export async function serve(
  answer: (path: string, body: Question) => Promise<unknown>,
): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Question | readonly Question[];
      const calls = [body].flat();
      const path = new URL(request.url ?? '', 'http://node').pathname;
      const answers = Promise.all(
        calls.map(async (call) => {
          const result = await answer(path, call);
          if (result instanceof HttpAnswer || path !== '/jsonrpc') return result;
          if (result instanceof Error)
            return { jsonrpc: '2.0', id: call.id, error: { code: -32602, message: result.message } };
          return { jsonrpc: '2.0', id: call.id, result };
        }),
      );
      answers.then(
        (list) => {
          const whole = list.find((one) => one instanceof HttpAnswer);
          if (whole) response.writeHead(whole.status).end(whole.body);
          else response.end(JSON.stringify(Array.isArray(body) ? list : list[0]));
        },
        () => response.destroy(),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

export async function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
