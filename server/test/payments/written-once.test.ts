/** A scan writes each receipt and each payment once, with all that follows, and nothing of a payment whose settling fails. */
import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import { enginesOfTurn } from '../support/engines.js';
import { openSteppedShop, type SteppedShop } from '../support/stepped-shop.js';

const minuteMs = 60_000;
const usdt = (amount: number) => BigInt(amount) * 1_000_000n;

const run = ({ database }: SteppedShop, statements: readonly string[]) =>
  database.write(async (transaction) => {
    for (const statement of statements) await sql.raw(statement).execute(transaction);
  });

/** Counts the rows that are written of receipts and payments. @returns reads the counts since the last call */
async function countWrites(shop: SteppedShop): Promise<() => Promise<Record<string, number>>> {
  const places = ['receipts', 'payments'].flatMap((table) =>
    ['insert', 'update'].map((event) => ({ table, event, what: `${event} ${table}` })),
  );
  const triggers =
    shop.database.engine === 'sqlite'
      ? places.map(
          ({ table, event, what }) =>
            `create trigger count_${event}_${table} after ${event} on ${table}
               begin insert into writes values ('${what}'); end`,
        )
      : [
          `create function count_write() returns trigger as
             'begin insert into writes values (lower(tg_op) || '' '' || tg_table_name); return null; end'
             language plpgsql`,
          ...places.map(
            ({ table, event }) =>
              `create trigger count_${event} after ${event} on ${table}
                 for each row execute function count_write()`,
          ),
        ];
  await run(shop, ['create table writes (what text)', ...triggers]);
  return () =>
    shop.database.write(async (transaction) => {
      const { rows } = await sql<{ what: string }>`select what from writes`.execute(transaction);
      await sql`delete from writes`.execute(transaction);
      const counts: Record<string, number> = {};
      for (const { what } of rows) counts[what] = (counts[what] ?? 0) + 1;
      return counts;
    });
}

/**
 * The last write of each kind that settling a payment makes, and the condition under which the test refuses it. A receipt
 * is inserted if it is new.
 */
const refused: readonly (readonly [
  name: string,
  event: 'insert' | 'update' | undefined,
  table: string,
  condition: (id: string) => string,
])[] = [
  ['the payment', 'update', 'payments', (id) => `new.id = '${id}' and new.settled_at is not null`],
  ['its posting', 'insert', 'ledger_postings', (id) => `new.key = 'settlement:${id}'`],
  ['its receipt', undefined, 'receipts', (id) => `new.payment_id = '${id}' and new.is_credited = 1`],
  ['its log', 'insert', 'log_entries', (id) => `new.payment_id = '${id}' and new.code = 'completed'`],
  ['its webhook', 'insert', 'outbox', (id) => `new.subject_id = '${id}' and new.type = 'payment.success'`],
];

/** Makes the database refuse a write. @returns allows it again */
async function refuse(
  shop: SteppedShop,
  event: string,
  table: string,
  condition: string,
): Promise<() => Promise<void>> {
  const isSqlite = shop.database.engine === 'sqlite';
  await run(
    shop,
    isSqlite
      ? [
          `create trigger refuse before ${event} on ${table} when ${condition}
             begin select raise(abort, 'refused'); end`,
        ]
      : [
          `create function refuse() returns trigger as
             'begin raise exception ''refused''; end' language plpgsql`,
          `create trigger refuse before ${event} on ${table} for each row when (${condition})
             execute function refuse()`,
        ],
  );
  return () => run(shop, [isSqlite ? 'drop trigger refuse' : `drop trigger refuse on ${table}`]);
}

describe.each(enginesOfTurn)('The writes of a scan, on $name', (engine) => {
  let shop: SteppedShop;
  afterEach(() => shop.close());

  const start = async () => {
    shop = await openSteppedShop(engine);
    await shop.scan('tron');
    const scope = await shop.merchant();
    await shop.database.write((transaction) =>
      shop.app.endpoints.set(transaction, scope, 'https://shop.example/hooks'),
    );
    return scope;
  };
  const receiptsOf = (id: string) =>
    shop.database.reader.selectFrom('receipts').selectAll().where('payment_id', '=', id).execute();
  const quarantined = () => shop.database.reader.selectFrom('quarantine').select('id').execute();
  const versionOf = async (id: string) => (await shop.payment(id)).parts_version;
  const keysOf = async (id: string) =>
    (
      await shop.database.reader
        .selectFrom('ledger_postings')
        .select('key')
        .where('payment_id', '=', id)
        .execute()
    )
      .map(({ key }) => key.replace(/:.*/, ''))
      .sort();
  const eventsOf = async (id: string) =>
    (
      await shop.database.reader
        .selectFrom('outbox')
        .select('type')
        .where('subject_id', '=', id)
        .orderBy('sequence')
        .execute()
    ).map(({ type }) => type);

  it('A receipt and its payment are written once each where the receipt is confirmed and credited', async () => {
    const scope = await start();
    const { id, address } = await shop.lock(scope);
    await shop.send('tron', 'USDT', address, usdt(10));
    const writes = await countWrites(shop);
    await shop.scan('tron');
    expect(await writes()).toMatchObject({ 'insert receipts': 1 });
    await shop.mine('tron', 1);
    expect(await writes()).toMatchObject({ 'update receipts': 1 });
    const version = await versionOf(id);
    await shop.mine('tron', 1);
    expect(await writes()).toEqual({ 'update receipts': 1, 'update payments': 1 });
    expect(await shop.payment(id)).toMatchObject({ state: 'settled', parts_version: version + 1 });
    expect(await receiptsOf(id)).toMatchObject([
      { status: 'confirmed', is_credited: 1, credited_fee: '100000' },
    ]);
    expect(await keysOf(id)).toEqual(['receipt', 'settlement']);
    expect(await eventsOf(id)).toEqual(['payment.success']);
    await shop.expectBooksInOrder();
  });

  it('A receipt that is deep when it is first seen, or gets into a block, is written once', async () => {
    const scope = await start();
    const [known, unknown] = [await shop.lock(scope), await shop.lock(scope)];
    await shop.send('tron', 'USDT', known.address, usdt(10));
    await shop.scan('tron');
    await shop.send('tron', 'USDT', unknown.address, usdt(10));
    const versions = [await versionOf(known.id), await versionOf(unknown.id)];
    const writes = await countWrites(shop);
    await shop.mine('tron', 2);
    expect(await writes()).toEqual({ 'insert receipts': 1, 'update receipts': 1, 'update payments': 2 });
    for (const [index, { id }] of [known, unknown].entries()) {
      expect((await shop.payment(id)).state).toBe('settled');
      expect(await versionOf(id)).toBe((versions[index] ?? 0) + 1);
      expect(await keysOf(id)).toEqual(['receipt', 'settlement']);
      expect(await eventsOf(id)).toEqual(['payment.success']);
    }
    await shop.expectBooksInOrder();
  });

  it('A receipt that a scan confirms is written once, and one that it leaves to the next scan twice', async () => {
    const scope = await start();
    const { id, address } = await shop.lock(scope);
    await shop.flood('tron', 'USDT', address, 10_000n, 1200);
    const writes = await countWrites(shop);
    await shop.mine('tron', 2);
    expect(await writes()).toMatchObject({ 'insert receipts': 1200, 'update receipts': 200 });
    expect(await shop.payment(id)).toMatchObject({ state: 'settled_over' });
    // The first scan settles what it confirmed, and the next one credits the rest.
    expect((await shop.balance(scope)).net).toBe(11_880_000n);
    expect(new Set((await receiptsOf(id)).map((receipt) => receipt.is_credited))).toEqual(new Set([1]));
    await shop.expectBooksInOrder();
  });

  it('A part that waited for the rest is credited together with it, as one settlement', async () => {
    const scope = await start();
    const { id, address } = await shop.lock(scope);
    await shop.send('tron', 'USDT', address, usdt(4));
    await shop.mine('tron', 2);
    expect(await receiptsOf(id)).toMatchObject([{ status: 'confirmed', is_credited: 0 }]);
    await shop.send('tron', 'USDT', address, usdt(6));
    await shop.scan('tron');
    await shop.mine('tron', 1);
    const writes = await countWrites(shop);
    await shop.mine('tron', 1);
    expect(await writes()).toEqual({ 'update receipts': 2, 'update payments': 1 });
    expect(await keysOf(id)).toEqual(['receipt', 'receipt', 'settlement']);
    expect((await shop.payment(id)).state).toBe('settled');
    expect((await shop.balance(scope)).net).toBe(9_900_000n);
    await shop.expectBooksInOrder();
  });

  it.each(refused.flatMap((one) => [['known', ...one] as const, ['new', ...one] as const]))(
    'A %s receipt stays as seen, and in step with the chain, while %s cannot be written',
    async (kind, _name, event, table, condition) => {
      const scope = await start();
      const [bad, good] = [await shop.lock(scope), await shop.lock(scope)];
      for (const { address } of [bad, good]) await shop.send('tron', 'USDT', address, usdt(10));
      if (kind === 'known') {
        await shop.scan('tron');
        await shop.mine('tron', 1);
      }
      const write = event ?? (kind === 'known' ? 'update' : 'insert');
      const allow = await refuse(shop, write, table, condition(bad.id));
      const version = await versionOf(bad.id);
      const expectUnsettled = async () => {
        const blocks = await shop.database.reader
          .selectFrom('simulated_blocks')
          .select(['height', 'hash'])
          .where('network', '=', 'tron')
          .execute();
        const [receipt, ...others] = await receiptsOf(bad.id);
        expect(others).toEqual([]);
        expect(receipt).toMatchObject({ status: 'seen', confirmed_at: null });
        expect(receipt).toMatchObject({ is_credited: 0, credited_fee: '0' });
        expect(blocks).toContainEqual({ height: receipt?.block_height, hash: receipt?.block_hash });
        expect(await keysOf(bad.id)).toEqual([]);
        expect(await eventsOf(bad.id)).toEqual([]);
        expect(await quarantined()).toEqual([{ id: bad.id }]);
        expect((await shop.payment(bad.id)).state).toBe(kind === 'known' ? 'confirming' : 'awaiting_funds');
        await shop.expectBooksInOrder();
      };
      await shop.mine('tron', kind === 'known' ? 1 : 2);
      expect((await shop.payment(good.id)).state).toBe('settled');
      await expectUnsettled();
      // Readers of the payment are shown a new receipt.
      expect(await versionOf(bad.id)).toBe(kind === 'known' ? version : version + 1);
      await shop.reorg('tron', 2, true);
      await shop.mine('tron', 1);
      await expectUnsettled();

      await allow();
      await shop.pass(5 * minuteMs);
      await shop.mine('tron', 2);
      expect(await quarantined()).toEqual([]);
      expect((await shop.payment(bad.id)).state).toBe('settled');
      expect(await receiptsOf(bad.id)).toMatchObject([{ status: 'confirmed', is_credited: 1 }]);
      expect(await keysOf(bad.id)).toEqual(['receipt', 'settlement']);
      expect(await eventsOf(bad.id)).toEqual(['payment.success']);
      expect((await shop.balance(scope)).net).toBe(2n * 9_900_000n);
      await shop.expectBooksInOrder();
    },
  );
});
