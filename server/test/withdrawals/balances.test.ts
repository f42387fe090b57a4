/** Balances over real HTTP on both engines: what they show of money that comes, waits, is held and is owed. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { call } from '../support/call.js';
import { engines } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';
import {
  openMerchant,
  externalAddresses,
  type Balance,
  type MerchantFixture,
} from '../support/merchant-fixture.js';

const cryptos = ['USDT', 'BTC', 'ETH', 'USDC', 'BNB', 'TRX', 'LTC', 'POL'];
const fiats = ['USD', 'NGN', 'EUR', 'GBP', 'GHS', 'KES', 'ZAR'];

describe.each(engines)('balances, on $name', (engine) => {
  let server: TestServer;
  let merchant: MerchantFixture;
  beforeEach(async () => {
    server = await startServer({ engine });
    merchant = openMerchant(server);
  });
  afterEach(async () => {
    await merchant.expectBooksInOrder();
    await server.stop();
  });

  it('are one for each active currency, zeros included, and whole', async () => {
    const { status, body } = await server.api('GET', '/v1/balances');
    expect(status).toBe(200);
    expect(body).toEqual({
      status: 'success',
      message: 'Balances fetched',
      data: [...cryptos, ...fiats].map((currency) => ({
        currency,
        availableBalance: 0,
        totalBalance: 0,
        isSuspended: false,
      })),
    });
  });

  it('are the own ones of a merchant and of a mode', async () => {
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

  it('count in total what is confirmed and not settled yet, and in available what is credited', async () => {
    const { address } = await merchant.lock();
    await merchant.sandbox('transfers', { network: 'tron', currency: 'USDT', address, amount: 2.5 });
    expect(await merchant.balance()).toMatchObject({ availableBalance: 0, totalBalance: 0 });
    await merchant.mine(2);
    expect(await merchant.balance()).toMatchObject({ availableBalance: 0, totalBalance: 2.5 });
    await merchant.sandbox('clock', { advanceSeconds: 1801 });
    expect(await merchant.balance()).toMatchObject({ availableBalance: 2.475, totalBalance: 2.475 });
  });

  it('show what a transfer holds as total until it is sent', async () => {
    await merchant.fund({ amount: 20 });
    const { body } = await merchant.transfer({ amount: 5 });
    expect(await merchant.balance()).toMatchObject({ availableBalance: 14.6, totalBalance: 19.8 });
    await merchant.until(String(body.data['id']), 'success');
    expect(await merchant.balance()).toMatchObject({ availableBalance: 14.6, totalBalance: 14.6 });
  });

  it('are shown rounded down to what can be transferred', async () => {
    await merchant.fund({ currency: 'ETH', network: 'base', amount: 1.00000001 });
    // 1 % of it leaves 0.9900000099, of which ether's 8 payable decimals are shown.
    expect(await merchant.balance('ETH')).toMatchObject({ availableBalance: 0.99, totalBalance: 0.99 });
  });

  it('that are suspended refuse transfers and say so, until they are resumed', async () => {
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
    // More than is there is refused for the same reason: what the balance is, is nobody's business then.
    expect((await merchant.transfer({ amount: 1000 })).body.data.code).toBe('balance_suspended');
    // Money still comes in.
    await merchant.fund({ amount: 10 });
    expect((await merchant.balance()).availableBalance).toBe(29.7);
    expect(await merchant.command('balances', 'resume', ...which)).toMatchObject({ isSuspended: false });
    expect((await merchant.transfer({})).status).toBe(200);
  });

  it('are suspended in one mode alone, live if none is given', async () => {
    await merchant.fund({ amount: 20 });
    const { merchantId } = server.bootstrapped;
    expect(
      await merchant.command('balances', 'suspend', '--merchant', merchantId, '--currency', 'USDT'),
    ).toMatchObject({ mode: 'live' });
    expect((await merchant.transfer({})).status).toBe(200);
  });

  it.each([
    [['--merchant', 'NOBODY', '--currency', 'USDT'], 'No such merchant'],
    [['--currency', 'XXX'], 'XXX is not a currency of this server'],
  ])('cannot be suspended with %j', async (args, reason) => {
    const account = args.includes('--merchant') ? [] : ['--merchant', server.bootstrapped.merchantId];
    expect(await merchant.refusal('balances', 'suspend', ...account, ...args)).toBe(reason);
  });

  it('are owed when a receipt is lost after it was withdrawn, and what comes next repays it first', async () => {
    // Paid on one network and withdrawn on another, so that the payment can be lost alone.
    await merchant.fund({ network: 'bsc', amount: 20 });
    const { body } = await merchant.transfer({ amount: 19 });
    await merchant.until(String(body.data['id']), 'success');
    expect(await merchant.balance()).toMatchObject({ availableBalance: 0.6, totalBalance: 0.6 });

    await merchant.sandbox('reorgs', { network: 'bsc', depth: 2 });
    expect(await merchant.balance()).toMatchObject({ availableBalance: 0, totalBalance: -19.2 });
    await merchant.expectBooksInOrder();
    const refused = await merchant.transfer({ amount: 0.01 });
    expect([refused.status, refused.body.data.code]).toEqual([400, 'insufficient_balance']);

    // 9.9 are credited: all of it repays.
    await merchant.fund({ amount: 10 });
    expect(await merchant.balance()).toMatchObject({ availableBalance: 0, totalBalance: -9.3 });
    await merchant.fund({ amount: 12 });
    expect(await merchant.balance()).toMatchObject({ availableBalance: 2.58, totalBalance: 2.58 });
    await merchant.fund({ amount: 10 });
    expect(await merchant.balance()).toMatchObject({ availableBalance: 12.48, totalBalance: 12.48 });
  });

  it('that are owed are repaid by a transfer that fails, too', async () => {
    await merchant.fund({ network: 'bsc', amount: 20 });
    const zero = `0x${'0'.repeat(40)}`;
    const held = await merchant.transfer({
      amount: 10,
      walletAddress: zero,
      walletNetwork: 'base',
      currency: 'USDC',
    });
    expect(held.body.data.code).toBe('insufficient_balance');
    const failing = await merchant.transfer({ amount: 19, walletAddress: zero, walletNetwork: 'polygon' });
    expect(failing.status).toBe(200);
    // The money that is held is not available to be taken back.
    await merchant.sandbox('reorgs', { network: 'bsc', depth: 2 });
    await merchant.until(String(failing.body.data['id']), 'failed', 'polygon');
    expect(await merchant.balance()).toMatchObject({ availableBalance: 0, totalBalance: 0 });
    expect(await merchant.arrived(externalAddresses.tron)).toEqual([]);
  });
});
