/** Hosted wallets over real HTTP, on both engines: their addresses, deposits and webhooks. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMerchantClient, type MerchantClient } from 'crypto-checkout/client';
import type { Payment } from 'crypto-checkout/contract';
import { enginesOfTurn } from '../support/engines.js';
import { expectPages } from '../support/lists.js';
import { openShop, type Shop, type Wallet } from '../support/shop.js';
import { startServer, type TestServer } from '../support/server.js';

describe.each(enginesOfTurn)('a hosted wallet, on $name', (engine) => {
  let server: TestServer;
  let shop: Shop;
  let merchant: MerchantClient;

  beforeAll(async () => {
    server = await startServer({ engine });
    shop = openShop(server);
    // Nothing listens there. The tests read the events in the outbox.
    const { merchantId } = server.bootstrapped;
    const endpoints = server.app.endpoints;
    await server.database.write((transaction) =>
      endpoints.set(transaction, { merchantId, mode: 'test' }, 'http://localhost:9/hooks'),
    );
    merchant = createMerchantClient({ apiUrl: server.url, secretKey: server.secretKey });
  });

  afterAll(async () => {
    await shop.expectBooksInOrder();
    await server.stop();
  });

  const createWallet = async (currency = 'USDT', label = ''): Promise<Wallet> =>
    (await merchant.wallets.create({ body: { currency, label } })).data;
  const addressOf = (wallet: Wallet, network = 'tron') =>
    wallet.addresses.find((address) => address.network === network)?.address ?? '';

  /** The transactions of a wallet's addresses, newest first. */
  async function deposits(wallet: Wallet): Promise<Payment[]> {
    const { data } = await merchant.transactions.list({ query: { skip: 100 } });
    const addresses = wallet.addresses.map(({ address }) => address);
    return data.filter((payment) => addresses.includes(payment.addressInformation?.address ?? ''));
  }

  async function onlyDeposit(wallet: Wallet): Promise<Payment> {
    const [deposit, ...others] = await deposits(wallet);
    expect(others).toEqual([]);
    if (!deposit) throw new Error('The wallet has no deposit');
    return deposit;
  }

  /** The amount that the merchant can spend, in units. */
  async function available(currency: string): Promise<bigint> {
    const account = await server.database.reader
      .selectFrom('ledger_accounts')
      .select('balance')
      .where('kind', '=', 'available')
      .where('currency', '=', currency)
      .executeTakeFirst();
    return BigInt(account?.balance ?? '0');
  }

  const logOf = (payment: Payment) => payment.transactionTimeLog.map((entry) => entry.event);

  describe('as a record', () => {
    it('a hosted wallet has an address on every active network of its currency, and its code in upper case', async () => {
      const { data: currencies } = await merchant.currencies.list();
      for (const code of ['USDT', 'eth', 'Btc']) {
        const wallet = await createWallet(code, 'Donations');
        const networks = currencies
          .find((currency) => currency.code === code.toUpperCase())
          ?.networks.map((network) => network.code);
        expect(wallet).toMatchObject({ currency: code.toUpperCase(), label: 'Donations' });
        expect(wallet.addresses.map(({ network }) => network).sort()).toEqual(networks?.sort());
        expect((await merchant.wallets.retrieve({ params: { wallet_id: wallet.id } })).data).toEqual(wallet);
      }
    });

    it('a hosted wallet never shares an address with another wallet or a payment, even if they are created at once', async () => {
      const made = await Promise.all(
        Array.from({ length: 20 }, async (_, index) => {
          if (index % 2 === 0) return (await createWallet()).addresses.map(({ address }) => address);
          const { data } = await merchant.payments.create({ body: { amount: 5, baseCurrency: 'USD' } });
          const params = { payment_id: data.payment.id };
          await merchant.payments.setCurrency({
            params: { ...params, currency: 'USDT', network: index % 4 === 1 ? 'tron' : 'bsc' },
          });
          const { data: locked } = await merchant.payments.lockCurrency({ params });
          return [locked.addressInformation?.address ?? ''];
        }),
      );
      const addresses = made.flat();
      expect(addresses).toHaveLength(10 * 4 + 10);
      expect(new Set(addresses).size).toBe(addresses.length);
      const { reader } = server.database;
      const rows = await reader.selectFrom('addresses').select(['network', 'derivation_index']).execute();
      const evm = rows.filter(({ network }) => !['tron', 'bitcoin', 'litecoin'].includes(network));
      expect(new Set(evm.map((row) => row.derivation_index)).size).toBe(evm.length);
    });

    it.each(['NGN', 'DOGE', 'x'])('a wallet is refused for %s, which has no network', async (currency) => {
      const reply = await server.api('POST', '/v1/wallets', { body: { currency } });
      expect([reply.status, reply.body.data.code, reply.body.data.param]).toEqual([
        400,
        'unsupported_currency',
        'currency',
      ]);
    });

    it.each([
      [{}, 'currency'],
      [{ currency: '' }, 'currency'],
      [{ currency: 'USDT', label: 'x'.repeat(101) }, 'label'],
    ])('a hosted wallet is refused with %j', async (body, param) => {
      const reply = await server.api('POST', '/v1/wallets', { body });
      expect([reply.status, reply.body.data.code, reply.body.data.param]).toEqual([
        400,
        'validation_error',
        param,
      ]);
    });

    it('a hosted wallet is refused in live mode while there is no live network', async () => {
      const key = await server.foreignKey('secret', 'live');
      const reply = await server.api('POST', '/v1/wallets', { key, body: { currency: 'USDT' } });
      expect([reply.status, reply.body.data.code]).toEqual([400, 'unsupported_currency']);
    });

    it('a hosted wallet is created once per Idempotency-Key', async () => {
      const options = { body: { currency: 'LTC' }, headers: { 'Idempotency-Key': 'wallet-1' } };
      const first = await server.api('POST', '/v1/wallets', options);
      const second = await server.api('POST', '/v1/wallets', options);
      expect(second.body.data['id']).toBe(first.body.data['id']);
      expect((await merchant.wallets.list({ query: { currency: 'ltc' } })).data).toHaveLength(1);
    });

    it('hosted wallets are listed newest first, by currency and label, in pages', async () => {
      const label = 'Listed';
      const made = [];
      for (let count = 0; count < 5; count += 1)
        made.push(await createWallet(count % 2 ? 'BTC' : 'TRX', label));
      const ids = (wallets: readonly Wallet[]) => wallets.map(({ id }) => id);
      const { data: all } = await merchant.wallets.list({ query: { label } });
      expect(new Set(ids(all))).toEqual(new Set(ids(made)));
      expect(all.map(({ createdAt }) => createdAt)).toEqual(made.map(({ createdAt }) => createdAt).reverse());
      expect(all[0]?.addresses).toHaveLength(1);
      await expectPages(
        (query) => server.api('GET', `/v1/wallets?label=${label}${query.replace('?', '&')}`),
        ids(all),
      );
      const bitcoin = await server.api('GET', `/v1/wallets?label=${label}&currency=btc`);
      expect((bitcoin.body.data as unknown as Wallet[]).map(({ currency }) => currency)).toEqual([
        'BTC',
        'BTC',
      ]);
      const none = await server.api('GET', '/v1/wallets?label=listed');
      expect(none.body.meta).toEqual({ pagination: { total: 0, count: 0, from: 0, to: 0 } });
    });

    it('a hosted wallet is removed once, and is then like one that never existed', async () => {
      const wallet = await createWallet('USDT', 'Removed');
      const path = `/v1/wallets/${wallet.id}`;
      const other = { key: await server.foreignKey('secret', 'test') };
      expect((await server.api('DELETE', path, other)).status).toBe(404);
      const replies = await Promise.all([server.api('DELETE', path), server.api('DELETE', path)]);
      expect(replies.map(({ status }) => status).sort()).toEqual([200, 404]);
      expect(replies.find(({ status }) => status === 200)?.body.data).toEqual(wallet);
      const unknown = await server.api('GET', '/v1/wallets/nothing');
      for (const reply of [await server.api('GET', path), await server.api('GET', path, other)]) {
        expect(reply.status).toBe(404);
        expect({ ...reply.body.data, requestId: '' }).toEqual({ ...unknown.body.data, requestId: '' });
      }
      expect((await merchant.wallets.list({ query: { label: 'Removed' } })).data).toEqual([]);
    });
  });

  describe('A wallet that receives deposits', () => {
    it('a wallet has a transaction for each deposit, seen at once and credited when it is confirmed', async () => {
      const before = await available('USDT');
      const wallet = await createWallet('USDT', 'Donations');
      const address = addressOf(wallet);
      await shop.send(address, 5);
      const seen = await onlyDeposit(wallet);
      expect(seen).toMatchObject({
        status: 'in progress',
        state: 'confirming',
        amountReceived: 0,
        amountSeen: 5,
      });
      expect(logOf(seen)).toEqual(['Seen: 5 USDT on tron, waiting for 2 confirmations']);
      expect(await available('USDT')).toBe(before);
      await shop.mine(2);

      const { data: deposit } = await merchant.transactions.verify({ params: { transaction_id: seen.id } });
      expect(deposit).toMatchObject({
        status: 'success',
        state: 'settled',
        description: 'Deposit to wallet Donations',
        customer: 'anonymous',
        currency: 'USDT',
        currencyNetwork: 'tron',
        amount: 5,
        amountReceived: 5,
        amountSeen: 5,
        amountDue: 0,
        baseAmount: 5,
        baseCurrency: 'USDT',
        totalDue: 5,
        fee: 0.05,
        transactionFees: 0.05,
        dollarValue: 5,
        nairaValue: 7700,
        currencies: [],
        confirmations: 2,
        confirmationsRequired: 2,
        isCurrencyLocked: true,
        addressInformation: { address, network: 'tron' },
      });
      expect(deposit.addressSentFrom).toHaveLength(1);
      expect(deposit.expiresBy).toBeUndefined();
      expect(deposit.currencyOptions).toBeUndefined();
      expect(logOf(deposit).slice(1)).toEqual([
        'Received: 5 USDT on tron, confirmed',
        'Deposit complete: 5 USDT received',
      ]);
      expect((await available('USDT')) - before).toBe(4_950_000n);

      const params = { transaction_id: seen.id };
      expect((await merchant.transactions.retrieve({ params })).data).toEqual(deposit);
      expect((await merchant.transactions.events({ params })).data).toEqual(deposit.transactionTimeLog);
      expect((await merchant.transactions.fee({ params })).data).toEqual({
        fee: 0.05,
        nairaValue: 7700,
        dollarValue: 5,
        amountReceived: 5,
        baseAmount: 5,
        baseCurrency: 'USDT',
      });

      await shop.send(address, 7);
      await shop.pay(address, 7);
      expect((await deposits(wallet)).map(({ amount, status }) => [amount, status])).toEqual([
        [7, 'success'],
        [7, 'success'],
        [5, 'success'],
      ]);
      expect((await available('USDT')) - before).toBe(4_950_000n + 2n * 6_930_000n);
    });

    it('the merchant is notified of each deposit when it is confirmed, and when the chain drops it', async () => {
      const wallet = await createWallet();
      await shop.send(addressOf(wallet), 3);
      await shop.mine(1);
      const { id } = await onlyDeposit(wallet);
      expect(await shop.eventsOf(id)).toEqual([]);
      await shop.mine(1);
      const deposit = await onlyDeposit(wallet);
      const published = await shop.eventsOf(id);
      await shop.mine(5);
      expect(await shop.eventsOf(id)).toEqual(published);
      expect(published).toMatchObject([
        { type: 'wallet.transaction', data: { transaction: deposit, wallet } },
      ]);
      await shop.sandbox('reorgs', { network: 'tron', depth: 7, keep: true });
      await shop.mine(2);
      expect((await onlyDeposit(wallet)).status).toBe('success');
      const all = await shop.eventsOf(id);
      expect(all.map(({ type }) => type)).toEqual(Array(3).fill('wallet.transaction'));
      expect(all.map(({ data }) => (data['transaction'] as Payment).status)).toEqual([
        'success',
        'error',
        'success',
      ]);
    });

    it('a wallet sends no webhooks once it is removed, but still credits deposits', async () => {
      const wallet = await createWallet();
      const before = await available('USDT');
      await shop.send(addressOf(wallet), 3);
      await merchant.wallets.remove({ params: { wallet_id: wallet.id } });
      await shop.mine(2);
      await shop.pay(addressOf(wallet), 4);
      const found = await deposits(wallet);
      expect(found.map(({ amount, status }) => [amount, status])).toEqual([
        [4, 'success'],
        [3, 'success'],
      ]);
      expect((await Promise.all(found.map(({ id }) => shop.eventsOf(id)))).flat()).toEqual([]);
      expect((await available('USDT')) - before).toBe(6_930_000n);
    });

    it.each([
      ['USDT', 'ethereum', 'USDC', 'ethereum'],
      ['USDT', 'ethereum', 'ETH', 'ethereum'],
      ['USDC', 'base', 'POL', 'polygon'],
    ])(
      'a wallet credits another asset as that asset (%s on %s receives %s on %s)',
      async (wanted, at, currency, network) => {
        const before = await available(currency);
        const wallet = await createWallet(wanted);
        await shop.send(addressOf(wallet, at), 2, { currency, network });
        await shop.mine(2, network);
        expect(await onlyDeposit(wallet)).toMatchObject({
          status: 'success',
          currency,
          currencyNetwork: network,
          baseCurrency: currency,
          amount: 2,
          amountReceived: 2,
          addressInformation: { network },
        });
        const decimals = currency === 'USDC' ? 6n : 18n;
        expect((await available(currency)) - before).toBe((2n * 10n ** decimals * 99n) / 100n);
      },
    );

    it('a deposit is shown with at most 8 decimals, and all of it is credited', async () => {
      const before = await available('ETH');
      const wallet = await createWallet('ETH');
      // A request can have 15 digits, so only a small amount can have dust below 8 decimals.
      await shop.send(addressOf(wallet, 'base'), '0.000123456789012', { currency: 'ETH', network: 'base' });
      await shop.mine(2, 'base');
      expect(await onlyDeposit(wallet)).toMatchObject({
        amount: 0.00012345,
        amountReceived: 0.00012345,
        baseAmount: 0.00012345,
        totalDue: 0.00012345,
        amountDue: 0,
        fee: 0.00000123456789012,
        transactionFees: 0.00000123,
      });
      const units = 123_456_789_012_000n;
      expect((await available('ETH')) - before).toBe(units - units / 100n);
    });

    it('a deposit that the chain drops is an error, until it returns', async () => {
      const before = await available('USDT');
      const wallet = await createWallet();
      await shop.send(addressOf(wallet), 6);
      await shop.mine(1);
      await shop.sandbox('reorgs', { network: 'tron', depth: 1, keep: true });
      expect(await onlyDeposit(wallet)).toMatchObject({ state: 'confirming', confirmations: 0 });
      await shop.mine(2);
      expect(await onlyDeposit(wallet)).toMatchObject({ status: 'success', amountReceived: 6 });

      await shop.sandbox('reorgs', { network: 'tron', depth: 2, keep: true });
      expect(await onlyDeposit(wallet)).toMatchObject({
        status: 'error',
        state: 'reversed',
        amount: 6,
        amountReceived: 0,
        amountSeen: 6,
      });
      expect(await available('USDT')).toBe(before);
      await shop.mine(2);
      expect(await onlyDeposit(wallet)).toMatchObject({ status: 'success', amountReceived: 6 });
      expect((await available('USDT')) - before).toBe(5_940_000n);

      await shop.sandbox('reorgs', { network: 'tron', depth: 2, keep: false });
      const gone = await onlyDeposit(wallet);
      expect(gone).toMatchObject({ status: 'error', state: 'reversed', amountReceived: 0, amountSeen: 0 });
      expect(logOf(gone).at(-1)).toBe('Dropped from the network: 6 USDT on tron');
      expect(await available('USDT')).toBe(before);
    });

    it('a deposit that vanishes before it is confirmed is an error', async () => {
      const wallet = await createWallet();
      await shop.send(addressOf(wallet), 6);
      await shop.mine(1);
      await shop.sandbox('reorgs', { network: 'tron', depth: 1, keep: false });
      const gone = await onlyDeposit(wallet);
      expect(gone).toMatchObject({ status: 'error', state: 'reversed', amountSeen: 0, fee: 0 });
      expect(logOf(gone).slice(1)).toEqual(['Dropped from the network: 6 USDT on tron']);
      expect(await shop.eventsOf(gone.id)).toEqual([]);
    });

    it('a deposit cannot be changed by a payment endpoint, and does not expire', async () => {
      const wallet = await createWallet();
      await shop.send(addressOf(wallet), 6);
      const { id } = await onlyDeposit(wallet);
      const refused = async () => {
        for (const change of ['cancel', 'currency/set/USDT/tron', 'currency/lock']) {
          const reply = await server.api('PATCH', `/v1/payments/${id}/${change}`);
          expect([reply.status, reply.body.data.code], change).toEqual([409, 'invalid_state']);
        }
      };
      await refused();
      await shop.advance(90_000);
      expect(await onlyDeposit(wallet)).toMatchObject({ state: 'confirming' });
      await shop.mine(2);
      expect(await onlyDeposit(wallet)).toMatchObject({ status: 'success' });
      await refused();
      expect((await server.api('GET', `/v1/payments/${id}`)).body.data).toMatchObject({
        id,
        status: 'success',
      });
    });
  });
});
