/**
 * The facts in a payment's record about its money: receipts, credits, fee and coded log entries, over every ending, on
 * both engines.
 */
import { toUnits, decimalOf, type Credit, type PaymentRecord } from 'crypto-checkout/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCurrencies } from '../../src/core/money/currencies.js';
import { currencies as currencyList } from '../../src/core/money/currency-list.js';
import { centsToNumber, exactNumber } from '../../src/core/money/units.js';
import { simulatedNetworks } from '../../src/core/chains/simulated/networks.js';
import { viewReceipts } from '../../src/core/payments/receipts/view.js';
import type { StoredReceipt, StoredRecord } from '../../src/core/payments/store.js';
import { enginesOfTurn } from '../support/engines.js';
import { openShop, type Shop } from '../support/shop.js';
import { createRecords, type Records } from '../support/records.js';
import { startServer, type TestServer } from '../support/server.js';

const decimals: Readonly<Record<string, number>> = { USDT: 6, TRX: 6, ETH: 18 };

/** An ending of payments: each brings one locked payment over 10 dollars in USDT on Tron to its end. */
interface Scene {
  readonly id: string;
  pay(amount: number, currency?: string): Promise<void>;
  mine(count?: number): Promise<void>;
  reorg(depth: number, keep?: boolean): Promise<void>;
  advance(seconds: number): Promise<void>;
  cancel(): Promise<void>;
}

interface Ending {
  readonly name: string;
  readonly state: string;
  readonly play: (scene: Scene) => Promise<void>;
  readonly credited: readonly Credit[];
}

const usdt = (amount: number, fee: number, net: number): Credit => ({ currency: 'USDT', amount, fee, net });

const endings: readonly Ending[] = [
  {
    name: 'is paid in full',
    state: 'settled',
    async play({ pay, mine }) {
      await pay(10);
      await mine();
    },
    credited: [usdt(10, 0.1, 9.9)],
  },
  {
    name: 'is paid in parts, each of which is too small for a fee of its own',
    state: 'settled_over',
    async play({ pay, mine }) {
      await pay(9.99999);
      await pay(0.00007);
      await mine();
    },
    credited: [usdt(10.00006, 0.1, 9.90006)],
  },
  {
    name: 'is overpaid, and then paid again',
    state: 'settled_over',
    async play({ pay, mine }) {
      await pay(11);
      await mine();
      await pay(10);
      await mine();
    },
    credited: [usdt(21, 0.21, 20.79)],
  },
  {
    name: 'loses its excess again',
    state: 'settled',
    async play({ pay, mine, reorg }) {
      await pay(10);
      await mine();
      await pay(3);
      await mine();
      await reorg(2);
      await mine();
    },
    credited: [usdt(10, 0.1, 9.9)],
  },
  {
    name: 'is lost by the chain after it succeeded',
    state: 'reversed',
    async play({ pay, mine, reorg }) {
      await pay(10);
      await mine();
      await reorg(2);
    },
    credited: [],
  },
  {
    name: 'is lost and confirmed again',
    state: 'settled',
    async play({ pay, mine, reorg }) {
      await pay(10);
      await mine();
      await reorg(2, true);
      await mine();
    },
    credited: [usdt(10, 0.1, 9.9)],
  },
  {
    name: 'gets a wrong asset too',
    state: 'settled',
    async play({ pay, mine }) {
      await pay(7, 'TRX');
      await pay(10);
      await mine();
    },
    credited: [{ currency: 'TRX', amount: 7, fee: 0.07, net: 6.93 }, usdt(10, 0.1, 9.9)],
  },
  {
    name: 'gets only a wrong asset',
    state: 'invalid',
    async play({ pay, mine, advance }) {
      await pay(7, 'TRX');
      await mine();
      await advance(1801);
    },
    credited: [{ currency: 'TRX', amount: 7, fee: 0.07, net: 6.93 }],
  },
  {
    name: 'expires without money',
    state: 'expired',
    play: ({ advance }) => advance(1801),
    credited: [],
  },
  {
    name: 'expires with a part',
    state: 'expired_partial',
    async play({ pay, mine, advance }) {
      await pay(4);
      await mine();
      await advance(1801);
    },
    credited: [usdt(4, 0.04, 3.96)],
  },
  {
    name: 'is paid late, and accepted',
    state: 'settled_late',
    async play({ pay, mine, advance }) {
      await advance(1801);
      await pay(10);
      await mine();
    },
    credited: [usdt(10, 0.1, 9.9)],
  },
  {
    name: 'is paid late in part',
    state: 'expired_late',
    async play({ pay, mine, advance }) {
      await advance(1801);
      await pay(6);
      await mine();
    },
    credited: [usdt(6, 0.06, 5.94)],
  },
  {
    name: 'is paid after it was cancelled',
    state: 'cancelled_paid',
    async play({ pay, mine, cancel, advance }) {
      await cancel();
      await advance(1);
      await pay(10);
      await mine();
    },
    credited: [usdt(10, 0.1, 9.9)],
  },
];

describe.each(enginesOfTurn)('the record of a payment, on $name', (engine) => {
  let server: TestServer;
  let merchant: Shop;
  let records: Records;

  beforeAll(async () => {
    server = await startServer({ engine });
    merchant = openShop(server);
    records = createRecords(server);
  });
  afterAll(async () => {
    await merchant.expectBooksInOrder();
    await server.stop();
  });

  const verify = (id: string) => merchant.ask<PaymentRecord>('GET', `/v1/transactions/${id}/verify`);

  async function play(script: Ending['play']): Promise<PaymentRecord> {
    const { id, address } = await merchant.lock();
    const network = 'tron';
    const sandbox = async (path: string, body: object) => {
      await merchant.sandbox(path, body);
    };
    await script({
      id,
      pay: (amount, currency = 'USDT') => sandbox('transfers', { network, currency, address, amount }),
      mine: (count = 2) => sandbox('blocks', { network, count }),
      reorg: (depth, keep = false) => sandbox('reorgs', { network, depth, keep }),
      advance: (advanceSeconds) => sandbox('clock', { advanceSeconds }),
      cancel: async () => {
        await merchant.ask('PATCH', `/v1/payments/${id}/cancel`);
      },
    });
    return verify(id);
  }

  /** Sums of the merchant's whole ledger, in units: what it can spend less what it owes, and the fees that were taken. */
  async function ledger(currency: string) {
    const rows = await server.database.reader
      .selectFrom('ledger_accounts')
      .select(['id', 'kind', 'balance'])
      .where('currency', '=', currency)
      .where('mode', '=', 'test')
      .execute();
    const sum = (of: (row: { id: string; kind: string }) => boolean) =>
      rows.filter(of).reduce((total, { balance }) => total + BigInt(balance), 0n);
    return {
      net: sum(({ id, kind }) => kind === 'available' || id.endsWith('/debt')),
      fee: sum(({ kind }) => kind === 'fee_income'),
    };
  }

  const units = (value: number, currency: string) => toUnits(decimalOf(value), decimals[currency] ?? 0);

  it.each(endings)(
    'A record of a payment that $name shows what the balance got',
    async ({ state, play: script, credited }) => {
      const payment = await play(script);
      expect(payment).toMatchObject({ state, credited });
      // The fee shown is the fee charged, in every reply that shows one.
      const fee = credited.find(({ currency }) => currency === 'USDT')?.fee ?? 0;
      expect(payment.fee).toBe(fee);
      // The same in the base currency: a coin of these payments costs a dollar.
      expect(payment.transactionFees).toBe(fee);
      const feeReply = await merchant.ask<{ fee: number }>('GET', `/v1/transactions/${payment.id}/fee`);
      expect(feeReply.fee).toBe(fee);
      const isSuccess = state.startsWith('settled');
      const successes = payment.transactionTimeLog.filter(({ type }) => type === 'success');
      const reversals = payment.transactionTimeLog.filter(({ code }) => code === 'reversed');
      expect(successes.length - reversals.length).toBe(isSuccess ? 1 : 0);
      for (const { event, code, values } of payment.transactionTimeLog) {
        expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
        for (const value of Object.values(values)) expect(event).toContain(value);
      }
    },
  );

  it('A price that no payer could type is refused, and the error names the decimals that count', async () => {
    const body = { amount: '10.123456', baseCurrency: 'USDT' };
    const answer = await server.api('POST', '/v1/payments/checkout', { body });
    expect(answer.status).toBe(400);
    expect(answer.body.message).toContain('at most 2 decimals in USDT, its payableDecimals');
    const [usdt] = (
      await merchant.ask<{ code: string; payableDecimals: number }[]>('GET', '/v1/currencies')
    ).filter(({ code }) => code === 'USDT');
    expect(usdt?.payableDecimals).toBe(2);
  });

  it('Records add up over all payments and deposits to the balance and the fees', async () => {
    const { data: wallet } = await records.merchant.wallets.create({
      body: { currency: 'USDT', label: 'Till' },
    });
    const deposit = wallet.addresses.find(({ network }) => network === 'tron')?.address ?? '';
    await merchant.send(deposit, 2.000001);
    const { address } = await merchant.lock({ currency: 'ETH', network: 'base' });
    await merchant.send(address, 0.0123456789, { currency: 'ETH', network: 'base' });
    await merchant.mine(2);
    await merchant.mine(2, 'base');

    const all = await merchant.ask<PaymentRecord[]>('GET', '/v1/transactions?skip=100');
    const credits = all.flatMap(({ credited = [] }) => credited);
    expect(new Set(credits.map(({ currency }) => currency))).toEqual(new Set(['USDT', 'TRX', 'ETH']));
    for (const currency of Object.keys(decimals)) {
      const sum = (of: (credit: Credit) => number) =>
        credits
          .filter((credit) => credit.currency === currency)
          .reduce((total, credit) => total + units(of(credit), currency), 0n);
      expect({ net: sum(({ net }) => net), fee: sum(({ fee }) => fee) }, currency).toEqual(
        await ledger(currency),
      );
      expect(sum(({ net }) => net) + sum(({ fee }) => fee)).toBe(sum(({ amount }) => amount));
    }
  });

  it('A record lists each transfer as its chain has it, and shows public keys too', async () => {
    const { id, address } = await merchant.lock();
    const { txHash } = await merchant.send(address, 4);
    await merchant.mine(1);
    const other = await merchant.send(address, 5, { currency: 'TRX' });
    const common = { network: 'tron', explorerUrl: '', requiredConfirmations: 2 };
    const seen = { ...common, currency: 'USDT', amount: 4, txHash, counts: true };
    const wrong = { ...common, currency: 'TRX', amount: 5, txHash: other.txHash, counts: false };
    expect((await verify(id)).receipts).toMatchObject([
      { ...seen, status: 'seen', confirmations: 1 },
      { ...wrong, status: 'seen', confirmations: 0 },
    ]);
    await merchant.mine(1);
    expect((await verify(id)).receipts).toMatchObject([
      { ...seen, status: 'confirmed', confirmations: 2 },
      { ...wrong, status: 'seen', confirmations: 1 },
    ]);
    await merchant.sandbox('reorgs', { network: 'tron', depth: 2 });
    const { receipts } = await verify(id);
    expect(receipts).toMatchObject([
      { ...seen, status: 'lost', confirmations: 0 },
      { ...wrong, status: 'lost', confirmations: 0 },
    ]);
    for (const { firstSeenAt } of receipts) expect(Date.parse(firstSeenAt)).toBeGreaterThan(0);
    const checkout = `/v1/transactions/${id}/verify/checkout`;
    const publicly = await server.api('GET', checkout, { key: server.publicKey });
    expect(publicly.body.data['receipts']).toEqual(receipts);
    expect((await server.api('GET', checkout)).body.data).toEqual(await verify(id));
  });

  it('The confirmations of a transfer on another network are counted by that network', async () => {
    const { id, address } = await merchant.lock({ currency: 'USDC', network: 'base' });
    await merchant.mine(3, 'base');
    await merchant.send(address, 1, { currency: 'USDC', network: 'polygon' });
    await merchant.mine(1, 'polygon');
    expect((await verify(id)).receipts).toMatchObject([
      { network: 'polygon', confirmations: 1, status: 'seen', counts: false },
    ]);
  });

  it('Metadata of the merchant’s server is in every view of a payment, and in events with the money', async () => {
    await merchant.setWebhookUrl('http://127.0.0.1:9/');
    const metadata = { orderId: '42', 'any key': '"quoted" é' };
    const { id, metadata: kept } = await merchant.create({ metadata });
    expect(kept).toEqual(metadata);
    for (const path of [`payments/${id}`, `transactions/${id}`, `transactions/${id}/verify`]) {
      expect((await merchant.ask<PaymentRecord>('GET', `/v1/${path}`)).metadata, path).toEqual(metadata);
    }
    const [listed] = await merchant.ask<PaymentRecord[]>('GET', '/v1/transactions?skip=1');
    expect(listed?.metadata).toEqual(metadata);
    await merchant.pay((await merchant.choose(id)).address, 10);
    const events = await merchant.eventsOf(id);
    expect(events.map(({ type }) => type)).toEqual(['payment.success']);
    expect(events[0]?.data).toMatchObject({
      metadata,
      fee: 0.1,
      credited: [usdt(10, 0.1, 9.9)],
      receipts: [{ amount: 10, status: 'confirmed', confirmations: 2 }],
    });
  });

  it.each([
    ['more than 20 keys', Object.fromEntries(Array.from({ length: 21 }, (_, key) => [String(key), '']))],
    ['a key of 41 characters', { ['k'.repeat(41)]: '' }],
    ['an empty key', { '': 'x' }],
    ['a value of 501 characters', { key: 'v'.repeat(501) }],
    ['a number', { key: 42 }],
    ['an object', { key: {} }],
    ['a list', ['x']],
  ])('A payment is refused with %s as metadata', async (_, metadata) => {
    const body = { amount: 10, baseCurrency: 'USD', metadata };
    const reply = await server.api('POST', '/v1/payments/checkout', { body });
    expect([reply.status, reply.body.data.code]).toEqual([400, 'validation_error']);
    expect(reply.body.data.param).toMatch(/^metadata/);
  });

  it('A payment takes metadata up to the limits, and none from a public key', async () => {
    const metadata = Object.fromEntries(
      Array.from({ length: 20 }, (_, key) => [String(key).padStart(40, 'k'), 'v'.repeat(500)]),
    );
    const body = { amount: 10, baseCurrency: 'USD', metadata };
    expect((await server.api('POST', '/v1/payments/checkout', { body })).status).toBe(200);
    const refused = await server.api('POST', '/v1/payments/checkout', { body, key: server.publicKey });
    expect([refused.status, refused.body.data.code, refused.body.data.param]).toEqual([
      400,
      'validation_error',
      'metadata',
    ]);
  });
});

it.each([
  [12_345_678_901_234_567n, 123_456_789_012_345],
  [-12_345_678_901_234_567n, -123_456_789_012_346],
  [999_999_999_999_999n, 9_999_999_999_999.99],
  [325n, 3.25],
])('%s hundredths are %s, within 15 digits', (hundredths, expected) => {
  expect(centsToNumber(hundredths)).toBe(expected);
});

it('a charged amount keeps every unit that 15 digits can hold', () => {
  expect(exactNumber(123_456_789_012n, 18)).toBe(1.23456789012e-7);
  expect(exactNumber(1_234_567_890_123_456_789n, 18)).toBe(1.23456789012345);
});

it('a receipt leads to its transaction in the network’s explorer', () => {
  const [tron, ...others] = simulatedNetworks;
  if (!tron) throw new Error('There are no networks');
  const explorer = 'https://explorer.example/tx/{txHash}';
  const currencies = createCurrencies(currencyList, [{ ...tron, explorer }, ...others]);
  const receipt = {
    currency: 'USDT',
    network: 'tron',
    amount: 1_000_000n,
    tx_hash: 'a/b',
    output_index: 0,
    first_seen_at: 0,
    status: 'seen',
    block_height: null,
  };
  const row = { mode: 'test', currency: 'USDT', network: 'tron', scanned_height: 5 };
  const [viewed] = viewReceipts(
    row as unknown as StoredRecord,
    [receipt as unknown as StoredReceipt],
    currencies,
  );
  expect(viewed).toMatchObject({ hashOf: 'transaction', explorerUrl: 'https://explorer.example/tx/a%2Fb' });
});

it.each([
  [1234, 'https://explorer.example/block/1234'],
  [null, ''],
])('a receipt of coins that a contract sent leads to their block, at height %s', (block_height, url) => {
  const [tron, ...others] = simulatedNetworks;
  if (!tron) throw new Error('There are no networks');
  const pages = {
    explorer: 'https://explorer.example/tx/{txHash}',
    blockExplorer: 'https://explorer.example/block/{height}',
  };
  const currencies = createCurrencies(currencyList, [{ ...tron, ...pages }, ...others]);
  const receipt = {
    currency: 'TRX',
    network: 'tron',
    amount: 1_000_000n,
    tx_hash: 'ab',
    output_index: -7,
    first_seen_at: 0,
    status: 'seen',
    block_height,
  };
  const row = { mode: 'test', currency: 'TRX', network: 'tron', scanned_height: 2000 };
  const [viewed] = viewReceipts(
    row as unknown as StoredRecord,
    [receipt as unknown as StoredReceipt],
    currencies,
  );
  expect(viewed).toMatchObject({ txHash: 'ab', hashOf: 'block', explorerUrl: url });
});
