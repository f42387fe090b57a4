/**
 * A payment of which one column cannot be read is quarantined, and no other payment of its network is, whatever the
 * chain does meanwhile. Once it is repaired, its state is the one that the chain shows.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { enginesOfTurn } from '../support/engines.js';
import { openSteppedShop, type SteppedShop } from '../support/stepped-shop.js';

const minuteMs = 60_000;
const usdt = (amount: number) => BigInt(amount) * 1_000_000n;

/** Table, column and a value that its codec refuses. */
type Broken = readonly [table: 'payments' | 'receipts', column: string, value: string];

const broken: readonly Broken[] = [
  ['payments', 'base_amount', 'broken'],
  ['payments', 'amount', 'broken'],
  ['payments', 'quote', '{'],
  ['payments', 'accepted_currencies', '[1]'],
  ['receipts', 'amount', 'broken'],
  ['receipts', 'chain_amount', 'broken'],
  ['receipts', 'senders', '{'],
  ['receipts', 'credited_fee', 'broken'],
];

describe.each(enginesOfTurn)('a payment that cannot be read, on $name', (engine) => {
  let shop: SteppedShop;
  afterEach(() => shop.close());

  const startShop = async () => {
    shop = await openSteppedShop(engine);
    await shop.scan('tron');
    return shop.merchant();
  };

  /** Breaks a column of a payment or of its receipts. @returns a function that repairs it */
  async function breakColumn([table, column, value]: Broken, id: string): Promise<() => Promise<void>> {
    const [of, key] =
      table === 'payments' ? (['payments', 'id'] as const) : (['receipts', 'payment_id'] as const);
    const rows = await shop.database.reader.selectFrom(of).selectAll().where(key, '=', id).execute();
    const set = (changed: unknown) =>
      shop.database.write((transaction) =>
        transaction
          .updateTable(of)
          .set({ [column]: changed })
          .where(key, '=', id)
          .execute(),
      );
    await set(value);
    return async () => {
      for (const row of rows) await set(Object.entries(row).find(([name]) => name === column)?.[1]);
    };
  }

  const receiptsOf = (id: string) =>
    shop.database.reader
      .selectFrom('receipts')
      .select(['status', 'amount'])
      .where('payment_id', '=', id)
      .execute();
  const quarantined = () => shop.database.reader.selectFrom('quarantine').selectAll().execute();
  const stateOf = async (id: string) => (await shop.payment(id)).state;

  it.each(broken)('An unreadable payment does not stop its network: %s.%s is %s', async (...column) => {
    const scope = await startShop();
    const bad = await shop.lock(scope);
    const good = await shop.lock(scope);
    const payBoth = async () => {
      for (const { address } of [bad, good]) await shop.send('tron', 'USDT', address, usdt(5));
    };
    await payBoth();
    await shop.mine('tron', 1);
    const repair = await breakColumn(column, bad.id);
    // Another transfer to it, a block that the chain replaces, and depth for all of it.
    await payBoth();
    await shop.mine('tron', 1);
    await shop.reorg('tron', 2, true);
    await shop.mine('tron', 3);
    expect(await stateOf(good.id)).toBe('settled');
    expect(await stateOf(bad.id)).not.toBe('settled');
    const rows = await quarantined();
    expect(rows.find(({ id }) => id === bad.id)?.reason).toContain(`${column[0]}.${column[1]}`);
    expect(new Set(rows.map((row) => row.payment_id))).toEqual(new Set([bad.id]));

    await repair();
    await shop.pass(5 * minuteMs);
    await shop.mine('tron', 1);
    expect(await quarantined()).toEqual([]);
    expect(await stateOf(bad.id)).toBe('settled');
    const paid = { status: 'confirmed', amount: '5000000' };
    expect(await receiptsOf(bad.id)).toEqual([paid, paid]);
    expect((await shop.balance(scope)).net).toBe(2n * 9_900_000n);
    await shop.expectBooksInOrder();
  });

  it.each(broken)('An unreadable payment loses what the chain loses: %s.%s is %s', async (...column) => {
    const scope = await startShop();
    const [paid, seen, good] = [await shop.lock(scope), await shop.lock(scope), await shop.lock(scope)];
    for (const { address } of [paid, good]) await shop.send('tron', 'USDT', address, usdt(10));
    await shop.mine('tron', 2);
    await shop.send('tron', 'USDT', seen.address, usdt(10));
    await shop.mine('tron', 1);
    expect(await stateOf(paid.id)).toBe('settled');
    const repairs = [await breakColumn(column, paid.id), await breakColumn(column, seen.id)];
    await shop.reorg('tron', 3, false);
    await shop.mine('tron', 3);
    expect(await stateOf(good.id)).toBe('reversed');
    for (const repair of repairs) await repair();
    await shop.pass(5 * minuteMs);
    await shop.mine('tron', 1);
    expect(await quarantined()).toEqual([]);
    expect([await stateOf(paid.id), await stateOf(seen.id)]).toEqual(['reversed', 'awaiting_funds']);
    expect(await receiptsOf(paid.id)).toMatchObject([{ status: 'reversed' }]);
    expect(await receiptsOf(seen.id)).toMatchObject([{ status: 'dropped' }]);
    expect(await shop.balance(scope)).toMatchObject({ net: 0n, custody: 0n });
    await shop.pass(31 * minuteMs);
    expect(await stateOf(seen.id)).toBe('expired');
    await shop.expectBooksInOrder();
  });

  it('A quarantined transfer that cannot be read stops nothing, and is credited once it is repaired', async () => {
    const scope = await startShop();
    const [bad, good] = [await shop.lock(scope), await shop.lock(scope)];
    const repair = await breakColumn(['payments', 'amount', 'broken'], bad.id);
    for (const { address } of [bad, good]) await shop.send('tron', 'USDT', address, usdt(10));
    await shop.mine('tron', 1);
    const kept = (await quarantined()).find(({ transfer }) => transfer !== null);
    const setTransfer = (transfer: string) =>
      shop.database.write((transaction) =>
        transaction.updateTable('quarantine').set({ transfer }).where('transfer', 'is not', null).execute(),
      );
    await setTransfer('{');
    await repair();
    await shop.pass(minuteMs);
    await shop.mine('tron', 1);
    expect(await stateOf(good.id)).toBe('settled');
    expect(await quarantined()).toMatchObject([
      { id: kept?.id, transfer: '{', reason: expect.stringContaining('quarantine.transfer') as string },
    ]);
    await setTransfer(kept?.transfer ?? '');
    await shop.pass(11 * minuteMs);
    expect(await stateOf(bad.id)).toBe('settled');
    expect((await shop.balance(scope)).net).toBe(2n * 9_900_000n);
    await shop.expectBooksInOrder();
  });

  it('A deposit that cannot be read stays one deposit, although its transfer came into another block', async () => {
    const scope = await startShop();
    const wallet = await shop.database.write((transaction) =>
      shop.app.wallets.create(transaction, scope, { currency: 'USDT', label: '' }),
    );
    const address = wallet.addresses.find(({ network }) => network === 'tron')?.address ?? '';
    await shop.send('tron', 'USDT', address, usdt(10));
    await shop.mine('tron', 1);
    const deposits = () => shop.database.reader.selectFrom('payments').select(['id', 'state']).execute();
    const [deposit] = await deposits();
    const repair = await breakColumn(['receipts', 'amount', 'broken'], deposit?.id ?? '');
    await shop.reorg('tron', 1, true);
    await shop.mine('tron', 3);
    expect(await deposits()).toEqual([deposit]);
    await repair();
    await shop.pass(5 * minuteMs);
    await shop.mine('tron', 1);
    expect(await deposits()).toMatchObject([{ id: deposit?.id, state: 'settled' }]);
    expect((await shop.balance(scope)).net).toBe(9_900_000n);
    await shop.expectBooksInOrder();
  });
});
