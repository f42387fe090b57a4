/**
 * Nodes that refuse requests, in the forms in which people reported them: a proxy before anvil answers as they did. Each case names its
 * report.
 */
import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createEvmChain } from '../../src/modules/networks/evm/evm-chain.js';
import { createNodeClient } from '../../src/modules/networks/rpc/node-client.js';
import { NodeError, RpcFailure } from '../../src/modules/networks/rpc/node-error.js';
import { anvilChainId, startAnvil, type Anvil } from '../support/anvil.js';
import { commandContext, runWith } from '../support/command-context.js';
import { sqlite } from '../support/engines.js';
import {
  startProviderProxy,
  urlSecrets,
  type ProviderProxy,
  type ProxiedAnswer,
  type ProxiedCall,
  type ProxiedRequest,
} from '../support/provider-proxy.js';
import { startRealServer } from '../support/real-money.js';
import { follow } from '../networks/evm/follower.js';
import { testAddress } from '../chains/fixture.js';

const { signal } = new AbortController();
let anvil: Anvil;
let proxy: ProviderProxy;
/** The lines that an operator reads. */
let logged: string[];
let nextIndex = 5000;

beforeAll(async () => {
  anvil = await startAnvil();
  await anvil.mine(60);
});
afterAll(() => anvil.stop());
beforeEach(async () => {
  proxy = await startProviderProxy(anvil.url);
  logged = [];
});
afterEach(async () => {
  await proxy.close();
  expect(urlSecrets.filter((secret) => logged.join('\n').includes(secret))).toEqual([]);
});

const openClient = (maxBatch = 50) =>
  createNodeClient({
    name: 'node 1',
    url: proxy.url,
    timeoutMs: 3000,
    maxBatch,
    onLimit: (message) => logged.push(message),
  });

const openChain = (changes: { readonly maxBatch?: number } = {}) =>
  createEvmChain(
    {
      mode: 'test',
      network: 'evm-dev',
      chainId: anvilChainId,
      nodes: [proxy.url],
      assets: [{ currency: 'ETH', decimals: 18 }],
      timeoutMs: 3000,
      ...changes,
    },
    { watched: async (addresses) => new Set(addresses), warn: (message) => logged.push(message) },
  );

const blockCalls = (count: number): ProxiedCall[] =>
  Array.from({ length: count }, (_, height) => ({
    method: 'eth_getBlockByNumber',
    params: [`0x${height.toString(16)}`, false],
  }));

const heightsOf = (answers: readonly unknown[]) =>
  answers.map((answer) => Number((answer as { number?: string }).number ?? NaN));

const errorOf = (code: number, message: string) => ({ code, message });
const refusing = (requests: readonly ProxiedRequest[], error: unknown) =>
  requests.map(({ id }) => ({ jsonrpc: '2.0', id, error }));

type Reshape = (requests: readonly ProxiedRequest[], answers: readonly ProxiedAnswer[]) => unknown;
type Respond = (response: ServerResponse, count: number) => boolean;

interface Report {
  readonly source: string;
  readonly shape: string;
  /** The most calls that this node takes in one request. */
  readonly most: number;
  readonly reshape?: Reshape;
  readonly respond?: Respond;
  /** The words of the log. */
  readonly words: string;
}

/** Applies to requests with more calls than the node takes. */
const above =
  (most: number, reshape: Reshape): Reshape =>
  (requests, answers) =>
    requests.length > most ? reshape(requests, answers) : undefined;

const reports: readonly Report[] = [
  {
    source: 'go-ethereum#27923, blockscout#9958',
    shape: 'Geth answers a batch up to its limit of bytes, and the rest with -32003',
    most: 20,
    reshape: above(20, (requests, answers) => [
      ...answers.slice(0, 20),
      ...refusing(requests.slice(20), errorOf(-32003, 'response too large')),
    ]),
    words: 'response too large (-32003)',
  },
  {
    source: 'base/node#234, go-ethereum#26681',
    shape: 'Geth answers only the first call, with an error that is about the batch',
    most: 10,
    reshape: above(10, (requests) => refusing(requests.slice(0, 1), errorOf(-32600, 'batch too large'))),
    words: 'batch too large (-32600)',
  },
  {
    source: 'blockscout PR 14211',
    shape: 'dRPC answers each call with code 31 and HTTP 200',
    most: 3,
    reshape: above(3, (requests) =>
      refusing(requests, errorOf(31, 'Batch of more than 3 requests are not allowed on free tier')),
    ),
    words: 'Batch of more than 3 requests are not allowed on free tier (31)',
  },
  {
    source: 'erigon#7090, blockscout#7211',
    shape: 'Erigon answers an object without an id instead of an array',
    most: 12,
    reshape: above(12, (requests) => ({
      jsonrpc: '2.0',
      id: null,
      error: errorOf(-32000, `batch limit 12 exceeded: ${requests.length} requests given`),
    })),
    words: 'batch limit 12 exceeded',
  },
  {
    source: 'java-tron#6632, java-tron PR 6728',
    shape: 'java-tron takes one call by default, and answers an object',
    most: 1,
    reshape: above(1, (requests) => ({
      jsonrpc: '2.0',
      id: null,
      error: errorOf(-32005, `Batch size ${requests.length} exceeds the limit of 1`),
    })),
    words: 'exceeds the limit of 1 (-32005)',
  },
  {
    source: 'jsonrpsee PR 744',
    shape: 'reth and Amazon can be set to take no batches at all',
    most: 1,
    reshape: above(1, () => ({
      jsonrpc: '2.0',
      id: null,
      error: errorOf(-32005, 'Batched requests are not supported by this server'),
    })),
    words: 'Batched requests are not supported',
  },
  {
    source: 'besu#4951',
    shape: 'Besu calls the batch an invalid parameter',
    most: 25,
    reshape: above(25, () => ({
      jsonrpc: '2.0',
      id: null,
      error: errorOf(-32602, 'Number of requests in batch exceeds --rpc-max-batch-size.'),
    })),
    words: 'exceeds --rpc-max-batch-size',
  },
  {
    source: 'go-ethereum#23300',
    shape: 'a provider answers HTTP 400, with a text as the error',
    most: 16,
    respond: (response, count) => {
      if (count <= 16) return false;
      response.writeHead(400).end(JSON.stringify({ error: `Batch limit 16, got ${count}` }));
      return true;
    },
    words: 'Batch limit 16, got',
  },
  {
    source: 'agave PR 12849, hiero-json-rpc-relay#5443',
    shape: 'a proxy answers HTTP 413 without a body',
    most: 6,
    respond: (response, count) => {
      if (count <= 6) return false;
      response.writeHead(413).end();
      return true;
    },
    words: 'answered HTTP 413',
  },
  {
    source: 'hemilabs/ui-monorepo PR 887',
    shape: 'a public endpoint answers more than three calls with HTTP 500',
    most: 3,
    respond: (response, count) => {
      if (count <= 3) return false;
      response.writeHead(500).end('Internal Server Error');
      return true;
    },
    words: 'answered HTTP 500: Internal Server Error',
  },
  {
    source: 'erigon#18074',
    shape: 'Erigon drops the connection',
    most: 10,
    respond: (response, count) => {
      if (count <= 10) return false;
      response.destroy();
      return true;
    },
    words: 'cannot be reached',
  },
  {
    source: 'Nethereum#926',
    shape: 'a gateway answers only the first call',
    most: 1,
    reshape: above(1, (_, answers) => answers.slice(0, 1)),
    words: 'left calls of a batch unanswered',
  },
];

describe.each(reports)('$source: $shape', ({ most, reshape, respond, words }) => {
  beforeEach(() => {
    proxy.reshape = reshape;
    proxy.respond = respond && ((response, calls) => respond(response, calls.length));
  });

  it('every call is answered, in the order asked, and the log has the words of the node', async () => {
    const client = openClient();
    expect(heightsOf(await client.batch(blockCalls(55), signal))).toEqual(
      Array.from({ length: 55 }, (_, height) => height),
    );
    expect(client.batchSize()).toBeLessThanOrEqual(most);
    expect(logged.join('\n')).toContain(words);
    expect(client.limit()).toContain(words);
    expect(client.usage().limited).toBe(0);
  });

  it('the scan catches up, and finds what was paid', async () => {
    const follower = await follow(openChain());
    const address = testAddress('evm', nextIndex++);
    await anvil.mine(12);
    await anvil.send(address, 7n);
    await anvil.mine(12);
    await follower.sync();
    expect(follower.received(address)).toEqual([{ currency: 'ETH', amount: 7n }]);
  });
});

it('After 600 blocks without the server, a node that takes three calls is read to the end (blockscout PR 14211)', async () => {
  const own = await startAnvil();
  const before = proxy;
  proxy = await startProviderProxy(own.url);
  try {
    const follower = await follow(openChain());
    const address = testAddress('evm', nextIndex++);
    await own.send(address, 7n);
    await own.mine(600);
    proxy.reshape = above(3, (requests) =>
      refusing(requests, errorOf(31, 'Batch of more than 3 requests are not allowed on free tier')),
    );
    await follower.sync();
    expect(follower.received(address)).toEqual([{ currency: 'ETH', amount: 7n }]);
    expect(follower.head().height).toBeGreaterThan(600);
  } finally {
    await proxy.close();
    proxy = before;
    await own.stop();
  }
});

describe('The answers that a node gave are kept', () => {
  it('The answers of a batch whose rest was too large are kept (go-ethereum#27923)', async () => {
    let answered = 0;
    proxy.reshape = (requests, answers) => {
      answered += Math.min(20, requests.length);
      return [
        ...answers.slice(0, 20),
        ...refusing(requests.slice(20), errorOf(-32003, 'response too large')),
      ];
    };
    await openClient().batch(blockCalls(50), signal);
    expect(answered).toBe(50);
  });

  it('The answers of a batch with some limited calls are kept, and the rest is asked for after the pause that the node names (node#36 of conduitxyz)', async () => {
    const limit = errorOf(429, 'Your app has exceeded its compute units per second capacity.');
    let left = 1;
    proxy.reshape = (requests, answers) =>
      requests.length > 5 && left-- > 0
        ? [...answers.slice(0, 5), ...refusing(requests.slice(5), limit)]
        : undefined;
    const client = openClient(20);
    expect(heightsOf(await client.batch(blockCalls(20), signal))).toHaveLength(20);
    expect(client.usage().limited).toBeGreaterThan(0);
    expect(logged.join('\n')).toContain('compute units per second capacity');
  });
});

describe('The size of a batch', () => {
  it('The size of a batch grows again slowly, so that few requests are refused', async () => {
    let most = 3;
    proxy.reshape = (requests) =>
      requests.length > most ? refusing(requests, errorOf(31, `No more than ${most} requests`)) : undefined;
    const client = openClient();
    await client.batch(blockCalls(60), signal);
    proxy.requests = 0;
    for (let round = 0; round < 10; round += 1) await client.batch(blockCalls(60), signal);
    // 200 requests are needed, and few are refused.
    expect(proxy.requests).toBeLessThan(230);
    most = 1000;
    for (let round = 0; round < 60 && client.batchSize() < 50; round += 1) {
      await client.batch(blockCalls(60), signal);
    }
    expect(client.batchSize()).toBe(50);
    expect(client.limit()).toBeUndefined();
  });

  it('The size of a batch stays the same when a single call fails too, or the node refuses everything', async () => {
    const client = openClient();
    proxy.change = ({ params: [height] }) => (height === '0x7' ? new Error('internal error') : undefined);
    const answers = await client.batch(blockCalls(50), signal);
    expect(answers[7]).toBeInstanceOf(RpcFailure);
    expect(answers.filter((answer) => answer instanceof Error)).toHaveLength(1);
    expect(client.batchSize()).toBe(50);
    proxy.change = () => new Error('the node is syncing');
    proxy.requests = 0;
    const refused = await client.batch(blockCalls(50), signal);
    expect(refused.every((answer) => answer instanceof RpcFailure)).toBe(true);
    // The batch is halved down to one call, and the calls are not sent one by one.
    expect(proxy.requests).toBeLessThan(8);
    expect([client.batchSize(), logged]).toEqual([50, []]);
  });

  it('A batch is not halved for a node that does not run, or answers HTTP 401', async () => {
    const client = openClient();
    proxy.respond = (response) => (response.writeHead(401).end(), true);
    await expect(client.batch(blockCalls(50), signal)).rejects.toBeInstanceOf(NodeError);
    expect(proxy.requests).toBe(1);
    await proxy.close();
    await expect(client.batch(blockCalls(50), signal)).rejects.toMatchObject({ fault: 'unreachable' });
    expect(client.usage().requests).toBe(2);
  });

  it('A batch has no more calls than the setting of its network allows', async () => {
    const chain = openChain({ maxBatch: 4 });
    const follower = await follow(chain);
    await anvil.mine(30);
    let largest = 0;
    proxy.reshape = ({ length }) => void (largest = Math.max(largest, length));
    await follower.sync();
    expect(largest).toBe(4);
  });
});

describe('The same batch, after its pause', () => {
  it('A batch is halved when it is refused again after its pause (QuickNode and Alchemy: a batch counts as its calls)', async () => {
    let time = Date.now();
    const client = createNodeClient({ name: 'node 1', url: proxy.url, now: () => time });
    proxy.respond = (response, calls) => {
      if (calls.length <= 15) return false;
      response.writeHead(429, { 'retry-after': '1' }).end('15/second request limit reached');
      return true;
    };
    let found: unknown;
    const attempt = () => client.batch(blockCalls(30), signal).catch((error: unknown) => error);
    for (let round = 0; round < 6; round += 1) {
      found = await attempt();
      if (Array.isArray(found)) break;
      expect(found).toMatchObject({
        fault: 'limited',
        message: expect.stringContaining('15/second') as string,
      });
      time += 1100;
    }
    expect(heightsOf(found as unknown[])).toHaveLength(30);
    expect(client.batchSize()).toBeLessThan(30);
  });
});

describe('Answers in another form than asked', () => {
  it.each<[string, Reshape]>([
    ['out of order (erigon#2540, dshackle#148)', (_, answers) => answers.toReversed()],
    [
      'with ids as text (walletconnect blockchain-api#171)',
      (_, answers) => answers.map((answer) => ({ ...answer, id: String(answer.id) })),
    ],
  ])('Answers %s are understood', async (_, reshape) => {
    proxy.reshape = (requests, answers) =>
      requests.length > 1 ? reshape(requests, answers) : (reshape(requests, answers) as unknown[])[0];
    const client = openClient();
    expect(heightsOf(await client.batch(blockCalls(20), signal))).toEqual(
      Array.from({ length: 20 }, (_, height) => height),
    );
    expect(await client.call('eth_chainId', [], signal)).toBe('0x7a69');
    expect(proxy.requests).toBe(2);
  });

  it('Answers under one id for all are not mixed up (latticexyz/mud#1522: QuickNode)', async () => {
    proxy.reshape = above(1, (_, answers) => answers.map((answer) => ({ ...answer, id: '1' })));
    expect(heightsOf(await openClient().batch(blockCalls(10), signal))).toEqual(
      Array.from({ length: 10 }, (_, height) => height),
    );
  });

  it('Answers under one id for all that ask for a pause get it (latticexyz/mud#1522: QuickNode)', async () => {
    const error = errorOf(-32012, 'credits limited to 6000/sec');
    proxy.reshape = (requests) => requests.map(() => ({ jsonrpc: '2.0', id: '1', error }));
    await expect(openClient().batch(blockCalls(10), signal)).rejects.toMatchObject({ fault: 'limited' });
    expect(proxy.requests).toBe(1);
  });

  it.each<[string, Respond, Partial<NodeError>]>([
    [
      'GetBlock: a bare text (viem PR 3389)',
      (response) => (response.end('rate limit reached'), true),
      { fault: 'limited' },
    ],
    [
      'Bitcoin Core: HTTP 503 and a bare text (bitcoin#7611)',
      (response) => (response.writeHead(503).end('Work queue depth exceeded'), true),
      { fault: 'limited', message: 'node 1 takes no more requests for 1 s: Work queue depth exceeded' },
    ],
    [
      'TronGrid: HTTP 403, and how long (iexbase/tron-api#171)',
      (response) => (
        response.writeHead(403).end(
          JSON.stringify({
            Error: 'request rate exceeded the allowed_rps(10), and the query server is suspended for 5 s',
          }),
        ),
        true
      ),
      { fault: 'limited', retryAfterMs: 5000 },
    ],
    [
      'dRPC: one request too many (code 15)',
      (response) => (
        response.end(JSON.stringify({ id: 1, error: errorOf(15, 'Too many request, try again later') })),
        true
      ),
      { fault: 'limited' },
    ],
  ])('A refusal in another form asks for a pause: %s', async (_, respond, expected) => {
    proxy.respond = (response) => respond(response, 1);
    await expect(openClient().batch(blockCalls(20), signal)).rejects.toMatchObject(expected);
    // Nothing more was sent.
    expect(proxy.requests).toBe(1);
  });

  it.each<[string, unknown, string]>([
    ['a text (go-ethereum#23300)', { error: 'no healthy upstream' }, 'no healthy upstream (0)'],
    ['an object without a code', { error: { message: 'upstream failed' } }, 'upstream failed (0)'],
    ['a message next to a code', { code: 1002, message: 'Service suspended' }, 'Service suspended (1002)'],
    ['with a capital (java-tron#4348)', { Error: 'illegal state. 0' }, 'illegal state. 0 (0)'],
  ])('An error that is %s keeps its words', async (_, body, words) => {
    proxy.reshape = ([request]) => ({ jsonrpc: '2.0', id: request?.id, ...(body as object) });
    const error = await openClient()
      .call('eth_chainId', [], signal)
      .catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(RpcFailure);
    expect(error).toMatchObject({ message: `node 1 answered: ${words}` });
  });

  it('Credentials in the words of a node are hidden, wherever they appear', async () => {
    const [, , path] = urlSecrets;
    proxy.respond = (response) => (response.writeHead(403).end(`${'x'.repeat(295)}${path}`), true);
    const error = await openClient()
      .call('eth_chainId', [], signal)
      .catch((caught: unknown) => caught as Error);
    logged.push(error instanceof Error ? error.message : '');
    expect(logged.join()).toContain('answered HTTP 403');
    expect(logged.join()).not.toContain(path?.slice(0, 5));
  });
});

it('The log and "chains status" report a batch that a node does not take, while its network continues', async () => {
  const lines: string[] = [];
  const server = await startRealServer({
    engine: sqlite,
    networks: { 'evm-dev': { nodes: [proxy.url], batchSize: 20 } },
  });
  try {
    const words = 'Batch of more than 3 requests are not allowed on free tier';
    proxy.reshape = above(3, (requests) => refusing(requests, errorOf(31, words)));
    await anvil.mine(30);
    await server.scan('evm-dev');
    await vi.waitFor(
      async () => {
        const { text, json } = await runWith(commandContext(server), 'chains status');
        lines.splice(0, Infinity, text, JSON.stringify(json));
        expect(text).toMatch(
          /evm-dev .*reads slowly: node 1 is asked no more than [23] calls in one request, because/,
        );
        expect(text).toContain(`${words} (31)`);
        expect(JSON.stringify(json)).toContain('"nodeLimits":"node 1 is asked');
      },
      { timeout: 20_000 },
    );
    logged.push(...lines);
  } finally {
    await server.stop();
  }
});
