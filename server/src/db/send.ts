/** Sends statements whose results nobody needs. */
import type { Compilable, CompiledQuery, DatabaseConnection } from 'kysely';
import type { Transaction } from './engine.js';

/** A connection that can send a statement without waiting for its result. */
export interface SendingConnection extends DatabaseConnection {
  send(query: CompiledQuery): void;
}

/**
 * Runs an insert, update or delete. On PostgreSQL it does not wait for the result, so that the statement travels with
 * the next one or the commit. An error then fails the transaction instead of this call, so do not use it if you handle
 * the error.
 */
export async function send(transaction: Transaction, query: Compilable): Promise<void> {
  const compiled = query.compile();
  await transaction.getExecutor().provideConnection(async (connection) => {
    if ('send' in connection) (connection as SendingConnection).send(compiled);
    else await connection.executeQuery(compiled);
  });
}
