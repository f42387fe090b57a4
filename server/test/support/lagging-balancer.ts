/** A balancer in front of a node: every second request is answered by a backend that has not read the newest blocks yet. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Call {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

interface Answer {
  readonly id: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

export interface LaggingBalancer {
  readonly url: string;
  close(): Promise<void>;
}

/** @param lag the number of blocks that the second backend is behind */
export async function startLaggingBalancer(targetUrl: string, lag: number): Promise<LaggingBalancer> {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    const isLagging = requests % 2 === 0;
    readBody(request)
      .then(async (body) => {
        const asked = JSON.parse(body) as Call | Call[];
        const calls = [asked].flat();
        const answers = isLagging ? await answerLate(calls) : await forward(calls);
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify(Array.isArray(asked) ? answers : answers[0]));
      })
      .catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  async function forward(calls: readonly Call[]): Promise<Answer[]> {
    const answer = await fetch(targetUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(calls.map((call) => ({ jsonrpc: '2.0', ...call }))),
    });
    const all = (await answer.json()) as Answer[];
    return calls.flatMap(({ id }) => all.find((one) => one.id === id) ?? []);
  }

  /** The same as the other backend, as if the chain ended some blocks earlier. */
  async function answerLate(calls: readonly Call[]): Promise<Answer[]> {
    const [height] = await forward([{ id: 0, method: 'eth_blockNumber', params: [] }]);
    const head = Number(height?.result) - lag;
    const answers = await forward(calls.map((call) => atHead(call, head)));
    return Promise.all(
      answers.map(async (answer, index) => {
        const call = calls[index];
        return call && (await isUnknown(call, answer, head)) ? unknown(call) : answer;
      }),
    );
  }

  /** True if a call is about a block that the backend has not read. */
  async function isUnknown({ method, params }: Call, { result }: Answer, head: number): Promise<boolean> {
    if (/^eth_(call|getBalance|getTransactionCount)$/.test(method) || method === 'eth_getLogs') {
      const at = params[method === 'eth_getLogs' ? 0 : 1];
      const { blockHash } = (typeof at === 'object' ? at : {}) as { blockHash?: string };
      if (blockHash === undefined) return typeof at === 'string' && Number(at) > head;
      const [block] = await forward([{ id: 0, method: 'eth_getBlockByHash', params: [blockHash, false] }]);
      return numberOf(block?.result) > head;
    }
    if (method === 'eth_getBlockReceipts') return Number(params[0]) > head;
    return method !== 'eth_blockNumber' && numberOf(result) > head;
  }

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const hex = (height: number) => `0x${Math.max(0, height).toString(16)}`;

/** With the backend's newest block in place of `latest`; its logs of a range end there. */
function atHead({ method, params, ...rest }: Call, head: number): Call {
  return {
    ...rest,
    method,
    params: params.map((value) => {
      if (value === 'latest') return hex(head);
      if (method !== 'eth_getLogs' || typeof value !== 'object') return value;
      const { toBlock, ...filter } = value as { toBlock?: string };
      return toBlock === undefined ? filter : { ...filter, toBlock: hex(Math.min(Number(toBlock), head)) };
    }),
  };
}

function numberOf(result: unknown): number {
  const { number, blockNumber } = (result ?? {}) as { number?: string; blockNumber?: string };
  return Number(number ?? blockNumber ?? 0);
}

function unknown({ id, method }: Call): Answer {
  if (/^eth_getBlockByNumber|eth_getTransaction/.test(method)) return { id, result: null };
  return { id, error: { code: -32000, message: 'header not found' } };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
