/** The typed calls of an EVM node: what they return, what they send, and what becomes of a node's refusals and nonsense. */
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { createEvmClient, type EvmClient } from '../../../src/modules/networks/evm/client.js';
import { decimalsData } from '../../../src/modules/networks/evm/abi.js';
import { transferTopic } from '../../../src/modules/networks/evm/token.js';
import { createNodeClient } from '../../../src/modules/networks/rpc/node-client.js';
import { NodeError, RpcFailure, unlessRefused } from '../../../src/modules/networks/rpc/node-error.js';
import { anvilChainId, startAnvil, type Anvil } from '../../support/anvil.js';
import { startProviderProxy, type ProviderProxy } from '../../support/provider-proxy.js';
import { testAddress } from '../../chains/fixture.js';

const { signal } = new AbortController();
const stranger = testAddress('evm', 900) as Hex;
let anvil: Anvil;
let token: Hex;
let proxy: ProviderProxy;
let evm: EvmClient;

beforeAll(async () => {
  anvil = await startAnvil();
  token = await anvil.deploy('SilentToken');
});
afterAll(() => anvil.stop());
beforeEach(async () => {
  proxy = await startProviderProxy(anvil.url);
  evm = createEvmClient(createNodeClient({ name: 'node 1', url: proxy.url, timeoutMs: 2000 }), signal);
});
afterEach(() => proxy.close());

const fail = (error: { code: number; message: string }) => {
  proxy.respond = (response, calls) => {
    const answers = calls.map((_, index) => ({ jsonrpc: '2.0', id: index + 1, error }));
    response.end(JSON.stringify(calls.length === 1 ? answers[0] : answers));
    return true;
  };
};
const methods = () => proxy.calls.map(({ method }) => method);
const transfers = () => ({ address: [token.toLowerCase()], topics: [transferTopic] });

describe('A node answers', () => {
  it('The client reads the chain of a node, and the contents of its blocks', async () => {
    await anvil.send(stranger, 5n);
    const height = await evm.blockNumber();
    const block = await evm.block(height);
    const header = await evm.header(height);
    expect(await evm.chainId()).toBe(anvilChainId);
    expect(await evm.head()).toEqual(header);
    expect(block).toMatchObject({ ...header, transactions: [{ to: stranger.toLowerCase(), value: 5n }] });
    const [receipt] = await evm.receipts([block?.transactions[0]?.hash ?? '']);
    expect(receipt).toMatchObject({ height, isSuccess: true, fee: { payer: anvil.sender.toLowerCase() } });
    expect(await evm.blockReceipts(height)).toEqual([receipt]);
    expect(await evm.isPending(receipt?.transactionHash ?? '')).toBe(false);
  });

  it('The client returns undefined for a block or a receipt that the node does not have', async () => {
    const height = await evm.blockNumber();
    expect(await evm.header(height + 5)).toBeUndefined();
    expect(await evm.block(height + 5)).toBeUndefined();
    expect(await evm.receipts([`0x${'12'.repeat(32)}`])).toEqual([undefined]);
    expect(await evm.code(stranger)).toBe('0x');
    expect(await evm.isPending(`0x${'12'.repeat(32)}`)).toBe(false);
  });

  it('Balances of a coin or a token are read after the same block for all, in the order of the addresses', async () => {
    const owners = Array.from({ length: 600 }, (_, index) => testAddress('evm', 1000 + index));
    const [first = '', last = ''] = [owners[0], owners[599]];
    await anvil.send(first, 7n);
    await anvil.call('SilentToken', token, 'transfer', [last, 9n]);
    const { height, hash } = await evm.head();
    proxy.requests = 0;
    const coins = await evm.balances(undefined, owners, { blockHash: hash });
    expect(proxy.requests).toBe(1);
    expect([coins.length, coins[0], coins[599]]).toEqual([600, 7n, 0n]);
    const tokens = await evm.balances(token, owners, height);
    expect([tokens.length, tokens[0], tokens[599]]).toEqual([600, 0n, 9n]);
    expect(await evm.balances(undefined, [first], height - 2)).toEqual([0n]);
  });

  it('A contract call returns its result, and nothing if it reverts', async () => {
    expect(BigInt((await evm.call({ to: token, data: decimalsData })) ?? 0)).toBe(6n);
    expect(await evm.call({ to: token, data: '0xdeadbeef' })).toBeUndefined();
    const estimate = await evm.estimateGas({ from: stranger, to: token, data: '0xdeadbeef' });
    expect(estimate).toMatchObject({ refused: expect.stringContaining('revert') as string });
    expect(await evm.estimateGas({ from: anvil.sender, to: stranger, data: '0x' })).toBe(21_000n);
  });

  it('Sending a transaction returns nothing if the node takes it, also a second time, and the reason if it does not', async () => {
    const account = privateKeyToAccount(`0x${'ac'.repeat(32)}`);
    await anvil.send(account.address, 10n ** 18n);
    const raw = await account.signTransaction({
      type: 'eip1559',
      chainId: anvilChainId,
      nonce: 0,
      gas: 21_000n,
      to: stranger,
      value: 1n,
      maxFeePerGas: 10n ** 11n,
      maxPriorityFeePerGas: 1n,
    });
    await anvil.rpc('evm_setAutomine', [false]);
    try {
      expect(await evm.send(raw)).toBeUndefined();
      expect(await evm.send(raw)).toBeUndefined();
    } finally {
      await anvil.rpc('evm_setAutomine', [true]);
      await anvil.mine();
    }
    expect(await evm.nonce(account.address, 'latest')).toBe(1);
    expect(await evm.send(raw)).toContain('node 1 answered');
  });
});

it('Calls that are made together share a request, and each gets its own answer or error', async () => {
  proxy.change = ({ method }) =>
    method === 'eth_gasPrice' ? new Error('the state has no price') : undefined;
  const [chainId, price, height] = await Promise.all([
    evm.chainId(),
    evm.gasPrice().catch((error: unknown) => error),
    evm.blockNumber(),
  ]);
  expect(chainId).toBe(anvilChainId);
  expect(price).toBeInstanceOf(RpcFailure);
  expect(height).toBeGreaterThan(0);
  expect(proxy.requests).toBe(1);
  const beside = createEvmClient(createNodeClient({ name: 'node 1', url: proxy.url }), signal);
  await Promise.all([evm.chainId(), beside.chainId()]);
  expect(proxy.requests).toBe(3);
});

describe('A range of logs that is too large for the node', () => {
  const limitTo = (most: number) => {
    proxy.change = ({ method, params: [filter] }) => {
      const { fromBlock, toBlock } = filter as { fromBlock?: string; toBlock?: string };
      if (method !== 'eth_getLogs' || fromBlock === undefined) return undefined;
      return Number(toBlock) - Number(fromBlock) >= most ? new Error('block range is too wide') : undefined;
    };
  };

  it('A range of logs that is too large for the node is read in parts without a gap, and the size is remembered', async () => {
    const from = (await evm.blockNumber()) + 1;
    for (let round = 0; round < 12; round += 1) {
      await anvil.call('SilentToken', token, 'transfer', [stranger, BigInt(round + 1)]);
    }
    const to = await evm.blockNumber();
    limitTo(5);
    const read = async () => (await evm.logs({ from, to, ...transfers() })).map(({ height }) => height);
    expect(await read()).toEqual(Array.from({ length: to - from + 1 }, (_, index) => from + index));
    proxy.calls.length = 0;
    expect(await read()).toHaveLength(to - from + 1);
    const asked = methods().length;
    proxy.calls.length = 0;
    const fresh = createEvmClient(createNodeClient({ name: 'node 1', url: proxy.url }), signal);
    await fresh.logs({ from, to, ...transfers() });
    expect(asked).toBeLessThan(methods().length);
  });

  it('A range of logs fails once a single block is refused, and is asked as a whole the next time', async () => {
    const to = await evm.blockNumber();
    const read = () => evm.logs({ from: to - 7, to, ...transfers() });
    proxy.calls.length = 0;
    limitTo(0);
    await expect(read()).rejects.toThrow('block range is too wide');
    expect(methods()).toHaveLength(4);
    proxy.change = undefined;
    proxy.calls.length = 0;
    await read();
    expect(methods()).toEqual(['eth_getLogs']);
  });
});

describe('A method that the node does not have', () => {
  beforeEach(() => {
    fail({ code: -32601, message: 'the method does not exist' });
  });

  it.each<[string, () => Promise<unknown>]>([
    ['the receipts of a block', () => evm.blockReceipts(1)],
    ['what the caller can do without', () => unlessRefused(evm.head())],
  ])('A method that the node lacks gives nothing where not every node has it: %s', async (_, ask) => {
    expect(await ask()).toBeUndefined();
  });

  it.each<[string, () => Promise<unknown>]>([
    ['the head', () => evm.head()],
    ['logs of a block', () => evm.blockLogs(`0x${'12'.repeat(32)}`, transfers())],
    ['receipts', () => evm.receipts([`0x${'12'.repeat(32)}`])],
    ['a call', () => evm.call({ to: token, data: decimalsData })],
  ])('A method that the node lacks is an error where the node is useless without it: %s', async (_, ask) => {
    await expect(ask()).rejects.toBeInstanceOf(RpcFailure);
  });
});

it.each<[string, () => Promise<unknown>]>([
  ['finalized blocks', () => evm.finalized()],
  ['pending transactions', () => evm.pendingBlock()],
])('A node that does not have the method is not asked again for ten minutes: %s', async (_, ask) => {
  fail({ code: -32601, message: 'the method does not exist' });
  const unsupported = { kind: 'unsupported' };
  expect([await ask(), await ask()]).toEqual([unsupported, unsupported]);
  expect(proxy.requests).toBe(1);
});

describe('A block that the node does not know', () => {
  it.each(['header not found', 'unknown block', 'hash 0x12 is not currently canonical'])(
    'An unknown block is a fault of the node for balances, and gives no logs: "%s"',
    async (message) => {
      fail({ code: -32000, message });
      const blockHash = `0x${'12'.repeat(32)}`;
      await expect(evm.balances(undefined, [stranger], { blockHash })).rejects.toMatchObject({
        fault: 'inconsistent',
      });
      fail({ code: -32000, message });
      expect(await evm.blockLogs(blockHash, transfers())).toBeUndefined();
    },
  );

  it('A state that the node has dropped is not treated as an unknown block', async () => {
    fail({ code: -32000, message: 'missing trie node 12ab (path ) not found' });
    await expect(evm.balances(undefined, [stranger], 1)).rejects.toBeInstanceOf(RpcFailure);
  });
});

describe('Nonsense is a fault of the node, whatever was asked', () => {
  const asks: [string, () => Promise<unknown>][] = [
    ['chainId', () => evm.chainId()],
    ['blockNumber', () => evm.blockNumber()],
    ['head', () => evm.head()],
    ['header', () => evm.header(1)],
    ['block', () => evm.block(1)],
    ['logs', () => evm.logs({ from: 0, to: 1, ...transfers() })],
    ['code', () => evm.code(token)],
    ['call', () => evm.call({ to: token, data: decimalsData })],
    ['balances', () => evm.balances(undefined, [stranger], 'latest')],
    ['nonce', () => evm.nonce(stranger, 'latest')],
    ['estimateGas', () => evm.estimateGas({ to: token, data: '0x' })],
    ['gasPrice', () => evm.gasPrice()],
  ];
  it.each(asks)('Nonsense in reply to %s is a fault of the node', async (_, ask) => {
    for (const nonsense of ['0xzz', 7, 'latest', { number: 'x' }, [null]]) {
      proxy.change = () => nonsense;
      const error = await ask().catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(NodeError);
      expect(error).toMatchObject({ fault: 'garbage' });
    }
  });
});

it.each<[string, unknown]>([
  ['garbage', { blockHash: 'x' }],
  ['inconsistent', { blockHash: null, blockNumber: null, logs: [] }],
  ['inconsistent', '0xzz'],
])('A receipt that is none, or of no block, is a fault of the node: %s', async (fault, answer) => {
  proxy.change = () => answer;
  await expect(evm.receipts([`0x${'12'.repeat(32)}`])).rejects.toMatchObject({ fault });
});

it('The client stops when its signal is aborted', async () => {
  const controller = new AbortController();
  const stopped = createEvmClient(createNodeClient({ name: 'node 1', url: proxy.url }), controller.signal);
  proxy.respond = () => true;
  const answers = Promise.allSettled([stopped.chainId(), stopped.blockNumber()]);
  controller.abort(new Error('Stopped by the test'));
  for (const answer of await answers) {
    expect(answer).toMatchObject({ status: 'rejected', reason: { message: 'Stopped by the test' } });
  }
});

it('Only the client names methods of the protocol', () => {
  const root = new URL('../../../src/', import.meta.url);
  const naming = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && /'eth_\w+'/.test(readFileSync(new URL(file, root), 'utf8')))
    .sort();
  expect(naming).toEqual(['modules/networks/evm/client.ts']);
});
