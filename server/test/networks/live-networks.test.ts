/** Networks from NETWORKS_FILE, on a chain in memory: keys, offers, payments, lag, rates and exports in live mode. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HDKey } from '@scure/bip32';
import type { PaymentRecord } from 'crypto-checkout/contract';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createAddressSource } from '../../src/core/addresses/address-sources.js';
import type { Chain, ChainBlock, ChainTransfer } from '../../src/core/chains/chain.js';
import type { ConfiguredNetwork, ConnectDeps, NetworkFinding } from '../../src/core/chains/connected.js';
import { connectNetworks, type Adapter } from '../../src/modules/networks/connect.js';
import { NodeError } from '../../src/modules/networks/rpc/node-error.js';
import { NodesUnavailable } from '../../src/core/chains/nodes-unavailable.js';
import { openExchanges, type Exchanges } from '../money/exchanges.js';
import { liveCoinsOf } from '../support/coins.js';
import { commandContext, runWith } from '../support/command-context.js';
import { enginesOfQuick } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';
import { openShop, type Wallet } from '../support/shop.js';

/** A chain in memory whose blocks the test adds. */
class MemoryChain implements Chain {
  readonly mode;
  readonly network;
  readonly #blocks: ChainBlock[] = [
    { height: 0, hash: '0', parentHash: '', time: Date.now(), transfers: [] },
  ];
  #pending: ChainTransfer[] = [];
  isDown = false;
  /** Why its nodes cannot be used. */
  failure = new Error('The node is down');

  constructor({ network }: ConfiguredNetwork) {
    this.mode = network.mode;
    this.network = network.code;
  }

  send(currency: string, address: string, amount: bigint): void {
    const txHash = `${this.network}-${Math.random()}`;
    this.#pending.push({ txHash, outputIndex: 0, currency, senders: [], address, amount });
  }

  mine(count: number): void {
    for (let added = 0; added < count; added += 1) {
      const height = this.#blocks.length;
      const parentHash = this.#blocks.at(-1)?.hash ?? '';
      this.#blocks.push({
        height,
        hash: String(height),
        parentHash,
        time: Date.now(),
        transfers: this.#pending,
      });
      this.#pending = [];
    }
  }

  #answer<T>(value: T): Promise<T> {
    return this.isDown ? Promise.reject(this.failure) : Promise.resolve(value);
  }

  head = () => this.#answer({ height: this.#blocks.length - 1, hash: this.#blocks.at(-1)?.hash ?? '' });
  block = (height: number) => this.#answer(this.#blocks[height]);
  pending = () => this.#answer(this.#pending);
}

const accountOf = (seed: number) => HDKey.fromMasterSeed(new Uint8Array(32).fill(seed));
const evmKey = accountOf(1).derive("m/44'/60'/0'").publicExtendedKey;
const otherEvmKey = accountOf(2).derive("m/44'/60'/0'").publicExtendedKey;

describe.each(enginesOfQuick)('live networks on $name', (engine) => {
  const chains = new Map<string, MemoryChain>();
  const unreadable = new Set<string>();
  let deps: ConnectDeps | undefined;
  let directory: string;
  let exchanges: Exchanges;
  let server: TestServer;
  let merchantId: string;
  let liveKey: string;
  let testKey: string;
  let now = Date.now();

  const adapter: Adapter = (configured, given) => {
    deps = given;
    const chain = new MemoryChain(configured);
    chains.set(configured.network.code, chain);
    return {
      chain,
      unreadable: () => unreadable,
      status: () => ({ nodes: [], requestsLeft: undefined, requestsSpare: undefined, assetProblems: [] }),
      locate: () => Promise.resolve(undefined),
      cost: () => Promise.resolve(undefined),
      check: (): AsyncIterable<NetworkFinding> => {
        throw new Error('Not used');
      },
    };
  };
  const chain = (code: string): MemoryChain => {
    const found = chains.get(code);
    if (!found) throw new Error(`No chain ${code}`);
    return found;
  };

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-'));
    const file = join(directory, 'networks.json');
    const nodes = ['https://user:hunter2@node.example.com/'];
    await writeFile(
      file,
      JSON.stringify({ networks: { polygon: { nodes }, bitcoin: { nodes }, sepolia: { nodes } } }),
    );
    exchanges = await openExchanges();
    server = await startServer({
      engine,
      env: {
        NETWORKS_FILE: file,
        RATES: exchanges.setting('kraken', 'coinbase'),
      },
      overrides: {
        connect: (networks, deps) => connectNetworks(networks, { evm: adapter, bitcoin: adapter }, deps),
        realNow: () => now,
      },
    });
    ({ merchantId, liveKey, testKey } = await server.database.write(async (transaction) => {
      const { id } = await server.app.merchants.create(transaction, { name: 'Live Shop' });
      const make = async (mode: 'live' | 'test') =>
        (await server.app.keys.create(transaction, { merchantId: id, kind: 'secret', mode })).key;
      return { merchantId: id, liveKey: await make('live'), testKey: await make('test') };
    }));
    await refreshRates();
  });
  afterAll(async () => {
    await server.stop();
    await exchanges.close();
    await rm(directory, { recursive: true, force: true });
  });

  const refreshRates = () => server.app.worldRates?.refresh(new AbortController().signal);
  const scan = (network: string, mode: 'live' | 'test' = 'live') =>
    server.app.scanner.scanNow({ mode, network });

  async function setKey(mode: 'live' | 'test', extendedPublicKey: string): Promise<void> {
    const { depositKeys } = server.app;
    await server.database.write((transaction) =>
      depositKeys.set(
        transaction,
        { merchantId, mode },
        'evm',
        { extendedPublicKey, script: undefined },
        true,
      ),
    );
    await depositKeys.refresh();
  }

  const live = () => openShop(server, liveKey);
  const setPath = (id: string, currency: string, network: string) =>
    `/v1/payments/${id}/currency/set/${currency}/${network}`;
  const networksOf = ({ currencyOptions = [] }: PaymentRecord) => [
    ...new Set(currencyOptions.map(({ network }) => network)),
  ];
  const statusOf = async (id: string) =>
    (await live().ask<PaymentRecord>('GET', `/v1/transactions/${id}/verify`)).status;

  it('Without a deposit key, a live payment is refused, and the error says what to do', async () => {
    const { status, body } = await live().checkout();
    expect([status, body.data]).toMatchObject([503, { code: 'chain_unavailable' }]);
    expect(body.message).toContain('deposit key');
  });

  it('With a key for one family, only its networks are offered', async () => {
    await setKey('live', evmKey);
    await Promise.all(['polygon', 'bitcoin'].map((code) => scan(code)));
    const payment = await live().create();
    expect(
      payment.currencyOptions?.map(({ currency, network }) => `${currency} on ${network}`).sort(),
    ).toEqual(
      liveCoinsOf('polygon')
        .map((currency) => `${currency} on polygon`)
        .sort(),
    );
    const refused = await server.api('PATCH', setPath(payment.id, 'BTC', 'bitcoin'), { key: liveKey });
    expect([refused.status, refused.body.data]).toMatchObject([400, { code: 'unsupported_currency' }]);
  });

  it('A payment goes to the next address of the key, and succeeds with its confirmations', async () => {
    const source = createAddressSource('live', 'evm', evmKey);
    const payment = await live().lock({ currency: 'USDC', network: 'polygon' });
    const { address } = payment;
    expect([0, 1, 2].map((index) => source.derive(index))).toContain(address);
    expect(await deps?.watched('live', [address, '0x0'])).toEqual(new Set([address]));
    expect(await deps?.watched('test', [address])).toEqual(new Set());
    chain('polygon').send('USDC', address, BigInt(Math.round(payment.amount * 1e6)));
    await scan('polygon');
    expect(await statusOf(payment.id)).toBe('in progress');
    chain('polygon').mine(12);
    await scan('polygon');
    expect(await statusOf(payment.id)).toBe('success');
  });

  it('The lock keeps the rates, their sources and their time', async () => {
    const { id } = await live().lock({ currency: 'POL', network: 'polygon' });
    const row = await server.database.reader
      .selectFrom('payments')
      .select('quote')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    expect(JSON.parse(row.quote ?? '')).toMatchObject({
      asset: { source: 'median of kraken, coinbase', at: expect.any(Number) as number },
      base: { dollars: '1/1' },
    });
  });

  it('In test mode, the simulated networks need no key, and a real one does', async () => {
    await scan('sepolia', 'test');
    const before = networksOf(await openShop(server, testKey).create());
    expect(before).toContain('tron');
    expect(before).not.toContain('sepolia');
    await setKey('test', otherEvmKey);
    expect(networksOf(await openShop(server, testKey).create()).sort()).toEqual(
      [...before, 'sepolia'].sort(),
    );
    const payment = await openShop(server, testKey).lock({ currency: 'ETH', network: 'sepolia' });
    const source = createAddressSource('test', 'evm', otherEvmKey);
    expect(payment.address).toBe(source.derive(0));
    const simulated = await openShop(server, testKey).lock({ currency: 'ETH', network: 'ethereum' });
    expect(simulated.address).not.toBe(source.derive(1));
  });

  it('A new key is for new payments. The address of the previous key is still watched', async () => {
    const before = await live().lock({ currency: 'USDC', network: 'polygon' });
    const thirdKey = accountOf(3).derive("m/44'/60'/0'").publicExtendedKey;
    await setKey('live', thirdKey);
    const after = await live().lock({ currency: 'USDC', network: 'polygon' });
    const third = createAddressSource('live', 'evm', thirdKey);
    expect(after.address).toBe(third.derive(0));
    chain('polygon').send('USDC', before.address, BigInt(Math.round(before.amount * 1e6)));
    chain('polygon').mine(12);
    await scan('polygon');
    expect(await statusOf(before.id)).toBe('success');
    await setKey('live', evmKey);
  });

  it('A network that cannot be read is not offered, no price is locked on it, and it comes back', async () => {
    const { id } = await live().create();
    await live().ask('PATCH', setPath(id, 'USDC', 'polygon'));
    chain('polygon').isDown = true;
    // Polygon's three blocks and a minute.
    now += 67_000;
    await vi.waitFor(
      async () => {
        const options = (await live().ask<PaymentRecord>('GET', `/v1/payments/${id}`)).currencyOptions;
        expect(options).toEqual([]);
      },
      { timeout: 10_000 },
    );
    const refused = await server.api('PATCH', `/v1/payments/${id}/currency/lock`, { key: liveKey });
    expect([refused.status, refused.body.data]).toMatchObject([503, { code: 'chain_unavailable' }]);
    expect(refused.headers.get('Retry-After')).toBe('30');
    chain('polygon').isDown = false;
    await scan('polygon');
    await refreshRates();
    await vi.waitFor(
      async () => {
        const locked = await server.api('PATCH', `/v1/payments/${id}/currency/lock`, { key: liveKey });
        expect(locked.status, JSON.stringify(locked.body)).toBe(200);
      },
      { timeout: 10_000 },
    );
  });

  it('A network whose node turns out to be on another chain is not offered from that moment on, on any server', async () => {
    const polygon = chain('polygon');
    const { id } = await live().create();
    await live().ask('PATCH', setPath(id, 'USDC', 'polygon'));
    polygon.isDown = true;
    polygon.failure = new NodesUnavailable('No node of polygon can be used: node 1 is on another chain', [
      new NodeError('wrong-network', 'node 1 is on another chain'),
    ]);
    await expect(scan('polygon')).rejects.toThrow('on another chain');
    const stored = await server.database.reader
      .selectFrom('chain_cursors')
      .select(['is_wrong_chain'])
      .where((e) => e.and({ mode: 'live', network: 'polygon' }))
      .executeTakeFirstOrThrow();
    expect(stored).toEqual({ is_wrong_chain: 1 });
    // Availability is remembered for a moment.
    now += 1000;
    const refused = await server.api('PATCH', `/v1/payments/${id}/currency/lock`, { key: liveKey });
    expect([refused.status, refused.body.data]).toMatchObject([503, { code: 'chain_unavailable' }]);
    polygon.isDown = false;
    polygon.failure = new Error('The node is down');
    await scan('polygon');
    await vi.waitFor(() => live().ask('PATCH', `/v1/payments/${id}/currency/lock`), { timeout: 20_000 });
  });

  it('A token whose contract is not the configured one is not offered', async () => {
    unreadable.add('USDT');
    const { currencyOptions = [] } = await live().create();
    unreadable.clear();
    const readable = liveCoinsOf('polygon').filter((currency) => currency !== 'USDT');
    expect(currencyOptions.map(({ currency }) => currency)).toEqual(readable);
  });

  it('Without a fresh rate of two sources, no price is locked', async () => {
    const { id } = await live().create();
    await live().ask('PATCH', setPath(id, 'USDC', 'polygon'));
    exchanges.answer('kraken', (response) => response.writeHead(500).end());
    now += 61_000;
    await scan('polygon');
    await refreshRates();
    const refused = await server.api('PATCH', `/v1/payments/${id}/currency/lock`, { key: liveKey });
    expect([refused.status, refused.body.data]).toMatchObject([503, { code: 'rate_unavailable' }]);
    exchanges.quote('kraken');
    now += 300_000;
    await Promise.all([refreshRates(), scan('polygon')]);
    await live().ask('PATCH', `/v1/payments/${id}/currency/lock`);
  });

  it('A wallet has addresses on the networks that there is a key for', async () => {
    const wallet = await live().ask<Wallet>('POST', '/v1/wallets', {
      body: { currency: 'USDC', label: 'Till' },
    });
    expect(wallet.addresses.map(({ network }) => network)).toEqual(['polygon']);
    const { status } = await server.api('POST', '/v1/wallets', {
      key: liveKey,
      body: { currency: 'BTC', label: 'Till' },
    });
    expect(status).toBe(400);
  });

  it('The export has every address with its payment, what it received, and the range of its key', async () => {
    const context = commandContext(server);
    const line = `addresses export --merchant ${merchantId} --mode live --format`;
    const output = await runWith(context, line, 'json');
    const { keys, addresses } = output.json as {
      keys: { id: string; range: number[]; extendedPublicKey: string }[];
      addresses: {
        key: string;
        index: number;
        path: string;
        address: string;
        paymentId: string | null;
        walletId: string | null;
        received: { currency: string; amount: string }[];
      }[];
    };
    const source = createAddressSource('live', 'evm', evmKey);
    const ofKey = addresses.filter(({ key }) => key === keys.find((k) => k.extendedPublicKey === evmKey)?.id);
    expect(ofKey.length).toBeGreaterThan(3);
    for (const { index, path, address } of ofKey) {
      expect([path, address]).toEqual([`0/${index}`, source.derive(index)]);
    }
    expect(new Set(addresses.map(({ address }) => address)).size).toBe(addresses.length);
    const paid = addresses.filter(({ received }) => received.length > 0);
    expect(paid).toHaveLength(2);
    for (const { paymentId, received } of paid) {
      const payment = await live().ask<PaymentRecord>('GET', `/v1/payments/${paymentId ?? ''}`);
      expect(received).toEqual([{ currency: 'USDC', amount: String(payment.amount) }]);
    }
    expect(addresses.filter(({ walletId }) => walletId !== null)).toHaveLength(1);
    for (const { id, range } of keys) {
      const indexes = addresses.filter(({ key }) => key === id).map(({ index }) => index);
      expect(range[1]).toBeGreaterThanOrEqual(Math.max(...indexes));
    }
    const csv = await runWith(context, line, 'csv');
    expect(csv.text.split('\n')).toHaveLength(addresses.length + 1);
  });
});
