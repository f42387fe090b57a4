/**
 * Real answers of nodes of EVM networks, in the forms in which people reported them: a proxy before anvil answers as
 * they did. Each case names its report.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Hex } from 'viem';
import { createEvmChain, type EvmChain } from '../../src/modules/networks/evm/evm-chain.js';
import { createEvmClient } from '../../src/modules/networks/evm/client.js';
import { createEvmNodes } from '../../src/modules/networks/evm/evm-nodes.js';
import { createNodeClient } from '../../src/modules/networks/rpc/node-client.js';
import { crossCheck } from '../../src/core/scanning/cross-check.js';
import { anvilChainId, startAnvil, type Anvil } from '../support/anvil.js';
import {
  NodeRefusal,
  startProviderProxy,
  type ProviderProxy,
  type ProxiedCall,
} from '../support/provider-proxy.js';
import { follow, type Follower } from '../networks/evm/follower.js';
import { testAddress } from '../chains/fixture.js';

const { signal } = new AbortController();
let anvil: Anvil;
let token: Hex;
let proxy: ProviderProxy;
let logged: string[];
let time: number;
let nextIndex = 6000;

beforeAll(async () => {
  anvil = await startAnvil();
  token = await anvil.deploy('PlainToken', [6]);
  await anvil.mine(150);
});
afterAll(() => anvil.stop());
beforeEach(async () => {
  proxy = await startProviderProxy(anvil.url);
  logged = [];
  time = Date.now();
});
afterEach(() => proxy.close());

const newAddress = () => testAddress('evm', nextIndex++) as Hex;

const openChain = (nodes: readonly ProviderProxy[] = [proxy], ours?: readonly string[]): EvmChain =>
  createEvmChain(
    {
      mode: 'test',
      network: 'evm-dev',
      chainId: anvilChainId,
      nodes: nodes.map(({ url }) => url),
      assets: [
        { currency: 'ETH', decimals: 18 },
        { currency: 'USDT', decimals: 6, contract: token },
      ],
      timeoutMs: 3000,
    },
    {
      watched: async (addresses) => new Set(addresses.filter((one) => ours?.includes(one) ?? true)),
      warn: (message) => logged.push(message),
      now: () => time,
    },
  );

const payTokens = (address: string, amount = 3n) =>
  anvil.call('PlainToken', token, 'transfer', [address, amount]);
const heightNow = async () => Number(await anvil.rpc<string>('eth_blockNumber'));
const hex = (height: number) => `0x${height.toString(16)}`;
const asks = (method: string, first?: unknown) =>
  proxy.calls.filter((call) => call.method === method && (first === undefined || call.params[0] === first))
    .length;

/** The message of a call that fails. */
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => 'it did not fail',
    (error: unknown) => (error as Error).message,
  );

/** Answers calls of a method differently; undefined leaves an answer as it is. */
function answer(method: RegExp, make: (result: unknown, call: ProxiedCall) => unknown): void {
  proxy.change = (call, result) => (method.test(call.method) ? make(result, call) : undefined);
}

describe('Finality', () => {
  /** The height that the node calls final, or what it refuses it with. */
  let reported: number | Error;
  beforeEach(() => {
    answer(/^eth_getBlockByNumber$/, (result, { params }) => {
      if (params[0] !== 'finalized') return undefined;
      return reported instanceof Error ? reported : { ...(result as object), number: hex(reported) };
    });
  });

  const finalOf = async (chain: EvmChain) => {
    time += 11_000;
    return (await chain.head(signal)).finalized?.height;
  };

  it.each([
    ['reth#9105, erigon#24028', new NodeRefusal(-39001, 'unknown block')],
    ['erigon PR 20149', new NodeRefusal(-32000, 'block "finalized" not available (head block: 21459236)')],
    ['bsc-erigon#376', new NodeRefusal(-32000, 'finalized block not found')],
  ])(
    'The final block stays the same while it is refused for a moment, and moves again afterwards: %s',
    async (_, refusal) => {
      const chain = openChain();
      for (reported of [100, 101, 102]) {
        await finalOf(chain);
        await anvil.mine();
      }
      expect(await finalOf(chain)).toBe(102);
      reported = refusal;
      expect(await finalOf(chain)).toBe(102);
      await anvil.mine();
      reported = 103;
      await finalOf(chain);
      expect(await finalOf(chain)).toBe(103);
    },
  );

  it('A node that does not know the method for the final block is asked for it again after ten minutes', async () => {
    const chain = openChain();
    reported = new NodeRefusal(-32601, 'the method does not exist');
    for (let round = 0; round < 20; round += 1) await finalOf(chain);
    expect(asks('eth_getBlockByNumber', 'finalized')).toBe(1);
    time += 600_000;
    await finalOf(chain);
    expect(asks('eth_getBlockByNumber', 'finalized')).toBe(2);
  });

  it('A final block that never worked is asked for less and less often (rskj#3309), but soon at first: the node may just start', async () => {
    const chain = openChain();
    reported = new NodeRefusal(-32602, 'unsupported block tag: finalized');
    await finalOf(chain);
    await finalOf(chain);
    expect(asks('eth_getBlockByNumber', 'finalized')).toBe(2);
    for (let round = 0; round < 60; round += 1) await finalOf(chain);
    // In eleven minutes.
    expect(asks('eth_getBlockByNumber', 'finalized')).toBeLessThan(9);
    time += 600_000;
    for (reported of [100, 101]) await finalOf(chain);
    expect(await finalOf(chain)).toBe(101);
  });

  describe('A final block that a node made up when it was started (go-ethereum#35418)', () => {
    let head: number;
    beforeEach(async () => {
      head = await heightNow();
    });

    it('A final block that a node made up at its start counts only after it has moved on with the chain', async () => {
      const chain = openChain();
      for (reported of [head - 80, head - 76]) await finalOf(chain);
      expect(await finalOf(chain)).toBe(head - 76);
      proxy.respond = (response) => (response.destroy(), true);
      await failure(chain.head(signal));
      proxy.respond = undefined;
      time += 60_000;
      // At a fixed distance from the newest block, and never final.
      reported = head - 64;
      for (let round = 0; round < 5; round += 1) expect(await finalOf(chain)).toBe(head - 76);
      // The block that is really final.
      reported = head - 76;
      expect(await finalOf(chain)).toBe(head - 76);
      reported = head - 72;
      expect(await finalOf(chain)).toBe(head - 76);
      expect(await finalOf(chain)).toBe(head - 72);
    });

    it('A made-up final block is noticed without an interruption: it is closer to the newest block than ever before', async () => {
      const chain = openChain();
      for (reported of [head - 80, head - 76]) await finalOf(chain);
      expect(await finalOf(chain)).toBe(head - 76);
      reported = head - 64;
      for (let round = 0; round < 5; round += 1) expect(await finalOf(chain)).toBe(head - 76);
    });

    it('A made-up final block of the second node confirms no large amount either', async () => {
      const other = await startProviderProxy(anvil.url);
      const made = proxy.change;
      let alsoReported = 0;
      other.change = ({ method, params }, result) =>
        method === 'eth_getBlockByNumber' && params[0] === 'finalized'
          ? { ...(result as object), number: hex(alsoReported) }
          : undefined;
      try {
        proxy.change = made;
        const chain = openChain([proxy, other]);
        const address = newAddress();
        await payTokens(address);
        const height = await heightNow();
        const block = await chain.block(height, signal);
        const transfer = block?.transfers.find((one) => one.address === address);
        if (!block || !transfer) throw new Error('It was not read');
        const receipt = {
          ...transfer,
          id: 'id',
          height,
          blockHash: block.hash,
          needsFinality: true,
          chainAmount: transfer.amount,
        };
        await anvil.mine(5);
        const check = async () => {
          time += 11_000;
          return (await crossCheck(chain, [receipt], signal)).checked.length;
        };
        reported = height + 1;
        alsoReported = height;
        await check();
        reported = height + 2;
        // The first node has proved itself, and the second one has not.
        expect([await check(), await check(), await check()]).toEqual([0, 0, 0]);
        alsoReported = height + 1;
        expect(await check()).toBe(1);
      } finally {
        await other.close();
      }
    });
  });
});

describe('A transfer that waits for a block', () => {
  let follower: Follower;
  let address: Hex;
  beforeEach(async () => {
    follower = await follow(openChain());
    address = newAddress();
    await anvil.automine(false);
    const sent = anvil.send(address, 5n);
    await sent;
  });
  afterEach(async () => {
    await anvil.mine();
    await anvil.automine(true);
  });
  const isSeen = () => follower.transfers(address).map(({ height }) => height);

  it('A waiting transfer is seen at the next scan when the pending block was refused once', async () => {
    await follower.sync();
    expect(isSeen()).toEqual(['pending']);
    const second = newAddress();
    await anvil.send(second, 5n);
    answer(/^eth_getBlockByNumber$/, (_, { params }) =>
      params[0] === 'pending' ? new NodeRefusal(-32000, 'pending block is not available') : undefined,
    );
    await follower.sync();
    proxy.change = undefined;
    await follower.sync();
    expect(follower.transfers(second)).toHaveLength(1);
    expect(isSeen()).toEqual(['pending']);
  });

  it.each([
    ['go-ethereum#29956, ethers.js#4999', new NodeRefusal(-32000, 'transaction indexing is in progress')],
    ['a node in trouble', new NodeRefusal(-32603, 'internal error')],
  ])('A waiting transfer is not dropped because the node cannot return it now: %s', async (_, refusal) => {
    await follower.sync();
    proxy.change = ({ method, params }, result) => {
      if (method === 'eth_getTransactionByHash') return refusal;
      if (method !== 'eth_getBlockByNumber' || params[0] !== 'pending') return undefined;
      return { ...(result as object), transactions: [] };
    };
    await follower.sync();
    expect(isSeen()).toEqual(['pending']);
    // The node says that there is none: that is an answer.
    const refused = proxy.change;
    proxy.change = (call, result) =>
      call.method === 'eth_getTransactionByHash' ? null : refused(call, result);
    await follower.sync();
    expect(isSeen()).toEqual([]);
  });

  it('A transfer is seen in a pending block without a number (go-ethereum#19332, parity-ethereum PR 8281)', async () => {
    answer(/^eth_getBlockByNumber$/, (result, { params }) =>
      params[0] === 'pending' ? { ...(result as object), number: null, hash: null, miner: null } : undefined,
    );
    await follower.sync();
    expect(isSeen()).toEqual(['pending']);
  });
});

describe('A token transfer', () => {
  let follower: Follower;
  let address: Hex;
  beforeEach(async () => {
    follower = await follow(openChain());
    address = newAddress();
  });
  const received = () => follower.received(address).map(({ amount }) => amount);
  /** True if a call reads the logs of a range of blocks, and not of one by its hash. */
  const isRange = ({ params: [filter] }: ProxiedCall) => 'fromBlock' in (filter as object);

  it.each<[string, (receipt: object) => object]>([
    ['its logs are there (lotus#13758)', (receipt) => ({ ...receipt, logs: [] })],
    [
      'its block is known (zksync-era#44)',
      (receipt) => ({ ...receipt, blockNumber: null, blockHash: null, logs: [] }),
    ],
  ])('A token transfer counts once its receipt is whole: the node has it before %s', async (_, change) => {
    await payTokens(address);
    answer(/^eth_getTransactionReceipt$/, (result) => change(result as object));
    expect(await failure(follower.sync())).toContain('No node of evm-dev can be used');
    proxy.change = undefined;
    await follower.sync();
    expect(received()).toEqual([3n]);
  });

  it.each([
    [
      'zksync-era#3412',
      -32602,
      'Query returned more than 10000 results. Try with this block range [0x0, 0x0].',
    ],
    ['zksync-era#3412', -32008, 'Response is too big'],
    ['blockbook PR 1692', -32602, 'query returns too many logs, narrow your filter: 20000'],
    ['zeta-chain/node#3265', -32000, 'query returned more than 10000 results'],
    ['blockbook PR 1489', -32000, 'cannot query unfinalized data'],
  ])(
    'A token transfer is found in the receipts of a block whose logs are too much for one reply: %s (%i)',
    async (_, code, text) => {
      await anvil.mine(6);
      await payTokens(address);
      const height = await heightNow();
      const hash = (await anvil.rpc<{ hash: string }>('eth_getBlockByNumber', [hex(height), false])).hash;
      await anvil.mine(6);
      const refuse = () =>
        answer(/^eth_getLogs$/, (_result, { params: [filter] }) => {
          const { blockHash, fromBlock, toBlock } = filter as Record<string, string | undefined>;
          const isIn = blockHash === hash || (Number(fromBlock) <= height && Number(toBlock) >= height);
          return isIn ? new NodeRefusal(code, text) : undefined;
        });
      refuse();
      await follower.sync();
      expect(received()).toEqual([3n]);
      // And as the newest block.
      const next = newAddress();
      await payTokens(next);
      answer(/^eth_getLogs$/, () => new NodeRefusal(code, text));
      await follower.sync();
      expect(follower.received(next)).toHaveLength(1);
    },
  );

  it('A token transfer is found when ranges are refused as wrong parameters (INFURA#237, erigon PR 20424)', async () => {
    await anvil.mine(20);
    await payTokens(address);
    await anvil.mine(20);
    answer(/^eth_getLogs$/, (_, call) => {
      const { fromBlock, toBlock } = call.params[0] as Record<string, string>;
      const length = Number(toBlock) - Number(fromBlock) + 1;
      return isRange(call) && length > 3
        ? new NodeRefusal(-32602, `range ${length} exceeds limit of 3`)
        : undefined;
    });
    await follower.sync();
    expect(received()).toEqual([3n]);
  });

  it('A token transfer is found when ranges are refused with HTTP 413 (eigensdk-go PR 169)', async () => {
    await anvil.mine(4);
    await payTokens(address);
    await anvil.mine(4);
    proxy.respond = (response, calls) => {
      const call = calls.find(({ method }) => method === 'eth_getLogs');
      if (!call || !isRange(call)) return false;
      const error = { code: -32614, message: 'eth_getLogs is limited to a 10,000 range' };
      response.writeHead(413).end(JSON.stringify({ jsonrpc: '2.0', id: 12, error }));
      return true;
    };
    await follower.sync();
    expect(received()).toEqual([3n]);
  });

  describe('The place of a token transfer does not depend on the number of its log', () => {
    const numbered = (result: unknown, numberOf: (place: number) => number) => {
      const list = Array.isArray(result) ? result : [];
      return list.map((log: object, place) => ({ ...log, logIndex: hex(numberOf(place)) }));
    };

    it.each<[string, (place: number) => number]>([
      ['through the transaction in receipts (erigon#1091, besu#6204)', (place) => place],
      ['from another start in receipts (lotus#12254)', (place) => place + 6],
      ['not at all in receipts (skaled#1907)', () => 0],
    ])('A token transfer has the same place when its log is numbered %s', async (_, numberOf) => {
      const other = newAddress();
      await anvil.automine(false);
      // Three logs before ours, two of which say the same, and then ours twice.
      await payTokens(other);
      await anvil.call('PlainToken', token, 'transferToBoth', [other, other, 1n]);
      await anvil.call('PlainToken', token, 'transferToBoth', [address, address, 9n]);
      await anvil.mine();
      await anvil.automine(true);
      answer(/^eth_getTransactionReceipt$/, (result) => ({
        ...(result as object),
        logs: numbered((result as { logs: unknown }).logs, numberOf),
      }));
      await follower.sync();
      const found = follower.transfers(address).map(({ outputIndex, amount }) => [outputIndex, amount]);
      expect(found).toEqual([
        [1, 9n],
        [2, 9n],
      ]);
      expect(follower.transfers(other).map(({ outputIndex }) => outputIndex)).toEqual([1, 1, 2]);
    });
  });

  it.each<[string, (call: ProxiedCall, result: unknown) => unknown]>([
    [
      'the logs for good (lotus#13749, reth#17678)',
      ({ method }) => (method === 'eth_getLogs' ? [] : undefined),
    ],
    [
      'the logs, and the receipts of the block (reth#23394)',
      ({ method }) => (/^eth_get(Logs|BlockReceipts)$/.test(method) ? [] : undefined),
    ],
    [
      'the logs, and cannot count the receipts of the block (bor#1654)',
      ({ method }) => {
        if (method === 'eth_getBlockReceipts')
          return new NodeRefusal(-32000, 'receipts length mismatch: 1 vs 0');
        return method === 'eth_getLogs' ? [] : undefined;
      },
    ],
  ])('A token transfer is found at a node that has lost %s', async (_, change) => {
    await anvil.mine(12);
    await payTokens(address);
    proxy.change = change;
    await follower.sync();
    expect(received()).toEqual([3n]);
    const next = newAddress();
    await payTokens(next);
    await anvil.mine(12);
    await follower.sync();
    expect(follower.received(next)).toHaveLength(1);
  });

  it('A token transfer is found in a block with a log of a transaction that the node leaves out (bor#519, erigon#6574)', async () => {
    await payTokens(address);
    // Coins from another chain go to a stranger.
    const stranger = `0x${'7'.repeat(40).padStart(64, '0')}`;
    answer(/^eth_getLogs$/, (result) => {
      const [log] = result as { topics: string[] }[];
      if (!log) return undefined;
      const topics = [...log.topics.slice(0, 2), stranger];
      return [{ ...log, topics, transactionHash: `0x${'5'.repeat(64)}` }, log];
    });
    follower = await follow(openChain([proxy], [address.toLowerCase()]), follower.head());
    await follower.sync();
    expect(received()).toEqual([3n]);
  });
});

describe('A transaction whose receipt the node has only among those of its block (erigon#6574, bor#519, bsc-erigon#203)', () => {
  let lacking: unknown;
  let follower: Follower;
  let address: Hex;
  beforeEach(async () => {
    follower = await follow(openChain());
    address = newAddress();
    await payTokens(address);
    await payTokens(address, 4n);
    const [log] = await anvil.rpc<{ transactionHash: string }[]>('eth_getLogs', [
      { fromBlock: hex((await heightNow()) - 1), address: token },
    ]);
    lacking = log?.transactionHash;
    answer(/^eth_getTransactionReceipt$/, (result, { params }) => (params[0] === lacking ? null : undefined));
  });
  const received = () => follower.received(address).map(({ amount }) => amount);

  it('A receipt that the node has only among those of its block is taken from there', async () => {
    await follower.sync();
    expect(received()).toEqual([3n, 4n]);
  });

  it.each([1, 12])('A missing receipt is taken only from its own block, %i blocks later', async (blocks) => {
    await anvil.mine(blocks);
    const { change } = proxy;
    proxy.change = (call, result) =>
      call.method === 'eth_getBlockReceipts'
        ? (result as object[]).map((receipt) => ({ ...receipt, blockHash: `0x${'12'.repeat(32)}` }))
        : change?.(call, result);
    expect(await failure(follower.sync())).toContain(`has the transaction ${String(lacking)} in block`);
    expect(received()).toEqual([]);
    proxy.change = change;
    await follower.sync();
    expect(received()).toEqual([3n, 4n]);
  });

  it('A transaction that has failed in the receipts of its block pays nothing', async () => {
    await follower.sync();
    follower = await follow(openChain(), follower.head());
    address = newAddress();
    await payTokens(address, 5n);
    const [log] = await anvil.rpc<{ transactionHash: string }[]>('eth_getLogs', [
      { fromBlock: hex(await heightNow()), address: token },
    ]);
    lacking = log?.transactionHash;
    const { change } = proxy;
    proxy.change = (call, result) =>
      call.method === 'eth_getBlockReceipts'
        ? (result as object[]).map((receipt) => ({ ...receipt, status: '0x0' }))
        : change?.(call, result);
    await follower.sync();
    expect(received()).toEqual([]);
  });
});

describe('A head that is not there for a moment', () => {
  it.each<[string, unknown, string]>([
    ['bsc-erigon#716', null, 'answered with no block'],
    ['reth#3424', new NodeRefusal(-32001, 'Unknown block number'), 'Unknown block number (-32001)'],
  ])(
    'A missing head reverts nothing, and is reported in the words of the node: %s',
    async (_, latest, words) => {
      const follower = await follow(openChain());
      const address = newAddress();
      await payTokens(address);
      await follower.sync();
      answer(/^eth_getBlockByNumber$/, (result, { params }) => (params[0] === 'latest' ? latest : undefined));
      expect(await failure(follower.sync())).toContain(words);
      proxy.change = undefined;
      time += 60_000;
      await follower.sync();
      expect([follower.received(address).length, follower.reorgs]).toEqual([1, []]);
    },
  );
});

describe('The number of transactions that an account has sent', () => {
  it('The count of sent transactions is unknown at a node without the method, and an error at one that fails', async () => {
    const chain = openChain();
    const ask = () => chain.balances.sent(anvil.sender, signal);
    expect(await ask()).toBeGreaterThan(0);
    answer(/^eth_getTransactionCount$/, () => new NodeRefusal(-32000, 'internal error'));
    expect(await failure(ask())).toContain('internal error');
    answer(/^eth_getTransactionCount$/, () => new NodeRefusal(-32601, 'the method does not exist'));
    expect(await ask()).toBeUndefined();
  });

  it('A refused balance after a block is an error too, once the node has reported one', async () => {
    const chain = openChain();
    const asked = [{ address: newAddress(), asset: { currency: 'ETH', decimals: 18 } }];
    const height = await heightNow();
    const ask = () => chain.balances.readOld(asked, height, undefined, signal);
    expect((await ask())?.amounts).toEqual([0n]);
    answer(/^eth_call$/, () => new NodeRefusal(-32000, 'request timed out'));
    expect(await failure(ask())).toContain('request timed out');
    answer(/^eth_call$/, () => new NodeRefusal(-32000, 'missing trie node 12ab (path )'));
    expect(await ask()).toBeUndefined();
  });
});

describe('A contract that reverts in the words of a node', () => {
  const words = [
    'too many requests, try again in 9999 minutes',
    'header not found, missing trie node: state was pruned',
    'daily request count exceeded, request rate limited',
  ].join('. ');
  const refusals: readonly [string, number, string][] = [
    ['go-ethereum PR 31456', 3, `execution reverted: ${words}`],
    ['wevm/viem PR 4092', -32000, `execution reverted: ${words}`],
    ['ethcontract-rs#92', -32000, `VM Exception while processing transaction: revert ${words}`],
    ['go-ethereum#21886, nethermind#2098', -32015, 'VM execution error.'],
    ['nethermind#2718', -32015, words],
  ];

  it.each(refusals)(
    'A revert in the words of a node stops no node, as the only call or among others: %s',
    async (_, code, message) => {
      const address = newAddress();
      const nodes = createEvmNodes(
        { mode: 'test', network: 'evm-dev', chainId: anvilChainId, nodes: [proxy.url], assets: [] },
        { warn: (text) => logged.push(text) },
      );
      answer(/^eth_call$/, () => new NodeRefusal(code, message));
      const ask = () =>
        nodes.run(
          async (evm) => [
            await evm.acceptsSignature(address, `0x${'12'.repeat(32)}`, '0x1234'),
            await Promise.all([evm.chainId(), evm.call({ to: address, data: '0x' }), evm.chainId()]),
          ],
          signal,
        );
      const answers = [false, [anvilChainId, undefined, anvilChainId]];
      expect([await ask(), await ask()]).toEqual([answers, answers]);
      expect(logged).toEqual([]);
      expect(nodes.limits()).toBeUndefined();
    },
  );

  it.each(refusals)('A revert with an HTTP status stops no node: %s', async (_, code, message) => {
    proxy.respond = (response, [call]) => {
      if (call?.method !== 'eth_call') return false;
      response.writeHead(400).end(JSON.stringify({ error: { code, message } }));
      return true;
    };
    const node = createNodeClient({ name: 'node 1', url: proxy.url });
    const evm = createEvmClient(node, signal);
    expect(await evm.acceptsSignature(newAddress(), `0x${'12'.repeat(32)}`, '0x1234')).toBe(false);
    expect(await evm.chainId()).toBe(anvilChainId);
    expect(node.usage().limited).toBe(0);
  });

  it('A state after a block is not called gone because a contract reverts in the words of a node', async () => {
    const evm = createEvmClient(createNodeClient({ name: 'node 1', url: proxy.url }), signal);
    const height = await heightNow();
    const ask = () => evm.atBlock(() => evm.balances(undefined, [newAddress()], height));
    expect(await ask()).toEqual([0n]);
    answer(/^eth_call$/, () => new NodeRefusal(3, `execution reverted: ${words}`));
    expect(await failure(ask())).toContain(words);
  });
});
