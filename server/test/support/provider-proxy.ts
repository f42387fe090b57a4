/** A proxy in front of a node that fails in every way in which providers do. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ProxiedCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** A call as it was sent, with its id. */
export interface ProxiedRequest extends ProxiedCall {
  readonly id: number;
}

/** One JSON-RPC answer. */
export interface ProxiedAnswer {
  readonly id: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** An error with which a node refuses a call. */
export class NodeRefusal extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export interface ProviderProxy {
  /** With credentials in its user, path and query, as providers have. */
  readonly url: string;
  /** The JSON-RPC calls of all requests so far. */
  readonly calls: ProxiedCall[];
  /** HTTP requests so far. */
  requests: number;
  /** Answers whole requests instead of the node. Returns whether it did. */
  respond: ((response: ServerResponse, calls: readonly ProxiedCall[]) => boolean) | undefined;
  /** Answers whole requests with its changes of the node's answers; undefined leaves them as they are. */
  reshape: ((requests: readonly ProxiedRequest[], answers: readonly ProxiedAnswer[]) => unknown) | undefined;
  /** Changes the result of single calls; undefined leaves it as it is. An Error becomes a JSON-RPC error. */
  change: ((call: ProxiedCall, result: unknown) => unknown) | undefined;
  /** Called with each request's headers. */
  lastHeaders: IncomingMessage['headers'];
  close(): Promise<void>;
}

/** Every secret that the proxy's URL contains. */
export const urlSecrets = ['user-secret', 'password-secret', 'path-secret', 'query-secret'];

export async function startProviderProxy(targetUrl: string): Promise<ProviderProxy> {
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const [user, password, path, query] = urlSecrets;
  const proxy: ProviderProxy = {
    url: `http://${user}:${password}@127.0.0.1:${port}/v2/${path}?key=${query}`,
    calls: [],
    requests: 0,
    respond: undefined,
    reshape: undefined,
    change: undefined,
    lastHeaders: {},
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    proxy.requests += 1;
    proxy.lastHeaders = request.headers;
    const body = JSON.parse(await readBody(request)) as ProxiedRequest | ProxiedRequest[];
    const calls = Array.isArray(body) ? body : [body];
    proxy.calls.push(...calls.map(({ method, params }) => ({ method, params })));
    if (proxy.respond?.(response, calls)) return;
    const answers = await forward(calls);
    const reshaped = proxy.reshape?.(calls, answers);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(reshaped ?? (Array.isArray(body) ? answers : answers[0])));
  }

  async function forward(calls: readonly ProxiedRequest[]): Promise<ProxiedAnswer[]> {
    const answer = await fetch(targetUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(calls.map((call) => ({ jsonrpc: '2.0', ...call }))),
    });
    const values = (await answer.json()) as ProxiedAnswer[];
    return calls.map((call) => {
      const { id } = call;
      const value = values.find((one) => one.id === id);
      const changed = proxy.change?.(call, value?.result);
      if (changed === undefined) return value ?? { id };
      const code = changed instanceof NodeRefusal ? changed.code : -32000;
      if (changed instanceof Error) return { jsonrpc: '2.0', id, error: { code, message: changed.message } };
      return { jsonrpc: '2.0', id, result: changed };
    });
  }

  return proxy;
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
