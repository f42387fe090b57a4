/**
 * What scans could not process: payments and transfers that are set aside, so that their network goes on without them. The
 * scan tries each again, less and less often.
 */
import type { Logger } from 'pino';
import type { ChainBlock, ChainTransfer, NetworkRef } from '../../chains/chain.js';
import type { Reader, Transaction } from '../../db/engine.js';
import type { SetAsideTable } from '../../db/schema.js';
import { afterCommit } from '../../db/transaction-context.js';
import type { Clock } from '../../shared/clock.js';
import { errorMessage } from '../../shared/error-message.js';
import type { Mode } from '../../shared/scope.js';

/** A transfer whose receipt could not be stored, and its block if it is in one. */
export interface StoredArrival {
  readonly transfer: ChainTransfer;
  readonly block: Pick<ChainBlock, 'height' | 'hash' | 'time'> | undefined;
  /** When it was first seen (real time). */
  readonly seenAt: number;
}

export function writeArrival({ transfer, block, seenAt }: StoredArrival): string {
  const kept = block && { height: block.height, hash: block.hash, time: block.time };
  return JSON.stringify({
    transfer: { ...transfer, amount: transfer.amount.toString() },
    block: kept,
    seenAt,
  });
}

export function readArrival(json: string): StoredArrival {
  // The cast is safe: `writeArrival` wrote it.
  const { transfer, ...rest } = JSON.parse(json) as Omit<StoredArrival, 'transfer'> & {
    transfer: Omit<ChainTransfer, 'amount'> & { amount: string };
  };
  return { ...rest, block: rest.block, transfer: { ...transfer, amount: BigInt(transfer.amount) } };
}

const firstPauseMs = 1000;
const longestPauseMs = 10 * 60_000;

/** Everything that is set aside on a network. */
export function readSetAside(reader: Reader, { mode, network }: NetworkRef): Promise<SetAsideTable[]> {
  return reader
    .selectFrom('set_aside')
    .selectAll()
    .where('mode', '=', mode)
    .where('network', '=', network)
    .orderBy('id')
    .execute();
}

/** Whether something on a network is to be tried again. @param now real time */
export async function isRetryDue(
  reader: Reader,
  { mode, network }: NetworkRef,
  now: number,
): Promise<boolean> {
  const row = await reader
    .selectFrom('set_aside')
    .select('id')
    .where('mode', '=', mode)
    .where('network', '=', network)
    .where('retry_at', '<=', now)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

export interface Failed extends NetworkRef {
  readonly id: string;
  readonly paymentId: string | null;
  readonly arrival: StoredArrival | undefined;
  readonly error: unknown;
}

/** @param former the row of its last failure @param now real time */
async function setAside(
  transaction: Transaction,
  { mode, network, id, paymentId, arrival, error }: Failed,
  former: SetAsideTable | undefined,
  now: number,
): Promise<void> {
  const tries = (former?.tries ?? 0) + 1;
  const changes = {
    payment_id: paymentId,
    arrival: arrival ? writeArrival(arrival) : null,
    reason: errorMessage(error).slice(0, 1000),
    tries,
    retry_at: now + Math.min(firstPauseMs * 2 ** Math.min(tries - 1, 20), longestPauseMs),
  };
  await transaction
    .insertInto('set_aside')
    .values({ mode, network, id, failed_at: now, ...changes })
    .onConflict((conflict) => conflict.columns(['mode', 'network', 'id']).doUpdateSet(changes))
    .execute();
}

/** Sets aside what a scan could not process, and logs it. @param former the row of its last failure */
export type PutAside = (
  transaction: Transaction,
  failed: Failed,
  former: SetAsideTable | undefined,
) => Promise<void>;

export function createPutAside(clock: Clock, log: Logger): PutAside {
  return async (transaction, failed, former) => {
    await setAside(transaction, failed, former, clock.real());
    const { id, paymentId, mode, network, error } = failed;
    afterCommit(() =>
      log.error(
        { err: error, mode, network, id, paymentId },
        'A payment was set aside, because it cannot be processed; the network goes on, and it is tried again',
      ),
    );
  };
}

/** Keeps the block of a transfer in step with the chain, until its receipt can be stored. */
export async function updateArrival(
  transaction: Transaction,
  { mode, network, id }: SetAsideTable,
  arrival: StoredArrival,
): Promise<void> {
  await transaction
    .updateTable('set_aside')
    .set({ arrival: writeArrival(arrival) })
    .where('mode', '=', mode)
    .where('network', '=', network)
    .where('id', '=', id)
    .execute();
}

export async function takeBack(
  transaction: Transaction,
  { mode, network, id }: Pick<SetAsideTable, 'mode' | 'network' | 'id'>,
): Promise<void> {
  await transaction
    .deleteFrom('set_aside')
    .where('mode', '=', mode)
    .where('network', '=', network)
    .where('id', '=', id)
    .execute();
}

/** For operators: everything that is set aside, oldest first, at most 1000. */
export function listSetAside(reader: Reader): Promise<SetAsideTable[]> {
  return reader.selectFrom('set_aside').selectAll().orderBy('failed_at').orderBy('id').limit(1000).execute();
}

/** For operators: makes everything that is set aside due. @returns how much that is */
export async function retrySetAside(transaction: Transaction, network: string | undefined): Promise<number> {
  const all = transaction.updateTable('set_aside').set({ retry_at: 0 });
  const { numUpdatedRows } = await (
    network === undefined ? all : all.where('network', '=', network)
  ).executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}

export interface SetAsideCount {
  readonly mode: Mode;
  readonly network: string;
  readonly count: number;
}

export async function countSetAside(reader: Reader): Promise<SetAsideCount[]> {
  const rows = await reader
    .selectFrom('set_aside')
    .groupBy(['mode', 'network'])
    .select((e) => ['mode', 'network', e.fn.countAll<number | string>().as('count')])
    .execute();
  return rows.map(({ mode, network, count }) => ({ mode, network, count: Number(count) }));
}
