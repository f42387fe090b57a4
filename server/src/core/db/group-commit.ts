/**
 * Commits transactions in groups. SQLite runs one write transaction at a time and waits for the disk at every commit.
 * Transactions that queue up meanwhile run one after another inside one outer transaction, and share one commit. None resolves or
 * rejects before that commit: an error can be about rows of another member, which are not committed yet. One that fails rolls back
 * only its own changes: hardly any does after it has written, so the whole group is rolled back then, and runs again. For a while
 * after that, each has its own savepoint, which costs every page that it changes a copy.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pauseIfLong } from '../shared/pause.js';
import type { Transaction } from './engine.js';
import { DatabaseUnavailable, isUnavailable } from './errors.js';
import { runInTransaction } from './transaction-context.js';

/** A caller's transaction that waits for its turn. */
interface Queued {
  /** Commits on its own: others would wait as long as it takes for their replies. */
  readonly isLong: boolean;
  /** It has failed after it had written, and gets its own savepoint. */
  isCareful?: boolean;
  /** Runs the transaction. Returns a callback to call after the group's commit. */
  run(transaction: Transaction): Promise<() => void>;
  reject(error: unknown): void;
}

/** Limits of a group, so that its first transaction does not wait long for the commit. */
const maxGroupSize = 32;
const maxGroupMs = 20;

/** After one had to be undone, others may follow: somebody may send them on purpose. */
const carefulMs = 1000;

/** The connection on which the transactions run. */
export interface GroupConnection {
  run(statement: string): void;
  /** Counts up whenever a statement may have changed something. */
  changes(): number;
  /** False if the database has rolled back the outer transaction. */
  isOpen(): boolean;
}

/** Rolls back a group of which one member has failed after it had written. */
class Undo extends Error {
  override readonly name = 'Undo';
}

/**
 * @param transaction runs one engine transaction and commits it durably
 * @param connection that of the transaction
 */
export function createGroupCommit(
  transaction: (work: (transaction: Transaction) => Promise<void>) => Promise<void>,
  { run, changes, isOpen }: GroupConnection,
) {
  const queue: Queued[] = [];
  let isRunning = false;
  let carefulUntil = 0;

  /** Runs one transaction after others. Returns the callback for after the commit. */
  async function runOne(outer: Transaction, queued: Queued): Promise<() => void> {
    if (queued.isCareful || performance.now() < carefulUntil) return runInSavepoint(outer, queued);
    const before = changes();
    try {
      return await queued.run(outer);
    } catch (error) {
      if (!isOpen()) throw error;
      if (changes() === before) return () => queued.reject(error);
      queued.isCareful = true;
      throw new Undo();
    }
  }

  async function runInSavepoint(outer: Transaction, queued: Queued): Promise<() => void> {
    run('savepoint own');
    try {
      const settle = await queued.run(outer);
      run('release own');
      return settle;
    } catch (error) {
      try {
        run('rollback to own');
        run('release own');
      } catch {
        // The savepoint is gone: SQLite rolled back the whole transaction, as it does when the disk is full.
        throw error;
      }
      return () => queued.reject(error);
    }
  }

  async function runGroup(): Promise<void> {
    const settles: (() => void)[] = [];
    const members: Queued[] = [];
    try {
      await transaction(async (outer) => {
        const started = performance.now();
        while (members.length < maxGroupSize && performance.now() - started < maxGroupMs) {
          // Lets requests that have just arrived be read, so that they join the group.
          if (queue.length === 0) await nextTurn();
          // The first one holds the lock until the end of the turn: another server of this file must not meet it there.
          else if (members.length > 0) await pauseIfLong();
          if (members.length > 0 && queue[0]?.isLong) break;
          const queued = queue.shift();
          if (!queued) break;
          members.push(queued);
          // If the first one fails, there is nothing else to keep.
          settles.push(await (members.length === 1 ? queued.run(outer) : runOne(outer, queued)));
          // It may have caught the error with which SQLite did so. Each later statement would commit on its own.
          if (!isOpen()) throw new DatabaseUnavailable('SQLite has rolled back the transaction');
          if (queued.isLong) break;
        }
      });
    } catch (error) {
      if (error instanceof Undo) {
        carefulUntil = performance.now() + carefulMs;
        queue.unshift(...members);
        return;
      }
      // Nothing was committed. If the outer transaction could not begin, only the first in the queue fails; if another program holds
      // the file, all do: each would wait as long for it again, and with it the whole process.
      const failed = members.length > 0 ? members : queue.splice(0, isUnavailable(error) ? queue.length : 1);
      for (const { reject } of failed) reject(error);
      // A caller that retries at once must not keep requests from being read.
      await nextTurn();
      return;
    }
    for (const settle of settles) {
      settle();
      await pauseIfLong();
    }
  }

  async function runAll(): Promise<void> {
    isRunning = true;
    while (queue.length > 0) await runGroup();
    isRunning = false;
  }

  return <T>(work: (transaction: Transaction) => Promise<T>, isLong = false): Promise<T> =>
    new Promise((resolve, reject) => {
      queue.push({
        isLong,
        reject,
        async run(outer) {
          const { result, callBack } = await runInTransaction(outer, work);
          return () => {
            resolve(result);
            callBack();
          };
        },
      });
      if (!isRunning) void runAll();
    });
}
