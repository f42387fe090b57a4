/**
 * Addresses of a treasury that a plan of sweeps looks at: those that hold money by the books, found without adding up
 * all of them.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { markUnswept } from '../../src/core/addresses/unswept.js';
import { migrations } from '../../src/core/db/migrations.js';
import { unsweptForwarders } from '../../src/core/db/table.js';
import { clearNeedless, clearSwept } from '../../src/modules/treasury/unswept.js';
import { enginesOfTurn } from '../support/engines.js';
import { transact } from '../support/forwarders.js';
import { watchStatements } from '../support/statements.js';
import { confirmations, openTreasury, type TreasuryFixture } from './treasury-fixture.js';
import { violationsOf } from '../support/violations.js';

const place = { mode: 'test', network: 'evm-dev' } as const;

describe.each(enginesOfTurn)('The addresses that a sweep looks at, on $name', (engine) => {
  let fixture: TreasuryFixture;

  beforeAll(async () => {
    fixture = await openTreasury(engine);
    await fixture.setTreasury();
  });
  afterAll(() => fixture.stop());

  const marked = async () => {
    const { reader } = fixture.server.database;
    const rows = await reader.selectFrom('unswept_forwarders').select('address').execute();
    return rows.map(({ address }) => address).sort();
  };
  const planned = async () => {
    const plans = await fixture.command<{ items: { address: string }[] }[]>(
      'sweeps plan --network evm-dev --min-value 0',
    );
    return plans.flatMap(({ items }) => items.map(({ address }) => address)).sort();
  };
  async function sweep(): Promise<void> {
    const { transactions } = await fixture.command<{ transactions: { to: string; data: string }[] }>(
      'sweeps export --network evm-dev --format json',
    );
    for (const { to, data } of transactions) await transact(fixture.anvil, to, data);
  }

  it('A sweep looks at addresses that were paid until it is in the books, and again when its block is dropped', async () => {
    const [one, two] = [await fixture.pay('USDT'), await fixture.pay('ETH')];
    const both = [one.address, two.address].sort();
    expect(await marked()).toEqual(both);
    expect(await planned()).toEqual(both);
    await fixture.anvil.mine(2);
    await sweep();
    await fixture.watch();
    expect(await marked()).toEqual([]);
    expect(await planned()).toEqual([]);
    await fixture.anvil.reorg(confirmations + 1);
    await fixture.watch();
    expect(await marked()).toEqual(both);
    expect(await planned()).toEqual(both);
    await sweep();
    await fixture.watch();
    expect(await marked()).toEqual([]);
    await fixture.booksInOrder();
  });

  if (engine.name === 'SQLite') {
    it('A plan of sweeps reads no address that was swept before', async () => {
      const { address } = await fixture.pay('USDT');
      const watch = watchStatements(() => false);
      expect(await planned()).toEqual([address]);
      // A job that runs meanwhile reads receipts too, but adds up nothing by address.
      const sums = watch
        .take()
        .filter(({ sql }) => /from "(?:receipts|sweeps)".* group by "address"/s.test(sql));
      watch.stop();
      expect(sums.map(({ mostReturned }) => mostReturned)).toEqual([1, 0]);
      await sweep();
      await fixture.watch();
    });
  }

  it('An address keeps the mark of money that comes while another sweep is being booked', async () => {
    const { address } = await fixture.pay('USDT');
    const { database } = fixture.server;
    const mark = { ...place, merchant_id: fixture.merchantId, address };
    const row = await database.reader
      .selectFrom('receipts')
      .selectAll()
      .where('address', '=', address)
      .executeTakeFirstOrThrow();
    const more = {
      ...row,
      id: `${row.id.slice(0, -3)}XYZ`,
      tx_hash: `${row.tx_hash.slice(0, -3)}aaa`,
    };
    // Nothing is left of the time before.
    await database.write(async (transaction) => {
      await transaction.updateTable('receipts').set({ status: 'dropped' }).where('id', '=', row.id).execute();
    });
    let hasMarked: () => void = () => undefined;
    const isMarked = new Promise<void>((resolve) => (hasMarked = resolve));
    const booking = database.write(async (transaction) => {
      await markUnswept(transaction, [mark]);
      await clearSwept(transaction, place, []);
      hasMarked();
      await new Promise((resolve) => setTimeout(resolve, 200));
      await clearSwept(transaction, place, [address]);
    });
    await isMarked;
    await database.write(async (transaction) => {
      await transaction.insertInto('receipts').values(more).execute();
      await markUnswept(transaction, [mark]);
    });
    await booking;
    expect(await marked()).toEqual([address]);
    await database.write(async (transaction) => {
      await transaction.deleteFrom('receipts').where('id', '=', more.id).execute();
      await transaction
        .updateTable('receipts')
        .set({ status: row.status })
        .where('id', '=', row.id)
        .execute();
    });
    await sweep();
    await fixture.watch();
    await fixture.booksInOrder();
  });

  it('The upgrade marks addresses, which the server then corrects, and a missing mark fails the check of the ledger', async () => {
    const { address } = await fixture.pay('USDT');
    const { database } = fixture.server;
    const violations = () => violationsOf(database);
    await database.write(async (transaction) => {
      await transaction.deleteFrom('unswept_forwarders').execute();
    });
    expect(await violations()).toEqual([
      `${address} holds money on evm-dev in test mode, and no sweep would find it: use "sweeps plan --all"`,
    ]);
    await database.write(async (transaction) => {
      await transaction.schema.dropIndex('addresses_round').execute();
      await transaction.schema.dropTable('unswept_forwarders').execute();
      await migrations(database.engine, database.tables)[unsweptForwarders]?.up(transaction);
    });
    expect((await marked()).length).toBeGreaterThan(1);
    expect(await planned()).toEqual([address]);
    expect(await violations()).toEqual([]);
    await clearNeedless(database, place);
    expect(await marked()).toEqual([address]);
  });
});
