/**
 * Real answers of Bitcoin Core, Litecoin Core and providers, in the forms in which people reported them: a stand-in
 * that answers as they did, and a real Litecoin Core for MWEB. Each case names its report.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addressOfScript } from '../../src/core/addresses/bitcoin-scripts.js';
import { bitcoinRules } from '../../src/core/families/kinds.js';
import { createBitcoinChain, type BitcoinChain } from '../../src/modules/networks/bitcoin/bitcoin-chain.js';
import { checkBitcoinNetwork } from '../../src/modules/networks/bitcoin/check-network.js';
import { createFindTransfers } from '../../src/core/chains/find-transfers.js';
import type { ConnectedNetwork } from '../../src/core/chains/connected.js';
import { createUtxoNode, locateTransaction } from '../../src/modules/networks/bitcoin/utxo-node.js';
import { startNodeProxy, type NodeProxy } from '../support/core-proxy.js';
import { hasLitecoind, litecoinRegtest, startLitecoin, type LitecoinNode } from '../support/litecoin.js';
import { Core, idOf, Refusal, script } from '../support/stand-in-core.js';

const { signal } = new AbortController();
const addressOf = (byte: string) =>
  addressOfScript(script(byte), bitcoinRules('litecoin').prefixes.regtest) ?? '';
const ours = new Set([addressOf('ab'), addressOf('cd')]);

describe('A Bitcoin Core, or a provider that answers like one,', () => {
  let core: Core;
  let node: NodeProxy;
  let chain: BitcoinChain;
  let time: number;

  const openNode = async (of: Core) => {
    const made = await startNodeProxy('http://test:test@127.0.0.1:1');
    made.behave = (calls) => of.behave(calls);
    return made;
  };
  const openChain = (nodes: readonly NodeProxy[]) =>
    createBitcoinChain(
      { ...litecoinRegtest, nodes: nodes.map(({ url }) => url) },
      {
        watched: async (addresses) => new Set(addresses.filter((one) => ours.has(one))),
        now: () => time,
      },
    );

  beforeEach(async () => {
    core = new Core();
    time = Date.now();
    node = await openNode(core);
    chain = openChain([node]);
  });
  afterEach(() => node.close());

  const failure = (promise: Promise<unknown>) =>
    promise.then(
      () => 'it did not fail',
      (error: unknown) => (error as Error).message,
    );
  const pending = async (of = chain) => {
    await of.head(signal);
    return (await of.pending(signal)).map(({ txHash }) => txHash);
  };

  it('A node with a full work queue is not asked for a second, and says why (bitcoin#7611: 503 and a bare text)', async () => {
    await chain.head(signal);
    core.whole = () => ({ status: 503, body: 'Work queue depth exceeded' });
    const before = node.requests;
    expect(await failure(chain.blocks(1, 4, signal))).toContain(
      'takes no more requests for 1 s: Work queue depth exceeded',
    );
    expect(await failure(chain.head(signal))).toContain('Work queue depth exceeded');
    // Blocks are asked for at the same time, and nothing after that.
    expect(node.requests - before).toBeLessThanOrEqual(4);
    core.whole = undefined;
    time += 1100;
    expect((await chain.blocks(1, 4, signal)).map(({ height }) => height)).toEqual([1, 2, 3, 4]);
  });

  it('A node that is starting is asked a few times, and its words are kept (bitcoin-s#4618, electrs#531)', async () => {
    core.change = () => new Refusal(-28, 'Loading block index…');
    expect(await failure(pending())).toContain('Loading block index… (-28)');
    expect(node.requests).toBeLessThan(4);
  });

  it('A node without getrawmempool lists no waiting transactions, and is asked for known ones one by one', async () => {
    const [first, second] = [idOf(1), idOf(2)];
    core.mempool = [first, second];
    const other = new Core();
    other.mempool = [first];
    other.change = ({ method }) =>
      /^get(rawmempool|mempoolinfo)$/.test(method) ? new Refusal(-32601, 'Method not found') : undefined;
    const otherNode = await openNode(other);
    try {
      expect(await pending(openChain([otherNode]))).toEqual([]);
      const both = openChain([node, otherNode]);
      expect(await pending(both)).toEqual([first, second]);
      // The node that showed them is gone. The other one has one of them.
      core.whole = () => 'hang up';
      expect(await pending(both)).toEqual([first]);
      core.whole = undefined;
      time += 60_000;
      expect((await pending(both)).toSorted()).toEqual([first, second]);
    } finally {
      await otherNode.close();
    }
  });

  it.each([
    ['-32601', new Refusal(-32601, 'Method not found')],
    ['another code that it has always answered', new Refusal(-32000, 'method is not allowed on this plan')],
  ])('A node that never showed its mempool does not stop its network: %s', async (_, refusal) => {
    core.change = ({ method }) => (method === 'getrawmempool' ? refusal : undefined);
    for (let round = 0; round < 10; round += 1) {
      expect(await pending()).toEqual([]);
      time += 1000;
    }
    expect(node.calls.filter(({ method }) => method === 'getrawmempool').length).toBeLessThan(3);
    const findings = [];
    const config = { ...litecoinRegtest, nodes: [node.url] };
    for await (const finding of checkBitcoinNetwork(config, signal)) findings.push(finding);
    expect(findings).toContainEqual({
      subject: 'node 1',
      kind: 'warning',
      text: 'Does not show its mempool: payments are seen with their first confirmation',
    });
  });

  it('A node that cannot show its mempool now has dropped nothing', async () => {
    core.mempool = [idOf(1)];
    expect(await pending()).toEqual([idOf(1)]);
    core.change = ({ method }) =>
      method === 'getrawmempool' ? new Refusal(-32603, 'internal error') : undefined;
    expect(await failure(pending())).toContain('internal error (-32603)');
    core.change = undefined;
    time += 60_000;
    expect(await pending()).toEqual([idOf(1)]);
  });

  it('A node whose transactions leave the mempool while they are read is asked once for each (mempool/electrs PR 64)', async () => {
    core.mempool = Array.from({ length: 90 }, (_, index) => idOf(index + 1));
    const gone = new Set(core.mempool.filter((_, index) => index % 2 === 1));
    core.change = ({ method, params: [txid] }) =>
      method === 'getrawtransaction' && gone.has(String(txid))
        ? new Refusal(-5, 'No such mempool transaction. Use -txindex or provide a block hash')
        : undefined;
    expect(await pending()).toHaveLength(45);
    expect(node.calls.filter(({ method }) => method === 'getrawtransaction')).toHaveLength(90);
  });

  it('A node of version 28 to 31 is understood: strict JSON-RPC 2.0, lists of warnings, new fields (bitcoin PR 29845, NBXplorer#543, corepc#384)', async () => {
    core.isStrict = true;
    core.mempool = [idOf(1)];
    const fresh = {
      bits: '207fffff',
      target: 'ff'.repeat(32),
      warnings: ['This is a pre-release test build'],
    };
    core.change = (call) => {
      const known = core.answer(call) as object;
      if (call.method === 'getblockchaininfo') return { ...known, ...fresh };
      if (call.method === 'getblockheader' || call.method === 'getblock') return { ...known, ...fresh };
      if (call.method === 'getnetworkinfo') return { ...known, ...fresh, incrementalfee: 0.000001 };
      if (call.method !== 'getmempoolinfo') return undefined;
      return {
        loaded: true,
        mempoolminfee: 0.000001,
        minrelaytxfee: 0.000001,
        incrementalrelayfee: 0.000001,
        permitbaremultisig: true,
        maxdatacarriersize: 100_000,
        limitclustercount: 64,
      };
    };
    expect(await pending()).toEqual([idOf(1)]);
    expect(await chain.block(8, signal)).toBeUndefined();
    expect((await chain.block(3, signal))?.height).toBe(3);
    const utxo = createUtxoNode(chain.nodes);
    // Since 30, a tenth of a satoshi for each virtual byte.
    expect(await utxo.feeRates(signal)).toEqual({ estimate: undefined, minimum: 100n, increment: 100n });
  });

  it('A node that does not describe itself still reports its fees', async () => {
    core.change = ({ method }) =>
      method === 'getnetworkinfo' ? new Refusal(-32601, 'Method not found') : undefined;
    const utxo = createUtxoNode(chain.nodes);
    expect(await utxo.feeRates(signal)).toEqual({ estimate: undefined, minimum: 1000n, increment: 1000n });
  });

  it('A pruned node asked for an old transaction does not fail by that: its block is gone, and its outputs are not (lightning#604, lightning#1296)', async () => {
    core.height = 900;
    const at = (height: number) => ({
      value: 0.25,
      confirmations: core.height - height + 1,
      bestblock: core.hashOf(core.height),
      scriptPubKey: { hex: script('ab') },
    });
    let height = 5;
    core.change = (call) => {
      const { method } = call;
      if (method === 'gettxout') return at(height);
      if (method === 'getblockheader') return { height: core.height, confirmations: 1, time: 1_700_000_000 };
      if (method === 'getblockchaininfo') return { ...(core.answer(call) as object), pruneheight: 6 };
      const isOld = method === 'getblock' && call.params[0] === core.hashOf(5);
      return isOld ? new Refusal(-1, 'Block not available (pruned data)') : undefined;
    };
    const network = { mode: 'test', code: litecoinRegtest.network } as const;
    const find = createFindTransfers(
      [
        {
          network,
          chain,
          status: chain.status,
          locate: (txHash: string) => locateTransaction(chain.nodes, txHash, signal),
        } as unknown as ConnectedNetwork,
      ],
      () => Promise.resolve(undefined),
    );
    const ref = { mode: network.mode, network: network.code };
    expect(await find(ref, idOf(1), signal)).toBeUndefined();
    expect(chain.status().nodes).toMatchObject([{ problem: undefined }]);
    // PSBT payouts read no block for it.
    expect(await createUtxoNode(chain.nodes).locate(idOf(1), 1, signal)).toMatchObject({
      kind: 'block',
      height: 5,
    });
    height = 6;
    expect(await find(ref, idOf(1), signal)).toEqual([]);
  });

  it('A node that cannot return a transaction now has not lost it', async () => {
    const utxo = createUtxoNode(chain.nodes);
    expect(await utxo.rawTransaction(idOf(9), undefined, signal)).toBeUndefined();
    core.change = ({ method }) =>
      method === 'getrawtransaction' ? new Refusal(-32603, 'internal error') : undefined;
    expect(await failure(utxo.rawTransaction(idOf(9), undefined, signal))).toContain('internal error');
  });
});

describe.skipIf(!hasLitecoind)('Litecoin Core with MWEB', () => {
  let node: LitecoinNode;
  let proxy: NodeProxy;

  beforeAll(async () => {
    node = await startLitecoin();
    proxy = await startNodeProxy(node.url);
    // The rules of MWEB hold from block 432 on, which needs coins that go in.
    await node.mine(321);
    await node.rpc('sendtoaddress', await node.rpc('getnewaddress', '', 'mweb'), '5');
    await node.mine();
  });
  afterAll(async () => {
    await proxy.close();
    await node.stop();
  });

  it('Payments from inside MWEB are found in the last transaction of their block (litecoin#1003, electrumx#179)', async () => {
    const chain = createBitcoinChain(
      { ...litecoinRegtest, nodes: [proxy.url] },
      { watched: async (addresses) => new Set(addresses.filter((one) => ours.has(one))) },
    );
    // Only the coins inside are left to pay with.
    const coins = await node.rpc<{ txid: string; vout?: number; address: string }[]>('listunspent', 0);
    const outside = coins.filter(({ address }) => !address.includes('mweb'));
    await node.rpc(
      'lockunspent',
      false,
      outside.map(({ txid, vout }) => ({ txid, vout })),
    );
    const waiting = await node.rpc<string>('sendtoaddress', addressOf('ab'), '1.5');
    await chain.head(signal);
    expect(await node.rpc('getrawmempool')).toEqual([waiting]);
    expect(await chain.pending(signal)).toEqual([]);
    await node.mine();
    const { height } = await chain.head(signal);
    const [found, ...others] = (await chain.block(height, signal))?.transfers ?? [];
    const { tx } = await node.rpc<{ tx: string[] }>('getblock', await node.rpc('getblockhash', height));
    expect(others).toEqual([]);
    expect(found).toMatchObject({
      txHash: tx.at(-1),
      outputIndex: 1,
      address: addressOf('ab'),
      amount: 150_000_000n,
      senders: [],
    });
    // Blocks from before, and the one with the coins that went in.
    expect(await chain.blocks(height - 3, height, signal)).toHaveLength(4);
  });
});
