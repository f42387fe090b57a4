/** Queries that are compiled once, because they run so often that building their SQL each time would cost too much. */
import { hash } from 'node:crypto';
import type { Compilable, CompiledQuery, DatabaseConnection } from 'kysely';
import { engineOf, type Engine, type Reader, type Transaction } from './engine.js';
import type { SendingConnection } from './send.js';

/** Runs SQL on the driver, without Kysely. @param name identifies the SQL; PostgreSQL prepares it under this name */
export type DirectRun = (sql: string, parameters: unknown[], name: string) => unknown[] | Promise<unknown[]>;

const directRuns = new WeakMap<Reader, DirectRun>();

/**
 * Makes the prepared queries of a handle bypass Kysely. Getting a connection through Kysely costs as much as reading a
 * payment.
 */
export function registerDirectRun(reader: Reader, run: DirectRun): void {
  directRuns.set(reader, run);
}

/** Stands for an argument while a query is built. Its place among the parameters shows where to put the value. */
class Placeholder {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** A compiled query. With a name, PostgreSQL prepares it. */
export interface NamedQuery<Row = unknown> extends CompiledQuery<Row> {
  readonly name?: string;
}

type Values = Readonly<Record<string, unknown>>;

interface Prepared<Row> {
  readonly query: NamedQuery<Row> & { readonly name: string };
  parameters(values: Values): unknown[];
}

/** Compiles a query once for each engine and each set of argument names. */
function createCompile<V extends object, Row>(build: (reader: Reader, values: V) => Compilable<Row>) {
  const known = new Map<string, Prepared<Row>>();
  return (reader: Reader, values: V): Prepared<Row> => {
    const engine: Engine = engineOf(reader);
    const names = Object.keys(values);
    const key = `${engine} ${names.join()}`;
    const found = known.get(key);
    if (found) return found;
    const placeholders = Object.fromEntries(names.map((name) => [name, new Placeholder(name)]));
    // The cast is safe: `build` only passes its arguments on, so it cannot tell a placeholder from a value.
    const compiled = build(reader, placeholders as unknown as V).compile();
    // The name is a hash of the SQL: through a pooler, processes share connections, and must not mix up statements.
    const query = { ...compiled, name: hash('sha256', compiled.sql, 'hex').slice(0, 32) };
    const made: Prepared<Row> = {
      query,
      parameters: (given) =>
        query.parameters.map((parameter) =>
          parameter instanceof Placeholder ? given[parameter.name] : parameter,
        ),
    };
    known.set(key, made);
    return made;
  };
}

/**
 * A query that is compiled once. Several that are started at once inside a transaction travel to PostgreSQL together,
 * and run in the order in which they were started.
 * @param build builds the query. It must only pass its arguments on as values, and never inspect them
 */
export function prepared<V extends object, Row>(
  build: (reader: Reader, values: V) => Compilable<Row>,
): (reader: Reader, values: V) => Promise<Row[]> {
  const compile = createCompile(build);
  return async (reader, values) => {
    const { query, parameters } = compile(reader, values);
    const given = parameters(values as Values);
    const run = directRuns.get(reader);
    // The cast is safe: these are the rows of the compiled query.
    if (run) return (await run(query.sql, given, query.name)) as Row[];
    const bound = { ...query, parameters: given };
    if (!reader.isTransaction) return (await reader.executeQuery<Row>(bound)).rows;
    const connection = await connectionOf(reader);
    return (await connection.executeQuery<Row>(bound)).rows;
  };
}

/** An insert, update or delete that is compiled once. Its result is not awaited: see `send`. */
export function preparedSend<V extends object>(
  build: (transaction: Transaction, values: V) => Compilable,
): (transaction: Transaction, values: V) => Promise<void> {
  const compile = createCompile(build as (reader: Reader, values: V) => Compilable);
  return async (transaction, values) => {
    const { query, parameters } = compile(transaction, values);
    const given = parameters(values as Values);
    const run = directRuns.get(transaction);
    if (run) {
      await run(query.sql, given, query.name);
      return;
    }
    const connection = await connectionOf(transaction);
    const bound = { ...query, parameters: given };
    if ('send' in connection) (connection as SendingConnection).send(bound);
    else await connection.executeQuery(bound);
  };
}

/** The connection of a transaction. No one else uses it until the transaction ends. */
function connectionOf(transaction: Reader): Promise<DatabaseConnection> {
  return transaction.getExecutor().provideConnection((connection) => Promise.resolve(connection));
}
