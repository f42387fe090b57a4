/** Transfers over real HTTP, on both engines: what is refused, what is held, and how the server sends them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addressFormat } from '../../src/core/addresses/formats.js';
import { enginesOfTurn } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';
import { openShop, externalAddresses, type Shop, type TransferRecord } from '../support/shop.js';

const unknownId = '01J00000000000000000000000';

describe.each(enginesOfTurn)('transfers, on $name', (engine) => {
  let server: TestServer;
  let merchant: Shop;
  beforeAll(async () => {
    server = await startServer({ engine });
    merchant = openShop(server);
    await merchant.command(
      'merchants',
      'update',
      server.bootstrapped.merchantId,
      '--webhook-url',
      hooks,
      '--mode',
      'test',
    );
    await merchant.fund({ amount: 200 });
    await merchant.fund({ currency: 'ETH', network: 'base', amount: 1 });
  });
  afterAll(async () => {
    await merchant.expectBooksInOrder();
    await server.stop();
  });

  /** Nothing listens there. The events stay in the outbox. */
  const hooks = 'https://shop.example/hooks';

  it('A transfer holds its amount and fee, and is sent, confirmed and paid out', async () => {
    const before = await merchant.balance();
    const created = await merchant.transfer({ amount: '3.5' });
    expect(created.status).toBe(200);
    expect(created.body.message).toBe('Transfer created');
    const { id } = created.body.data as unknown as TransferRecord;
    expect(created.body.data).toMatchObject({
      status: 'pending',
      amount: 3.5,
      fee: 0.2,
      currency: 'USDT',
      walletAddress: externalAddresses.tron,
      walletNetwork: 'tron',
    });
    expect(created.body.data['updatedAt']).toBe(created.body.data['createdAt']);
    const held = await merchant.balance();
    expect(held.availableBalance).toBeCloseTo(before.availableBalance - 3.7, 9);
    expect(held.totalBalance).toBe(before.totalBalance);

    const sent = await merchant.until(id, 'processing');
    expect(sent.txHash).toMatch(/^[0-9a-f]{64}$/);
    expect((await payoutsOf(id))[0]).toMatchObject({ status: 'processing', txHash: sent.txHash });
    expect(await merchant.eventsOf(id)).toEqual([]);

    const done = await merchant.until(id, 'success');
    expect(done.txHash).toBe(sent.txHash);
    expect(await merchant.timesOnChain(done.txHash)).toBe(1);
    const after = await merchant.balance();
    expect(after.availableBalance).toBe(held.availableBalance);
    expect(after.totalBalance).toBe(held.availableBalance);
    expect(await payoutsOf(id)).toMatchObject([
      {
        status: 'success',
        amount: 3.5,
        fee: 0.2,
        destination: 'TJRabP…RTv8',
        transfer: id,
        txHash: done.txHash,
      },
    ]);
    expect(await merchant.eventsOf(id)).toMatchObject([
      {
        type: 'transfer.success',
        data: { id, status: 'success', amount: 3.5, fee: 0.2, txHash: done.txHash },
      },
    ]);
  });

  async function payoutsOf(id: string) {
    const payouts = await merchant.ask<Record<string, unknown>[]>('GET', '/v1/payouts?skip=100');
    return payouts.filter((payout) => payout['transfer'] === id);
  }

  it('Transfers are posted as fee income, network fee and money out of custody', async () => {
    const { id } = await merchant.withdraw({ amount: 4 });
    await merchant.until(id, 'success');
    const entries = await server.database.reader
      .selectFrom('ledger_postings')
      .innerJoin('ledger_entries', 'posting_id', 'ledger_postings.id')
      .innerJoin('ledger_accounts', 'ledger_accounts.id', 'account_id')
      .select(['key', 'kind', 'network', 'debit', 'credit'])
      .where('key', 'in', [`hold:${id}`, `post:${id}`, `void:${id}`])
      .orderBy('key')
      .orderBy('kind')
      .execute();
    expect(entries.map(({ key, kind, debit, credit }) => [key.split(':')[0], kind, debit, credit])).toEqual([
      ['hold', 'available', '4200000', '0'],
      ['hold', 'reserved', '0', '4200000'],
      ['post', 'custody', '0', '4200000'],
      ['post', 'fee_income', '0', '200000'],
      ['post', 'network_fee', '200000', '0'],
      ['post', 'reserved', '4200000', '0'],
    ]);
    expect(entries.find(({ kind }) => kind === 'custody')?.network).toBe('tron');
  });

  it("Transfers to one of the server's own deposit addresses are received like any other payment", async () => {
    const { id: paymentId, address } = await merchant.lock();
    const { id } = await merchant.withdraw({ amount: 10, walletAddress: address });
    await merchant.until(id, 'success');
    const payment = await merchant.ask<{ status: string; amountReceived: number }>(
      'GET',
      `/v1/transactions/${paymentId}/verify`,
    );
    expect(payment).toMatchObject({ status: 'success', amountReceived: 10 });
  });

  it('A transfer fails if the network refuses it, and the money is available again', async () => {
    const before = await merchant.balance();
    const zero = addressFormat('test', 'tron').write(new Uint8Array(20));
    const { id } = await merchant.withdraw({ amount: 2, walletAddress: zero });
    const failed = await merchant.until(id, 'failed');
    expect(failed.failureReason).toBe('Nothing can be sent to the zero address');
    expect(await merchant.balance()).toEqual(before);
    expect(await payoutsOf(id)).toMatchObject([
      { status: 'failed', failureReason: 'Nothing can be sent to the zero address' },
    ]);
    expect(await merchant.eventsOf(id)).toMatchObject([
      { type: 'transfer.failed', data: { id, status: 'failed' } },
    ]);
    expect(await merchant.arrived(zero)).toEqual([]);
  });

  it('The fee of a transfer can be looked up without creating one', async () => {
    const before = await merchant.balance('ETH');
    for (const [currency, network, walletAddress, fee] of [
      ['usdt', 'TRON', externalAddresses.tron, 0.2],
      ['USDT', 'bsc', externalAddresses.evm, 0.05],
      ['ETH', 'base', externalAddresses.evm, 0.00001],
      ['BTC', 'bitcoin', externalAddresses.bitcoin, 0.00002],
    ] as const) {
      const body = { amount: 1, currency, walletAddress, walletNetwork: network };
      const { data } = (await server.api('POST', '/v1/transfers/fee', { body })).body;
      expect(data).toEqual({ currency: currency.toUpperCase(), amount: fee });
    }
    expect(await merchant.balance('ETH')).toEqual(before);
  });

  it.each([
    [{ amount: 0 }, 'validation_error', 'amount'],
    [{ amount: -1 }, 'validation_error', 'amount'],
    [{ amount: 'NaN' }, 'validation_error', 'amount'],
    [{ amount: '0.0000001' }, 'validation_error', 'amount'],
    [{ amount: '1e3' }, 'validation_error', 'amount'],
    [{ amount: '1234567890.1234567' }, 'validation_error', 'amount'],
    [{ currency: '' }, 'validation_error', 'currency'],
    [{ currency: 'XXX' }, 'unsupported_currency', 'currency'],
    [{ currency: 'NGN' }, 'unsupported_currency', 'currency'],
    [{ walletAddress: '' }, 'validation_error', 'walletAddress'],
    [{ walletNetwork: undefined }, 'validation_error', 'walletNetwork'],
    [{ walletNetwork: '' }, 'validation_error', 'walletNetwork'],
    // Even if the currency has only one network.
    [{ currency: 'TRX', walletNetwork: undefined }, 'validation_error', 'walletNetwork'],
    [{ walletNetwork: 'nowhere' }, 'unsupported_currency', 'walletNetwork'],
    [{ walletNetwork: 'bitcoin' }, 'unsupported_currency', 'walletNetwork'],
    [{ walletNetwork: 'ethereum' }, 'invalid_address', 'walletAddress'],
    [{ walletAddress: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv9' }, 'invalid_address', 'walletAddress'],
    [{ walletAddress: unknownId }, 'invalid_address', 'walletAddress'],
    [
      { walletAddress: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD', walletNetwork: 'bsc' },
      'invalid_address',
      'walletAddress',
    ],
    [{ amount: 100_000 }, 'insufficient_balance', 'amount'],
  ] as const)('A transfer is refused with %j: %s', async (change, code, param) => {
    const before = await merchant.balance();
    const refused = await merchant.transfer(change);
    expect([refused.status, refused.body.data.code, refused.body.data.param]).toEqual([400, code, param]);
    if (code !== 'insufficient_balance') {
      const body = {
        amount: 1,
        currency: 'USDT',
        walletAddress: externalAddresses.tron,
        walletNetwork: 'tron',
        ...change,
      };
      const quote = await server.api('POST', '/v1/transfers/fee', { body });
      expect([quote.status, quote.body.data.code]).toEqual([400, code]);
    }
    expect(await merchant.balance()).toEqual(before);
  });

  it('A transfer needs enough balance for the fee as well as the amount', async () => {
    const { availableBalance } = await merchant.balance('ETH');
    const eth = { currency: 'ETH', walletAddress: externalAddresses.evm, walletNetwork: 'base' };
    expect((await merchant.transfer({ ...eth, amount: availableBalance })).body.data.code).toBe(
      'insufficient_balance',
    );
    const all = Number((availableBalance - 0.00001).toFixed(8));
    expect((await merchant.transfer({ ...eth, amount: all })).status).toBe(200);
    expect((await merchant.balance('ETH')).availableBalance).toBe(0);
  });

  it('A transfer goes to a saved address by its id, on its network', async () => {
    await merchant.fund({ network: 'bsc', amount: 10 });
    const save = (body: object) =>
      merchant.ask<{ id: string }>('POST', '/v1/wallet-addresses', { body: { currency: 'USDT', ...body } });
    const tron = await save({ address: externalAddresses.tron, network: 'tron' });
    const anywhere = await save({ address: externalAddresses.evm });
    const { body } = await merchant.transfer({ walletAddress: tron.id, walletNetwork: undefined });
    expect(body.data).toMatchObject({ walletAddress: externalAddresses.tron, walletNetwork: 'tron' });
    const id = String(body.data['id']);
    await merchant.until(id, 'success');
    expect(await payoutsOf(id)).toMatchObject([{ address: tron.id, destination: 'TJRabP…RTv8' }]);
    // The same address, given in full, is recognised as the saved one.
    const inFull = await merchant.withdraw();
    await merchant.until(inFull.id, 'success');
    expect(await payoutsOf(inFull.id)).toMatchObject([{ address: tron.id }]);

    const refusals = [
      [{ walletAddress: tron.id, walletNetwork: 'bsc' }, 'validation_error', 'walletNetwork'],
      [{ walletAddress: anywhere.id, walletNetwork: undefined }, 'validation_error', 'walletNetwork'],
      [{ walletAddress: anywhere.id, walletNetwork: 'tron' }, 'invalid_address', 'walletAddress'],
      [{ walletAddress: tron.id, currency: 'TRX' }, 'invalid_address', 'walletAddress'],
    ] as const;
    for (const [change, code, param] of refusals) {
      const refused = await merchant.transfer(change);
      expect([refused.status, refused.body.data.code, refused.body.data.param]).toEqual([400, code, param]);
    }
    expect((await merchant.transfer({ walletAddress: anywhere.id, walletNetwork: 'BSC' })).status).toBe(200);
    const foreign = await merchant.transfer(
      { walletAddress: tron.id },
      { key: await server.foreignKey('secret', 'test') },
    );
    expect(foreign.body.data.code).toBe('invalid_address');
  });

  it('A transfer is created once per Idempotency-Key', async () => {
    const before = await merchant.balance();
    const headers = { 'Idempotency-Key': 'withdrawal-42' };
    const first = await merchant.transfer({ amount: 1 }, { headers });
    const again = await merchant.transfer({ amount: 1 }, { headers });
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('Idempotent-Replayed')).toBe('true');
    expect((await merchant.transfer({ amount: 2 }, { headers })).status).toBe(422);
    expect((await merchant.balance()).availableBalance).toBeCloseTo(before.availableBalance - 1.2, 9);
  });

  it('Transfers are not found by other merchants, nor in the other mode', async () => {
    const path = `/v1/transfers/${(await merchant.withdraw()).id}`;
    expect((await server.api('GET', path)).status).toBe(200);
    const random = await server.api('GET', `/v1/transfers/${unknownId}`);
    expect([random.status, random.body.data.code]).toEqual([404, 'not_found']);
    for (const key of await server.keysWithoutAccess()) {
      const foreign = await server.api('GET', path, { key });
      expect(foreign.status).toBe(404);
      expect({ ...foreign.body.data, requestId: '' }).toEqual({ ...random.body.data, requestId: '' });
      expect(foreign.body.message).toBe(random.body.message);
    }
    const isPublic = await server.api('GET', path, { key: server.publicKey });
    expect([isPublic.status, isPublic.body.data.code]).toEqual([403, 'secret_key_required']);
  });

  it('Transfers are listed newest first, in pages, filtered by time of creation', async () => {
    const all = await merchant.ask<{ id: string; createdAt: string }[]>('GET', '/v1/transfers?skip=100');
    expect(all.length).toBeGreaterThan(6);
    const times = all.map(({ createdAt }) => createdAt);
    expect(times).toEqual([...times].sort().reverse());
    const page = await server.api('GET', '/v1/transfers?page=2&skip=3');
    expect((page.body.data as unknown as { id: string }[]).map(({ id }) => id)).toEqual(
      all.slice(3, 6).map(({ id }) => id),
    );
    expect(page.body.meta).toEqual({ pagination: { total: all.length, count: 3, from: 4, to: 6 } });
    const oldest = times.at(-1) ?? '';
    const until = await server.api('GET', `/v1/transfers?to=${oldest}&skip=100`);
    expect((until.body.data as unknown as { id: string }[]).map(({ id }) => id)).toEqual(
      all.filter(({ createdAt }) => createdAt === oldest).map(({ id }) => id),
    );
    const past = await server.api('GET', '/v1/transfers?page=999');
    expect([past.status, past.body.data]).toEqual([200, []]);
  });

  it('Transfers cannot be created in live mode, where no network is configured', async () => {
    const refused = await merchant.transfer({}, { key: await server.foreignKey('secret', 'live') });
    expect([refused.status, refused.body.data.code]).toEqual([400, 'unsupported_currency']);
  });
});
