/**
 * The addresses of treasuries that hold money by the books. Each receipt marks its address, in its own transaction,
 * and a sweep that empties it removes the mark. So a plan of sweeps reads as many rows as there is to sweep, however
 * much was ever received.
 */
import { sql } from 'kysely';
import type { NetworkRef } from '../chains/chain.js';
import { chunksOf } from '../db/chunks.js';
import type { Database } from '../db/database.js';
import type { Reader, Transaction } from '../db/engine.js';
import { everyPage } from '../db/pages.js';
import { filtersBy } from '../db/plans.js';
import { preparedSend } from '../db/prepared.js';
import { having } from '../db/rows.js';
import type { ReceiptRow, Schema } from '../db/schema.js';
import { send } from '../db/send.js';
import { sumUnits } from '../db/units.js';
import { groupBy } from '../shared/group-by.js';
import { forwarderSources } from './owners.js';

type Mark = Schema['unswept_forwarders'];
type Owned = Omit<Mark, 'address'>;

const pageSize = 500;

function insertMarks(transaction: Transaction, { mode, network, merchant_id }: Owned, addresses: string[]) {
  return (
    transaction
      .insertInto('unswept_forwarders')
      .columns(['mode', 'network', 'merchant_id', 'address'])
      .expression((e) =>
        e
          .selectFrom('addresses')
          .select([
            'mode',
            sql<string>`cast(${network} as text)`.as('network'),
            sql<string>`cast(${merchant_id} as text)`.as('merchant_id'),
            'address',
          ])
          .where('address', 'in', addresses)
          .where(filtersBy(transaction, { mode }))
          .where('source_id', 'like', forwarderSources)
          .orderBy('address'),
      )
      // The update changes nothing, but waits for a transaction that is removing the mark: `do nothing` would not.
      .onConflict((conflict) =>
        conflict
          .columns(['mode', 'network', 'address'])
          .doUpdateSet((e) => ({ merchant_id: e.ref('excluded.merchant_id') })),
      )
  );
}

const markOne = preparedSend((transaction, { address, ...owned }: Mark) =>
  insertMarks(transaction, owned, [address]),
);

/**
 * Marks those of the receipts' addresses that are a treasury's, and holds the marks until the transaction ends. To be called before
 * the accounts of the ledger are locked.
 */
export async function markUnswept(
  transaction: Transaction,
  receipts: readonly Pick<ReceiptRow, keyof Mark>[],
): Promise<void> {
  // Only EVM networks have forwarders. Most others cost no statement.
  const candidates = receipts.filter(({ address }) => address.startsWith('0x'));
  const groups = groupBy(candidates, (one) => `${one.mode}/${one.network}/${one.merchant_id}`);
  for (const group of groups.values()) {
    const [first] = group;
    if (!first) continue;
    const { mode, network, merchant_id } = first;
    const addresses = [...new Set(group.map(({ address }) => address))].sort();
    if (addresses.length === 1) {
      await markOne(transaction, { mode, network, merchant_id, address: first.address });
      continue;
    }
    for (const chunk of chunksOf(addresses))
      await send(transaction, insertMarks(transaction, { mode, network, merchant_id }, chunk));
  }
}

/** Takes away the marks of those of these addresses that hold nothing. `markUnswept` must hold them. */
export async function clearSwept(
  transaction: Transaction,
  { mode, network }: NetworkRef,
  addresses: readonly string[],
): Promise<void> {
  for (const chunk of chunksOf(addresses)) {
    const holding = await holdingOf(transaction, { mode, network }, chunk);
    const empty = chunk.filter((address) => !holding.has(address));
    if (empty.length === 0) continue;
    await transaction
      .deleteFrom('unswept_forwarders')
      .where((e) => e.and({ mode, network }))
      .where('address', 'in', empty)
      .execute();
  }
}

/** The marks of a merchant, or of all, page by page. */
const pagesOf = (reader: Reader, { mode, network }: NetworkRef, merchantId?: string) =>
  everyPage<Mark>(pageSize, (after) =>
    reader
      .selectFrom('unswept_forwarders')
      .selectAll()
      .where((e) => e.and({ mode, network }))
      .$call(having({ merchant_id: merchantId }))
      .where('address', '>', after?.address ?? '')
      .orderBy('address')
      .limit(pageSize)
      .execute(),
  );

/** The addresses of these merchants at which more of some currency was received than was swept. */
export async function readUnswept(
  reader: Reader,
  place: NetworkRef,
  merchants: readonly string[],
): Promise<string[]> {
  const found: string[] = [];
  for (const merchantId of merchants) {
    for await (const marks of pagesOf(reader, place, merchantId)) {
      const addresses = marks.map(({ address }) => address);
      const holding = await holdingOf(reader, place, addresses);
      found.push(...addresses.filter((address) => holding.has(address)));
    }
  }
  return found;
}

/** Takes away the marks that are there for nothing, as after a reorganization. */
export async function clearNeedless({ reader, write }: Database, place: NetworkRef): Promise<void> {
  for await (const marks of pagesOf(reader, place)) {
    await write(async (transaction) => {
      await markUnswept(transaction, marks);
      await clearSwept(
        transaction,
        place,
        marks.map(({ address }) => address),
      );
    });
  }
}

/** Those of these addresses at which more of some currency was received than was swept. */
export async function holdingOf(
  reader: Reader,
  { mode, network }: NetworkRef,
  addresses: readonly string[],
): Promise<ReadonlySet<string>> {
  const received = await reader
    .selectFrom('receipts')
    .select(['address', 'currency', sumUnits(reader, 'amount').as('units')])
    .where('address', 'in', addresses)
    .where(filtersBy(reader, { mode, network }))
    .where('status', 'in', ['seen', 'confirmed'])
    .groupBy(['address', 'currency'])
    .execute();
  const swept = await reader
    .selectFrom('sweeps')
    .select(['address', 'currency', sumUnits(reader, 'amount').as('units')])
    .where('address', 'in', addresses)
    .where(filtersBy(reader, { mode, network }))
    .where('is_reversed', '=', 0)
    .groupBy(['address', 'currency'])
    .execute();
  const left = new Map(swept.map((row) => [`${row.address}/${row.currency}`, BigInt(row.units)]));
  const holding = received.filter(
    ({ address, currency, units }) => BigInt(units) > (left.get(`${address}/${currency}`) ?? 0n),
  );
  return new Set(holding.map(({ address }) => address));
}
