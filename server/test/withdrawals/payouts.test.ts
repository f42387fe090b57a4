/** Payouts over real HTTP, on both engines: lists with every filter and order, and bank payouts by command line. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enginesOfTurn } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';
import { openShop, externalAddresses, type Shop } from '../support/shop.js';

interface Payout {
  readonly id: string;
  readonly status: string;
  readonly amount: number;
  readonly fee: number;
  readonly currency: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

const unknownId = '01J00000000000000000000000';

describe.each(enginesOfTurn)('payouts, on $name', (engine) => {
  let server: TestServer;
  let merchant: Shop;
  let accountOptions: string[];
  let bankAccount: string;
  let savedAddress: string;
  /** Newest last. */
  const made: string[] = [];

  beforeAll(async () => {
    server = await startServer({ engine });
    merchant = openShop(server);
    accountOptions = ['--merchant', server.bootstrapped.merchantId, '--mode', 'test'];
    await merchant.fund({ amount: 300 });
    await merchant.fund({ network: 'bsc', amount: 300 });
    await merchant.fund({ currency: 'BTC', network: 'bitcoin', amount: 1 });
    await merchant.fund({ currency: 'ETH', network: 'base', amount: 20 });
    const account = {
      accountNumber: '0690000032',
      accountBank: '044',
      country: 'NG',
      currency: 'NGN',
      accountName: 'Ada Example',
    };
    bankAccount = (await merchant.ask<{ id: string }>('POST', '/v1/bank-accounts', { body: account })).id;
    savedAddress = (
      await merchant.ask<{ id: string }>('POST', '/v1/wallet-addresses', {
        body: { address: externalAddresses.tron, currency: 'USDT', network: 'tron' },
      })
    ).id;
    await transfer({ amount: 9 });
    await transfer({ amount: 10, walletAddress: savedAddress });
    await transfer({
      amount: 0.5,
      currency: 'BTC',
      walletAddress: externalAddresses.bitcoin,
      walletNetwork: 'bitcoin',
    });
    await transfer({
      amount: 9.5,
      currency: 'ETH',
      walletAddress: externalAddresses.evm,
      walletNetwork: 'base',
    });
    await transfer({ amount: 100, walletAddress: externalAddresses.evm, walletNetwork: 'bsc' });
    made.push(String((await createBankPayout('25', 'settlement 1'))['id']));
  });
  afterAll(async () => {
    await merchant.expectBooksInOrder();
    await server.stop();
  });

  async function transfer(body: { walletNetwork?: string; [name: string]: unknown }): Promise<void> {
    const { id } = await merchant.withdraw(body);
    await merchant.until(id, 'success', body.walletNetwork ?? 'tron');
    const newest = await list('skip=100');
    made.push(newest[0]?.id ?? '');
    // Moves the clock, so that all times of creation differ.
    await merchant.advance(1);
  }

  const bankPayout = (amount: string, reference: string, account = bankAccount) => [
    ...['payouts', 'create', ...accountOptions, '--bank-account', account, '--amount', amount],
    ...['--currency', 'usdt', '--reference', reference],
  ];
  const createBankPayout = async (amount: string, reference: string, account = bankAccount) =>
    (await merchant.command(...bankPayout(amount, reference, account))) as Record<string, unknown>;

  const list = (query: string) => merchant.ask<Payout[]>('GET', `/v1/payouts?${query}`);
  const amounts = async (query: string) => (await list(query)).map(({ amount }) => amount);

  it('The list of payouts has transfers and bank payouts, newest first, without fields that do not apply', async () => {
    const payouts = await list('skip=100');
    expect(payouts.map(({ id }) => id)).toEqual([...made].reverse());
    expect(payouts[0]).toEqual({
      id: made.at(-1),
      mode: 'test',
      status: 'processing',
      amount: 25,
      fee: 0,
      currency: 'USDT',
      bankAccount,
      destination: '06…032',
      reference: 'settlement 1',
      createdAt: payouts[0]?.createdAt,
      updatedAt: payouts[0]?.updatedAt,
    });
    expect(payouts[4]).toMatchObject({
      amount: 10,
      fee: 0.2,
      address: savedAddress,
      destination: 'TJRabP…RTv8',
    });
    expect(payouts[1]).not.toHaveProperty('address');
    for (const payout of payouts) {
      expect(await merchant.ask('GET', `/v1/payouts/${payout.id}`)).toEqual(payout);
    }
  });

  it.each([
    ['currency=usdt', [25, 100, 10, 9]],
    ['currency=ETH', [9.5]],
    ['currency=NGN', []],
    ['status=success', [100, 9.5, 0.5, 10, 9]],
    ['status=processing', [25]],
    ['status=nothing', []],
    ['minAmount=10', [25, 100, 10]],
    ['minAmount=9.5&maxAmount=10', [9.5, 10]],
    ['maxAmount=9.5', [9.5, 0.5, 9]],
    ['maxAmount=0', []],
    // More decimals than any currency has.
    ['minAmount=9.4999999999999999999999', 'validation_error'],
    ['minAmount=0.0000000000000000001&maxAmount=0.5', [0.5]],
    ['maxAmount=0.0000000000000000001', []],
    ['sort=amount', [100, 25, 10, 9.5, 9, 0.5]],
    ['sort=amount&isAscending=true', [0.5, 9, 9.5, 10, 25, 100]],
    ['sort=amount&isAscending=true&page=2&skip=4', [25, 100]],
    ['sort=fee', [10, 9, 100, 0.5, 9.5, 25]],
    ['sort=status&isAscending=true', [25, 9, 10, 0.5, 9.5, 100]],
    ['sort=currency', [25, 100, 10, 9, 9.5, 0.5]],
    ['sort=createdAt&isAscending=true', [9, 10, 0.5, 9.5, 100, 25]],
    ['sort=updatedAt', [25, 100, 9.5, 0.5, 10, 9]],
    ['sort=destination', 'validation_error'],
    ['isAscending=yes', 'validation_error'],
    ['minAmount=-1', 'validation_error'],
    ['page=0', 'validation_error'],
    ['from=2026-02-01&to=2026-01-01', 'validation_error'],
    ['to=2020-01-01', []],
    [`bankAccount=${unknownId}`, []],
    [`address=${unknownId}`, []],
  ] as const)('Payouts with the query %s are filtered and sorted, or refused', async (query, expected) => {
    const { status, body } = await server.api('GET', `/v1/payouts?${query}`);
    if (typeof expected === 'string') expect([status, body.data.code]).toEqual([400, expected]);
    else expect((body.data as unknown as Payout[]).map(({ amount }) => amount)).toEqual(expected);
  });

  it('Payouts are filtered by their destination', async () => {
    expect(await amounts(`bankAccount=${bankAccount}`)).toEqual([25]);
    // The address was saved before the first transfer, which named it in full.
    expect(await amounts(`address=${savedAddress}`)).toEqual([10, 9]);
    expect(await amounts(`address=${savedAddress}&maxAmount=9&status=success&currency=USDT`)).toEqual([9]);
  });

  it('Payouts are counted in the pagination', async () => {
    const { body } = await server.api('GET', '/v1/payouts?currency=USDT&skip=3&page=2');
    expect(body.meta).toEqual({ pagination: { total: 4, count: 1, from: 4, to: 4 } });
  });

  it('Payouts are not found by other merchants, nor in the other mode', async () => {
    const path = `/v1/payouts/${made[0] ?? ''}`;
    const random = await server.api('GET', `/v1/payouts/${unknownId}`);
    expect([random.status, random.body.data.code]).toEqual([404, 'not_found']);
    for (const key of await server.keysWithoutAccess()) {
      const foreign = await server.api('GET', path, { key });
      expect([foreign.status, foreign.body.message]).toEqual([404, random.body.message]);
      expect((await server.api('GET', '/v1/payouts', { key })).body.data).toEqual([]);
    }
  });

  it('Payouts to a bank take the money at once, are made once per reference, and are settled once', async () => {
    const before = await merchant.balance();
    const payout = await createBankPayout('20', 'settlement 2');
    expect(payout).toMatchObject({
      status: 'processing',
      amount: '20',
      currency: 'USDT',
      destination: '06…032',
    });
    expect(await createBankPayout('20', 'settlement 2')).toEqual(payout);
    const taken = await merchant.balance();
    expect(taken.availableBalance).toBeCloseTo(before.availableBalance - 20, 9);
    expect(taken.totalBalance).toBe(taken.availableBalance);

    const id = String(payout['id']);
    const settled = await merchant.command('payouts', 'settle', id);
    expect(settled).toMatchObject({ id, status: 'success' });
    expect(await merchant.command('payouts', 'settle', id)).toEqual(settled);
    expect(await merchant.refusal('payouts', 'fail', id, '--reason', 'Late')).toBe(
      'The payout is already settled',
    );
    expect(await merchant.ask('GET', `/v1/payouts/${id}`)).toMatchObject({ status: 'success' });
    expect(await merchant.balance()).toEqual(taken);
    expect(await merchant.refusal(...bankPayout('20', 'settlement 2'))).toMatch(/has ended: it was paid\./);
    expect(await merchant.balance()).toEqual(taken);
  });

  it('Payouts to a bank that fail give the money back, once', async () => {
    const before = await merchant.balance();
    const { id } = await createBankPayout('20', 'settlement 3');
    const fail = ['payouts', 'fail', String(id), '--reason', 'The bank sent it back'];
    const failed = await merchant.command(...fail);
    expect(failed).toMatchObject({ status: 'failed', failureReason: 'The bank sent it back' });
    expect(await merchant.command(...fail)).toEqual(failed);
    expect(await merchant.balance()).toEqual(before);
    expect(await merchant.refusal('payouts', 'settle', String(id))).toBe('The payout has already failed');
    expect(await merchant.command('payouts', 'list', '--status', 'failed')).toMatchObject([{ id }]);
    expect(await merchant.refusal(...bankPayout('20', 'settlement 3'))).toMatch(/has ended: it failed\./);
  });

  it.each([
    [{ reference: 'settlement 1', amount: '26' }, 'Another payout already has the reference settlement 1'],
    [{ amount: '100000' }, 'available'],
    [{ amount: '0' }, 'amount: Must be more than 0'],
    [{ amount: '1.2345678' }, 'amount: Must be a number with at most 6 decimals in USDT'],
    [{ 'bank-account': unknownId }, 'No such bank account'],
    [{ merchant: 'NOBODY' }, 'No such merchant'],
    [{ currency: 'XXX' }, 'XXX is not a currency of this server'],
    [{ reference: ' ' }, 'reference: Must be 1 to 255 characters'],
    // The bank account belongs to test mode.
    [{ mode: 'live' }, 'No such bank account'],
  ])('Payouts to a bank are refused with %j', async (change, reason) => {
    const before = await merchant.balance();
    const options = {
      merchant: server.bootstrapped.merchantId,
      mode: 'test',
      'bank-account': bankAccount,
      amount: '1',
      currency: 'USDT',
      reference: 'settlement 4',
      ...change,
    };
    const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
    expect(await merchant.refusal('payouts', 'create', ...args)).toContain(reason);
    expect(await merchant.balance()).toEqual(before);
  });

  it('Payouts of a transfer cannot be settled or failed on their own', async () => {
    expect(await merchant.refusal('payouts', 'settle', made[0] ?? '')).toContain('carries out the transfer');
    expect(await merchant.refusal('payouts', 'fail', 'NOTHING', '--reason', 'x')).toBe('No such payout');
  });
});
