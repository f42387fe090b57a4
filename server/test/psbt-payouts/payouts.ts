/** Payouts by PSBT on a real Litecoin Core: signed by separate wallets, broadcast, settled, bumped, dropped and sent again. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WIF } from '@scure/btc-signer';
import type { ScriptType } from '../../src/core/addresses/bitcoin-scripts.js';
import { signIn } from '../support/browser.js';
import type { TestEngine } from '../support/engines.js';
import { hasLitecoind, startLitecoin, type LitecoinNode } from '../support/litecoin.js';
import { openPayoutShop, type PayoutShop } from './fixture.js';

const regtest = { bech32: 'rltc', pubKeyHash: 0x6f, scriptHash: 0x3a, wif: 0xef };
const ltc = (amount: string) => BigInt(Math.round(Number(amount) * 1e8));
const twenty = Array.from({ length: 20 }, (_, index) => `0.0${index + 10}`);

export const testPayouts = (engine: TestEngine): unknown =>
  describe.skipIf(!hasLitecoind)(`Payouts by PSBT, on ${engine.name}`, () => {
    let node: LitecoinNode;
    beforeAll(async () => {
      node = await startLitecoin();
    });
    afterAll(() => node.stop());

    let shop: PayoutShop;
    beforeAll(async () => {
      shop = await openPayoutShop(engine, node);
    });
    afterAll(() => shop.close());

    it('with a fee of 0 %, all that the balance shows can be withdrawn, the fees of the network inside', async () => {
      const merchant = await shop.merchant();
      await shop.command('merchants update', merchant.id, '--fee-basis-points', '0');
      await merchant.fund('0.3', '0.2');
      const shown = async () =>
        (await merchant.ask<{ currency: string; availableBalance: number }[]>('GET', '/v1/balances')).find(
          ({ currency }) => currency === 'LTC',
        )?.availableBalance ?? 0;
      async function payOut(amount: number): Promise<{ asked: bigint; received: bigint }> {
        const [row] = await merchant.transfers(amount.toFixed(8));
        const { psbt } = await merchant.export();
        await shop.import(merchant.sign(psbt));
        await shop.confirm();
        const settled = await shop.transfer(row?.id ?? '');
        expect(settled.status).toBe('success');
        const received = await node.rpc<number>('getreceivedbyaddress', settled.address);
        return { asked: ltc(String(amount)), received: ltc(String(received)) };
      }
      expect(await shown()).toBe(0.5);
      const part = await payOut(0.2);
      expect(part.received).toBe(part.asked);
      // The network's fee for the change is gone.
      expect(await shown()).toBeLessThan(0.3);
      const rest = await payOut(await shown());
      expect(rest.received).toBeLessThan(rest.asked);
      expect(await shown()).toBe(0);
      expect(await shop.custody(merchant.id)).toBe(0n);
      await shop.expectBooksInOrder();
    });

    it('twenty transfers are paid in one transaction, signed by a wallet of its own, and settled', async () => {
      const merchant = await shop.merchant();
      await merchant.fund('0.5', '0.3', '0.2');
      const rows = await merchant.transfers(...twenty);
      const exported = await merchant.export();
      expect(exported.transfers).toHaveLength(20);
      expect(exported.changePath).toBe('1/0');
      expect(await shop.statuses(rows)).toEqual(rows.map(() => 'pending'));

      const imported = await shop.import(merchant.sign(exported.psbt));
      expect(imported).toMatchObject({ state: 'sent', isBroadcast: true });
      const [version] = imported.versions;
      expect(await node.rpc<string[]>('getrawmempool')).toContain(version?.txHash);
      expect(new Set(await shop.statuses(rows))).toEqual(new Set(['processing']));
      await shop.confirm(1);
      expect((await shop.show(exported.id)).state).toBe('sent');
      await shop.confirm(1);
      expect((await shop.show(exported.id)).state).toBe('settled');

      for (const { id, address, amount } of rows) {
        const row = await shop.transfer(id);
        expect(row).toMatchObject({ status: 'success', tx_hash: version?.txHash });
        const received = await node.rpc<number>('getreceivedbyaddress', address, 2);
        expect(ltc(String(received))).toBe(amount);
      }
      const fees = await Promise.all(
        rows.map(async ({ id }) => BigInt((await shop.transfer(id)).network_fee ?? 0)),
      );
      expect(fees.reduce((sum, fee) => sum + fee)).toBe(ltc(version?.fee ?? ''));
      // The books have the same as the chain: here, the change and the coins that were not spent.
      const unspent = await node.rpc<{ total_amount: number }>('scantxoutset', 'start', [
        { desc: `wpkh(${merchant.account.publicExtendedKey}/0/*)`, range: 20 },
        { desc: `wpkh(${merchant.account.publicExtendedKey}/1/*)`, range: 20 },
      ]);
      expect(ltc(String(unspent.total_amount))).toBe(await shop.custody(merchant.id));
      await shop.expectBooksInOrder();
    });

    it('a second payout spends the change of the first, and no change address is used twice', async () => {
      const merchant = await shop.merchant();
      await merchant.fund('1');
      for (const path of ['1/0', '1/1', '1/2']) {
        const [row] = await merchant.transfers('0.1');
        const exported = await merchant.export();
        expect(exported.changePath).toBe(path);
        expect(exported.inputs.map((input) => input.path)).toEqual([
          path === '1/0' ? '0/0' : `1/${Number(path[2]) - 1}`,
        ]);
        await shop.import(merchant.sign(exported.psbt));
        await shop.confirm();
        expect((await shop.transfer(row?.id ?? '')).status).toBe('success');
      }
      await shop.expectBooksInOrder();
    });

    it('A payout is made and brought back in the console only by the people of the shop', async () => {
      const merchant = await shop.merchant();
      const other = await shop.merchant();
      const people = async (merchantId: string) => {
        const { bootstrapped } = shop.server;
        const server = { ...shop.server, bootstrapped: { ...bootstrapped, merchantId } };
        const browser = await signIn(server, 'manager', `${merchantId}@shop.example`);
        return async (path: string, body: object = {}) => {
          const answer = await browser.send('POST', `/console/api/psbts${path}`, { body });
          const { code } = answer.body.data as { code?: string };
          return { code, ...(answer.body.data as unknown as { psbt: Made; state?: string }) };
        };
      };
      interface Made {
        readonly id: string;
        readonly file: string;
        readonly transfers: readonly { readonly amount: string }[];
      }
      const [ada, eve] = [await people(merchant.id), await people(other.id)];
      await merchant.fund('0.5');
      const rows = await merchant.transfers('0.1');
      const { psbt: given } = await ada('', { network: 'litecoin-regtest', feeRate: '2' });
      await ada(`/${given.id}/discard`);
      const { psbt } = await ada('', { network: 'litecoin-regtest', feeRate: '2' });
      expect(psbt.transfers).toMatchObject([{ id: rows[0]?.id, amount: '0.1' }]);
      expect((await shop.show(psbt.id)).state).toBe('open');
      const signed = Buffer.from(merchant.sign(psbt.file)).toString('base64');
      for (const id of [psbt.id, 'nobody']) {
        for (const verb of ['file', 'discard', 'bump']) {
          expect((await eve(`/${id}/${verb}`, { feeRate: '9' })).code).toBe('not_found');
        }
      }
      expect((await eve('/import', { signed })).code).toBe('invalid_state');
      expect((await shop.show(psbt.id)).state).toBe('open');
      expect(await ada('/import', { signed })).toMatchObject({ id: psbt.id, isBroadcast: true });
      expect(await shop.statuses(rows)).toEqual(['processing']);
      await shop.confirm();
      expect(await shop.statuses(rows)).toEqual(['success']);
      const log = (await shop.command(`audit list --merchant ${merchant.id}`)) as Record<string, string>[];
      expect(
        log.filter(({ actor }) => actor?.includes('@shop.example, manager')).map(({ action }) => action),
      ).toEqual(expect.arrayContaining(['psbt.exported', 'psbt.discarded', 'psbt.imported']));
    });

    it.each<ScriptType>(['p2pkh', 'p2sh-p2wpkh', 'p2wpkh', 'p2tr'])(
      'coins and change of %s, at the fee rate that was asked for',
      async (script) => {
        const merchant = await shop.merchant(script);
        await merchant.fund('0.2', '0.1');
        const rows = await merchant.transfers('0.15', '0.05');
        const exported = await merchant.export({ 'fee-rate': '7.5' });
        expect(exported.inputs).toHaveLength(2);
        const imported = await shop.import(merchant.sign(exported.psbt));
        expect(imported.isBroadcast).toBe(true);
        const txHash = imported.versions[0]?.txHash ?? '';
        const { fee, vsize } = await node.rpc<{ fee: number; vsize: number }>('getmempoolentry', txHash);
        const rate = (fee * 1e8) / vsize;
        expect(rate).toBeGreaterThanOrEqual(7.5);
        expect(rate).toBeLessThan(7.5 * 1.03);
        await shop.confirm();
        expect(await shop.statuses(rows)).toEqual(['success', 'success']);
        await shop.expectBooksInOrder();
      },
    );

    it.each<ScriptType>(['p2pkh', 'p2sh-p2wpkh', 'p2wpkh'])(
      'signed by the wallet of Litecoin Core itself: %s',
      async (script) => {
        const merchant = await shop.merchant(script);
        await merchant.fund('0.2', '0.3');
        const rows = await merchant.transfers('0.4');
        const exported = await merchant.export();
        const key = merchant.account.derive('m/0/0').privateKey ?? new Uint8Array();
        await node.rpc('importprivkey', WIF(regtest).encode(key), '', false);
        const signed = await node.rpc<{ psbt: string; complete: boolean }>(
          'walletprocesspsbt',
          exported.psbt,
        );
        expect(signed.complete).toBe(true);
        // Core fills in and checks what it signs; the server takes either form of the result.
        const { hex } = await node.rpc<{ hex: string }>('finalizepsbt', signed.psbt);
        const imported = await shop.import(script === 'p2wpkh' ? signed.psbt : hex);
        expect(imported.isBroadcast).toBe(true);
        await shop.confirm();
        expect(await shop.statuses(rows)).toEqual(['success']);
      },
    );
  });
