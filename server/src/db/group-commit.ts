/**
 * Commits transactions in groups. SQLite lets one transaction write at a time and waits for the disk at every commit;
 * those that queue up meanwhile run one after the other inside one outer transaction, each in a savepoint of its own,
 * and share its commit. None is reported as done before that commit, and one that fails undoes only itself.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Transaction } from './engine.js';
import { runInTransaction } from './transaction-context.js';

export interface GroupCommitDeps {
  /** Runs one transaction of the engine, and commits it durably. */
  transaction(work: (transaction: Transaction) => Promise<void>): Promise<void>;
  /** Runs a statement on the connection of the transaction. */
  run(statement: string): void;
}

export interface GroupCommit {
  write<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
}

/** A transaction of a caller, waiting for its turn. */
interface Queued {
  /** Runs it. Returns what to do once its group has committed. */
  run(transaction: Transaction): Promise<() => void>;
  reject(error: unknown): void;
}

/** A group ends after this many transactions or this long, so that the first of it is not kept waiting. */
const mostInGroup = 32;
const longestGroupMs = 20;

export function createGroupCommit({ transaction, run }: GroupCommitDeps): GroupCommit {
  const queue: Queued[] = [];
  let isRunning = false;

  /** Runs one of the group in a savepoint. Returns what to do after the commit; undefined where it failed. */
  async function runOne(outer: Transaction, queued: Queued): Promise<(() => void) | undefined> {
    run('savepoint own');
    try {
      const settle = await queued.run(outer);
      run('release own');
      return settle;
    } catch (error) {
      queued.reject(error);
      try {
        run('rollback to own');
        run('release own');
      } catch {
        // SQLite has undone the whole transaction, as it does when the disk is full.
        throw error;
      }
      return undefined;
    }
  }

  async function runGroup(): Promise<void> {
    const settles: (() => void)[] = [];
    const members: Queued[] = [];
    try {
      await transaction(async (outer) => {
        const started = performance.now();
        while (members.length < mostInGroup && performance.now() - started < longestGroupMs) {
          // Requests that have arrived meanwhile are read in the next turn of the event loop, and join the group.
          if (queue.length === 0) await nextTurn();
          const queued = queue.shift();
          if (!queued) break;
          members.push(queued);
          const settle = await runOne(outer, queued);
          if (settle) settles.push(settle);
        }
      });
    } catch (error) {
      // Nothing was committed. Where the group could not even begin, its first member learns why.
      const failed = members.length > 0 ? members : queue.splice(0, 1);
      for (const { reject } of failed) reject(error);
      return;
    }
    for (const settle of settles) settle();
  }

  async function runAll(): Promise<void> {
    isRunning = true;
    while (queue.length > 0) await runGroup();
    isRunning = false;
  }

  return {
    write: (work) =>
      new Promise((resolve, reject) => {
        queue.push({
          reject,
          async run(outer) {
            const callbacks: (() => void)[] = [];
            const result = await runInTransaction(callbacks, () => work(outer));
            return () => {
              resolve(result);
              for (const callback of callbacks) callback();
            };
          },
        });
        if (!isRunning) void runAll();
      }),
  };
}
