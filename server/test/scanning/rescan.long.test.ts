/** Reading blocks again: finds what was missed, credits it once, and leaves everything else as it is. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Chain } from '../../src/core/chains/chain.js';
import { rescan } from '../../src/core/scanning/rescan.js';
import { enginesOfSoak } from '../support/engines.js';
import { openShop, type Shop } from '../support/shop.js';
import { startServer, type TestServer } from '../support/server.js';

const { signal } = new AbortController();

describe.each(enginesOfSoak)('a rescan on $name', (engine) => {
  let server: TestServer;
  let merchant: Shop;
  /** Transfers to this address are hidden from the scanner, as those of an unknown token are. */
  let hidden: string | undefined;

  beforeAll(async () => {
    server = await startServer({ engine });
    merchant = openShop(server);
    await merchant.fund({ amount: 50 });
    const chain = tron();
    const read = chain.block.bind(chain);
    const pending = chain.pending.bind(chain);
    const isShown = ({ address }: { readonly address: string }) => address !== hidden;
    chain.block = async (height, aborting) => {
      const block = await read(height, aborting);
      return block && { ...block, transfers: block.transfers.filter(isShown) };
    };
    chain.pending = async (aborting) => (await pending(aborting)).filter(isShown);
  });
  afterAll(async () => {
    await merchant.expectBooksInOrder();
    await server.stop();
  });

  function tron(): Chain {
    const chain = server.app.chains.find(({ network }) => network === 'tron');
    if (!chain) throw new Error('No tron');
    return chain;
  }
  const again = (from: number, chain = tron()) =>
    rescan({ database: server.database, chain, sink: server.app.receipts, from, signal });
  const statusOf = async (id: string) =>
    (await merchant.ask<{ status: string }>('GET', `/v1/transactions/${id}/verify`)).status;
  const logOf = (id: string) => merchant.ask<unknown[]>('GET', `/v1/transactions/${id}/events`);

  it('A rescan credits a payment that the scan had missed, once, and changes nothing that is known', async () => {
    const { height } = await tron().head(signal);
    const known = await merchant.fund({ amount: 20 });
    const { id, address } = await merchant.lock();
    hidden = address;
    await merchant.send(address, 30);
    await merchant.mine(3);
    hidden = undefined;
    expect(await statusOf(id)).toBe('in progress');
    const [before, log] = [await merchant.balance(), await logOf(known.id)];

    const head = await tron().head(signal);
    expect(await again(height)).toBe(head.height);
    expect(await statusOf(id)).toBe('success');
    const after = await merchant.balance();
    expect(after.availableBalance).toBeCloseTo(before.availableBalance + 29.7, 9);

    expect(await again(0)).toBe(head.height);
    expect(await merchant.balance()).toEqual(after);
    expect(await logOf(known.id)).toEqual(log);
  });

  it('A rescan has nothing to read above the last block that was scanned', async () => {
    const { height } = await tron().head(signal);
    expect(await again(height + 1)).toBeUndefined();
  });

  it('A rescan applies nothing of a chain that is reorganised while it is read', async () => {
    const { height } = await tron().head(signal);
    const moving: Chain = {
      ...tron(),
      block: async (at) => {
        const block = await tron().block(at, signal);
        return block && { ...block, hash: `${block.hash}x`, parentHash: `${block.parentHash}x` };
      },
    };
    await expect(again(height, moving)).rejects.toThrow('reorganised');
    const torn: Chain = {
      ...tron(),
      block: async (at) => {
        const block = await tron().block(at, signal);
        return block && { ...block, parentHash: 'another' };
      },
    };
    await expect(again(height - 1, torn)).rejects.toThrow('reorganised');
  });

  it('A rescan is a command that runs next to the server', async () => {
    const { height } = await tron().head(signal);
    const args = ['chains', 'rescan', '--network', 'tron', '--from', '1', '--json'];
    const { exitCode, stdout } = await merchant.run(...args);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ network: 'tron', mode: 'test', from: 1, to: height });
    expect(await merchant.run('chains', 'rescan', '--network', 'doge', '--from', '1')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('There is no network "doge"') as string,
    });
  });
});
