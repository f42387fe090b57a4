/**
 * Coins that strangers send while a server is down stop nobody, and the proof of a restore stops only those whom it
 * concerns.
 */
import { writeFile, rm } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Hex } from 'viem';
import { createForwarderSource } from '../../src/core/addresses/forwarders.js';
import { startAnvil, type Anvil } from '../support/anvil.js';
import type { TestEngine } from '../support/engines.js';
import { deployFactory } from '../support/forwarders.js';
import { destination, openLiveShop, treasury } from './evm.js';

const dust = 1n;
const coins = 5_000_000n;

export const testStrangers = (engine: TestEngine): unknown =>
  describe(`coins that strangers send while the server is down, on ${engine.name}`, () => {
    let anvil: Anvil;
    let token: Hex;
    let shop: Awaited<ReturnType<typeof openLiveShop>>;
    beforeEach(async () => {
      anvil = await startAnvil();
      token = await anvil.deploy('SilentToken');
      await deployFactory(anvil);
      shop = await openLiveShop(engine, anvil, token);
      await shop.setTreasury();
    });
    afterEach(async () => {
      await shop.stop();
      await anvil.stop();
    });

    const payAndMine = async (address: string, amount: bigint) => {
      await shop.send({ address, amount });
      await anvil.mine(3);
    };
    /** The forwarder that the shop gives out next, as only its server knows. */
    const nextForwarder = async (ahead = 0): Promise<string> => {
      const { app, database } = shop.server;
      const source = app.depositKeys.sources.find({ merchantId: shop.merchantId, mode: 'live' }, 'evm');
      const row = await database.reader
        .selectFrom('derivations')
        .select('next_index')
        .where('source_id', '=', source?.id ?? '')
        .executeTakeFirst();
      return source?.derive((row?.next_index ?? 0) + ahead) ?? '';
    };
    const isSuspected = async () => (await shop.command('restore status')).json;

    it(
      'a stranger’s coins miss the next forwarder: its address follows from nothing that is public',
      { timeout: 60_000 },
      async () => {
        const publicly = createForwarderSource({ merchantId: shop.merchantId, mode: 'live' }, treasury);
        const first = await shop.lock();
        expect(publicly.derive(0)).not.toBe(first.address);
        await shop.restart(async () => {
          for (let index = 0; index < 4; index += 1) await payAndMine(publicly.derive(index), coins);
        }, true);
        expect(await isSuspected()).toMatchObject({ isSuspected: false });
        expect((await shop.lock()).address).not.toBe(first.address);
      },
    );

    it(
      'dust proves nothing, even at the next forwarder and without a marker',
      { timeout: 60_000 },
      async () => {
        await shop.lock();
        const next = await nextForwarder();
        await shop.restart(() => payAndMine(next, dust), true);
        expect(await isSuspected()).toEqual({ isSuspected: false });
        expect(await shop.ready()).toBe(200);
        await shop.lock();
      },
    );

    it('coins are a warning if the marker agrees: the address is skipped', { timeout: 60_000 }, async () => {
      await shop.lock();
      const next = await nextForwarder(2);
      // Blocks are timed in whole seconds: the payment must be younger than the marker.
      await new Promise((resolve) => setTimeout(resolve, 1100));
      await shop.restart(() => payAndMine(next, coins));
      expect(await isSuspected()).toMatchObject({ isSuspected: false, warnings: [{ address: next }] });
      expect(await shop.ready()).toBe(200);
      const given = [await shop.lock(), await shop.lock(), await shop.lock()].map(({ address }) => address);
      expect(given).not.toContain(next);
    });

    it(
      'coins at the next forwarder stop only its own merchant’s sales and payouts, if there is no marker',
      { timeout: 60_000 },
      async () => {
        const lockElsewhere = await shop.neighbour();
        await shop.lock();
        const next = await nextForwarder();
        await shop.restart(() => payAndMine(next, coins), true);
        expect(await isSuspected()).toMatchObject({ isSuspected: true, addresses: [{ address: next }] });
        await expect(shop.lock()).rejects.toThrow('expected 503');
        await expect(shop.lock()).rejects.toThrow('New payments get no address at the moment');
        await expect(shop.lock()).rejects.not.toThrow(/operator|backup|restore/);
        await expect(shop.exported()).rejects.toThrow('restored from an older backup');
        expect(await lockElsewhere()).toBe(200);
        // The other shop sells.
        expect(await shop.ready()).toBe(200);
        expect(await shop.readiness()).toContain('restored from an older backup');
        const plan = (await shop.command('restore confirm')).json as { skipped: unknown[] };
        expect(plan.skipped).toHaveLength(1);
      },
    );

    it('the server is unready while nobody can buy anything', { timeout: 60_000 }, async () => {
      await shop.lock();
      const next = await nextForwarder();
      await shop.restart(() => payAndMine(next, coins), true);
      expect(await shop.ready()).toBe(503);
      expect(await shop.readiness()).toContain('restored from an older backup');
      await shop.command('restore confirm --yes');
      expect(await shop.ready()).toBe(200);
    });

    it('a transfer that a stranger paid is held, and no other one', { timeout: 60_000 }, async () => {
      const first = await shop.lock();
      await shop.send(first);
      await shop.settle(first.id);
      await shop.sweep();
      await shop.watch();
      const [paid, other] = [await shop.transfer(1.01), await shop.transfer(2.02)];
      await shop.restart(async () => {
        await payAndMine(destination, 1_010_000n);
      }, true);
      expect(await isSuspected()).toMatchObject({ isSuspected: false });
      expect(await shop.exported()).toEqual([other]);
      const held = (await shop.command('transfers exported')).json as { id: string }[];
      expect(JSON.stringify(held)).toContain(paid);
      await shop.lock();
    });

    it(
      'a marker that cannot be written refuses a live start, and is reported while the server runs',
      { timeout: 60_000 },
      async () => {
        expect(await shop.unwritable()).toBe('0');
        await rm(shop.markerDirectory, { recursive: true });
        await writeFile(shop.markerDirectory, 'not a folder');
        await shop.lock();
        expect(await shop.unwritable()).toBe('1');
        expect(await shop.readiness()).toContain('MARKER_DIRECTORY');
        await expect(shop.restart(() => Promise.resolve())).rejects.toThrow(
          /^MARKER_DIRECTORY: .*real money/,
        );
        await rm(shop.markerDirectory);
        await shop.restart(() => Promise.resolve());
        expect(await shop.ready()).toBe(200);
      },
    );
  });
