/**
 * The addresses of treasuries that hold money by the books. Each receipt marks its address, in its own transaction,
 * and a sweep that empties it removes the mark. So a plan of sweeps reads as many rows as there is to sweep, however
 * much was ever received.
 */
import { sql } from 'kysely';
import type { NetworkRef } from '../chains/chain.js';
import { chunksOf } from '../db/chunks.js';
import type { Transaction } from '../db/engine.js';
import { filtersBy } from '../db/plans.js';
import { preparedSend } from '../db/prepared.js';
import type { ReceiptRow, Schema } from '../db/schema.js';
import { send } from '../db/send.js';
import { groupBy } from '../shared/group-by.js';
import { forwarderSources } from './owners.js';

type Mark = Schema['unswept_forwarders'];
type Owned = Omit<Mark, 'address'>;

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

/** Takes marks away. `markUnswept` must hold them. */
export async function removeMarks(
  transaction: Transaction,
  { mode, network }: NetworkRef,
  addresses: readonly string[],
): Promise<void> {
  await transaction
    .deleteFrom('unswept_forwarders')
    .where((e) => e.and({ mode, network }))
    .where('address', 'in', addresses)
    .execute();
}

/**
 * Marks the receipts' addresses that belong to a treasury, and holds the marks until the transaction ends. Must be called before the
 * accounts of the ledger are locked.
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
