/**
 * One wrong answer about a token does not take it off any more, and payments while it is off are found when it is back.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Hex } from 'viem';
import type { Chain, ChainTransfer } from '../../src/core/chains/chain.js';
import { readCursor } from '../../src/core/scanning/cursors.js';
import { createEvmChain, type EvmChain } from '../../src/modules/networks/evm/evm-chain.js';
import { decimalsData } from '../../src/modules/networks/evm/abi.js';
import type { ScanSink } from '../../src/core/scanning/scan.js';
import { anvilChainId, startAnvil, type Anvil } from '../support/anvil.js';
import { enginesOfTurn, type TestDatabase } from '../support/engines.js';
import { startProviderProxy, type ProviderProxy } from '../support/provider-proxy.js';
import { openFixture, scannerOn, testAddress, type ChainFixture } from '../chains/fixture.js';

const { signal } = new AbortController();
const minute = 61_000;
const network = { mode: 'test', network: 'evm-dev' } as const;

let anvil: Anvil;
let token: Hex;
let proxies: ProviderProxy[] = [];
let time: number;
let nextIndex = 9000;

beforeAll(async () => {
  anvil = await startAnvil();
  token = await anvil.deploy('SilentToken');
  await anvil.mine(5);
});
afterAll(() => anvil.stop());
beforeEach(async () => {
  proxies = [await startProviderProxy(anvil.url), await startProviderProxy(anvil.url)];
  time = Date.now();
});
afterEach(() => Promise.all(proxies.map((proxy) => proxy.close())));

/** A node says 18 decimals instead of 6 for as long as this is true. */
function lie(proxy: ProviderProxy | undefined, isLying: (count: number) => boolean): void {
  let count = 0;
  if (!proxy) return;
  proxy.change = ({ method, params: [call] }) => {
    if (method !== 'eth_call' || (call as { data: string }).data !== decimalsData) return undefined;
    count += 1;
    return isLying(count) ? `0x${'12'.padStart(64, '0')}` : undefined;
  };
}
/** A failure after which a node is checked again, as behind the same URL there may be another server. */
async function reconnect(chain: Chain, proxy: ProviderProxy | undefined): Promise<void> {
  if (!proxy) return;
  proxy.respond = (response) => {
    response.destroy();
    return true;
  };
  await chain.head(signal).catch(() => undefined);
  proxy.respond = undefined;
}

const openChain = (nodes: readonly ProviderProxy[]): EvmChain =>
  createEvmChain(
    {
      ...network,
      chainId: anvilChainId,
      nodes: nodes.map(({ url }) => url),
      assets: [
        { currency: 'ETH', decimals: 18 },
        { currency: 'USDT', decimals: 6, contract: token },
      ],
    },
    { watched: async (addresses) => new Set(addresses), now: () => time },
  );
const isOff = (chain: EvmChain) => chain.status().assetProblems.length > 0;

describe('a token that is right', () => {
  it('A token stays on after one wrong answer, and its node is not read from until its answers agree again', async () => {
    const [first] = proxies;
    const chain = openChain([first].flatMap((proxy) => proxy ?? []));
    await chain.head(signal);
    lie(first, (count) => count === 1);
    await reconnect(chain, first);
    await expect(chain.head(signal)).rejects.toThrow('answers differently about USDT');
    expect(isOff(chain)).toBe(false);
    time += minute;
    await chain.head(signal);
    expect(isOff(chain)).toBe(false);
  });

  it('A token stays on while another node says that it is right, however often the first one answers wrongly', async () => {
    const chain = openChain(proxies);
    await chain.head(signal);
    await reconnect(chain, proxies[0]);
    await chain.head(signal);
    lie(proxies[0], () => true);
    for (let count = 0; count < 6; count += 1) {
      time += minute;
      await chain.head(signal);
    }
    expect(isOff(chain)).toBe(false);
    expect(chain.status().nodes.map(({ isInUse }) => isInUse)).toEqual([false, true]);
  });

  it('A token goes off when the answers of some time agree, and nothing is read until then', async () => {
    const [first] = proxies;
    const chain = openChain([first].flatMap((proxy) => proxy ?? []));
    await chain.head(signal);
    lie(first, () => true);
    await reconnect(chain, first);
    for (let count = 0; count < 2; count += 1) {
      await expect(chain.head(signal)).rejects.toThrow('not believed yet');
      time += minute;
    }
    await chain.head(signal);
    expect(isOff(chain)).toBe(true);
  });
});

describe.each(enginesOfTurn)('payments while a token was off, on $name', (engine) => {
  let created: TestDatabase;
  let fixture: ChainFixture;
  beforeAll(async () => {
    created = await engine.create();
    fixture = await openFixture(created.url);
  });
  afterAll(async () => {
    await fixture.close();
    await created.dispose();
  });

  it('A payment in a token that was off is found when the token is back, by any server that scans then', async () => {
    const [proxy] = proxies;
    const found: ChainTransfer[] = [];
    const sink: ScanSink = {
      hasDue: () => Promise.resolve(false),
      apply(_transaction, { blocks }) {
        found.push(...blocks.flatMap(({ transfers }) => transfers));
        return Promise.resolve('complete');
      },
    };
    const scannerOf = (chain: EvmChain) => scannerOn(fixture, { chains: [chain], sink }).scanner;
    const nodes = [proxy].flatMap((one) => one ?? []);
    lie(proxy, () => true);
    const blind = scannerOf(openChain(nodes));
    await blind.scanNow(network);
    const address = testAddress('evm', nextIndex++);
    await anvil.call('SilentToken', token, 'transfer', [address, 7n]);
    const paidIn = Number(await anvil.rpc('eth_blockNumber'));
    await anvil.mine(60);
    await blind.scanNow(network);
    expect(found).toEqual([]);
    const gaps = async () => (await readCursor(fixture.database.reader, network))?.gaps ?? [];
    expect(await gaps()).toMatchObject([{ currency: 'USDT', from: paidIn }]);
    await blind.stop();

    lie(proxy, () => false);
    const seeing = scannerOf(openChain(nodes));
    await anvil.mine(1);
    await seeing.scanNow(network);
    expect(await gaps()).toMatchObject([{ currency: 'USDT', from: paidIn + 50, to: paidIn + 60 }]);
    await seeing.scanNow(network);
    await seeing.stop();
    expect(await gaps()).toEqual([]);
    expect(found).toMatchObject([{ address, currency: 'USDT', amount: 7n }]);
  });
});
