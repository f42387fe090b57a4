/**
 * Payments and transfers that scans could not process: they are quarantined, so that their network continues without
 * them. The scan retries each, less and less often.
 */
import type { Logger } from 'pino';
import type { ChainBlock, ChainTransfer, NetworkRef } from '../../chains/chain.js';
import type { Reader, Transaction } from '../../db/engine.js';
import { tables, type QuarantineTable } from '../../db/schema.js';
import { prepared } from '../../db/prepared.js';
import { countRows, hasRows } from '../../db/rows.js';
import { afterCommit } from '../../db/transaction-context.js';
import type { Clock } from '../../shared/clock.js';
import { errorMessage } from '../../shared/error-message.js';
import { byNetwork, type Figure } from '../../shared/feature.js';
import type { Scope } from '../../shared/scope.js';

/** A transfer whose receipt could not be stored, and its block if it is in one. */
export interface StoredTransfer {
  readonly transfer: ChainTransfer;
  readonly block?: Pick<ChainBlock, 'height' | 'hash' | 'time'> | undefined;
  /** When it was first seen (real time). */
  readonly seenAt: number;
}

const { transfer: column } = tables.quarantine.columns;

/** Null if it is a payment. */
export const readTransfer = ({ transfer }: Pick<QuarantineTable, 'transfer'>): StoredTransfer | null =>
  column.read(transfer);

const firstPauseMs = 1000;
const longestPauseMs = 10 * 60_000;

/** The columns that change with a failure. */
const afterFailure = (previous: QuarantineTable | undefined, error: unknown, now: number) => {
  const tries = (previous?.tries ?? 0) + 1;
  return {
    reason: errorMessage(error).slice(0, 1000),
    tries,
    retry_at: now + Math.min(firstPauseMs * 2 ** Math.min(tries - 1, 20), longestPauseMs),
  };
};

/** Everything that is quarantined on a network. */
export const readQuarantine = (reader: Reader, { mode, network }: NetworkRef): Promise<QuarantineTable[]> =>
  findOnNetwork(reader, { mode, network });

const findOnNetwork = prepared((reader, { mode, network }: NetworkRef) =>
  reader
    .selectFrom('quarantine')
    .selectAll()
    .where((e) => e.and({ mode, network }))
    .orderBy('id'),
);

/** True if something on a network is due for a retry. @param now real time */
export function isRetryDue(reader: Reader, { mode, network }: NetworkRef, now: number): Promise<boolean> {
  const all = reader.selectFrom('quarantine').where((e) => e.and({ mode, network }));
  return hasRows(all.where('retry_at', '<=', now));
}

interface Failed extends NetworkRef {
  readonly id: string;
  readonly paymentId: string | null;
  readonly transfer: StoredTransfer | undefined;
  readonly error: unknown;
}

export type Quarantine = ReturnType<typeof createQuarantine>;

/** @returns a function that quarantines a payment or transfer that a scan could not process, and logs it. Its `previous` is the row of the last failure */
export function createQuarantine(clock: Clock, log: Logger) {
  return async (
    transaction: Transaction,
    { mode, network, id, paymentId, transfer, error }: Failed,
    previous: QuarantineTable | undefined,
  ): Promise<void> => {
    const now = clock.real();
    const changes = {
      payment_id: paymentId,
      transfer: column.write(transfer ?? null),
      ...afterFailure(previous, error, now),
    };
    await transaction
      .insertInto('quarantine')
      .values({ mode, network, id, failed_at: now, ...changes })
      .onConflict((conflict) => conflict.columns(['mode', 'network', 'id']).doUpdateSet(changes))
      .execute();
    afterCommit(transaction, () =>
      log.error(
        { err: error, mode, network, id, paymentId },
        'A payment was quarantined, because it cannot be processed; the network continues, and the payment is tried again',
      ),
    );
  };
}

/** Tries a row later that cannot be read, and keeps it as it is. */
export async function postpone(
  transaction: Transaction,
  row: QuarantineTable,
  error: unknown,
  now: number,
): Promise<void> {
  const { mode, network, id } = row;
  await transaction
    .updateTable('quarantine')
    .set(afterFailure(row, error, now))
    .where((e) => e.and({ mode, network, id }))
    .execute();
}

/** Keeps the block of a transfer in step with the chain, until its receipt can be stored. */
export async function updateTransfer(
  transaction: Transaction,
  { mode, network, id }: QuarantineTable,
  transfer: StoredTransfer,
): Promise<void> {
  await transaction
    .updateTable('quarantine')
    .set({ transfer: column.write(transfer) })
    .where((e) => e.and({ mode, network, id }))
    .execute();
}

export async function release(
  transaction: Transaction,
  { mode, network, id }: Pick<QuarantineTable, 'mode' | 'network' | 'id'>,
): Promise<void> {
  await transaction
    .deleteFrom('quarantine')
    .where((e) => e.and({ mode, network, id }))
    .execute();
}

/** For operators: everything that is quarantined, oldest first, at most 1000. */
export function listQuarantine(reader: Reader): Promise<QuarantineTable[]> {
  return reader.selectFrom('quarantine').selectAll().orderBy('failed_at').orderBy('id').limit(1000).execute();
}

/** For operators: makes everything that is quarantined due. @returns the number of rows */
export async function retryQuarantine(transaction: Transaction, network: string | undefined) {
  const all = transaction.updateTable('quarantine').set({ retry_at: 0 });
  const { numUpdatedRows } = await (
    network === undefined ? all : all.where('network', '=', network)
  ).executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}

/** The number of quarantined payments in a merchant's mode. */
export function countQuarantined(reader: Reader, { merchantId, mode }: Scope): Promise<number> {
  return countRows(
    reader
      .selectFrom('quarantine')
      .innerJoin('payments', 'payments.id', 'quarantine.payment_id')
      .where((e) => e.and({ 'quarantine.mode': mode, 'payments.merchant_id': merchantId })),
  );
}

export const createQuarantineFigures = (reader: Reader) => (): readonly Figure[] => [
  byNetwork({
    name: 'checkout_payments_quarantined',
    help: 'Payments and transfers that a scan could not process; see the command `chains status`',
    async read() {
      const counts = await reader
        .selectFrom('quarantine')
        .groupBy(['mode', 'network'])
        .select((e) => ['mode', 'network', e.fn.countAll<number>().as('count')])
        .execute();
      return counts.map((one) => [one, one.count]);
    },
  }),
];
