/** The merchant's own limits on transfers, against a thief with the secret key. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { MerchantChange } from '../../src/core/merchants/merchants.js';
import { createRecords } from '../support/records.js';
import { enginesOfTurn } from '../support/engines.js';
import { openShop, type Shop } from '../support/shop.js';
import { startServer, type TestServer } from '../support/server.js';

const hourSeconds = 3600;

describe.each(enginesOfTurn)('transfers of a careful merchant, on $name', (engine) => {
  let server: TestServer;
  let merchant: Shop;
  beforeAll(async () => {
    server = await startServer({ engine });
    merchant = openShop(server);
    await merchant.fund({ network: 'ethereum', amount: 1000 });
  });
  afterAll(async () => {
    await merchant.expectBooksInOrder();
    await server.stop();
  });
  beforeEach(() => configure({ transfers: 'any', dailyLimits: { USDT: null } }));

  /** As an operator does: past the server's memory of the settings. */
  async function configure(change: MerchantChange): Promise<void> {
    await server.database.write((transaction) =>
      server.app.merchants.update(transaction, server.bootstrapped.merchantId, change),
    );
  }
  const advance = (hours: number) => merchant.advance(hours * hourSeconds);
  async function save(): Promise<{ id: string; address: string }> {
    const address = createRecords(server).evmAddress();
    const body = { address, currency: 'USDT', network: 'ethereum' };
    return merchant.ask('POST', '/v1/wallet-addresses', { body });
  }
  async function withdrawTo(walletAddress: string, amount: number | string = 1) {
    const { status, body } = await merchant.transfer({ walletAddress, walletNetwork: 'ethereum', amount });
    return { status, code: body.data.code, message: body.message, id: body.data['id'] };
  }

  it('Transfers to any address are accepted by default', async () => {
    expect(await withdrawTo(createRecords(server).evmAddress())).toMatchObject({ status: 200 });
  });

  it('with saved addresses only, a new address waits 24 hours, by its id and as text', async () => {
    await configure({ transfers: 'saved' });
    const { id, address } = await save();
    for (const to of [id, address, address.toLowerCase()]) {
      expect(await withdrawTo(to)).toMatchObject({ status: 400, code: 'invalid_address' });
    }
    expect((await withdrawTo(id)).message).toMatch(/saved more than 24 hours ago.*can be used after \d{4}-/);
    await advance(23.9);
    expect(await withdrawTo(id)).toMatchObject({ status: 400, code: 'invalid_address' });
    await advance(0.2);
    expect(await withdrawTo(id)).toMatchObject({ status: 200 });
    expect(await withdrawTo(address)).toMatchObject({ status: 200 });
    const unsaved = await withdrawTo(createRecords(server).evmAddress());
    expect(unsaved).toMatchObject({ status: 400, code: 'invalid_address' });
    expect(unsaved.message).toContain('not saved');
  });

  it('an address saved for another currency or network does not count', async () => {
    await configure({ transfers: 'saved' });
    const address = createRecords(server).evmAddress();
    for (const other of [
      { currency: 'USDC', network: 'ethereum' },
      { currency: 'USDT', network: 'polygon' },
    ]) {
      await merchant.ask('POST', '/v1/wallet-addresses', { body: { address, ...other } });
    }
    await advance(25);
    expect(await withdrawTo(address)).toMatchObject({ status: 400, code: 'invalid_address' });
  });

  it('Transfers stop at the daily limit, without fees, and continue as the 24 hours pass', async () => {
    await advance(25);
    await configure({ dailyLimits: { USDT: '10' } });
    const to = createRecords(server).evmAddress();
    expect(await withdrawTo(to, 6)).toMatchObject({ status: 200 });
    const tooMuch = await withdrawTo(to, '4.01');
    expect(tooMuch).toMatchObject({ status: 400, code: 'validation_error' });
    expect(tooMuch.message).toMatch(/daily limit of this account is 10 USDT, and 4 of it is left/);
    expect(await withdrawTo(to, 4)).toMatchObject({ status: 200 });
    expect(await withdrawTo(to, '0.01')).toMatchObject({ status: 400 });
    await advance(24.1);
    expect(await withdrawTo(to, 10)).toMatchObject({ status: 200 });
  });

  it('If ten transfers are made at once, only as many pass as the limit holds', async () => {
    await advance(25);
    await configure({ dailyLimits: { USDT: '3' } });
    const to = createRecords(server).evmAddress();
    const answers = await Promise.all(Array.from({ length: 10 }, () => withdrawTo(to, 1)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
  });
});
