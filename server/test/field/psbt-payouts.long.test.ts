/**
 * Payouts by PSBT with a node that no longer has old blocks, as people ran into it. Each case names its report.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { startNodeProxy, type NodeProxy } from '../support/core-proxy.js';
import { enginesOfTurn } from '../support/engines.js';
import { hasLitecoind, startLitecoin, type LitecoinNode } from '../support/litecoin.js';
import { network, openPayoutShop, type PayoutMerchant, type PayoutShop } from '../psbt-payouts/fixture.js';

describe.skipIf(!hasLitecoind).each(enginesOfTurn)(
  'A discarded PSBT and a pruned node, on $name',
  (engine) => {
    let node: LitecoinNode;
    let proxy: NodeProxy;
    let shop: PayoutShop;
    beforeAll(async () => {
      node = await startLitecoin();
      proxy = await startNodeProxy(node.url);
      shop = await openPayoutShop(engine, { ...node, url: proxy.url });
    });
    afterEach(() => {
      proxy.behave = undefined;
    });
    afterAll(async () => {
      await shop.close();
      await proxy.close();
      await node.stop();
    });

    const psbtOf = (id: string) =>
      shop.server.database.reader
        .selectFrom('psbts')
        .select(['from_height', 'confirmed_at'])
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
    const heightNow = () => node.rpc<number>('getblockcount');
    /** A scan reads some blocks at a time. */
    const scanAll = () =>
      vi.waitFor(async () => {
        await shop.scan();
        const { height } = await shop.server.database.reader
          .selectFrom('chain_cursors')
          .select('height')
          .where('network', '=', network)
          .executeTakeFirstOrThrow();
        expect(height).toBe(await heightNow());
      }, 120_000);
    const blocksRead = () => proxy.calls.filter(({ method }) => method === 'getblock').length;

    /** The node no longer has the blocks below. */
    async function prune(below: number): Promise<void> {
      const pruned = new Set<unknown>();
      for (let height = 1; height < below; height += 1) pruned.add(await node.rpc('getblockhash', height));
      const error = { code: -1, message: 'Block not available (pruned data)' };
      proxy.behave = (calls) => {
        const [call] = calls;
        if (call?.method !== 'getblock' || !pruned.has(call.params[0])) return undefined;
        return { status: 500, body: JSON.stringify({ id: call.id, result: null, error }) };
      };
    }

    /** A merchant with a PSBT that was discarded. */
    async function prepare(): Promise<{ merchant: PayoutMerchant; id: string }> {
      const merchant = await shop.merchant();
      await merchant.fund('0.5');
      await merchant.transfers('0.1');
      const { id } = await merchant.export();
      await shop.discard(id);
      return { merchant, id };
    }
    // Regtest with MWEB, which begins at block 432, makes no blocks from there on.
    const exportedLongAgo = (id: string) =>
      shop.server.database.write((transaction) =>
        transaction.updateTable('psbts').set({ from_height: 1 }).where('id', '=', id).execute(),
      );
    /** Pays the transfer with the same coin by another PSBT. */
    async function payAgain(merchant: PayoutMerchant): Promise<string> {
      const again = await merchant.export({ 'fee-rate': '4' });
      await shop.import(merchant.sign(again.psbt));
      return again.id;
    }

    it(
      'A discarded PSBT is over once its coin is spent, though the node dropped the blocks since its export (btcpayserver-doc#1236)',
      { timeout: 300_000 },
      async () => {
        const { merchant, id } = await prepare();
        const exportedAt = await heightNow();
        await node.mine(170);
        const fromHeight = async () => (await psbtOf(id)).from_height;
        await vi.waitFor(async () => {
          await node.mine(1);
          await scanAll();
          await shop.follow();
          expect(await fromHeight()).toBeGreaterThan(exportedAt);
        }, 120_000);
        const noted = await fromHeight();
        const height = await heightNow();
        // The server's own job may have noted it while the blocks were read: at the first height at which it is due.
        expect([noted >= exportedAt + 49, noted <= height - 100]).toEqual([true, true]);
        await node.mine(10);
        await scanAll();
        await shop.follow();
        expect(await fromHeight()).toBe(noted);
        await prune(exportedAt + 10);
        const paid = await payAgain(merchant);
        await shop.confirm();
        await shop.confirm(1);
        expect(await shop.show(paid)).toMatchObject({ state: 'settled' });
        expect((await psbtOf(id)).confirmed_at).not.toBeNull();
      },
    );

    it('A discarded PSBT whose blocks are gone stops no other PSBT of the network (btcpayserver-docker#519)', async () => {
      const { merchant, id } = await prepare();
      const exportedAt = await heightNow();
      const other = await shop.merchant();
      await other.fund('0.3');
      const rows = await other.transfers('0.1');
      await shop.import(other.sign((await other.export()).psbt));
      await payAgain(merchant);
      await node.mine(2);
      await scanAll();
      await prune(exportedAt + 5);
      await shop.follow();
      await shop.follow();
      expect(await shop.statuses(rows)).toEqual(['success']);
      // It is asked for once a block.
      const before = blocksRead();
      await shop.follow();
      expect(blocksRead()).toBe(before);
      proxy.behave = undefined;
      await shop.confirm(1);
      expect((await psbtOf(id)).confirmed_at).not.toBeNull();
    });

    it('A node that makes up its height does not hide the block in which the coin is spent', async () => {
      const { merchant, id } = await prepare();
      await exportedLongAgo(id);
      proxy.behave = () => ({
        results: ({ method }, answer) => {
          if (method !== 'gettxout' || answer === null) return answer;
          return { ...(answer as object), confirmations: 9_000_000 };
        },
      });
      await shop.follow();
      proxy.behave = undefined;
      expect((await psbtOf(id)).from_height).toBeLessThan((await heightNow()) - 50);
      await payAgain(merchant);
      await shop.confirm();
      await shop.confirm(1);
      expect((await psbtOf(id)).confirmed_at).not.toBeNull();
    });
  },
);
