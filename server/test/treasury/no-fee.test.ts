/** A merchant without a fee: nobody's income covers what the network charges, and still each balance shown can be withdrawn. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { enginesOfQuick } from '../support/engines.js';
import { transact } from '../support/forwarders.js';
import { openTreasury, treasury, type TreasuryFixture } from './treasury-fixture.js';

const destination = '0x14dC79964da2C08b23698B3D3cc7Ca32193d9955';
const ether = 10n ** 18n;

describe.each(enginesOfQuick)('with a fee of 0 %, on $name', (engine) => {
  let fixture: TreasuryFixture;
  beforeEach(async () => {
    fixture = await openTreasury(engine);
    await fixture.command(`merchants update ${fixture.merchantId} --fee-basis-points 0`);
    await fixture.setTreasury();
  });
  afterEach(() => fixture.stop());

  const shown = async () => (await fixture.merchant.balance('ETH')).availableBalance;
  const transfer = (amount: number) =>
    fixture.merchant.transfer({
      amount,
      currency: 'ETH',
      walletAddress: destination,
      walletNetwork: 'evm-dev',
    });
  const unitsOf = (amount: number) => BigInt(Math.round(amount * 1e8)) * (ether / 10n ** 8n);

  /** Withdraws all that is shown, and is refused the least more. */
  async function withdrawAll(): Promise<void> {
    const amount = await shown();
    const more = await transfer(Number((amount + 1e-8).toFixed(8)));
    expect([more.status, more.body.data.code]).toEqual([400, 'insufficient_balance']);
    const { status, body } = await transfer(amount);
    expect(status, JSON.stringify(body)).toBe(200);
    await transact(fixture.anvil, destination, '0x', treasury, unitsOf(amount));
    await fixture.watch();
    expect((await fixture.merchant.retrieve(String(body.data['id']))).status).toBe('success');
    await fixture.booksInOrder();
  }

  it('the amount shown is accepted, also after the treasury has paid gas', async () => {
    const first = await fixture.pay('ETH');
    expect(unitsOf(await shown())).toBe(first.amount);
    await withdrawAll();
    // The treasury has paid the gas with coins that the next payment must bring.
    const spent = await fixture.custody('ETH');
    const gas = -(spent.addresses + spent.treasury);
    expect(gas).toBeGreaterThan(0n);
    const second = await fixture.pay('ETH');
    const left = unitsOf(await shown());
    expect(left).toBeLessThanOrEqual(second.amount - gas);
    expect(second.amount - gas - left).toBeLessThan(ether / 10n ** 8n);
    await withdrawAll();
  });
});
