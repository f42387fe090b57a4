/** Transactions that the nodes of a network have forgotten, when some of them stall, lag behind, or have no budget left. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json as jsonOf } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import type { NodeClient } from '../../src/modules/networks/rpc/node-client.js';
import { findForgotten, type PendingAnswer } from '../../src/modules/networks/forgotten.js';
import { createNodePool } from '../../src/modules/networks/rpc/node-pool.js';

const json = (request: IncomingMessage) => jsonOf(request) as Promise<{ id: number } | { id: number }[]>;
const { signal } = new AbortController();
const [hash, other] = ['aa'.repeat(32), 'bb'.repeat(32)];

describe('Transactions that a scan misses', () => {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  /** @param answer to every call; undefined to never answer */
  async function node(answer: PendingAnswer | undefined): Promise<string> {
    const server = createServer((request, response) => {
      void json(request).then((calls) => {
        const reply = ({ id }: { id: number }) => ({ jsonrpc: '2.0', id, result: answer });
        if (answer) response.end(JSON.stringify(Array.isArray(calls) ? calls.map(reply) : reply(calls)));
      });
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  async function ask(answers: readonly (PendingAnswer | undefined)[], requestsPerMinute?: number) {
    const urls: string[] = [];
    for (const answer of answers) urls.push(await node(answer));
    const pool = createNodePool<{ say(): Promise<PendingAnswer> }>({
      network: 'evm-dev',
      nodes: urls,
      open: (client: NodeClient, own) => ({
        say: async () => (await client.call('say', [], own)) as PendingAnswer,
      }),
      verify: () => Promise.resolve(),
      ...(requestsPerMinute !== undefined && { requestsPerMinute }),
    });
    const startedAt = performance.now();
    const forgotten = await findForgotten(
      pool,
      urls.length,
      [hash, other],
      (each, asked) => Promise.all(asked.map(() => each.say())),
      signal,
    );
    return { forgotten: [...forgotten], pool, ms: performance.now() - startedAt };
  }
  const both = (whom: string) => [
    [hash, whom],
    [other, whom],
  ];

  it.each([
    ['all know none of them', ['unknown', 'unknown'], 'by all'],
    ['one has them', ['unknown', 'waits'], 'by none'],
    ['one has read the block that decided', ['is over', undefined], 'by all'],
    ['one has read a block that another one has not', ['is over', 'waits'], 'by none'],
  ] as const)('Missing transactions are forgotten by all or none if %s', async (_name, answers, expected) => {
    expect((await ask(answers)).forgotten).toEqual(both(expected));
  });

  it('Missing transactions are forgotten by some if one node stalls, which costs the scan less than five seconds', async () => {
    const { forgotten, ms } = await ask(['unknown', undefined]);
    expect(forgotten).toEqual(both('by some'));
    expect(ms).toBeLessThan(5000);
  });

  it('No transaction is known to be forgotten if no node answers, or if asking would not leave half of the budget', async () => {
    expect((await ask([undefined])).forgotten).toEqual([]);
    const { forgotten, pool } = await ask(['unknown'], 4);
    expect(forgotten).toEqual([]);
    expect(pool.requestsLeft()).toBe(4);
  });
});
