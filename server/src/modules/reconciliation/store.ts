/** Stores how far a network's balances were compared with the books, and where they differ. */
import { sql, type Expression, type SqlBool, type UpdateObject } from 'kysely';
import type { Database } from '../../core/db/database.js';
import type { Reader, Transaction } from '../../core/db/engine.js';
import type { Schema } from '../../core/db/schema.js';
import { valuesOf } from '../../core/db/values.js';
import { reconciliationTables, type BalanceDifferenceRow, type ReconciliationTable } from './tables.js';
import { inChunks } from '../../core/db/chunks.js';
import { countRows } from '../../core/db/rows.js';
import type { Scope } from '../../core/shared/scope.js';
import type { NetworkRef } from '../../core/chains/chain.js';

const differences = valuesOf(reconciliationTables.balance_differences);

export function readReconciliation(
  reader: Reader,
  { mode, network }: NetworkRef,
): Promise<ReconciliationTable | undefined> {
  return reader
    .selectFrom('reconciliations')
    .selectAll()
    .where((e) => e.and({ mode, network }))
    .executeTakeFirst();
}

/** The condition of the index of those that somebody may have to look at. */
const isReported = (table: string): Expression<SqlBool> => sql<SqlBool>`${sql.ref(table)}.state <> 'spent'`;

/**
 * The height to which the balances of each network were compared, and the number that differ: not those that a wallet
 * has emptied itself.
 */
export async function readStatus(reader: Reader) {
  const rounds = await reader
    .selectFrom('reconciliations')
    .selectAll()
    .orderBy('mode')
    .orderBy('network')
    .execute();
  const reported = await reader
    .selectFrom('balance_differences')
    .where(isReported('balance_differences'))
    .groupBy(['mode', 'network', 'state'])
    .select((e) => ['mode', 'network', 'state', e.fn.countAll<number>().as('count')])
    .execute();
  return { rounds, differences: reported };
}

/** Begins with a network that was not reconciled before. */
export async function begin(database: Database, row: ReconciliationTable): Promise<void> {
  await database.write((transaction) =>
    transaction
      .insertInto('reconciliations')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .execute(),
  );
}

/**
 * Changes what is stored of a network.
 * @param was the columns that must still be so: of several servers that change it, one does
 * @returns false if another server has changed it
 */
export async function change(
  database: Database,
  { mode, network }: NetworkRef,
  was: Partial<ReconciliationTable>,
  changes: UpdateObject<Schema, 'reconciliations'>,
): Promise<boolean> {
  const { numUpdatedRows } = await database.write((transaction) =>
    transaction
      .updateTable('reconciliations')
      .set(changes)
      .where((e) => e.and({ mode, network, ...was }))
      .executeTakeFirstOrThrow(),
  );
  return numUpdatedRows === 1n;
}

const differencesOf = (reader: Reader, { mode, network }: NetworkRef) =>
  reader
    .selectFrom('balance_differences')
    .selectAll()
    .where((e) => e.and({ mode, network }));

export async function readDifferences(
  reader: Reader,
  network: NetworkRef,
  addresses: readonly string[],
): Promise<BalanceDifferenceRow[]> {
  const rows = await inChunks(addresses, (chunk) =>
    differencesOf(reader, network).where('address', 'in', chunk).execute(),
  );
  return rows.map(differences.decode);
}

/** Those in some states that were seen before a block, of one address or of all. The oldest first. */
export async function seenBefore(
  reader: Reader,
  network: NetworkRef,
  height: number,
  states: readonly BalanceDifferenceRow['state'][],
  address: string | undefined,
  most: number,
): Promise<BalanceDifferenceRow[]> {
  const rows = await differencesOf(reader, network)
    .where('state', 'in', states)
    .where('height', '<', height)
    .$if(address !== undefined, (query) => query.where('address', '=', address ?? ''))
    .orderBy('height')
    .orderBy('address')
    .limit(most)
    .execute();
  return rows.map(differences.decode);
}

export async function listDifferences(reader: Reader): Promise<BalanceDifferenceRow[]> {
  const rows = await reader
    .selectFrom('balance_differences')
    .selectAll()
    .where(isReported('balance_differences'))
    .orderBy('mode')
    .orderBy('network')
    .orderBy('found_at')
    .orderBy('address')
    .limit(1000)
    .execute();
  return rows.map(differences.decode);
}

/** Differences at the addresses of a merchant's mode, oldest first, at most 200. */
export async function listOwn(
  reader: Reader,
  { merchantId, mode }: Scope,
  networks: readonly string[],
): Promise<BalanceDifferenceRow[]> {
  if (networks.length === 0) return [];
  const rows = await reader
    .selectFrom('balance_differences as found')
    .innerJoin('addresses', (join) =>
      join.onRef('addresses.address', '=', 'found.address').onRef('addresses.mode', '=', 'found.mode'),
    )
    .leftJoin('payments', 'payments.id', 'addresses.payment_id')
    .leftJoin('wallets', 'wallets.id', 'addresses.wallet_id')
    .selectAll('found')
    .where(isReported('found'))
    .where('found.mode', '=', mode)
    .where('found.network', 'in', networks)
    .where((e) =>
      e.or([e('payments.merchant_id', '=', merchantId), e('wallets.merchant_id', '=', merchantId)]),
    )
    .orderBy('found.found_at')
    .orderBy('found.address')
    .limit(200)
    .execute();
  return rows.map(differences.decode);
}

/** The number of addresses of a merchant's mode that hold less than the books have. */
export async function countShortages(
  reader: Reader,
  { merchantId, mode }: Scope,
  networks: readonly string[],
): Promise<number> {
  if (networks.length === 0) return 0;
  return countRows(
    reader
      .selectFrom('balance_differences as found')
      .innerJoin('addresses', (join) =>
        join.onRef('addresses.address', '=', 'found.address').onRef('addresses.mode', '=', 'found.mode'),
      )
      .leftJoin('payments', 'payments.id', 'addresses.payment_id')
      .leftJoin('wallets', 'wallets.id', 'addresses.wallet_id')
      .where(isReported('found'))
      .where((e) => e.and({ 'found.mode': mode, 'found.state': 'shortage' }))
      .where('found.network', 'in', networks)
      .where((e) => e.or({ 'payments.merchant_id': merchantId, 'wallets.merchant_id': merchantId })),
  );
}

/** @param more in the same transaction */
export async function writeDifference(
  database: Database,
  found: BalanceDifferenceRow,
  more?: (transaction: Transaction) => Promise<void>,
): Promise<void> {
  const row = differences.encode(found);
  await database.write(async (transaction) => {
    await transaction
      .insertInto('balance_differences')
      .values(row)
      .onConflict((conflict) => conflict.columns(['mode', 'network', 'address', 'currency']).doUpdateSet(row))
      .execute();
    await more?.(transaction);
  });
}

/** The number of transactions that an address has sent, if it must be counted from the first one on. */
export const sentUnknown = -1;

/**
 * Blocks above a height are gone: the amounts that wallets had moved by then are unknown, and so is what only balances had shown.
 * Both are counted again, of the network's coin: of it, the nonce says how much a wallet has moved.
 */
export async function forgetSpending(
  transaction: Transaction,
  { mode, network, currency }: NetworkRef & { readonly currency: string },
  above: number,
  now: number,
): Promise<void> {
  const unknown = { spent: '0', sent: sentUnknown, state: 'seen' } as const;
  await transaction
    .updateTable('balance_differences')
    .set(unknown)
    .where((e) => e.and({ mode, network, currency }))
    .where('state', 'in', ['seen', 'dust', 'shortage', 'spent'])
    .where('height', '>', above)
    .where('spent', '<>', '0')
    .execute();
  const shown = await transaction
    .selectFrom('receipts')
    .select(['address', (e) => e.fn.min('found_above').as('above')])
    .where((e) => e.and({ mode, network, currency }))
    .where('found_above', 'is not', null)
    .where('block_height', '>', above)
    .where('status', 'in', ['seen', 'confirmed'])
    .groupBy('address')
    .execute();
  for (const { address, above: foundAbove } of shown) {
    await transaction
      .insertInto('balance_differences')
      .values({
        mode,
        network,
        address,
        currency,
        ...unknown,
        difference: '0',
        balance: '0',
        height: above,
        hash: '',
        node: '',
        above: foundAbove ?? above,
        found_at: now,
      })
      .onConflict((conflict) =>
        conflict
          .columns(['mode', 'network', 'address', 'currency'])
          .doUpdateSet(unknown)
          // An amount of a block that is still there stays known.
          .where('balance_differences.height', '>', above),
      )
      .execute();
  }
}

export async function deleteDifference(
  database: Database,
  { mode, network, address, currency }: BalanceDifferenceRow,
): Promise<void> {
  await database.write((transaction) =>
    transaction
      .deleteFrom('balance_differences')
      .where((e) => e.and({ mode, network, address, currency }))
      .execute(),
  );
}
