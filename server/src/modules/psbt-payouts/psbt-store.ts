/** Stores payouts by PSBT. */
import type { Reader, Transaction } from '../../core/db/engine.js';
import { chunksOf, inChunks } from '../../core/db/chunks.js';
import { forUpdate } from '../../core/db/locks.js';
import { filtersBy } from '../../core/db/plans.js';
import { insertRow, rowById, updateRow, within } from '../../core/db/rows.js';
import { tables, type TransferRow } from '../../core/db/schema.js';
import { valuesOf } from '../../core/db/values.js';
import type { Outpoint } from '../networks/bitcoin/utxo-node.js';
import { orNotFound } from '../../core/shared/problem.js';
import type { ExportedTransfers } from '../networks/export-figures.js';
import type { Scope, Within } from '../../core/shared/scope.js';
import { unheldTransfers } from '../../core/withdrawals/waiting-transfers.js';
import type { SpentCoin } from './build.js';
import { outpointOf } from './outpoints.js';
import { refundQueries } from '../../core/payments/refunds-of.js';
import {
  psbtTables,
  type PsbtInputRow,
  type PsbtTable,
  type PsbtTransferRow,
  type PsbtVersionRow,
  type PsbtState,
} from './tables.js';

const inputRows = valuesOf(psbtTables.psbt_inputs);
const paidRows = valuesOf(psbtTables.psbt_transfers);
const versionRows = valuesOf(psbtTables.psbt_versions);
const transferRows = valuesOf(tables.transfers);

/** A PSBT with all that belongs to it. Versions are sorted by number, inputs and transfers by position. */
export interface StoredPsbt extends PsbtTable {
  readonly inputs: readonly PsbtInputRow[];
  readonly transfers: readonly (TransferRow & Pick<PsbtTransferRow, 'is_held' | 'bears_fee'>)[];
  readonly versions: readonly PsbtVersionRow[];
}

export type FollowedPsbt = Pick<PsbtTable, 'id' | 'mode' | 'network' | 'state' | 'problem' | 'warning'>;

/** The holder of coins or transfers, in one currency on one network. */
export interface Holder {
  readonly scope: Scope;
  readonly network: string;
  readonly currency: string;
}

/** Locks a PSBT until the transaction ends, and reads it again. */
export async function lockPsbt(transaction: Transaction, id: string): Promise<StoredPsbt> {
  const psbt = await rowById(transaction, 'psbts', id).$call(forUpdate(transaction)).executeTakeFirst();
  if (!psbt) throw new Error(`The PSBT ${id} is gone`);
  return { ...psbt, ...(await readParts(transaction, id)) };
}

/** Problem: `not_found`. */
export async function requirePsbt(reader: Reader, id: string, of: Within = {}): Promise<StoredPsbt> {
  const psbt = orNotFound(await rowById(reader, 'psbts', id).$call(within(of)).executeTakeFirst(), 'PSBT');
  return { ...psbt, ...(await readParts(reader, id)) };
}

async function readParts(reader: Reader, id: string): Promise<Omit<StoredPsbt, keyof PsbtTable>> {
  const inputs = await reader
    .selectFrom('psbt_inputs')
    .selectAll()
    .where('psbt_id', '=', id)
    .orderBy('position')
    .execute();
  const transfers = await reader
    .selectFrom('psbt_transfers')
    .innerJoin('transfers', 'transfers.id', 'psbt_transfers.transfer_id')
    .selectAll('transfers')
    .select(['psbt_transfers.is_held', 'psbt_transfers.bears_fee'])
    .where('psbt_id', '=', id)
    .orderBy('position')
    .execute();
  const versions = await reader
    .selectFrom('psbt_versions')
    .selectAll()
    .where('psbt_id', '=', id)
    .orderBy('number')
    .execute();
  return {
    inputs: inputs.map(inputRows.decode),
    transfers: transfers.map((row) => paidRows.decode(transferRows.decode(row))),
    versions: versions.map(versionRows.decode),
  };
}

/** All that the operator should know of it; null if nothing is wrong. */
export function attentionOf({ problem, warning }: Pick<PsbtTable, 'problem' | 'warning'>): string | null {
  return [warning, problem].filter((sentence) => sentence !== null).join('. ') || null;
}

/** Newest first. */
export function listPsbts(reader: Reader, of: Within, limit: number): Promise<PsbtTable[]> {
  return reader
    .selectFrom('psbts')
    .selectAll()
    .$call(within(of))
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Those that a chain can still change. @param since real time: PSBTs confirmed before it are final */
export async function followedPsbts(reader: Reader, since: number): Promise<FollowedPsbt[]> {
  return reader
    .selectFrom('psbts')
    .select(['id', 'mode', 'network', 'state', 'problem', 'warning'])
    .where((e) =>
      e.or([
        e('state', 'in', ['open', 'sent', 'conflicted']),
        e.and([
          // A signed copy of a discarded PSBT can still be broadcast, whatever happened to its transfers.
          e('state', 'in', ['settled', 'discarded']),
          e.or([e('confirmed_at', 'is', null), e('confirmed_at', '>', since)]),
        ]),
      ]),
    )
    .orderBy('created_at')
    .execute();
}

/** Stores it without its versions, and holds its coins and transfers. `bearer`: which transfer the fee is taken out of, if any. */
export async function insertPsbt(
  transaction: Transaction,
  psbt: PsbtTable,
  paid: readonly Pick<TransferRow, 'id'>[],
  { coins, bearer }: { readonly coins: readonly SpentCoin[]; readonly bearer: number | undefined },
): Promise<void> {
  const { id: psbt_id, mode, network } = psbt;
  await transaction.insertInto('psbts').values(psbt).execute();
  const inputs = coins.map((coin, position) =>
    inputRows.encode({
      psbt_id,
      position,
      mode,
      network,
      tx_hash: coin.txHash,
      output_index: coin.outputIndex,
      amount: coin.amount,
      branch: coin.branch,
      derivation_index: coin.index,
      is_held: true,
    }),
  );
  for (const chunk of chunksOf(inputs)) await transaction.insertInto('psbt_inputs').values(chunk).execute();
  const transfers = paid.map(({ id: transfer_id }, position) =>
    paidRows.encode({ psbt_id, position, transfer_id, is_held: true, bears_fee: position === bearer }),
  );
  for (const chunk of chunksOf(transfers)) {
    await transaction.insertInto('psbt_transfers').values(chunk).execute();
  }
}

const insertStored = insertRow('psbt_versions');
export const insertVersion = (transaction: Transaction, row: PsbtVersionRow) =>
  insertStored(transaction, versionRows.encode(row));
export const updatePsbt = updateRow('psbts');

export async function updateVersion(
  transaction: Transaction,
  { psbt_id, number }: PsbtVersionRow,
  change: Partial<PsbtVersionRow>,
): Promise<void> {
  await transaction
    .updateTable('psbt_versions')
    .set(versionRows.encode(change))
    .where((e) => e.and({ psbt_id, number }))
    .execute();
}

/** One of its outputs has paid another transfer than it was made for. */
export async function replaceTransfer(
  transaction: Transaction,
  psbtId: string,
  transferId: string,
  by: string,
): Promise<void> {
  await transaction
    .updateTable('psbt_transfers')
    .set({ transfer_id: by })
    .where((e) => e.and({ psbt_id: psbtId, transfer_id: transferId }))
    .execute();
}

/** Ids of the transfers that a transaction pays, if it is that of a PSBT. */
export async function transfersPaidBy(reader: Reader, txHash: string): Promise<ReadonlySet<string>> {
  const rows = await reader
    .selectFrom('psbt_versions')
    .innerJoin('psbt_transfers', 'psbt_transfers.psbt_id', 'psbt_versions.psbt_id')
    .select('psbt_transfers.transfer_id')
    .where('tx_hash', '=', txHash)
    .execute();
  return new Set(rows.map((row) => row.transfer_id));
}

/** A transfer outside of a PSBT that the same transaction pays. */
export type Claim = Pick<TransferRow, 'address' | 'amount'>;

/** Those to the same addresses. */
export async function claimsOn(
  reader: Reader,
  { mode, network, transfers }: StoredPsbt,
  txHash: string,
): Promise<Claim[]> {
  const addresses = [...new Set(transfers.map(({ address }) => address))];
  const rows = await inChunks(addresses, (chunk) =>
    reader
      .selectFrom('transfers')
      .selectAll()
      .where('address', 'in', chunk)
      .where((e) => e.and({ network, mode }))
      .where('tx_hash', 'in', asTyped(txHash))
      .where('status', 'in', ['processing', 'success'])
      .execute(),
  );
  const own = new Set(transfers.map(({ id }) => id));
  return rows.map(transferRows.decode).filter(({ id }) => !own.has(id));
}

/** True if a transaction is a PSBT's, or has settled anything: its fee is in the books then. Reads all transfers. */
export async function isBooked(
  reader: Reader,
  { mode, network }: StoredPsbt,
  txHash: string,
): Promise<boolean> {
  if ((await transfersPaidBy(reader, txHash)).size > 0) return true;
  const settled = await reader
    .selectFrom('transfers')
    .select('id')
    .where((e) => e.and({ mode, network, status: 'success' }))
    .where('tx_hash', 'in', asTyped(txHash))
    .limit(1)
    .executeTakeFirst();
  return settled !== undefined;
}

/** The forms of a hash that somebody may have typed. */
const asTyped = (txHash: string) => [txHash, `0x${txHash}`];

/** The transactions that spend a coin of this PSBT: its own and its rivals'. A chain can have only one of them. */
export async function exclusiveHashes(
  reader: Reader,
  { inputs }: Pick<StoredPsbt, 'inputs'>,
): Promise<ReadonlySet<string>> {
  const rows = await reader
    .selectFrom('psbt_versions')
    .select('tx_hash')
    .where('psbt_id', 'in', await psbtsSpending(reader, inputs.map(outpointOf)))
    .execute();
  return new Set(rows.flatMap(({ tx_hash: hash }) => hash ?? []));
}

/** Takes the coins and the transfers of a PSBT back from all others. */
export async function holdAll(
  transaction: Transaction,
  { id, mode, network, inputs, transfers }: StoredPsbt,
): Promise<void> {
  for (const { tx_hash, output_index } of inputs) {
    await transaction
      .updateTable('psbt_inputs')
      .set({ is_held: 0 })
      .where((e) => e.and({ mode, network, tx_hash, output_index }))
      .where('psbt_id', '<>', id)
      .execute();
  }
  for (const chunk of chunksOf(transfers.map((transfer) => transfer.id))) {
    await transaction
      .updateTable('psbt_transfers')
      .set({ is_held: 0 })
      .where('transfer_id', 'in', chunk)
      .where('psbt_id', '<>', id)
      .execute();
  }
  await setHeld(transaction, id, true);
}

/** @param is_held false: other PSBTs may spend its coins and pay its transfers */
export async function setHeld(transaction: Transaction, id: string, is_held: boolean): Promise<void> {
  const held = inputRows.encode({ is_held });
  await transaction.updateTable('psbt_inputs').set(held).where('psbt_id', '=', id).execute();
  await transaction.updateTable('psbt_transfers').set(held).where('psbt_id', '=', id).execute();
}

/** A transfer that waits for a PSBT. */
export interface PayableTransfer extends TransferRow {
  /** The one who bears the network's fee of the refund that it pays; null for a withdrawal. */
  readonly fee_bearer: 'merchant' | 'payer' | null;
}

/** The transfers that a merchant's wallet has to send, oldest first, without those that are held already. */
export async function payableTransfers(
  reader: Reader,
  { scope, network, currency }: Holder,
): Promise<PayableTransfer[]> {
  const rows = await unheldTransfers(reader, scope)
    .selectAll()
    .where((e) => e.and({ network, currency }))
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  const refundIds = rows.flatMap(({ refund_id: id }) => id ?? []);
  const refunds = (await refundQueries(reader)?.find(reader, refundIds)) ?? [];
  const bearers = new Map(refunds.map(({ id, network_fee: bearer }) => [id, bearer]));
  return rows.map((row) => ({
    ...transferRows.decode(row),
    fee_bearer: bearers.get(row.refund_id ?? '') ?? null,
  }));
}

/** The transfers in PSBTs that were exported and not signed yet, by network. */
export async function sumExported(reader: Reader): Promise<ExportedTransfers[]> {
  const rows = await reader
    .selectFrom('psbts')
    .innerJoin('psbt_transfers', 'psbt_transfers.psbt_id', 'psbts.id')
    .where('psbts.state', '=', 'open')
    .groupBy(['psbts.mode', 'psbts.network'])
    .select(['psbts.mode', 'psbts.network'])
    .select(({ fn }) => [
      fn.countAll<number | string>().as('count'),
      fn.min<number | string>('psbts.created_at').as('since'),
    ])
    .execute();
  return rows.map(({ count, since, ...of }) => ({ ...of, count: Number(count), since: Number(since) }));
}

/** The PSBT that a transfer is in, if that one may still pay it. */
export function holderOf(
  reader: Reader,
  transferId: string,
): Promise<{ id: string; state: PsbtState } | undefined> {
  return reader
    .selectFrom('psbt_transfers')
    .innerJoin('psbts', 'psbts.id', 'psbt_transfers.psbt_id')
    .select(['psbts.id', 'psbts.state'])
    .where((e) => e.and({ transfer_id: transferId, is_held: 1 }))
    .executeTakeFirst();
}

/**
 * A PSBT with the transfer whose coins another transaction has spent, while it is not clear that this one has paid nothing.
 */
export function doubtfulOf(
  reader: Reader,
  transferId: string,
): Promise<Pick<PsbtTable, 'id' | 'state' | 'problem'> | undefined> {
  return reader
    .selectFrom('psbt_transfers')
    .innerJoin('psbts', 'psbts.id', 'psbt_transfers.psbt_id')
    .select(['psbts.id', 'psbts.state', 'psbts.problem'])
    .where('transfer_id', '=', transferId)
    .where((e) =>
      e.or([
        e.and([e('state', '=', 'conflicted'), e('is_held', '=', 1)]),
        e.and([e('state', '=', 'discarded'), e('problem', 'is not', null)]),
      ]),
    )
    .executeTakeFirst();
}

/** The discarded PSBTs that paid some of these transfers. */
export async function discardedWith(reader: Reader, transferIds: readonly string[]): Promise<string[]> {
  const rows = await inChunks(transferIds, (chunk) =>
    reader
      .selectFrom('psbt_transfers')
      .innerJoin('psbts', 'psbts.id', 'psbt_transfers.psbt_id')
      .select('psbts.id')
      .distinct()
      .where('transfer_id', 'in', chunk)
      .where(filtersBy(reader, { 'psbts.state': 'discarded' }))
      .execute(),
  );
  return [...new Set(rows.map(({ id }) => id))];
}

/** Ids of the PSBTs that spend one of these outputs, newest first. */
export async function psbtsSpending(reader: Reader, outpoints: readonly Outpoint[]): Promise<string[]> {
  const rows = await inChunks([...new Set(outpoints.map(({ txHash }) => txHash))], (chunk) =>
    reader
      .selectFrom('psbt_inputs')
      .innerJoin('psbts', 'psbts.id', 'psbt_inputs.psbt_id')
      .select(['psbts.id', 'psbts.created_at', 'tx_hash', 'output_index'])
      .where('tx_hash', 'in', chunk)
      .execute(),
  );
  const matching = rows.filter((row) =>
    outpoints.some((one) => one.txHash === row.tx_hash && one.outputIndex === row.output_index),
  );
  matching.sort((a, b) => b.created_at - a.created_at);
  return [...new Set(matching.map(({ id }) => id))];
}

/** The raw transactions of our own payouts, by hash. Their change needs no node to be spent. */
export async function ownTransactions(
  reader: Reader,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await inChunks(hashes, (chunk) =>
    reader
      .selectFrom('psbt_versions')
      .select(['tx_hash', 'signed_transaction'])
      .where('tx_hash', 'in', chunk)
      .where('signed_transaction', 'is not', null)
      .execute(),
  );
  return new Map(rows.map(({ tx_hash: hash, signed_transaction: raw }) => [hash ?? '', raw ?? '']));
}
