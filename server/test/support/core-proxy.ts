/** A proxy in front of a node that counts its calls, and can stall, break or forge its answers. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

export interface ProxiedCall {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

export interface NodeProxy {
  /** With the node's user and password. */
  readonly url: string;
  /** All calls since the start, those of batches included. */
  readonly calls: ProxiedCall[];
  /** The number of HTTP requests. */
  requests: number;
  /** Answers a request instead of the node. Undefined passes it on. */
  behave:
    ((calls: readonly ProxiedCall[]) => Behaviour | undefined | Promise<Behaviour | undefined>) | undefined;
  close(): Promise<void>;
}

export type Behaviour =
  | 'stall'
  | 'hang up'
  /** Answers a call with this result, and passes the others of its batch on. */
  | { readonly results: (call: ProxiedCall, answer: unknown) => unknown }
  | { readonly status: number; readonly body: string; readonly headers?: Readonly<Record<string, string>> };

/** @param target the node's URL. It is not asked what `behave` answers */
export async function startNodeProxy(target: string): Promise<NodeProxy> {
  const { origin, username, password } = new URL(target);
  const stalled = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const proxy: NodeProxy = {
    url: `http://${username}:${password}@127.0.0.1:${port}`,
    calls: [],
    requests: 0,
    behave: undefined,
    async close() {
      for (const response of stalled) response.destroy();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const sent = JSON.parse(body) as ProxiedCall[] | ProxiedCall;
    const calls = Array.isArray(sent) ? sent : [sent];
    proxy.requests += 1;
    proxy.calls.push(...calls);
    const behaviour = await proxy.behave?.(calls);
    if (behaviour === 'stall') return void stalled.add(response);
    if (behaviour === 'hang up') return void response.destroy();
    if (behaviour && 'status' in behaviour) {
      response.writeHead(behaviour.status, behaviour.headers).end(behaviour.body);
      return;
    }
    const passed = await fetch(origin, {
      method: 'POST',
      body,
      headers: { authorization: request.headers.authorization ?? '' },
    });
    const text = await passed.text();
    if (!behaviour) {
      response.writeHead(passed.status).end(text);
      return;
    }
    const answers = JSON.parse(text) as { id: unknown; result: unknown }[] | { id: unknown; result: unknown };
    let { status } = passed;
    const forged = (Array.isArray(answers) ? answers : [answers]).map((one, index) => {
      const call = calls.find(({ id }) => id === one.id) ?? calls[index];
      const result = call ? behaviour.results(call, one.result) : one.result;
      if (result === one.result) return one;
      status = 200;
      return { ...one, result, error: null };
    });
    response.writeHead(status).end(JSON.stringify(Array.isArray(answers) ? forged : forged[0]));
  }

  return proxy;
}
