/** `ledger check --chain` compared with wallets that this server does not control: Litecoin Core, and anvil. */
import { Transaction } from '@scure/btc-signer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LedgerCheck } from '../../src/core/audit/check-report.js';
import { startNodeProxy } from '../support/core-proxy.js';
import { enginesOfTurn } from '../support/engines.js';
import { hasLitecoind, startLitecoin, type LitecoinNode } from '../support/litecoin.js';
import { openPayoutShop, type PayoutShop } from './fixture.js';

describe.skipIf(!hasLitecoind)('The books and the coins of a wallet', () => {
  let node: LitecoinNode;
  beforeAll(async () => {
    node = await startLitecoin();
  });
  afterAll(() => node.stop());

  describe.each(enginesOfTurn)('on $name', (engine) => {
    let shop: PayoutShop;
    beforeAll(async () => {
      shop = await openPayoutShop(engine, node);
    });
    afterAll(() => shop.close());

    async function check() {
      const output = await shop.run('ledger check --chain');
      const checks = output.json as LedgerCheck[];
      expect(output.hasFailed).toBe(false);
      return checks.flatMap(({ notes }) => notes ?? []);
    }

    it('The books and the coins are the same after deposits and payouts by PSBT, to the last unit of the fee', async () => {
      const merchant = await shop.merchant();
      await merchant.fund('0.5', '0.25');
      expect(await check()).toEqual([`The addresses of ${merchant.id} hold 0.75 LTC, as the books say`]);
      await merchant.transfers('0.1', '0.2');
      const exported = await merchant.export();
      await shop.import(merchant.sign(exported.psbt));
      await node.mine(2);
      await shop.scan();
      await shop.follow();
      const custody = Number(await shop.custody(merchant.id)) / 1e8;
      expect(custody).toBeLessThan(0.45);
      expect(await check()).toEqual([
        `The addresses of ${merchant.id} hold ${custody} LTC, as the books say`,
      ]);
    });

    it('Coins of a discarded PSBT that are still unspent are asked for once a block', async () => {
      const proxy = await startNodeProxy(node.url);
      const watched = await openPayoutShop(engine, { ...node, url: proxy.url });
      try {
        const merchant = await watched.merchant();
        await merchant.fund('0.3');
        await merchant.transfers('0.1');
        await watched.discard((await merchant.export()).id);
        const asked = () => proxy.calls.filter(({ method }) => method === 'gettxout').length;
        await watched.follow();
        const before = asked();
        await watched.follow();
        await watched.follow();
        expect(asked()).toBe(before);
        await node.mine(1);
        await watched.follow();
        expect(asked()).toBeGreaterThan(before);
      } finally {
        await watched.close();
        await proxy.close();
      }
    });

    it('The books and the coins differ when the wallet spends on its own, which is reported and no fault', async () => {
      const merchant = await shop.merchant();
      await merchant.fund('0.3');
      await merchant.transfers('0.1');
      // Another transaction with the same coin, that the server does not know.
      const original = Transaction.fromPSBT(Buffer.from((await merchant.export()).psbt, 'base64'));
      const input = original.getInput(0);
      const other = new Transaction();
      other.addInput(input);
      const script = original.getOutput(0).script ?? new Uint8Array();
      other.addOutput({ script, amount: (input.witnessUtxo?.amount ?? 0n) - 100_000n });
      const signed = merchant.sign(Buffer.from(other.toPSBT(0)).toString('base64'));
      await node.rpc('sendrawtransaction', (await node.rpc<{ hex: string }>('finalizepsbt', signed)).hex);
      await node.mine(2);
      const notes = await check();
      expect(notes).toContainEqual(
        expect.stringMatching(
          new RegExp(
            `^The addresses of ${merchant.id} hold 0 LTC, the books say 0\\.3 LTC\\. The wallet has moved the rest, or paid`,
          ),
        ),
      );
    });
  });
});
