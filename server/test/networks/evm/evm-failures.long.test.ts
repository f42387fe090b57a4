/** The EVM adapter reads right, or says that it cannot, whatever its nodes do. Credentials in their URLs are never shown. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Hex } from 'viem';
import { createEvmChain, type EvmChain } from '../../../src/modules/networks/evm/evm-chain.js';
import { checkEvmNetwork } from '../../../src/modules/networks/evm/check.js';
import type { EvmConfig } from '../../../src/modules/networks/evm/evm-nodes.js';
import { crossCheck } from '../../../src/core/scanning/cross-check.js';
import type { UncheckedReceipt } from '../../../src/core/scanning/scan.js';
import { ChainBehind } from '../../../src/core/chains/read-chain.js';
import { anvilChainId, startAnvil, type Anvil } from '../../support/anvil.js';
import { startProviderProxy, urlSecrets, type ProviderProxy } from '../../support/provider-proxy.js';
import { testAddress } from '../../chains/fixture.js';
import { follow } from './follower.js';

const { signal } = new AbortController();
const ether = 10n ** 18n;
let anvil: Anvil;
let token: Hex;
let nextIndex = 100;
let first: ProviderProxy;
let second: ProviderProxy;
/** Every warning and error of a test. */
let logged: string[];
let time: number;

beforeAll(async () => {
  anvil = await startAnvil();
  token = await anvil.deploy('SilentToken');
  await anvil.mine(5);
});
afterAll(() => anvil.stop());
beforeEach(async () => {
  first = await startProviderProxy(anvil.url);
  second = await startProviderProxy(anvil.url);
  logged = [];
  time = Date.now();
});
afterEach(async () => {
  await Promise.all([first.close(), second.close()]);
  const text = logged.join('\n');
  expect(urlSecrets.filter((secret) => text.includes(secret))).toEqual([]);
  expect(text).not.toContain('127.0.0.1');
});

const newAddress = () => testAddress('evm', nextIndex++) as Hex;

function config(nodes: readonly ProviderProxy[], changes: Partial<EvmConfig> = {}): EvmConfig {
  return {
    mode: 'test',
    network: 'evm-dev',
    chainId: anvilChainId,
    nodes: nodes.map(({ url }) => url),
    assets: [
      { currency: 'ETH', decimals: 18 },
      { currency: 'USDT', decimals: 6, contract: token },
    ],
    timeoutMs: 1500,
    ...changes,
  };
}

function openChain(nodes: readonly ProviderProxy[], changes: Partial<EvmConfig> = {}): EvmChain {
  return createEvmChain(config(nodes, changes), {
    watched: async (addresses) => new Set(addresses),
    warn: (message) => logged.push(message),
    now: () => time,
  });
}

/** The error of a call, recorded with everything in it that a log would print. */
async function failure(promise: Promise<unknown>): Promise<Error> {
  const error = await promise.then(
    () => new Error('It did not fail'),
    (caught: unknown) => caught as Error,
  );
  const { message, stack = '', cause } = error;
  logged.push(message, stack, JSON.stringify(error), String(cause));
  return error;
}

/** Pays while the first node misbehaves: the second one must have reported it. */
async function expectPaidThroughSecond(chain: EvmChain): Promise<void> {
  const follower = await follow(chain);
  const address = newAddress();
  await anvil.send(address, ether);
  await follower.sync();
  expect(follower.received(address)).toEqual([{ currency: 'ETH', amount: ether }]);
  expect(chain.status().nodes.map(({ problem }) => problem === undefined)).toEqual([false, true]);
}

describe('The second node is asked', () => {
  it.each([
    {
      what: 'stalls',
      respond: () => true,
      text: 'did not answer within 1.5 s',
    },
    {
      what: 'answers HTML',
      respond: (response: { end(text: string): void }) => (response.end('<html>Maintenance</html>'), true),
      text: 'not JSON',
    },
    {
      what: 'answers half of the JSON',
      respond: (response: { end(text: string): void }) => (
        response.end('{"jsonrpc":"2.0","id":1,"resu'),
        true
      ),
      text: 'not JSON',
    },
    {
      what: 'answers another call',
      respond: (response: { end(text: string): void }) => (
        response.end('{"jsonrpc":"2.0","id":987654,"result":"0x7a69"}'),
        true
      ),
      text: 'did not answer the call',
    },
    {
      what: 'breaks the connection',
      respond: (response: { destroy(): void }) => (response.destroy(), true),
      text: 'cannot be reached',
    },
  ])('The second node is asked if the first one $what', async ({ respond, text }) => {
    first.respond = respond;
    const chain = openChain([first, second]);
    await expectPaidThroughSecond(chain);
    expect(logged.join()).toContain(text);
  });

  it.each([
    { what: 'refuses the key', status: 403, text: 'HTTP 403: check the key' },
    { what: 'has an error of its own', status: 502, text: 'HTTP 502' },
    { what: 'redirects', status: 302, text: 'cannot be reached' },
  ])('The second node is asked if the first one $what', async ({ status, text }) => {
    first.respond = (response) => {
      response.writeHead(status, { location: anvil.url }).end(`No access for ${urlSecrets[2]}`);
      return true;
    };
    await expectPaidThroughSecond(openChain([first, second]));
    expect(logged.join()).toContain(text);
  });

  it('The second node is asked if the first one is on another network, which is asked only for its chain id', async () => {
    first.change = ({ method }) => (method === 'eth_chainId' ? '0x1' : undefined);
    await expectPaidThroughSecond(openChain([first, second]));
    expect(new Set(first.calls.map(({ method }) => method))).toEqual(new Set(['eth_chainId']));
    expect(logged.join()).toContain('evm-dev has the chain id 31337, the node has 1');
  });

  it('The second node is asked if the first one puts its URL into an error, and the log hides that URL', async () => {
    first.change = ({ method }) =>
      method === 'eth_chainId' ? new Error(`No quota for ${first.url}`) : undefined;
    await expectPaidThroughSecond(openChain([first, second]));
    expect(logged.join()).toContain('No quota for [hidden]');
  });
});

it('A network is off while its only node is on another one, and on again when that is corrected', async () => {
  first.change = ({ method }) => (method === 'eth_chainId' ? '0x89' : undefined);
  const chain = openChain([first]);
  expect((await failure(chain.head(signal))).message).toContain('the node has 137. Correct its URL');
  first.change = undefined;
  expect((await failure(chain.head(signal))).message).toContain('the node has 137');
  time += 31_000;
  expect(await chain.head(signal)).toMatchObject({ hash: expect.any(String) as string });
});

it('The chain id is checked again after an interruption: the URL may lead to another chain then', async () => {
  const chain = openChain([first]);
  await chain.head(signal);
  first.respond = (response) => {
    response.destroy();
    return true;
  };
  await failure(chain.head(signal));
  first.respond = undefined;
  first.change = ({ method }) => (method === 'eth_chainId' ? '0x1' : undefined);
  time += 60_000;
  expect((await failure(chain.head(signal))).message).toContain('the node has 1');
});

describe('429', () => {
  it('A node that answers 429 gets no request before the time in Retry-After, and gets requests then', async () => {
    const chain = openChain([first]);
    await chain.head(signal);
    first.respond = (response) => {
      response.writeHead(429, { 'retry-after': '7' }).end();
      return true;
    };
    await failure(chain.head(signal));
    first.respond = undefined;
    const { requests } = first;
    time += 6900;
    expect((await failure(chain.head(signal))).message).toContain('takes no more requests for');
    expect(first.requests).toBe(requests);
    time += 200;
    expect(await chain.head(signal)).toMatchObject({ hash: expect.any(String) as string });
    expect(chain.status().nodes[0]).toMatchObject({ limited: 1, problem: undefined });
  });

  it('A rate limit may be a date in Retry-After, or a JSON-RPC error', async () => {
    const chain = openChain([first]);
    first.respond = (response) => {
      response.writeHead(429, { 'retry-after': new Date(time + 20_000).toUTCString() }).end();
      return true;
    };
    await failure(chain.head(signal));
    time += 18_000;
    await failure(chain.head(signal));
    expect(first.requests).toBe(1);
    time += 3000;
    first.respond = (response) => {
      const error = { code: -32005, message: 'Too many requests' };
      response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error }));
      return true;
    };
    await failure(chain.head(signal));
    expect(first.requests).toBe(2);
    await failure(chain.head(signal));
    expect(first.requests).toBe(2);
  });
});

it('Batches become smaller if a node refuses large ones', async () => {
  const follower = await follow(openChain([first]));
  await anvil.mine(40);
  const address = newAddress();
  await anvil.send(address, 3n);
  first.respond = (response, calls) => {
    if (calls.length <= 3) return false;
    response.writeHead(413).end();
    return true;
  };
  await follower.sync();
  expect(follower.received(address)).toEqual([{ currency: 'ETH', amount: 3n }]);
});

it('Ranges become smaller if a node refuses to return so many logs', async () => {
  const follower = await follow(openChain([first]));
  await anvil.mine(40);
  const address = newAddress();
  await anvil.call('SilentToken', token, 'transfer', [address, 3n]);
  const refused: number[] = [];
  first.change = ({ method, params: [filter] }) => {
    const { fromBlock, toBlock } = filter as { fromBlock?: string; toBlock?: string };
    if (method !== 'eth_getLogs' || fromBlock === undefined) return undefined;
    const length = Number(toBlock) - Number(fromBlock) + 1;
    if (length <= 2) return undefined;
    refused.push(length);
    return new Error('query returned more than 10000 results');
  };
  await follower.sync();
  expect(follower.received(address)).toEqual([{ currency: 'USDT', amount: 3n }]);
  expect(refused.length).toBeGreaterThan(0);
});

describe('A server that lags behind', () => {
  /** Makes a proxy answer as a server that has not read the newest blocks. */
  async function lagBy(proxy: ProviderProxy, blocks: number): Promise<void> {
    const height = Number(await anvil.rpc<string>('eth_blockNumber')) - blocks;
    const newest = await anvil.rpc('eth_getBlockByNumber', [`0x${height.toString(16)}`, false]);
    proxy.change = ({ method, params: [tag] }) => {
      if (method !== 'eth_getBlockByNumber') return undefined;
      if (tag === 'latest') return newest;
      return Number(tag) > height ? null : undefined;
    };
  }

  it('A node with old blocks reverts nothing: the other node is asked', async () => {
    const chain = openChain([first, second]);
    const follower = await follow(chain);
    const address = newAddress();
    await anvil.send(address, ether);
    await anvil.mine(3);
    await follower.sync();
    await lagBy(first, 3);
    await follower.sync();
    expect(follower.reorgs).toEqual([]);
    expect(follower.received(address)).toHaveLength(1);
  });

  it('A node with old blocks reverts nothing if there is no other node: the scan waits and says so', async () => {
    const follower = await follow(openChain([first]));
    const address = newAddress();
    await anvil.send(address, ether);
    await anvil.mine(3);
    await follower.sync();
    await lagBy(first, 3);
    const error = await failure(follower.sync());
    expect(error).toBeInstanceOf(ChainBehind);
    expect(follower.received(address)).toHaveLength(1);
    first.change = undefined;
    await anvil.mine();
    await follower.sync();
    expect(follower.received(address)).toHaveLength(1);
    expect(follower.reorgs).toEqual([]);
  });

  it('A node with old blocks reverts nothing after a restart either', async () => {
    const follower = await follow(openChain([first]));
    const address = newAddress();
    await anvil.send(address, ether);
    await anvil.mine(3);
    await follower.sync();
    await lagBy(first, 3);
    // A new adapter remembers no head. The cursor does.
    follower.restart(openChain([first]));
    expect(await failure(follower.sync())).toBeInstanceOf(ChainBehind);
    expect(follower.reorgs).toEqual([]);
    expect(follower.received(address)).toHaveLength(1);
  });

  it('A server that answers with no logs is noticed by the bloom filter of the block', async () => {
    const follower = await follow(openChain([first]));
    const address = newAddress();
    await anvil.call('SilentToken', token, 'transfer', [address, 3n]);
    const empty = /^eth_get(Logs|BlockReceipts)$/;
    first.change = ({ method }, result) => {
      if (method === 'eth_getTransactionReceipt') return { ...(result as object), logs: [] };
      return empty.test(method) ? [] : undefined;
    };
    expect((await failure(follower.sync())).message).toContain('do not fit each other');
    let left = 1;
    first.change = ({ method }) => (method === 'eth_getLogs' && left-- > 0 ? [] : undefined);
    await follower.sync();
    expect(follower.received(address)).toEqual([{ currency: 'USDT', amount: 3n }]);
  });

  it('A server that returns only some logs of a range is noticed, by the bloom filter or by asking about each new block', async () => {
    for (const bloom of [undefined, `0x${'0'.repeat(512)}`]) {
      const follower = await follow(openChain([first]));
      const address = newAddress();
      await anvil.mine(4);
      await anvil.call('SilentToken', token, 'transfer', [address, 3n]);
      await anvil.mine(2);
      first.change = ({ method, params: [filter] }, result) => {
        if (method === 'eth_getLogs' && 'fromBlock' in (filter as object)) return [];
        const isBlock = method === 'eth_getBlockByNumber' && result !== null;
        return isBlock && bloom !== undefined ? { ...(result as object), logsBloom: bloom } : undefined;
      };
      await follower.sync();
      first.change = undefined;
      expect(follower.received(address)).toEqual([{ currency: 'USDT', amount: 3n }]);
    }
  });

  it('A node is not believed if its newest block is old', async () => {
    const chain = openChain([first], { blockTimeMs: 2000 });
    await anvil.mine();
    await chain.head(signal);
    time += 120_000;
    expect((await failure(chain.head(signal))).message).toContain('is 2 minutes old');
    expect(chain.overdueMs()).toBeGreaterThan(110_000);
  });
});

describe('Answers of two nodes', () => {
  it('Answers of two nodes are never mixed in one block: the second one reads it from the beginning', async () => {
    const follower = await follow(openChain([first, second]));
    const address = newAddress();
    await anvil.send(address, ether);
    first.change = ({ method, params }) =>
      method === 'eth_getBlockByNumber' && params[1] === true ? new Error('internal error') : undefined;
    first.calls.length = 0;
    second.calls.length = 0;
    await follower.sync();
    expect(follower.received(address)).toHaveLength(1);
    expect(second.calls.map(({ method }) => method)).toEqual(
      expect.arrayContaining([
        'eth_chainId',
        'eth_getBlockByNumber',
        'eth_getLogs',
        'eth_getTransactionReceipt',
      ]),
    );
    expect(first.calls.map(({ method }) => method)).not.toContain('eth_getTransactionReceipt');
  });

  it('Answers that do not fit each other are refused: logs and receipts must be of the block', async () => {
    const follower = await follow(openChain([first]));
    const address = newAddress();
    await anvil.call('SilentToken', token, 'transfer', [address, 3n]);
    first.change = ({ method }, result) => {
      if (method !== 'eth_getTransactionReceipt') return undefined;
      return { ...(result as object), blockHash: `0x${'12'.repeat(32)}` };
    };
    expect((await failure(follower.sync())).message).toContain('do not fit each other');
    first.change = undefined;
    await follower.sync();
    expect(follower.received(address)).toHaveLength(1);
  });
});

it('Blocks with transactions of unknown types and missing fields are read', async () => {
  const follower = await follow(openChain([first]));
  const address = newAddress();
  await anvil.send(address, 5n);
  const hash = (digit: string) => `0x${digit.repeat(64)}`;
  first.change = ({ method, params: [, full] }, result) => {
    if (method !== 'eth_getBlockByNumber' || full !== true) return undefined;
    const block = result as { transactions: unknown[] };
    const deposit = {
      type: '0x7e',
      hash: hash('1'),
      sourceHash: hash('2'),
      from: anvil.sender,
      to: token,
      mint: null,
      value: '0x0',
      input: '0x',
      nonce: null,
      isSystemTx: true,
    };
    const system = { type: '0x7f', hash: hash('3'), from: null, to: null, value: null };
    return { ...block, transactions: [deposit, system, { hash: hash('4') }, ...block.transactions] };
  };
  await follower.sync();
  expect(follower.received(address)).toEqual([{ currency: 'ETH', amount: 5n }]);
});

describe('Balances that a node does not report for an older block', () => {
  const asset = { currency: 'ETH', decimals: 18 };
  const refuse = (message: string) => {
    first.change = ({ method, params: [call, at] }) =>
      method === 'eth_call' && !('to' in (call as object)) && at !== 'latest'
        ? new Error(message)
        : undefined;
  };

  it.each([
    'missing trie node 12ab (path ) state 0x34cd is not available, not found',
    'required historical state unavailable (reexec=128)',
    'distance to target block exceeds maximum proof window',
  ])('Balances of a block whose state the node has dropped are those of now: "%s"', async (message) => {
    const chain = openChain([first]);
    const address = newAddress();
    const before = await chain.head(signal);
    await anvil.send(address, ether);
    refuse(message);
    const { height } = await chain.head(signal);
    const asked = [{ address, asset }];
    expect(await chain.balances.read(asked, before, undefined, signal)).toMatchObject({
      node: 'node 1',
      height,
      amounts: [ether],
    });
    expect(await chain.balances.readOld(asked, before.height, undefined, signal)).toBeUndefined();
  });

  it.each(['header not found', 'unknown block', 'hash 0x12 is not currently canonical'])(
    'Balances of a block that the node does not have are not replaced by others: "%s"',
    async (message) => {
      const chain = openChain([first]);
      const head = await chain.head(signal);
      refuse(message);
      const asked = [{ address: newAddress(), asset }];
      expect((await failure(chain.balances.read(asked, head, undefined, signal))).message).toContain(message);
    },
  );
});

it('The adapter stops at once when its signal is aborted, even if a node stalls', async () => {
  first.respond = () => true;
  const chain = openChain([first], { timeoutMs: 60_000 });
  const controller = new AbortController();
  const head = failure(chain.head(controller.signal));
  controller.abort(new Error('Stopped by the test'));
  expect((await head).message).toBe('Stopped by the test');
});

it('Payments are found again after the node was killed and started', async () => {
  const own = await startAnvil();
  const proxy = await startProviderProxy(own.url);
  const port = Number(new URL(own.url).port);
  try {
    const chain = openChain([proxy], { assets: [{ currency: 'ETH', decimals: 18 }] });
    const follower = await follow(chain);
    await own.stop();
    expect((await failure(follower.sync())).message).toContain('cannot be reached');
    const again = await startAnvil(port);
    try {
      const address = newAddress();
      await again.send(address, ether);
      await follower.sync();
      expect(follower.received(address)).toEqual([{ currency: 'ETH', amount: ether }]);
    } finally {
      await again.stop();
    }
  } finally {
    await proxy.close();
    await own.stop();
  }
});

describe('A receipt of a large amount', () => {
  /** A transfer that was read from the first node. */
  async function readReceipt(chain: EvmChain): Promise<UncheckedReceipt> {
    const address = newAddress();
    await anvil.call('SilentToken', token, 'transfer', [address, 5_000_000n]);
    const { height } = await chain.head(signal);
    const block = await chain.block(height, signal);
    const transfer = block?.transfers.find((one) => one.address === address);
    if (!block || !transfer) throw new Error('It was not read');
    return {
      ...transfer,
      id: 'id',
      height,
      blockHash: block.hash,
      needsFinality: false,
      chainAmount: transfer.amount,
    };
  }

  it('A receipt of a large amount is confirmed by two nodes that have it, and by no less', async () => {
    const chain = openChain([first, second]);
    const receipt = await readReceipt(chain);
    const confirmed = { checked: [{ id: 'id', blockHash: receipt.blockHash }], disagreement: undefined };
    expect(await crossCheck(chain, [receipt], signal)).toEqual(confirmed);
    second.respond = (response) => (response.destroy(), true);
    expect(await crossCheck(chain, [receipt], signal)).toEqual({ checked: [], disagreement: undefined });
    second.respond = undefined;
    // The block is not final yet, as both say.
    const large = { ...receipt, needsFinality: true };
    expect(await crossCheck(chain, [large], signal)).toEqual({ checked: [], disagreement: undefined });
  });

  it('A receipt of a large amount is in dispute if a node has no logs in its block, or another block', async () => {
    const chain = openChain([first, second]);
    const receipt = await readReceipt(chain);
    second.change = ({ method }, result) => {
      if (method === 'eth_getLogs' || method === 'eth_getBlockReceipts') return [];
      if (method !== 'eth_getBlockByNumber') return undefined;
      return { ...(result as object), logsBloom: `0x${'0'.repeat(511)}1` };
    };
    const lie = await crossCheck(chain, [receipt], signal);
    expect(lie.checked).toEqual([]);
    expect(lie.disagreement).toContain('node 2 does not have the transfer');
    const hash = `0x${'1'.repeat(64)}`;
    second.change = ({ method, params }, result) =>
      method === 'eth_getBlockByNumber' && params[1] === true
        ? { ...(result as object), hash, transactions: [] }
        : method === 'eth_getLogs' || method === 'eth_getBlockReceipts'
          ? []
          : undefined;
    expect((await crossCheck(chain, [receipt], signal)).disagreement).toContain(`node 2 has block ${hash}`);
  });
});

describe('The check of a network', () => {
  async function check(...parameters: Parameters<typeof config>) {
    const findings = [];
    for await (const finding of checkEvmNetwork(config(...parameters), signal)) {
      findings.push(finding);
      logged.push(finding.text);
    }
    return findings;
  }

  it('The check of a network says what each node is and can do', async () => {
    await anvil.mine();
    const findings = await check([first], { timeoutMs: 5000 });
    expect(findings.map(({ kind }) => kind)).toEqual(findings.map(() => 'ok'));
    const text = findings.map((finding) => finding.text).join('\n');
    for (const part of [
      'Chain id 31337',
      'seconds old',
      'Reports finalized blocks',
      'Reports logs by block hash',
      'Reports pending transactions',
      'Reports balances by block hash',
      'Reports the receipts of a block',
      'Accepts 50 calls in one request',
      'USDT: the contract',
    ]) {
      expect(text).toContain(part);
    }
  });

  it('The check of a network says what is wrong with one node, and continues with the others', async () => {
    first.change = ({ method }) => (method === 'eth_chainId' ? '0x1' : undefined);
    second.change = ({ method }) => (method === 'eth_getLogs' ? new Error('not supported') : undefined);
    const findings = await check([first, second], { timeoutMs: 5000 });
    expect(findings.filter(({ kind }) => kind === 'problem')).toEqual([
      {
        subject: 'node 1',
        kind: 'problem',
        text: 'Chain id 1, but evm-dev has 31337: the URL leads to another network',
      },
      {
        subject: 'node 2',
        kind: 'problem',
        text: 'Does not report logs by block hash, so tokens cannot be read. Use another provider',
      },
    ]);
  });
});
