/** Transfers on networks where an operator sends by hand, and settles them on the command line. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enginesOfTurn } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';
import { openShop, externalAddresses, type Shop } from '../support/shop.js';

const hash = 'ab'.repeat(32);
const otherHash = 'cd'.repeat(32);

describe.each(enginesOfTurn)('transfers that an operator sends, on $name', (engine) => {
  let server: TestServer;
  let merchant: Shop;
  beforeAll(async () => {
    server = await startServer({
      engine,
      overrides: { paidByOperator: ['tron'] },
    });
    merchant = openShop(server);
    await merchant.fund({ amount: 100 });
  });
  afterAll(async () => {
    await merchant.expectBooksInOrder();
    await server.stop();
  });

  it('a transfer that an operator sends stays pending until it is settled, once, with the hash of a transaction', async () => {
    const before = await merchant.balance();
    const { id } = await merchant.withdraw({ amount: 5 });
    expect(await merchant.command('transfers', 'list', '--status', 'pending')).toMatchObject([
      { id, executor: 'operator', amount: '5', fee: '0.2', network: 'tron', address: externalAddresses.tron },
    ]);
    await merchant.mine(5);
    expect((await merchant.retrieve(id)).status).toBe('pending');
    expect(await merchant.ask('GET', '/v1/payouts')).toEqual([]);

    const settle = ['transfers', 'settle', id, '--tx-hash', hash.toUpperCase(), '--network-fee', '0.05'];
    const settled = await merchant.command(...settle);
    expect(settled).toMatchObject({ id, status: 'success', txHash: hash });
    expect(await merchant.command(...settle)).toEqual(settled);
    expect(await merchant.refusal('transfers', 'settle', id, '--tx-hash', otherHash)).toBe(
      `The transfer is already settled with ${hash}`,
    );
    expect(await merchant.refusal('transfers', 'fail', id, '--reason', 'Too late')).toBe(
      'The transfer is already settled',
    );
    expect(await merchant.retrieve(id)).toMatchObject({ status: 'success', txHash: hash });
    expect(await merchant.ask('GET', '/v1/payouts')).toMatchObject([
      { transfer: id, status: 'success', txHash: hash },
    ]);
    const after = await merchant.balance();
    expect(after.totalBalance).toBeCloseTo(before.totalBalance - 5.2, 9);
    const cost = await server.database.reader
      .selectFrom('ledger_accounts')
      .select('balance')
      .where('id', '=', 'test/USDT/network_fee')
      .executeTakeFirst();
    expect(cost?.balance).toBe('50000');
  });

  it('a transfer that an operator sends can fail, once, which makes the money available again', async () => {
    const before = await merchant.balance();
    const { id } = await merchant.withdraw({ amount: 5 });
    const fail = ['transfers', 'fail', id, '--reason', 'The address is on a list of thieves'];
    const failed = await merchant.command(...fail);
    expect(failed).toMatchObject({
      id,
      status: 'failed',
      failureReason: 'The address is on a list of thieves',
    });
    expect(await merchant.command(...fail)).toEqual(failed);
    expect(await merchant.refusal('transfers', 'settle', id, '--tx-hash', hash)).toBe(
      'The transfer has already failed',
    );
    expect(await merchant.balance()).toEqual(before);
    expect(await merchant.retrieve(id)).toMatchObject({
      failureReason: 'The address is on a list of thieves',
    });
  });

  it('a transfer can neither be settled nor fail while its network is not configured', async () => {
    const { id } = await merchant.withdraw({ amount: 5 });
    const move = (network: string) =>
      server.database.write((transaction) =>
        transaction.updateTable('transfers').set({ network }).where('id', '=', id).execute(),
      );
    await move('gone');
    const settle = ['transfers', 'settle', id, '--tx-hash', '12'.repeat(32)];
    expect(await merchant.refusal(...settle)).toContain('The network gone is not configured any more');
    expect(await merchant.refusal('transfers', 'fail', id, '--reason', 'No')).toContain(
      'The network gone is not configured any more',
    );
    expect((await merchant.retrieve(id)).status).toBe('pending');
    await move('tron');
    expect(await merchant.command(...settle, '--unverified')).toMatchObject({ status: 'success' });
  });

  it('an operator cannot settle or fail a transfer that the server sends itself', async () => {
    await merchant.fund({ network: 'bsc', amount: 10 });
    const { id } = await merchant.withdraw({
      amount: 1,
      walletAddress: externalAddresses.evm,
      walletNetwork: 'bsc',
    });
    const reason = 'The server sends this transfer itself: operators cannot settle or fail transfers on bsc';
    expect(await merchant.refusal('transfers', 'settle', id, '--tx-hash', hash)).toBe(reason);
    expect(await merchant.refusal('transfers', 'fail', id, '--reason', 'No')).toBe(reason);
    await merchant.until(id, 'success', 'bsc');
  });

  it('settling or failing a transfer needs a valid hash, network fee, reason and id', async () => {
    const { id } = await merchant.withdraw({ amount: 5 });
    expect(await merchant.refusal('transfers', 'settle', id, '--tx-hash', 'yes')).toContain(
      '64 hexadecimal digits',
    );
    expect(
      await merchant.refusal('transfers', 'settle', id, '--tx-hash', hash, '--network-fee', '0.0000001'),
    ).toContain('network-fee: Must be a number with at most 6 decimals in USDT');
    expect(await merchant.refusal('transfers', 'fail', id, '--reason', ' ')).toContain('1 to 255 characters');
    expect(await merchant.refusal('transfers', 'fail', 'NOTHING', '--reason', 'No')).toBe('No such transfer');
    expect((await merchant.retrieve(id)).status).toBe('pending');
  });

  it('a transfer can take all that the balance shows, also where no fee covers the network’s charge', async () => {
    // By command, it would hold only when the server's memory of the merchant has ended.
    const takeFee = (feeBasisPoints: number) =>
      server.database.write((transaction) =>
        server.app.merchants.update(transaction, server.bootstrapped.merchantId, { feeBasisPoints }),
      );
    await takeFee(0);
    await merchant.fund({ currency: 'TRX', amount: 200 });
    const shown = async () => (await merchant.balance('TRX')).availableBalance;
    const before = await shown();
    const { id } = await merchant.withdraw({ currency: 'TRX', amount: 50 });
    await merchant.command('transfers', 'settle', id, '--tx-hash', 'ef'.repeat(32), '--network-fee', '60');
    const left = await shown();
    expect(left).toBeLessThanOrEqual(before - 50 - 60);
    const { fee } = await merchant.retrieve(id);
    const { id: last } = await merchant.withdraw({
      currency: 'TRX',
      amount: Number((left - fee).toFixed(6)),
    });
    expect(await shown()).toBe(0);
    await merchant.command('transfers', 'fail', last, '--reason', 'A test');
    await takeFee(100);
  });
});
