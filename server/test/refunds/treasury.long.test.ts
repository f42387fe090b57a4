/**
 * An over-payment on an anvil, refunded by a transaction that a treasury's owner signs from an export, and found on the
 * chain automatically.
 */
import { describe, expect, it, vi } from 'vitest';
import { claimTokenOf, openClaimBrowser } from '../support/claim-browser.js';
import { enginesOfSoak } from '../support/engines.js';
import { transact } from '../support/forwarders.js';
import { confirmations, openTreasury, treasury } from '../treasury/treasury-fixture.js';

const payer = '0x14dC79964da2C08b23698B3D3cc7Ca32193d9955';

interface Exported {
  readonly transactions?: readonly { readonly to: string; readonly data: string }[];
  readonly transfers?: readonly { readonly id: string; readonly to: string; readonly data: string }[];
}

describe.each(enginesOfSoak)('A refund on a real chain, on $name', (engine) => {
  it('A refund is exported with the treasury’s transfers, and paid once', { timeout: 120_000 }, async () => {
    const fixture = await openTreasury(engine);
    const { anvil, merchant, token } = fixture;
    try {
      await fixture.setTreasury();
      const { id, address, amount } = await fixture.lock('USDT');
      await fixture.sendTo(address, 'USDT', amount + 5_000_000n);
      await anvil.mine(confirmations);
      await vi.waitFor(
        async () => {
          await fixture.scan();
          const { state } = await merchant.ask<{ state: string }>('GET', `/v1/payments/${id}`);
          expect(state).toBe('settled_over');
        },
        { timeout: 10_000, interval: 50 },
      );
      const swept = await fixture.command<Exported>('sweeps export --network evm-dev --format json');
      for (const { to, data } of swept.transactions ?? []) await transact(anvil, to, data);
      await fixture.watch();

      const created = await merchant.refund(id, { kind: 'excess', refundFee: true });
      expect(created.amount).toBe(5);
      const claim = (to: string) => openClaimBrowser(fixture.server).claim(claimTokenOf(created), to);
      // A token, the treasury, and where the payment went: the money would be lost at all of them, or come back to the
      // shop.
      for (const wrong of [token, treasury, address, `0x${'0'.repeat(40)}`]) {
        expect((await claim(wrong)).body.data.code, wrong).toBe('invalid_address');
      }
      expect((await claim(payer)).status).toBe(200);
      await merchant.ask('POST', `/v1/refunds/${created.id}/approve`, { body: { address: payer } });

      const line = 'transfers export --network evm-dev --format json';
      const { transfers = [] } = await fixture.command<Exported>(line);
      expect(transfers).toHaveLength(1);
      for (const { to, data } of transfers) await transact(anvil, to, data, treasury);
      await fixture.watch();

      const paid = await merchant.retrieveRefund(created.id);
      expect(paid).toMatchObject({ status: 'paid', txHash: expect.stringMatching(/^0x/) as string });
      expect(await fixture.balance('USDT', payer)).toBe(5_000_000n);
      expect((await fixture.command<Exported>(line)).transfers).toEqual([]);
      await fixture.booksInOrder();
    } finally {
      await fixture.stop();
    }
  });
});
