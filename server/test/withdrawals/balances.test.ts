/** Balances over real HTTP, on both engines: money that is received, not settled yet, held, withdrawn or owed. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { call } from '../support/call.js';
import { testCoins } from '../support/coins.js';
import { enginesOfTurn } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';
import { openShop, externalAddresses, type Balance, type Shop } from '../support/shop.js';

const fiats = ['USD', 'NGN', 'EUR', 'GBP', 'GHS', 'KES', 'ZAR'];

describe.each(enginesOfTurn)('balances, on $name', (engine) => {
  let server: TestServer;
  let merchant: Shop;
  beforeEach(async () => {
    server = await startServer({ engine });
    merchant = openShop(server);
  });
  afterEach(async () => {
    await merchant.expectBooksInOrder();
    await server.stop();
  });

  it('the balances include every active currency, even at 0, on one page', async () => {
    const { status, body } = await server.api('GET', '/v1/balances');
    expect(status).toBe(200);
    expect(body).toEqual({
      status: 'success',
      message: 'Balances fetched',
      data: [...testCoins, ...fiats].map((currency) => ({
        mode: 'test',
        currency,
        availableBalance: 0,
        totalBalance: 0,
        isSuspended: false,
      })),
    });
  });

  it('balances are separate for each merchant and mode', async () => {
    await merchant.fund({ amount: 20 });
    expect((await merchant.balance()).availableBalance).toBe(19.8);
    const foreign = await server.api('GET', '/v1/balances', {
      key: await server.foreignKey('secret', 'test'),
    });
    expect((foreign.body.data as unknown as Balance[]).every((one) => one.totalBalance === 0)).toBe(true);
    const live = await call(server.url, 'GET', '/v1/balances', {
      key: await server.foreignKey('secret', 'live'),
    });
    // No live network is configured, so only fiat currencies are active there.
    expect((live.body.data as unknown as Balance[]).map(({ currency }) => currency)).toEqual(fiats);
  });

  it('the total balance includes confirmed money, and the available balance only credited money', async () => {
    const { address } = await merchant.lock();
    await merchant.send(address, 2.5);
    expect(await merchant.balance()).toMatchObject({ availableBalance: 0, totalBalance: 0 });
    await merchant.mine(2);
    expect(await merchant.balance()).toMatchObject({
      availableBalance: 0,
      unsettledBalance: 2.5,
      totalBalance: 2.5,
    });
    await merchant.advance(1801);
    expect(await merchant.balance()).toMatchObject({ availableBalance: 2.475, totalBalance: 2.475 });
  });

  it('the total balance includes the amount that a transfer holds until it is sent', async () => {
    await merchant.fund({ amount: 20 });
    const { id } = await merchant.withdraw({ amount: 5 });
    expect(await merchant.balance()).toMatchObject({
      availableBalance: 14.6,
      reservedBalance: 5.2,
      totalBalance: 19.8,
    });
    await merchant.until(id, 'success');
    expect(await merchant.balance()).toMatchObject({ availableBalance: 14.6, totalBalance: 14.6 });
  });

  it('a balance is shown rounded down to the decimals of its currency', async () => {
    await merchant.fund({ currency: 'ETH', network: 'base', amount: 1.00000001 });
    // Minus the fee of 1 % this is 0.9900000099, which is shown with 8 decimals.
    expect(await merchant.balance('ETH')).toMatchObject({ availableBalance: 0.99, totalBalance: 0.99 });
  });

  it('a suspended balance refuses transfers until it is resumed', async () => {
    await merchant.fund({ amount: 20 });
    const { merchantId } = server.bootstrapped;
    const which = ['--merchant', merchantId, '--currency', 'usdt', '--mode', 'test'];
    const suspended = { merchantId, mode: 'test', currency: 'USDT', isSuspended: true };
    expect(await merchant.command('balances', 'suspend', ...which)).toEqual(suspended);
    expect(await merchant.command('balances', 'suspend', ...which)).toEqual(suspended);
    expect(await merchant.balance()).toMatchObject({ isSuspended: true, availableBalance: 19.8 });
    expect((await merchant.balance('TRX')).isSuspended).toBe(false);
    const refused = await merchant.transfer({});
    expect([refused.status, refused.body.data.code]).toEqual([409, 'balance_suspended']);
    // A suspended balance does not reveal whether it would have been enough.
    expect((await merchant.transfer({ amount: 1000 })).body.data.code).toBe('balance_suspended');
    // Payments are still credited.
    await merchant.fund({ amount: 10 });
    expect((await merchant.balance()).availableBalance).toBe(29.7);
    expect(await merchant.command('balances', 'resume', ...which)).toMatchObject({ isSuspended: false });
    expect((await merchant.transfer({})).status).toBe(200);
  });

  it('a balance is suspended in one mode only', async () => {
    await merchant.fund({ amount: 20 });
    const { merchantId } = server.bootstrapped;
    expect(
      await merchant.command(
        ...['balances', 'suspend', '--merchant', merchantId, '--currency', 'USDT', '--mode', 'live'],
      ),
    ).toMatchObject({ mode: 'live' });
    expect((await merchant.transfer({})).status).toBe(200);
  });

  it.each([
    [['--merchant', 'NOBODY', '--currency', 'USDT'], /^No such merchant$/],
    [['--currency', 'XXX'], /^XXX is not a currency of this server\. It has USDT, .*EUR/],
  ])('a balance cannot be suspended with %j', async (args, reason) => {
    const account = args.includes('--merchant') ? [] : ['--merchant', server.bootstrapped.merchantId];
    expect(await merchant.refusal('balances', 'suspend', '--mode', 'live', ...account, ...args)).toMatch(
      reason,
    );
  });

  it('a balance becomes negative if a withdrawn receipt is lost, until the next payments repay the debt', async () => {
    await merchant.fund({ network: 'bsc', amount: 20 });
    const onBsc = { walletAddress: externalAddresses.evm, walletNetwork: 'bsc' };
    const { id } = await merchant.withdraw({ ...onBsc, amount: 19 });
    await merchant.until(id, 'success', 'bsc');
    expect(await merchant.balance()).toMatchObject({ availableBalance: 0.75, totalBalance: 0.75 });

    // Drops both, but the server sends the withdrawal again.
    await merchant.sandbox('reorgs', { network: 'bsc', depth: 100 });
    expect(await merchant.balance()).toMatchObject({ availableBalance: 0, totalBalance: -19.05 });
    await merchant.expectBooksInOrder();
    const refused = await merchant.transfer({ amount: 0.01 });
    expect([refused.status, refused.body.data.code]).toEqual([400, 'insufficient_balance']);

    // 9.9 is credited, and all of it repays the debt.
    await merchant.fund({ amount: 10 });
    expect(await merchant.balance()).toMatchObject({ availableBalance: 0, totalBalance: -9.15 });
    await merchant.fund({ amount: 12 });
    expect(await merchant.balance()).toMatchObject({ availableBalance: 2.73, totalBalance: 2.73 });
    await merchant.fund({ amount: 10 });
    expect(await merchant.balance()).toMatchObject({ availableBalance: 12.63, totalBalance: 12.63 });
  });

  it('a lost receipt is also repaid by a transfer that fails', async () => {
    await merchant.fund({ network: 'bsc', amount: 20 });
    const zero = `0x${'0'.repeat(40)}`;
    const held = await merchant.transfer({
      amount: 10,
      walletAddress: zero,
      walletNetwork: 'base',
      currency: 'USDC',
    });
    expect(held.body.data.code).toBe('insufficient_balance');
    const failing = await merchant.withdraw({ amount: 19, walletAddress: zero, walletNetwork: 'bsc' });
    // Money that is held is not available, so it cannot be paid out again.
    await merchant.sandbox('reorgs', { network: 'bsc', depth: 2 });
    await merchant.until(failing.id, 'failed', 'bsc');
    expect(await merchant.balance()).toMatchObject({ availableBalance: 0, totalBalance: 0 });
    expect(await merchant.arrived(externalAddresses.tron)).toEqual([]);
  });
});
