/**
 * A node that sends wrong data about PSBTs, and a second provider: nothing final is done until both show the same.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startNodeProxy, type NodeProxy, type ProxiedCall } from '../support/core-proxy.js';
import { enginesOfTurn } from '../support/engines.js';
import { hasLitecoind, startLitecoin, type LitecoinNode } from '../support/litecoin.js';
import { openPayoutShop, type PayoutShop, type ShownPsbt } from './fixture.js';

type Forge = (call: ProxiedCall, answer: unknown) => unknown;

describe.skipIf(!hasLitecoind).each(enginesOfTurn)(
  'PSBTs with a node that sends wrong data, on $name',
  (engine) => {
    let node: LitecoinNode;
    /** In front of the same node: the first is preferred, and each has a provider of its own. */
    let first: NodeProxy;
    let second: NodeProxy;
    let shop: PayoutShop;
    beforeAll(async () => {
      node = await startLitecoin();
      first = await startNodeProxy(node.url);
      second = await startNodeProxy(node.url);
      shop = await openPayoutShop(engine, node, {
        nodes: [first.url, second.url],
        crossCheckAbove: '1 USD',
      });
    });
    afterEach(() => {
      first.behave = undefined;
      second.behave = undefined;
    });
    afterAll(async () => {
      await shop.close();
      await first.close();
      await second.close();
      await node.stop();
    });

    const lie = (forge: Forge) => {
      first.behave = () => ({ results: forge });
    };
    const blockAt = async (above: number) =>
      node.rpc<string>('getblockhash', (await node.rpc<number>('getblockcount')) - above);

    async function prepare(...funds: string[]) {
      const merchant = await shop.merchant();
      await merchant.fund(...funds);
      await shop.scan();
      const rows = await merchant.transfers('0.1');
      const exported = await merchant.export();
      return { merchant, rows, exported, hash: exported.versions[0]?.txHash ?? '' };
    }
    const isSpent = (call: ProxiedCall, { inputs }: ShownPsbt) =>
      call.method === 'gettxout' &&
      inputs.some(({ txHash, outputIndex }) => call.params[0] === txHash && call.params[1] === outputIndex);
    /** A block with one more transaction. */
    const withTransaction = (answer: unknown, transaction: unknown) => {
      const block = answer as { tx: unknown[] };
      return { ...block, tx: [...block.tx, transaction] };
    };
    /** Another transaction that spends the coins of a PSBT, and pays nobody whom the shop knows. */
    const thief = ({ inputs }: ShownPsbt) => ({
      txid: 'ee'.repeat(32),
      vin: inputs.map(({ txHash, outputIndex }) => ({ txid: txHash, vout: outputIndex })),
      vout: [{ value: 0.4, n: 0, scriptPubKey: { hex: `0014${'ee'.repeat(20)}` } }],
    });
    const waits = 'waits until a node of a second provider shows the same';

    it('A PSBT above the limit does not settle because one node shows it in a block', async () => {
      const { merchant, rows, exported, hash } = await prepare('0.5');
      await shop.import(merchant.sign(exported.psbt));
      const transaction = await node.rpc('getrawtransaction', hash, true);
      const deep = await blockAt(3);
      lie(({ method, params }, answer) => {
        if (method === 'getrawtransaction' && params[0] === hash) {
          return { ...(transaction as object), blockhash: deep };
        }
        return method === 'getblock' && params[0] === deep ? withTransaction(answer, transaction) : answer;
      });
      await shop.follow();
      expect(await shop.statuses(rows)).toEqual(['processing']);
      expect(await shop.show(exported.id)).toMatchObject({
        state: 'sent',
        problem: expect.stringContaining(waits) as string,
      });
      first.behave = undefined;
      await shop.confirm();
      expect(await shop.statuses(rows)).toEqual(['success']);
      expect(await shop.show(exported.id)).toMatchObject({ state: 'settled', problem: null });
      await shop.expectBooksInOrder();
    });

    it('A PSBT above the limit waits while the second provider is silent', async () => {
      const { merchant, rows, exported } = await prepare('0.5');
      await shop.import(merchant.sign(exported.psbt));
      second.behave = () => 'hang up';
      await shop.confirm();
      expect(await shop.statuses(rows)).toEqual(['processing']);
      expect((await shop.show(exported.id)).problem).toContain(waits);
      second.behave = undefined;
      await shop.follow();
      expect(await shop.statuses(rows)).toEqual(['success']);
      await shop.expectBooksInOrder();
    });

    it('A transfer that was paid is not given back because one node shows its coins spent elsewhere', async () => {
      const { merchant, rows, exported, hash } = await prepare('0.5');
      await shop.import(merchant.sign(exported.psbt));
      await shop.confirm();
      expect(await shop.statuses(rows)).toEqual(['success']);
      await node.mine(2);
      const own = await blockAt(3);
      const deep = await blockAt(2);
      lie((call, answer) => {
        const { method, params } = call;
        if (method === 'getblockheader' && params[0] === own) {
          return { ...(answer as object), confirmations: -1 };
        }
        if (method === 'getrawtransaction' && params[0] === hash) return null;
        if (isSpent(call, exported) || (method === 'gettxout' && params[0] === hash)) return null;
        if (method !== 'getblock') return answer;
        if (params[0] === own) return { ...(answer as object), tx: [] };
        return params[0] === deep ? withTransaction(answer, thief(exported)) : answer;
      });
      await shop.follow();
      expect(await shop.statuses(rows)).toEqual(['success']);
      expect(await shop.show(exported.id)).toMatchObject({
        state: 'settled',
        problem: expect.stringContaining(waits) as string,
      });
      first.behave = undefined;
      await shop.confirm(1);
      expect(await shop.show(exported.id)).toMatchObject({ state: 'settled', problem: null });
      await shop.expectBooksInOrder();
    });

    it('The transfer of a discarded PSBT is not paid with other coins because one node shows its coins spent', async () => {
      const { merchant, rows, exported } = await prepare('0.5', '0.4');
      await shop.discard(exported.id);
      await node.mine(3);
      await shop.scan();
      const deep = await blockAt(2);
      lie((call, answer) => {
        if (isSpent(call, exported)) return null;
        return call.method === 'getblock' && call.params[0] === deep
          ? withTransaction(answer, thief(exported))
          : answer;
      });
      expect(await merchant.export()).toMatchObject({
        psbt: null,
        skipped: [{ reason: expect.stringContaining('whose coins are being spent') as string }],
      });
      expect((await shop.show(exported.id)).problem).toContain(waits);
      await expect(shop.run('transfers fail --reason no', rows[0]?.id ?? '')).rejects.toThrow(waits);
      first.behave = undefined;
      const again = await merchant.export();
      expect(again.inputs).toEqual(exported.inputs);
      expect((await shop.show(exported.id)).problem).toBeNull();
    });
  },
);
