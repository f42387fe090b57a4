/**
 * Runs a part of a transaction that may fail separately: its changes are undone, and the rest of the transaction
 * continues.
 */
import type { DatabaseConnection } from 'kysely';
import type { Transaction } from './engine.js';
import { isCollision, isStalePlan, isUnavailable } from './errors.js';
import { runStatement } from './prepared.js';
import { connectionOf } from './send.js';
import { markCallbacks } from './transaction-context.js';

/** A connection that sends statements without waiting for them, and so must know where a savepoint begins and ends. */
export interface SavepointConnection extends DatabaseConnection {
  beginSavepoint(): void;
  /** @throws the first error of the statements since the savepoint began */
  releaseSavepoint(): Promise<void>;
  rollbackToSavepoint(): Promise<void>;
}

/**
 * Runs work in a savepoint. Savepoints must not be nested.
 * @returns the error of the work, whose changes are then undone; undefined if it succeeded
 * @throws errors that concern the whole transaction: a collision with another one, or a database that is unavailable
 */
export async function isolate(
  transaction: Transaction,
  work: () => Promise<void>,
): Promise<{ readonly error: unknown } | undefined> {
  const forgetCallbacks = markCallbacks(transaction);
  const savepoint = await savepointsOf(transaction);
  await savepoint.beginSavepoint();
  try {
    await work();
    await savepoint.releaseSavepoint();
    return undefined;
  } catch (error) {
    if (isUnavailable(error) || isCollision(error) || isStalePlan(error)) throw error;
    try {
      await savepoint.rollbackToSavepoint();
    } catch {
      // The savepoint is gone: the database has rolled back the whole transaction.
      throw error;
    }
    forgetCallbacks();
    return { error };
  }
}

type Savepoints = Pick<SavepointConnection, 'releaseSavepoint' | 'rollbackToSavepoint'> & {
  beginSavepoint(): void | Promise<void>;
};

async function savepointsOf(transaction: Transaction): Promise<Savepoints> {
  const connection = await connectionOf(transaction);
  return 'beginSavepoint' in connection ? (connection as SavepointConnection) : plain(transaction);
}

/** For a connection that waits for each statement, as SQLite's does. */
function plain(transaction: Transaction): Savepoints {
  const run = (statement: string) => runStatement(transaction, statement);
  return {
    beginSavepoint: () => run('savepoint part'),
    releaseSavepoint: () => run('release savepoint part'),
    async rollbackToSavepoint() {
      await run('rollback to savepoint part');
      await run('release savepoint part');
    },
  };
}
