/**
 * The coins of extended keys on networks of Bitcoin's kind that no confirmed payout has spent. Each receipt in a
 * block marks its coin, in its own transaction, each settled payout its change, and removes the marks of the coins
 * that it spends. So a payout reads as many rows as there is to spend, however much was ever received.
 */
import { sql, type SqlBool } from 'kysely';
import { chunksOf, inChunks } from '../db/chunks.js';
import type { Reader, Transaction } from '../db/engine.js';
import { everyPage } from '../db/pages.js';
import { filtersBy } from '../db/plans.js';
import { having } from '../db/rows.js';
import type { ReceiptRow, Schema } from '../db/schema.js';
import { send } from '../db/send.js';
import type { NetworkRef } from '../chains/chain.js';
import { bitcoinFamilies } from '../families/kinds.js';

export type UnspentCoin = Schema['unspent_coins'];
type OutpointRow = Pick<UnspentCoin, 'tx_hash' | 'output_index'>;

/** Few enough that PostgreSQL finds each of a page by an index. */
const pageSize = 100;

/** Not of the simulated networks, whose keys are the server's own. */
export const isOfKey = sql<SqlBool>`exists (
  select 1 from deposit_keys as k where k.source_id = addresses.source_id and k.family in (${sql.join(bitcoinFamilies.map((family) => sql.lit(family)))}))`;

/** Marks the coins of those of these stored receipts that may be on a network of Bitcoin's kind. */
export async function markReceived(
  transaction: Transaction,
  receipts: readonly Pick<ReceiptRow, 'id' | 'address'>[],
): Promise<void> {
  // The addresses of EVM networks and of Tron. Most others cost no statement.
  const candidates = receipts.filter(({ address }) => !address.startsWith('0x') && !address.startsWith('T'));
  for (const chunk of chunksOf(candidates.map(({ id }) => id))) {
    await send(
      transaction,
      transaction
        .insertInto('unspent_coins')
        .columns([
          ...(['mode', 'network', 'merchant_id', 'source_id', 'tx_hash', 'output_index'] as const),
          ...(['amount', 'branch', 'derivation_index'] as const),
        ])
        .expression((e) =>
          e
            .selectFrom('receipts')
            .innerJoin('addresses', (join) =>
              join
                .onRef('addresses.address', '=', 'receipts.address')
                .onRef('addresses.mode', '=', 'receipts.mode'),
            )
            .select(['receipts.mode', 'receipts.network', 'receipts.merchant_id', 'addresses.source_id'])
            .select(['receipts.tx_hash', 'receipts.output_index'])
            .select([sql<number>`cast(receipts.amount as bigint)`.as('amount'), sql<0>`0`.as('branch')])
            .select('addresses.derivation_index')
            .where('receipts.id', 'in', chunk)
            .where(isOfKey),
        )
        .onConflict((conflict) => conflict.doNothing()),
    );
  }
}

/** Marks coins that are known without a receipt: the change of a payout, or what a payout does not spend after all. */
export async function markUnspent(transaction: Transaction, coins: readonly UnspentCoin[]): Promise<void> {
  for (const chunk of chunksOf(coins)) {
    await transaction
      .insertInto('unspent_coins')
      .values(chunk)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
}

/** Takes away the marks of coins that a confirmed payout has spent. */
export async function clearSpent(
  transaction: Transaction,
  { mode, network }: NetworkRef,
  coins: readonly OutpointRow[],
): Promise<void> {
  for (const { tx_hash, output_index } of coins) {
    await send(
      transaction,
      transaction.deleteFrom('unspent_coins').where((e) => e.and({ mode, network, tx_hash, output_index })),
    );
  }
}

interface CoinsOf extends NetworkRef {
  readonly merchantId: string;
  /** The coins of one key; undefined for all. */
  readonly sourceId?: string | undefined;
}

/** The marks of a merchant, page by page: those of one key largest first. */
export const unspentPages = (reader: Reader, { mode, network, merchantId, sourceId }: CoinsOf) =>
  everyPage<UnspentCoin>(pageSize, (after) =>
    reader
      .selectFrom('unspent_coins')
      .selectAll()
      .where((e) => e.and({ mode, network, merchant_id: merchantId }))
      .$call(having({ source_id: sourceId }))
      .$if(after !== undefined, (query) =>
        query.where(
          // With a column that is given, SQLite would begin every page at the first row.
          sourceId === undefined
            ? sql<SqlBool>`(source_id, amount, tx_hash, output_index) < (${after?.source_id}, ${after?.amount}, ${after?.tx_hash}, ${after?.output_index})`
            : sql<SqlBool>`(amount, tx_hash, output_index) < (${after?.amount}, ${after?.tx_hash}, ${after?.output_index})`,
        ),
      )
      .orderBy('source_id', 'desc')
      .orderBy('amount', 'desc')
      .orderBy('tx_hash', 'desc')
      .orderBy('output_index', 'desc')
      .limit(pageSize)
      .execute(),
  );

/** The marks of a key that are outputs of these transactions. */
export const unspentIn = (
  reader: Reader,
  { mode, network, merchantId, sourceId }: CoinsOf & { readonly sourceId: string },
  hashes: readonly string[],
): Promise<UnspentCoin[]> =>
  inChunks(hashes, (chunk) =>
    reader
      .selectFrom('unspent_coins')
      .selectAll()
      .where((e) => e.and({ mode, network }))
      .where('tx_hash', 'in', chunk)
      .where(filtersBy(reader, { merchant_id: merchantId, source_id: sourceId }))
      .execute(),
  );
