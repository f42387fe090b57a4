/** A shop's two months: what is booked in each, that it adds up, and that a month that is over stays as it was. */
import type { Booking } from 'crypto-checkout/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { books as booksModule } from '../../src/modules/books/module.js';
import type { Actor } from '../../src/core/shared/scope.js';
import { refunds as refundsModule } from '../../src/modules/refunds/module.js';
import { bookingsOf, exportBooks } from '../support/books.js';
import { enginesOfSoak } from '../support/engines.js';
import { externalAddresses } from '../support/shop.js';
import { openSteppedShop, type SteppedShop } from '../support/stepped-shop.js';

const usdt = (amount: number) => BigInt(Math.round(amount * 1e6));
const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

const shape = ({ kind, amount, note }: Booking) => `${kind} ${amount}: ${note}`;
/** Fees last. Bookings of one millisecond are in the order of their ids, which are random. */
const byTimeAndKind = (a: Booking, b: Booking) =>
  a.time.localeCompare(b.time) || Number(a.kind === 'fee') - Number(b.kind === 'fee');
const sum = (bookings: readonly Booking[]) =>
  bookings.reduce((total, { amount }) => total + usdt(Number(amount)), 0n);

describe.each(enginesOfSoak)('The books of two months, on $name', (engine) => {
  let shop: SteppedShop;
  let scope: Actor;
  let stranger: Actor;
  let november: string;
  const inNovember = '--month 2026-11 --zone UTC';
  const inDecember = '--month 2026-12 --zone UTC';

  const keepRates = async () => {
    for (const job of booksModule.rules(shop.app).jobs()) await job.run(new AbortController().signal);
  };
  async function sell(of: Actor, sent: number, price = '10') {
    shop.time.now += minute / 2;
    const payment = await shop.lock(of, { amount: price });
    await shop.send('tron', 'USDT', payment.address, usdt(sent));
    await shop.mine('tron', 2);
    await keepRates();
    return payment;
  }
  /** Lets transfers be sent and confirmed. */
  async function sendOut() {
    for (let round = 0; round < 4; round += 1) {
      await shop.advance();
      await shop.mine('tron', 2);
    }
    await keepRates();
  }

  const payToBank = async (amount: string, reference: string) => {
    const request = { bankAccountId: 'bank', amount, currency: 'USDT', reference };
    const { row } = await shop.database.write((transaction) =>
      shop.app.payouts.createBankPayout(transaction, scope, request),
    );
    return row;
  };

  beforeAll(async () => {
    shop = await openSteppedShop(engine);
    shop.time.now = Date.UTC(2026, 10, 2, 12);
    await shop.mine('tron');
    scope = await shop.merchant();
    stranger = await shop.merchant();
    await shop.database.write((transaction) =>
      transaction
        .insertInto('bank_accounts')
        .values({
          id: 'bank',
          merchant_id: scope.merchantId,
          mode: scope.mode,
          account_number: '0690000032',
          number_index: '0690000032',
          bank_code: '044',
          bank_name: 'Access Bank',
          country: 'NG',
          currency: 'NGN',
          account_name: 'Shop',
          archived_at: null,
          created_at: shop.time.now,
          updated_at: shop.time.now,
        })
        .execute(),
    );
    shop.cents.set('USDT', 101n);
    await sell(scope, 30, '30');
    await sell(stranger, 7, '7');
    // Too much, in November.
    const over = await sell(scope, 15);
    await shop.withdraw(scope, '5', externalAddresses.tron, 'tron');
    await sendOut();
    shop.time.now += minute;
    const toBank = await payToBank('4', 'Settlement 7');
    await keepRates();
    const late = await shop.lock(scope);
    shop.time.now += minute;
    // Paid two minutes before midnight, and dropped by the network in December.
    shop.time.now = Date.UTC(2026, 10, 30, 23, 58);
    await shop.pass(0);
    await sell(scope, 10);
    shop.time.now = Date.UTC(2026, 11, 1, 0, 16);
    november = (await exportBooks(shop, scope, inNovember)).text;

    await shop.reorg('tron', 3, false);
    await keepRates();
    shop.cents.set('USDT', 99n);
    shop.time.now = Date.UTC(2026, 11, 3, 12);
    const refund = await shop.database.write((transaction) =>
      refundsModule.rules(shop.app).create(
        transaction,
        scope,
        {
          paymentId: over.id,
          kind: 'excess' as const,
          address: externalAddresses.tron,
          ...({ networkFee: 'merchant', refundFee: false, by: 'coins', reason: '' } as const),
        },
        'a test',
      ),
    );
    await shop.database.write((transaction) =>
      refundsModule.rules(shop.app).approve(transaction, scope, refund.id, 'a test'),
    );
    shop.time.now += 1000;
    await sendOut();
    // A second payout to the bank; then the bank sends back the one of November.
    shop.time.now += hour;
    await payToBank('2', 'Settlement 8');
    await keepRates();
    shop.time.now += hour;
    await shop.database.write((transaction) =>
      shop.app.payouts.fail(transaction, toBank.id, 'The bank sent it back'),
    );
    await keepRates();
    shop.time.now += day;
    await shop.send('tron', 'USDT', late.address, usdt(10));
    await shop.mine('tron', 2);
    await keepRates();
    shop.time.now = Date.UTC(2027, 0, 1, 1);
  });
  afterAll(async () => {
    await shop.expectBooksInOrder();
    await shop.close();
  });

  it('Each booking has a line in the month in which it was booked', async () => {
    const first = await bookingsOf(shop, scope, inNovember);
    expect(first.map(shape)).toEqual([
      'receipt 30: Received',
      'credit 0: Credited',
      'fee -0.3: Service fee',
      'receipt 15: Received',
      'credit 0: Credited',
      'fee -0.15: Service fee',
      'transfer 0: Reserved',
      'transfer -5: Paid',
      expect.stringMatching(/^network_fee -[\d.]+: Network fee$/),
      'payout -4: Paid out to a bank account',
      'receipt 10: Received',
      'credit 0: Credited',
      'fee -0.1: Service fee',
    ]);
    const second = await bookingsOf(shop, scope, inDecember);
    expect(second.toSorted(byTimeAndKind).map(shape)).toEqual([
      'correction -10: Reverted by the network',
      'fee 0.1: Service fee given back',
      'refund 0: Reserved for a refund',
      expect.stringMatching(/^fee 0\.05\d*: Service fee of what is refunded$/),
      expect.stringMatching(/^refund -[\d.]+: Paid$/),
      expect.stringMatching(/^network_fee -[\d.]+: Network fee$/),
      'payout -2: Paid out to a bank account',
      'correction 4: Returned: the payout has failed',
      'receipt 10: Received',
      'credit 0: Credited',
      'fee -0.1: Service fee',
    ]);
    // A December refund of a November payment is in December, and names itself.
    const paid = second.find(({ kind, note }) => kind === 'refund' && note === 'Paid');
    expect(paid).toMatchObject({ localDate: '2026-12-03', network: 'tron' });
    expect(paid?.txHash).toMatch(/^[0-9a-f]{64}$/);
  });

  it('A payout to a bank is in the books with its reference, its account and the balance left', async () => {
    const of = (bookings: readonly Booking[], ...kinds: string[]) =>
      bookings.filter(
        ({ kind, reference = '' }) => kinds.includes(kind) && reference.startsWith('Settlement'),
      );
    const first = await bookingsOf(shop, scope, inNovember);
    const index = first.findIndex(({ kind }) => kind === 'payout');
    const left = usdt(Number(first[index - 1]?.balance)) - usdt(4);
    expect(of(first, 'payout')).toMatchObject([
      {
        amount: '-4',
        available: '-4',
        reserved: '0',
        unallocated: '0',
        asset: 'USDT',
        balance: String(Number(left) / 1e6),
        value: '-4.04',
        rateSource: 'test',
        reference: 'Settlement 7',
        counterparty: '06…032',
      },
    ]);
    const second = await bookingsOf(shop, scope, inDecember);
    const [paid, returned] = of(second, 'payout', 'correction');
    expect(paid).toMatchObject({ amount: '-2', value: '-1.98', reference: 'Settlement 8' });
    expect(returned).toMatchObject({ amount: '4', value: '3.96', reference: 'Settlement 7' });
    expect(usdt(Number(returned?.balance)) - usdt(Number(paid?.balance))).toBe(usdt(4));
  });

  it('The bookings of each month add up to its balances, and the last balance is that of the accounts', async () => {
    const [first, second] = [
      await bookingsOf(shop, scope, inNovember),
      await bookingsOf(shop, scope, inDecember),
    ];
    let total = 0n;
    for (const booking of [...first, ...second]) {
      total += usdt(Number(booking.amount));
      expect(usdt(Number(booking.balance)), booking.id).toBe(total);
      const parts = [booking.available, booking.reserved, booking.unallocated];
      expect(parts.reduce((all, part) => all + usdt(Number(part)), 0n)).toBe(usdt(Number(booking.amount)));
    }
    const { net, reserved, unallocated } = await shop.balance(scope);
    expect(total).toBe(net + reserved + unallocated);
    const { logged } = await exportBooks(shop, scope, inDecember);
    const at = (units: bigint) => String(Number(units) / 1e6);
    expect(logged).toContain(
      `USDT: ${at(sum(first))} at the beginning, ${at(sum(second))} booked, ${at(total)} at the end`,
    );
  });

  it('A month does not change once it is over, whatever happens later', async () => {
    expect(november).toContain('receipt');
    expect((await exportBooks(shop, scope, inNovember)).text).toBe(november);
  });

  it('Each booking is valued at its time, with the rate, its source and its time', async () => {
    const [received] = await bookingsOf(shop, scope, inNovember);
    expect(received).toMatchObject({
      amount: '30',
      unitValue: '1.01',
      value: '30.30',
      currency: 'USD',
      rateSource: 'test',
      rateTime: received?.time,
    });
    const later = (await bookingsOf(shop, scope, inDecember)).filter(({ kind }) => kind === 'receipt');
    expect(later).toMatchObject([{ amount: '10', unitValue: '0.99', value: '9.90' }]);
    const { logged } = await exportBooks(shop, scope, inDecember);
    expect(logged).not.toContain('Without a value');
  });

  it('The export says that a month is not over for good, until 15 minutes after its end', async () => {
    const now = shop.time.now;
    shop.time.now = Date.UTC(2027, 0, 1, 0, 14);
    expect((await exportBooks(shop, scope, inDecember)).logged).toContain('The period is not over for good');
    shop.time.now = Date.UTC(2027, 0, 1, 0, 15);
    expect((await exportBooks(shop, scope, inDecember)).logged).not.toContain('not over');
    shop.time.now = now;
  });

  it('The books never have another merchant’s bookings', async () => {
    const [own, other] = [
      await bookingsOf(shop, scope, inNovember),
      await bookingsOf(shop, stranger, inNovember),
    ];
    expect(other.map(shape)).toEqual(['receipt 7: Received', 'credit 0: Credited', 'fee -0.07: Service fee']);
    expect(own.filter(({ id }) => other.some((one) => one.id === id))).toEqual([]);
    expect(await bookingsOf(shop, { ...stranger, mode: 'live' }, inNovember)).toEqual([]);
  });

  it('The books are the same page by page, wherever the pages are cut', async () => {
    const whole = await bookingsOf(shop, scope, '--from 2026-11-01 --to 2026-12-31');
    for (const limit of [1, 2, 5]) {
      const asked = { from: '2026-11-01', to: '2026-12-31', zone: 'UTC', limit };
      const found: Booking[] = [];
      let cursor: string | undefined;
      let pages = 0;
      do {
        const page = await booksModule.rules(shop.app).list(scope, { ...asked, cursor });
        found.push(...page.bookings);
        cursor = page.next;
        pages += 1;
      } while (cursor !== undefined);
      expect(JSON.parse(JSON.stringify(found))).toEqual(whole);
      expect(pages).toBeGreaterThan(whole.length / (2 * limit));
    }
  });

  it('An export fails in words if its lines do not add up to the accounts', async () => {
    const id = `test/USDT/available/${scope.merchantId}`;
    const account = () =>
      shop.database.reader
        .selectFrom('ledger_accounts')
        .select('balance')
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
    const { balance } = await account();
    const set = (units: string) =>
      shop.database.write((transaction) =>
        transaction.updateTable('ledger_accounts').set({ balance: units }).where('id', '=', id).execute(),
      );
    await set((BigInt(balance) + 1n).toString());
    const { logged, hasFailed } = await exportBooks(shop, scope, inDecember);
    await set(balance);
    expect(hasFailed).toBe(true);
    expect(logged).toMatch(/USDT: .* but the accounts say /);
    expect(logged).toContain('This export is not whole: do not use it.');
    expect((await exportBooks(shop, scope, inDecember)).hasFailed).toBe(false);
  });
});
