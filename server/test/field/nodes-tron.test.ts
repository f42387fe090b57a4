/**
 * Real answers of Tron's nodes and TronGrid, in the forms in which people reported them: recorded replies, changed to
 * match. Each case names its report.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEvmChain, type EvmChain } from '../../src/modules/networks/evm/evm-chain.js';
import { toTronAddress, tronDialect } from '../../src/modules/networks/tron/tron-dialect.js';
import { recorded } from '../networks/tron/recorded.js';
import { HttpAnswer, serve, stop, type Question } from '../networks/tron/serve.js';

const { signal } = new AbortController();
const height = 67_000_002;
const infoPath = '/wallet/gettransactioninfobyblocknum';
/** Paid by a contract in the recorded block. */
const paidByContract = toTronAddress(`0x${'a'.repeat(40)}`);
/** Paid in TRX. */
const paid = toTronAddress(`0x${'2'.repeat(40)}`);

let node: Awaited<ReturnType<typeof serve>>;
let change: ((path: string, question: Question) => unknown) | undefined;
let chain: EvmChain;
let time: number;

beforeEach(async () => {
  change = undefined;
  time = Date.now();
  node = await serve(async (path, question) => change?.(path, question) ?? recorded(path, question));
  chain = createEvmChain(
    {
      dialect: tronDialect,
      mode: 'test',
      network: 'tron',
      chainId: 728126428,
      nodes: [node.url],
      assets: [{ currency: 'TRX', decimals: 6 }],
    },
    { watched: async (addresses) => new Set(addresses), now: () => time },
  );
});
afterEach(() => stop(node.server));

const read = async () => {
  const block = await chain.block(height, signal);
  return new Set(block?.transfers.map(({ address }) => address));
};
const failure = () =>
  read().then(
    () => 'it did not fail',
    (error: unknown) => (error as Error).message,
  );

describe('TRX that a contract sent', () => {
  it.each<[string, unknown, string]>([
    [
      'TronGrid: HTTP 403 (iexbase/tron-api#171)',
      new HttpAnswer(
        403,
        '{"Error":"request rate exceeded the allowed_rps(10), and the query server is suspended for 5 s"}',
      ),
      'takes no more requests for 5 s: request rate exceeded',
    ],
    ['TronGrid: HTTP 429 (wallet-cli#985)', new HttpAnswer(429, ''), 'takes no more requests for 1 s'],
    [
      'Tronscan: a code (tronscan-frontend#1569)',
      { Error: 'request too quickly, please retry later.' },
      'no more',
    ],
    [
      'an empty list of a block that has transactions (trongrid#18)',
      [],
      'does not show now what contracts sent',
    ],
    [
      'java-tron: HTTP 200 (java-tron#4348)',
      { Error: 'class com.alibaba.fastjson.JSONException : illegal state. 0' },
      'does not show now what contracts sent',
    ],
    ['a gateway: HTTP 502', new HttpAnswer(502, '<html>Bad gateway</html>'), 'does not show now'],
  ])('TRX sent by a contract is not lost if a node refuses to report it: %s', async (_, answer, words) => {
    expect(await read()).toContain(paidByContract);
    change = (path) => (path === infoPath ? answer : undefined);
    expect(await failure()).toContain(words);
    change = undefined;
    time += 60_000;
    expect(await read()).toContain(paidByContract);
  });

  it.each<[string, unknown]>([
    ['HTTP 404', new HttpAnswer(404, 'Not found')],
    ['an empty list always: it keeps no history', []],
  ])(
    'A node that never reported TRX sent by contracts is asked again later, and its blocks are read: %s',
    async (_, answer) => {
      let asked = 0;
      change = (path) => {
        if (path !== infoPath) return undefined;
        asked += 1;
        return answer;
      };
      for (let round = 0; round < 5; round += 1) {
        expect(await read()).not.toContain(paidByContract);
        expect(await read()).toContain(paid);
        time += 11_000;
      }
      expect(asked).toBeLessThan(4);
      change = undefined;
      time += 600_000;
      expect(await read()).toContain(paidByContract);
    },
  );
});

it('TRX that a contract sent has one key, also at a node that lists freezes and votes (java-tron#5089)', async () => {
  const sent = async () =>
    (await chain.block(height, signal))?.transfers.filter(({ address }) => address === paidByContract);
  const plain = await sent();
  expect(plain).toHaveLength(2);
  // A node with `vm.saveFeaturedInternalTx` lists them where they happened.
  const featured = ['freezeBalanceV2ForEnergy', 'voteWitness'].map((note) => ({
    caller_address: `41${'c'.repeat(40)}`,
    transferTo_address: `41${'a'.repeat(40)}`,
    note: Buffer.from(note).toString('hex'),
    callValueInfo: [{ callValue: 9_000_000 }],
    hash: '6'.repeat(64),
  }));
  change = (path, question) => {
    if (path !== infoPath) return undefined;
    const infos = recorded(path, question) as { internal_transactions?: unknown[] }[];
    return infos.map(({ internal_transactions: list, ...info }) => ({
      ...info,
      ...(list && { internal_transactions: list.flatMap((one) => [...featured, one]) }),
    }));
  };
  expect(await sent()).toEqual(plain);
});

describe('A transfer of TRX', () => {
  it.each<[string, unknown]>([
    [
      'HTTP 403 (iexbase/tron-api#171)',
      new HttpAnswer(403, '{"Error":"request rate exceeded the allowed_rps(10)"}'),
    ],
    ['HTTP 429 (tronpy#153)', new HttpAnswer(429, '')],
    ['an empty object', {}],
    ['an error with HTTP 200 (java-tron#4348)', { Error: 'illegal state. 0' }],
  ])('A transfer of TRX waits while the node does not report its kind: %s', async (_, answer) => {
    change = (path) => (path === '/wallet/gettransactionbyid' ? answer : undefined);
    expect(await failure()).toContain('No node of tron can be used');
    change = undefined;
    time += 60_000;
    expect(await read()).toContain(paid);
  });
});
