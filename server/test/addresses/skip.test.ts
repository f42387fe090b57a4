/** `deposit-keys skip`: after a restore, what may have been given out since the backup is never given out again. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPayoutShop, network, type PayoutShop } from '../psbt-payouts/fixture.js';
import { enginesOfTurn } from '../support/engines.js';
import { hasLitecoind, startLitecoin, type LitecoinNode } from '../support/litecoin.js';

describe.skipIf(!hasLitecoind)('deposit-keys skip', () => {
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

    it('deposit-keys skip leaves out the given number of addresses, and the next one given out comes after them', async () => {
      const merchant = await shop.merchant();
      const nextAddress = async () => {
        const body = { currency: 'LTC', label: 'Till' };
        const wallet = await merchant.ask<{ addresses: { network: string; address: string }[] }>(
          'POST',
          '/v1/wallets',
          body,
        );
        return wallet.addresses.find((one) => one.network === network)?.address;
      };
      const scope = { merchantId: merchant.id, mode: 'test' } as const;
      const source = shop.server.app.depositKeys.sources.find(scope, 'litecoin', 'regtest');
      expect(await nextAddress()).toBe(source?.derive(0));
      const skip = ['--merchant', merchant.id, '--family', 'litecoin', '--count', '40'];
      expect(await shop.command('deposit-keys skip', ...skip)).toMatchObject({ count: 40, next: 41 });
      expect(await nextAddress()).toBe(source?.derive(41));
      const [entry] = await shop.server.app.auditLog.list(shop.server.database.reader, scope);
      expect(entry).toMatchObject({ action: 'deposit_key.skipped', after: { next: 41 } });
    });

    it('deposit-keys skip refuses a key that the merchant does not have', async () => {
      const { id } = await shop.merchant();
      const skip = shop.run('deposit-keys skip --family evm --count 1 --merchant', id);
      await expect(skip).rejects.toThrow('The merchant has no test deposit key for evm');
    });
  });
});
