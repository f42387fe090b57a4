/**
 * A payment that was seen stays seen while any node has its transaction: servers restart, nodes restart without their mempool, and a
 * low fee is left out of the next block. Each case names its report.
 */
import { bech32, hex } from '@scure/base';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Chain } from '../../src/core/chains/chain.js';
import type { Network } from '../../src/core/chains/networks.js';
import { createBitcoinChain } from '../../src/modules/networks/bitcoin/bitcoin-chain.js';
import { createEvmChain } from '../../src/modules/networks/evm/evm-chain.js';
import { anvilChainId, startAnvil, type Anvil } from '../support/anvil.js';
import { startNodeProxy, type NodeProxy } from '../support/core-proxy.js';
import { enginesOfSoak, type TestEngine } from '../support/engines.js';
import { litecoinRegtest } from '../support/litecoin.js';
import { startProviderProxy, type ProviderProxy } from '../support/provider-proxy.js';
import { Core, idOf, paysTo, Refusal } from '../support/stand-in-core.js';
import { openSteppedShop, type LockedPayment } from '../support/stepped-shop.js';

const watched = async (addresses: readonly string[]) => new Set(addresses);

/** A shop whose servers each have a chain of their own, as processes do. */
async function openShop(engine: TestEngine, network: Network, openChain: () => Chain) {
  const shop = await openSteppedShop(engine, {
    get networks() {
      return [{ network, chain: openChain() }];
    },
  });
  shop.time.now = Date.now();
  const merchant = await shop.merchant();
  const [currency = ''] = Object.keys(network.assets);
  await shop.scan(network.code);
  return {
    ...shop,
    lock: () => shop.lock(merchant, { currency, network: network.code }),
    /** Its state after a scan, and the statuses of its receipts. */
    async scanned({ id }: LockedPayment) {
      await shop.scan(network.code);
      const receipts = await shop.database.reader
        .selectFrom('receipts')
        .select('status')
        .where('payment_id', '=', id)
        .orderBy('tx_hash')
        .execute();
      return [(await shop.payment(id)).state, ...receipts.map(({ status }) => status)];
    },
    /** Another server takes over, whose chain has seen nothing. */
    takeOver: () => shop.switchServer(),
    close: shop.close,
  };
}

const seen = ['confirming', 'seen'];
const dropped = ['awaiting_funds', 'dropped'];

describe.each(enginesOfSoak)('A payment seen in a mempool, on $name,', (engine) => {
  const network: Network = {
    mode: 'test',
    code: litecoinRegtest.network,
    name: 'Litecoin',
    family: 'litecoin',
    confirmations: 2,
    assets: { LTC: { minAmount: '0.0001', withdrawalFee: '0' } },
  };
  let cores: [Core, Core];
  let nodes: NodeProxy[];
  let shop: Awaited<ReturnType<typeof openShop>>;
  let payment: LockedPayment;
  const [first, second] = [idOf(1), idOf(2)];

  const pays = (txid: string) => {
    const { words } = bech32.decode(payment.address as `${string}1${string}`);
    const script = `0014${hex.encode(bech32.fromWords(words.slice(1)))}`;
    return paysTo(txid, script, Number(payment.amount) / 1e8);
  };
  const failing = (code: number, message: string) => (call: { readonly method: string }) =>
    call.method === 'getrawmempool' ? new Refusal(code, message) : undefined;

  beforeEach(async () => {
    cores = [new Core(), new Core()];
    nodes = await Promise.all(
      cores.map(async (core) => {
        const node = await startNodeProxy('http://test:test@127.0.0.1:1');
        node.behave = (calls) => core.behave(calls);
        core.form = pays;
        return node;
      }),
    );
    const config = { ...litecoinRegtest, addressNet: 'test', nodes: nodes.map(({ url }) => url) } as const;
    shop = await openShop(engine, network, () => createBitcoinChain(config, { watched }));
    payment = await shop.lock();
    cores[0].mempool = [first];
    expect(await shop.scanned(payment)).toEqual(seen);
  });
  afterEach(async () => {
    await shop.close();
    await Promise.all(nodes.map((node) => node.close()));
  });

  it('A payment stays seen when the next server is refused the mempool once (bitpay/wallet#6280: gone after a restart)', async () => {
    cores[0].change = failing(-32603, 'internal error');
    await shop.takeOver();
    expect(await shop.scanned(payment)).toEqual(seen);
    expect(await shop.scanned(payment)).toEqual(seen);
    cores[0].mempool = [];
    expect(await shop.scanned(payment)).toEqual(dropped);
    await shop.expectBooksInOrder();
  });

  it('A payment stays seen when its node stops and another never got it (electrum#3595), and is dropped when no node has it', async () => {
    const [core] = cores;
    core.whole = () => 'hang up';
    expect(await shop.scanned(payment)).toEqual(seen);
    core.whole = undefined;
    shop.time.now += 60_000;
    expect(await shop.scanned(payment)).toEqual(seen);
    core.mempool = [];
    expect(await shop.scanned(payment)).toEqual(dropped);
  });

  it('A payment stays seen when a node restarts without its mempool and another one has the transaction (bitcoin#29193)', async () => {
    cores[0].mempool = [];
    cores[1].mempool = [first];
    expect(await shop.scanned(payment)).toEqual(seen);
    // The other node has one block more, and does not find what went into it.
    cores[1].mempool = [];
    cores[1].height += 1;
    expect(await shop.scanned(payment)).toEqual(seen);
    cores[0].height += 1;
    for (const core of cores) core.mined.set(core.height, [pays(first)]);
    expect(await shop.scanned(payment)).toEqual(seen);
    for (const core of cores) core.height += 1;
    expect(await shop.scanned(payment)).toEqual(['settled', 'confirmed']);
    await shop.expectBooksInOrder();
  });

  it('A payment stays seen when its block is replaced and one node keeps it for the next (electrum#7068: there is no one mempool)', async () => {
    for (const core of cores) {
      core.mempool = [];
      core.height += 1;
      core.mined.set(core.height, [pays(first)]);
    }
    expect(await shop.scanned(payment)).toEqual(seen);
    for (const core of cores) {
      core.forkedAbove = core.height - 1;
      core.mined.clear();
      core.height += 1;
    }
    cores[1].mempool = [first];
    expect(await shop.scanned(payment)).toEqual(seen);
    cores[1].mempool = [];
    expect(await shop.scanned(payment)).toEqual(dropped);
  });

  it('A payment stays seen while a node reads its mempool after a start (bitcoin#12106)', async () => {
    cores[0].mempool = [];
    cores[1].change = ({ method }) => (method === 'getmempoolinfo' ? { loaded: false } : undefined);
    expect(await shop.scanned(payment)).toEqual(seen);
    cores[1].change = undefined;
    expect(await shop.scanned(payment)).toEqual(dropped);
  });

  it('A transaction is dropped when a block has its replacement, once all nodes have the block (btcpayserver#1371)', async () => {
    const [one, other] = cores;
    other.mempool = [first];
    one.mempool = [];
    one.height += 1;
    for (const core of cores) core.mined.set(one.height, [pays(second)]);
    await shop.takeOver();
    // The other node does not know yet that its transaction can no longer be mined.
    expect(await shop.scanned(payment)).toEqual([...seen, 'seen']);
    other.mempool = [];
    other.height += 1;
    expect(await shop.scanned(payment)).toEqual(['confirming', 'dropped', 'seen']);
    for (const core of cores) core.height += 1;
    expect(await shop.scanned(payment)).toEqual(['settled', 'dropped', 'confirmed']);
    await shop.expectBooksInOrder();
  });

  it('A server reads a transaction once, and asks no more about it while a mempool shows it', async () => {
    await shop.scanned(payment);
    await shop.takeOver();
    for (const node of nodes) node.calls.length = 0;
    for (let round = 0; round < 3; round += 1) expect(await shop.scanned(payment)).toEqual(seen);
    // The new server reads it once.
    expect(
      nodes.flatMap(({ calls }) => calls).filter(({ method }) => method === 'getrawtransaction'),
    ).toHaveLength(1);
    expect(nodes[1]?.calls).toEqual([]);
  });
});

describe.each(enginesOfSoak)('A payment with a low fee on an EVM network, on $name,', (engine) => {
  const network: Network = {
    mode: 'test',
    code: 'evm-dev',
    name: 'EVM',
    family: 'evm',
    confirmations: 2,
    assets: { ETH: { minAmount: '0.0001', withdrawalFee: '0' } },
  };
  let anvil: Anvil;
  let proxies: [ProviderProxy, ProviderProxy];
  let shop: Awaited<ReturnType<typeof openShop>>;
  let payment: LockedPayment;
  let txHash: string;

  beforeAll(async () => {
    anvil = await startAnvil();
  });
  afterAll(() => anvil.stop());
  beforeEach(async () => {
    proxies = [await startProviderProxy(anvil.url), await startProviderProxy(anvil.url)];
    const config = {
      mode: 'test',
      network: network.code,
      chainId: anvilChainId,
      nodes: proxies.map(({ url }) => url),
      assets: [{ currency: 'ETH', decimals: 18 }],
    } as const;
    shop = await openShop(engine, network, () => createEvmChain(config, { watched }));
    payment = await shop.lock();
    await anvil.automine(false);
    txHash = await anvil.send(payment.address, payment.amount);
    expect(await shop.scanned(payment)).toEqual(seen);
    // Fees rise above its own: it is no longer in the next block, and waits.
    await anvil.rpc('anvil_setNextBlockBaseFeePerGas', [`0x${(10n ** 12n).toString(16)}`]);
    const pending = await anvil.rpc<{ transactions: unknown[] }>('eth_getBlockByNumber', ['pending', false]);
    expect(pending.transactions).toEqual([]);
  });
  afterEach(async () => {
    await shop.close();
    await Promise.all(proxies.map((proxy) => proxy.close()));
    await anvil.rpc('anvil_dropAllTransactions');
    await anvil.rpc('anvil_setNextBlockBaseFeePerGas', ['0x1']);
    await anvil.automine(true);
    await anvil.mine();
  });

  it('A payment with a low fee stays seen after a takeover, and is dropped when the node forgets it (metamask-extension#8688)', async () => {
    expect(await shop.scanned(payment)).toEqual(seen);
    await shop.takeOver();
    expect(await shop.scanned(payment)).toEqual(seen);
    await shop.takeOver();
    expect(await shop.scanned(payment)).toEqual(seen);
    await anvil.rpc('anvil_dropTransaction', [txHash]);
    expect(await shop.scanned(payment)).toEqual(dropped);
    await shop.expectBooksInOrder();
  });

  it('A payment with a low fee stays seen until all nodes answer that they lack it (go-ethereum#29956, nethermind#1913)', async () => {
    const unknown: ProviderProxy['change'] = ({ method }) =>
      method === 'eth_getTransactionByHash' ? null : undefined;
    proxies[0].change = unknown;
    await shop.takeOver();
    expect(await shop.scanned(payment)).toEqual(seen);
    proxies[1].respond = (response) => (response.destroy(), true);
    expect(await shop.scanned(payment)).toEqual(seen);
    proxies[1].respond = undefined;
    proxies[1].change = unknown;
    shop.time.now += 60_000;
    expect(await shop.scanned(payment)).toEqual(dropped);
  });

  it('A payment with a low fee is credited when it is mined after all', async () => {
    await shop.takeOver();
    expect(await shop.scanned(payment)).toEqual(seen);
    await anvil.rpc('anvil_setNextBlockBaseFeePerGas', ['0x1']);
    await anvil.mine(2);
    expect((await shop.scanned(payment))[0]).toBe('settled');
    await shop.expectBooksInOrder();
  });
});
