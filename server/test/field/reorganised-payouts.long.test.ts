/** A public report about a reorganisation between a request and its payment, tried on payouts of a treasury. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Hex } from 'viem';
import { enginesOfTurn } from '../support/engines.js';
import { transact } from '../support/forwarders.js';
import { openTreasury, treasury, type TreasuryFixture } from '../treasury/treasury-fixture.js';

const network = 'evm-dev';
const destination = '0x14dC79964da2C08b23698B3D3cc7Ca32193d9955';

describe.each(enginesOfTurn)('Payouts and reorganisations, on $name', (engine) => {
  let fixture: TreasuryFixture;
  beforeAll(async () => {
    fixture = await openTreasury(engine);
    await fixture.setTreasury();
    await fixture.pay('ETH');
    const { transactions } = await fixture.command<{ transactions: { to: string; data: string }[] }>(
      `sweeps export --network ${network} --format json`,
    );
    for (const { to, data } of transactions) await transact(fixture.anvil, to, data);
    await fixture.watch();
  });
  afterAll(async () => {
    await fixture.booksInOrder();
    await fixture.stop();
  });

  // There, what is in the block at the height of a request's creation counts as paid before it.
  it('spesmilo/electrum#10539: a payout in a block that replaces the newest one at its height settles its transfer', async () => {
    const { anvil, merchant } = fixture;
    // The block that replaces another is a second younger than its parent, and must not be older than the transfer.
    await anvil.rpc('evm_increaseTime', [30]);
    await anvil.mine(2);
    await fixture.scan();
    const height = await anvil.rpc<string>('eth_blockNumber');
    const body = { amount: 0.0005, currency: 'ETH', walletAddress: destination, walletNetwork: network };
    const { id } = await merchant.withdraw(body);
    const { transactionHash } = await transact(anvil, destination, '0x', treasury, 500_000_000_000_000n);
    const raw = await anvil.rpc<Hex>('eth_getRawTransactionByHash', [transactionHash]);
    await anvil.reorg(2, [[raw, 0]]);
    const receipt = await anvil.rpc('eth_getTransactionReceipt', [transactionHash]);
    expect(receipt).toMatchObject({ blockNumber: height });
    await fixture.watch();
    expect((await merchant.retrieve(id)).status).toBe('success');
  });
});
