/** The Tron adapter on recorded replies in the documented forms, and on anvil behind Tron's addresses. */
import type { Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Hex } from 'viem';
import type { EvmConfig } from '../../../src/modules/networks/evm/evm-nodes.js';
import { checkEvmNetwork } from '../../../src/modules/networks/evm/check.js';
import { toEvmAddress, toTronAddress, tronDialect } from '../../../src/modules/networks/tron/tron-dialect.js';
import { createEvmChain, type EvmChain } from '../../../src/modules/networks/evm/evm-chain.js';
import { anvilChainId, startAnvil, type Anvil } from '../../support/anvil.js';
import { testAddress } from '../../chains/fixture.js';
import { follow } from '../evm/follower.js';
import { recorded, type RecordedTransaction } from './recorded.js';
import { serve, stop } from './serve.js';

const { signal } = new AbortController();

describe('Addresses', () => {
  // USDT's contract, from Tron's documentation.
  const usdt = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
  const evm = '0xa614f803b6fd780986a42c78ec9c7f77e6ded13c';

  it('A Tron address is converted in both directions', () => {
    expect(toTronAddress(evm)).toBe(usdt);
    expect(toEvmAddress(usdt)).toBe(evm);
    expect(toEvmAddress(`41${evm.slice(2)}`)).toBe(evm);
  });

  it.each([
    '',
    'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u',
    `42${evm.slice(2)}`,
    evm,
    'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
  ])('A text that is no Tron address is refused: "%s"', (text) => {
    expect(toEvmAddress(text)).toBeUndefined();
  });
});

function openChain(
  url: string,
  changes: Partial<EvmConfig> = {},
  isAnyoneExpected = false,
  now = Date.now,
): EvmChain {
  return createEvmChain(
    {
      dialect: tronDialect,
      mode: 'test',
      network: 'tron',
      chainId: 728126428,
      nodes: [url],
      assets: [
        { currency: 'TRX', decimals: 6 },
        { currency: 'USDT', decimals: 6, contract: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' },
      ],
      ...changes,
    },
    { watched: async (addresses) => new Set(addresses), hasOpen: async () => isAnyoneExpected, now },
  );
}

describe('Recorded replies', () => {
  let node: { readonly url: string; readonly server: Server };
  beforeAll(async () => {
    node = await serve(async (path, body) => recorded(path, body));
  });
  afterAll(() => stop(node.server));

  it('The head has a hash without 0x, and the solidified block as finalized', async () => {
    let time = Date.now();
    // A block is final that the node has moved on from.
    let final = 0;
    const moving = await serve(async (path, body) => {
      const reply = recorded(path, body);
      return body.params?.[0] === 'finalized'
        ? { ...(reply as object), number: `0x${final.toString(16)}` }
        : reply;
    });
    const chain = openChain(moving.url, {}, undefined, () => time);
    for (final of [0x3fe56c0, 0x3fe56c1]) {
      await chain.head(signal);
      time += 11_000;
    }
    expect(await chain.head(signal)).toEqual({
      height: 67_000_002,
      hash: `0000000003fe56c2${'b'.repeat(48)}`,
      finalized: { height: 67_000_001, hash: expect.stringMatching(/^0+3fe56c1/) as string },
    });
    await stop(moving.server);
  });

  it('A block gives transfers of TRX and USDT, and none of TRC-10 tokens, votes or failed transactions', async () => {
    const block = await openChain(node.url).block(67_000_002, signal);
    const to = (digit: string) => toTronAddress(`0x${digit.repeat(40)}`);
    const hash = (kind: RecordedTransaction) => kind.hash.slice(2);
    const { trx, usdt } = recorded.transactions;
    expect(block).toMatchObject({
      height: 67_000_002,
      hash: `0000000003fe56c2${'b'.repeat(48)}`,
      parentHash: `0000000003fe56c1${'a'.repeat(48)}`,
      time: 1_731_000_000_000,
    });
    expect(block?.transfers).toEqual([
      {
        txHash: hash(trx),
        outputIndex: 0,
        currency: 'TRX',
        senders: [to('1')],
        address: to('2'),
        amount: 12_500_000n,
      },
      {
        txHash: hash(usdt),
        outputIndex: 1,
        currency: 'USDT',
        senders: [to('1')],
        address: to('3'),
        amount: 49_990_000n,
      },
    ]);
  });

  it('TRX that contracts sent is found while somebody may pay, and no tokens, refused or delegated calls', async () => {
    const address = toTronAddress(`0x${'a'.repeat(40)}`);
    const chain = openChain(node.url, {}, true);
    const block = await chain.block(67_000_002, signal);
    const sent = block?.transfers.filter((transfer) => transfer.address === address);
    const txHash = recorded.transactions.usdt.hash.slice(2);
    const senders = ['TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'];
    expect(sent).toEqual([
      { txHash, outputIndex: 2_000_000, currency: 'TRX', senders, address, amount: 7_000_000n },
      { txHash, outputIndex: 2_000_005, currency: 'TRX', senders, address, amount: 5_000_000n },
    ]);
  });

  it('The cost of a transaction is its energy and bandwidth together, unless it failed', async () => {
    const cost = ({ hash }: RecordedTransaction) => openChain(node.url).cost(hash, signal);
    const { trx, failed } = recorded.transactions;
    expect(await cost(trx)).toEqual({ fee: 345_000n, payer: undefined });
    expect(await cost(failed)).toBeUndefined();
  });

  it('No pending transfers are given, and the node is not asked for them', async () => {
    const chain = openChain(node.url);
    await chain.head(signal);
    const before = chain.status().nodes[0]?.requests;
    expect(await chain.pending(signal)).toEqual([]);
    expect(chain.status().nodes[0]?.requests).toBe(before);
  });

  it('A node can be asked by the URL of its JSON-RPC', async () => {
    const chain = openChain(`${node.url}/jsonrpc`);
    expect((await chain.block(67_000_002, signal))?.transfers).toHaveLength(2);
  });

  it('The check of a network accepts a Tron node, and says what it can do', async () => {
    const findings = [];
    const assets = [{ currency: 'TRX', decimals: 6 }];
    const config: EvmConfig = {
      mode: 'live',
      network: 'tron',
      chainId: 728126428,
      nodes: [node.url],
      assets,
      dialect: tronDialect,
    };
    for await (const finding of checkEvmNetwork(config, signal)) findings.push(finding);
    expect(findings.map(({ kind }) => kind)).not.toContain('problem');
    expect(findings.map(({ text }) => text)).toContain('Chain id 728126428');
  });
});

describe('A chain behind the addresses of Tron', () => {
  let anvil: Anvil;
  let token: Hex;
  let node: { readonly url: string; readonly server: Server };
  /** The HTTP API's reply about a transaction of anvil. */
  async function transactionById(id: string): Promise<unknown> {
    const { from, to, value } = await anvil.rpc<{ from: string; to: string; value: string }>(
      'eth_getTransactionByHash',
      [`0x${id}`],
    );
    const parameter = {
      amount: Number(value),
      owner_address: `41${from.slice(2)}`,
      to_address: `41${to.slice(2)}`,
    };
    return {
      txID: id,
      ret: [{ contractRet: 'SUCCESS' }],
      raw_data: { contract: [{ type: 'TransferContract', parameter: { value: parameter } }] },
    };
  }

  beforeAll(async () => {
    anvil = await startAnvil();
    token = await anvil.deploy('SilentToken');
    node = await serve(async (path, { method, params, value }) => {
      if (path === '/wallet/gettransactionbyid') return transactionById(value ?? '');
      try {
        return await anvil.rpc(method ?? '', params);
      } catch (error) {
        return error;
      }
    });
    await anvil.mine(5);
  });
  afterAll(async () => {
    await stop(node.server);
    await anvil.stop();
  });

  it('Both assets are found at a Tron address, and a reorganisation is followed', async () => {
    const contract = toTronAddress(token);
    const assets = [
      { currency: 'TRX', decimals: 6 },
      { currency: 'USDT', decimals: 6, contract },
    ];
    const follower = await follow(openChain(node.url, { chainId: anvilChainId, assets }));
    const address = testAddress('tron', 0);
    const evm = toEvmAddress(address) ?? '';
    await anvil.send(evm, 2_000_000n);
    await anvil.call('SilentToken', token, 'transfer', [evm, 3_000_000n]);
    await follower.sync();
    expect(follower.received(address)).toEqual([
      { currency: 'TRX', amount: 2_000_000n },
      { currency: 'USDT', amount: 3_000_000n },
    ]);
    await anvil.reorg(1);
    await follower.sync();
    expect(follower.received(address)).toEqual([{ currency: 'TRX', amount: 2_000_000n }]);
  });
});
