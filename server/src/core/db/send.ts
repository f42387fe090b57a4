/** Sends statements whose results nobody needs. */
import type { Compilable, CompiledQuery, DatabaseConnection } from 'kysely';
import type { Reader, Transaction } from './engine.js';

/** A connection that can send a statement without waiting for its result. */
export interface SendingConnection extends DatabaseConnection {
  send(query: CompiledQuery): void;
  /** Sends all that `work` sends with `preparedSend` as one statement. */
  together<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * Runs an insert, update or delete. On PostgreSQL it does not wait for the result, so that the statement travels with
 * the next one or the commit. An error then fails the transaction instead of this call, so do not use it if you handle
 * the error.
 */
export async function send(transaction: Transaction, query: Compilable): Promise<void> {
  const compiled = query.compile();
  const connection = await connectionOf(transaction);
  if (isSending(connection)) connection.send(compiled);
  else await connection.executeQuery(compiled);
}

/**
 * Runs work whose `preparedSend`s become one statement on PostgreSQL, because a statement itself costs more than its
 * work. They must write different rows: none sees what another one writes, and they run in no particular order.
 */
export async function together<T>(transaction: Transaction, work: () => Promise<T>): Promise<T> {
  const connection = await connectionOf(transaction);
  return isSending(connection) ? connection.together(work) : work();
}

/** One promise for all statements of a transaction: each continues in the order in which it asked. */
const connections = new WeakMap<Reader, Promise<DatabaseConnection>>();

/** The connection of a transaction. No one else uses it until the transaction ends. */
export function connectionOf(transaction: Reader): Promise<DatabaseConnection> {
  const known = connections.get(transaction);
  if (known) return known;
  // Only looked at here: while it is provided, no statement of the transaction would run.
  const found = transaction.getExecutor().provideConnection((connection) => Promise.resolve(connection));
  connections.set(transaction, found);
  return found;
}

/** One for all: an error of its own, with its stack, would cost each transaction 3 % of its time. */
const refused = Promise.reject<DatabaseConnection>(
  new Error('A statement came after the end of its transaction'),
);
refused.catch(() => undefined);

/** Refuses statements of a transaction that is about to end: one that nobody awaits would run after it. */
export function refuseFurther(transaction: Reader): void {
  connections.set(transaction, refused);
}

export function isSending(connection: DatabaseConnection): connection is SendingConnection {
  return 'send' in connection;
}
