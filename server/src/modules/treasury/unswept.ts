/** The marks of addresses of treasuries that hold money: reads them, and takes those of empty ones away. */
import { markUnswept, removeMarks } from '../../core/addresses/unswept.js';
import type { NetworkRef } from '../../core/chains/chain.js';
import { chunksOf } from '../../core/db/chunks.js';
import type { Database } from '../../core/db/database.js';
import type { Reader, Transaction } from '../../core/db/engine.js';
import { everyPage } from '../../core/db/pages.js';
import { filtersBy } from '../../core/db/plans.js';
import { having } from '../../core/db/rows.js';
import type { Schema } from '../../core/db/schema.js';
import { sumUnits } from '../../core/db/units.js';

type Mark = Schema['unswept_forwarders'];

const pageSize = 500;

/** Takes away the marks of those of these addresses that hold nothing. `markUnswept` must hold them. */
export async function clearSwept(
  transaction: Transaction,
  { mode, network }: NetworkRef,
  addresses: readonly string[],
): Promise<void> {
  for (const chunk of chunksOf(addresses)) {
    const holding = await holdingOf(transaction, { mode, network }, chunk);
    const empty = chunk.filter((address) => !holding.has(address));
    if (empty.length > 0) await removeMarks(transaction, { mode, network }, empty);
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
