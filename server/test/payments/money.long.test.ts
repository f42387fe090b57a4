/** Money to the last unit: what a flood, a broken payment, a late or lost payment do, on both engines. */
import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import type { Overrides } from '../../src/app.js';
import { enginesOfSoak } from '../support/engines.js';
import { roundsOf } from '../support/rounds.js';
import { openSteppedShop, reorgAll, type SteppedShop } from '../support/stepped-shop.js';

const usdt = (amount: number) => BigInt(Math.round(amount * 1_000_000));
const minute = 60_000;
/** More rows than the parameters of one statement allow on either engine, and more than one scan confirms. */
const flood = roundsOf({ usual: 3000, soak: 4000 });

describe.each(enginesOfSoak)('money, on $name', (engine) => {
  let shop: SteppedShop;
  afterEach(() => shop.close());
  const startShop = async (overrides?: Overrides) => {
    shop = await openSteppedShop(engine, overrides);
    await shop.scan('tron');
    return shop.merchant();
  };

  it(
    `One scan takes ${flood} receipts of one payment, and another payer's`,
    { timeout: 300_000 },
    async () => {
      const scope = await startShop();
      const flooded = await shop.lock(scope, { amount: '10' });
      const other = await shop.lock(scope);
      await shop.flood('tron', 'USDT', flooded.address, 1111n, flood);
      await shop.send('tron', 'USDT', other.address, usdt(10));
      await shop.mine('tron', 2);
      expect((await shop.payment(other.id)).state).toBe('settled');
      const { state } = await shop.payment(flooded.id);
      expect(state).toBe(flood * 1111 > 10_000_000 ? 'settled_over' : 'partially_paid');
      await shop.pass(31 * minute);
      const received = BigInt(flood) * 1111n + usdt(10);
      const fees = await shop.feeIncome();
      expect(await shop.balance(scope)).toEqual({
        net: received - fees,
        reserved: 0n,
        unallocated: 0n,
        custody: received,
      });
      await shop.expectBooksInOrder();
    },
  );

  it('A payment follows a contract that pays another amount in another block, before and after it counted', async () => {
    const scope = await startShop();
    const payment = await shop.lock(scope);
    const rows = () =>
      shop.database.reader
        .selectFrom('receipts')
        .select(['status', 'amount'])
        .where('payment_id', '=', payment.id)
        .orderBy('amount')
        .execute();
    /** Mines the transaction again, in which it pays another amount. */
    async function payInstead(depth: number, amount: bigint): Promise<void> {
      await shop.database.write((transaction) => reorgAll(transaction, shop.app, 'tron', depth, true));
      await shop.database.write((transaction) =>
        transaction
          .updateTable('simulated_transfers')
          .set({ amount: amount.toString() })
          .where('address', '=', payment.address)
          .execute(),
      );
      await shop.mine('tron', 1);
    }
    await shop.send('tron', 'USDT', payment.address, usdt(9));
    await shop.mine('tron', 1);
    await payInstead(1, usdt(10));
    expect(await rows()).toEqual([
      { status: 'seen', amount: '10000000' },
      { status: 'dropped', amount: '9000000' },
    ]);
    await shop.mine('tron', 2);
    expect((await shop.payment(payment.id)).state).toBe('settled');
    await payInstead(3, 1n);
    await shop.mine('tron', 3);
    expect(await rows()).toEqual([
      { status: 'confirmed', amount: '1' },
      { status: 'reversed', amount: '10000000' },
      { status: 'dropped', amount: '9000000' },
    ]);
    expect((await shop.balance(scope)).custody).toBe(1n);
    expect((await shop.payment(payment.id)).state).not.toBe('settled');
    await shop.expectBooksInOrder();
  });

  describe('a payment that always fails', () => {
    it('A payment that fails is quarantined, while its network continues and its transfers are kept, and is paid when it works again', async () => {
      const scope = await startShop();
      const bad = await shop.lock(scope);
      const good = await shop.lock(scope);
      const breakPayment = async (isBroken: boolean) => {
        // A value that is not a number makes every assessment throw.
        await shop.database.write((transaction) =>
          transaction
            .updateTable('payments')
            .set({ base_amount: isBroken ? 'broken' : '1000' })
            .where('id', '=', bad.id)
            .execute(),
        );
      };
      await breakPayment(true);
      await shop.send('tron', 'USDT', bad.address, usdt(10));
      await shop.send('tron', 'USDT', good.address, usdt(10));
      await shop.mine('tron', 2);
      expect((await shop.payment(good.id)).state).toBe('settled');
      const rows = await shop.database.reader.selectFrom('quarantine').selectAll().execute();
      const both = { network: 'tron', payment_id: bad.id };
      expect(rows).toHaveLength(2);
      expect(rows).toContainEqual(expect.objectContaining({ ...both, id: bad.id, transfer: null }));
      expect(rows).toContainEqual(
        expect.objectContaining({ ...both, transfer: expect.stringContaining(bad.address) as string }),
      );
      await shop.expectBooksInOrder();

      // Every failure doubles the pause, and another payer's transfer does not wait for it.
      const third = await shop.lock(scope);
      await shop.send('tron', 'USDT', third.address, usdt(10));
      await shop.pass(2000);
      await shop.mine('tron', 2);
      expect((await shop.payment(third.id)).state).toBe('settled');
      const again = await shop.database.reader.selectFrom('quarantine').selectAll().execute();
      expect(again.map(({ tries }) => tries)).toEqual([2, 2]);

      await breakPayment(false);
      await shop.pass(3 * minute);
      expect((await shop.payment(bad.id)).state).toBe('settled');
      expect(await shop.database.reader.selectFrom('quarantine').selectAll().execute()).toEqual([]);
      expect((await shop.balance(scope)).net).toBe(3n * usdt(9.9));
      await shop.expectBooksInOrder();
    });

    it('A payment is quarantined if the database refuses its writes, without losing the writes of others', async () => {
      const scope = await startShop();
      const bad = await shop.lock(scope);
      const good = await shop.lock(scope);
      await refuseLogEntries(shop, bad.id);
      for (const { address } of [bad, good]) await shop.send('tron', 'USDT', address, usdt(10));
      await shop.mine('tron', 2);
      expect((await shop.payment(good.id)).state).toBe('settled');
      expect((await shop.payment(bad.id)).state).toBe('awaiting_funds');
      const rows = await shop.database.reader.selectFrom('quarantine').selectAll().execute();
      expect(rows).toMatchObject([{ id: bad.id }]);
      expect(rows[0]?.reason).toMatch(/refused/);
      await shop.expectBooksInOrder();
    });

    it('A transfer whose receipt cannot be stored is kept until it can, with the time it was seen', async () => {
      const scope = await startShop();
      const good = await shop.lock(scope);
      const bad = await shop.lock(scope);
      const setBase = (base_currency: string) =>
        shop.database.write((transaction) =>
          transaction.updateTable('payments').set({ base_currency }).where('id', '=', bad.id).execute(),
        );
      await setBase('GONE');
      for (const { address } of [bad, good]) await shop.send('tron', 'USDT', address, usdt(10));
      const seenAt = shop.time.now;
      await shop.scan('tron');
      const [row] = await shop.database.reader.selectFrom('quarantine').selectAll().execute();
      expect(row).toMatchObject({ payment_id: bad.id, network: 'tron' });
      expect(row?.transfer).toContain(bad.address);
      await shop.mine('tron', 1);
      await shop.reorg('tron', 1, true);
      await shop.mine('tron', 2);
      expect((await shop.payment(good.id)).state).toBe('settled');
      await shop.pass(20 * minute);
      expect((await shop.payment(bad.id)).state).toBe('awaiting_funds');
      await setBase('USD');
      await shop.pass(5 * minute);
      expect((await shop.payment(bad.id)).state).toBe('settled');
      const receipts = await shop.database.reader
        .selectFrom('receipts')
        .select(['first_seen_at', 'status'])
        .where('payment_id', '=', bad.id)
        .execute();
      expect(receipts).toEqual([{ first_seen_at: seenAt, status: 'confirmed' }]);
      await shop.expectBooksInOrder();
    });
  });

  describe('a late payment', () => {
    it('A late payment in two parts is worth what both are worth together', async () => {
      const scope = await startShop();
      const payment = await shop.lock(scope, { amount: '10.01' });
      await shop.pass(31 * minute);
      expect((await shop.payment(payment.id)).state).toBe('expired');
      await shop.send('tron', 'USDT', payment.address, usdt(5.005));
      await shop.mine('tron', 2);
      await shop.send('tron', 'USDT', payment.address, usdt(5.005));
      await shop.mine('tron', 2);
      expect((await shop.payment(payment.id)).state).toBe('settled_late');
      await shop.expectBooksInOrder();
    });

    it('A late payment in two parts that lost a cent of worth together is refused', async () => {
      const scope = await startShop();
      const payment = await shop.lock(scope, { amount: '10.01' });
      await shop.pass(31 * minute);
      await shop.send('tron', 'USDT', payment.address, usdt(5.005));
      await shop.mine('tron', 2);
      shop.cents.set('USDT', 99n);
      await shop.send('tron', 'USDT', payment.address, usdt(5.005));
      await shop.mine('tron', 2);
      expect((await shop.payment(payment.id)).state).toBe('expired_late');
    });

    it('A transfer that is sent again after the deadline is late, at the worth it has then', async () => {
      const scope = await startShop();
      const payments = [await shop.lock(scope), await shop.lock(scope)];
      const [cheap, dear] = payments;
      if (!cheap || !dear) throw new Error('There are two payments');
      const sent = [];
      for (const { address } of payments) sent.push(await shop.send('tron', 'USDT', address, usdt(10)));
      await shop.scan('tron');
      const back = [];
      for (const hash of sent) back.push(await shop.drop(hash));
      await shop.scan('tron');
      await shop.pass(31 * minute);
      expect((await shop.payment(cheap.id)).state).toBe('expired');
      shop.cents.set('USDT', 90n);
      await back[0]?.();
      await shop.mine('tron', 2);
      expect((await shop.payment(cheap.id)).state).toBe('expired_late');
      shop.cents.set('USDT', 100n);
      await back[1]?.();
      await shop.mine('tron', 2);
      expect((await shop.payment(dear.id)).state).toBe('settled_late');
      const [receipt] = await shop.database.reader
        .selectFrom('receipts')
        .select('first_seen_at')
        .where('payment_id', '=', dear.id)
        .execute();
      expect(receipt?.first_seen_at).toBeGreaterThan(dear.expiresAt);
    });
  });

  it('A lost settlement gives back exactly the fee that was taken', async () => {
    const scope = await startShop();
    // At 1 %, each part on its own pays a fee of 1 unit less than its share of the settlement's.
    const payment = await shop.lock(scope, { amount: '0.03' });
    const parts = [10_099n, 10_099n, 10_099n];
    for (const part of parts) await shop.send('tron', 'USDT', payment.address, part);
    await shop.mine('tron', 2);
    const total = parts.reduce((sum, part) => sum + part, 0n);
    expect(await shop.feeIncome()).toBe(total / 100n);
    expect((await shop.balance(scope)).net).toBe(total - total / 100n);
    await shop.expectBooksInOrder();
    await shop.reorg('tron', 2, false);
    expect((await shop.payment(payment.id)).state).toBe('reversed');
    expect(await shop.feeIncome()).toBe(0n);
    expect(await shop.balance(scope)).toEqual({ net: 0n, reserved: 0n, unallocated: 0n, custody: 0n });
    await shop.expectBooksInOrder();
  });

  it('A payment shows the fee that was charged, and is logged as complete once', async () => {
    const scope = await startShop();
    const payment = await shop.lock(scope, { amount: '0.01' });
    await shop.send('tron', 'USDT', payment.address, 10_000n);
    await shop.mine('tron', 2);
    // Each of these is credited separately, with a fee of 0.
    for (let count = 0; count < 2; count += 1) await shop.send('tron', 'USDT', payment.address, 99n);
    await shop.mine('tron', 2);
    expect((await shop.payment(payment.id)).state).toBe('settled_over');
    expect(await shop.feeIncome()).toBe(100n);
    // At 1 % of all that was received, it would be 101 units.
    expect((await shop.app.payments.verify(scope, payment.id)).fee).toBe(0.0001);
    await shop.reorg('tron', 2, false);
    expect((await shop.payment(payment.id)).state).toBe('settled');
    const log = await shop.logOf(payment.id);
    expect(log.filter((event) => event.startsWith('Payment complete'))).toHaveLength(1);
    expect(log.at(-1)).toBe('The excess left the chain: 0.01 USDT received');
    await shop.expectBooksInOrder();
  });

  it('A dollar value has at most 15 digits', async () => {
    const scope = await startShop();
    shop.cents.set('USDT', 100_000_000_001n);
    const payment = await shop.lock(scope, { amount: '1000000000000.01' });
    await shop.send('tron', 'USDT', payment.address, 123_456_789_012_345_678n);
    await shop.mine('tron', 2);
    const { dollarValue } = await shop.app.payments.verify(scope, payment.id);
    expect(String(dollarValue).replace(/\D/g, '').replace(/0+$/, '').length).toBeLessThanOrEqual(15);
    expect(dollarValue).toBeGreaterThan(0);
  });
});

/** Makes the database refuse the entry that says that a receipt of this payment was confirmed. */
async function refuseLogEntries({ database }: SteppedShop, id: string): Promise<void> {
  const condition = `new.payment_id = '${id}' and new.event like 'Received%'`;
  const statements =
    database.engine === 'sqlite'
      ? [
          `create trigger refuse before insert on log_entries when ${condition}
             begin select raise(abort, 'refused'); end`,
        ]
      : [
          `create function refuse() returns trigger as
             'begin raise exception ''refused''; end' language plpgsql`,
          `create trigger refuse before insert on log_entries for each row when (${condition})
             execute function refuse()`,
        ];
  await database.write(async (transaction) => {
    for (const statement of statements) await sql.raw(statement).execute(transaction);
  });
}
