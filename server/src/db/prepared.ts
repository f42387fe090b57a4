/** Queries that run so often that building their SQL each time would cost more than running it. */
import type { Compilable, CompiledQuery, DatabaseConnection } from 'kysely';
import { engineOf, type Engine, type Reader, type Transaction } from './engine.js';
import type { SendingConnection } from './send.js';

/** Runs SQL on a connection of its own, at once. */
export type RunAtOnce = (sql: string, parameters: readonly unknown[]) => unknown[];

const atOnce = new WeakMap<Reader, RunAtOnce>();

/**
 * Lets the prepared queries of a handle run at once. SQLite answers without waiting, and the turns that Kysely takes
 * to get and give back a connection cost as much as reading a payment.
 */
export function answerAtOnce(reader: Reader, run: RunAtOnce): void {
  atOnce.set(reader, run);
}

/** Stands for an argument while a query is built, and is found again among its parameters. */
class Placeholder {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

type Values = Readonly<Record<string, unknown>>;

interface Prepared<Row> {
  readonly query: CompiledQuery<Row>;
  parameters(values: Values): unknown[];
}

/** Compiles a query once for each engine and each set of names among its arguments. */
function createCompile<V extends object, Row>(build: (reader: Reader, values: V) => Compilable<Row>) {
  const known = new Map<string, Prepared<Row>>();
  return (reader: Reader, values: V): Prepared<Row> => {
    const engine: Engine = engineOf(reader);
    const names = Object.keys(values);
    const key = `${engine} ${names.join()}`;
    const found = known.get(key);
    if (found) return found;
    const placeholders = Object.fromEntries(names.map((name) => [name, new Placeholder(name)]));
    // The build function may only pass its arguments on, so it cannot tell a placeholder from a value.
    const query = build(reader, placeholders as unknown as V).compile();
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
 * A query that is compiled once. Several that are asked for at once inside a transaction travel to PostgreSQL
 * together, and run in the order in which they were asked for.
 * @param build makes the query from its arguments, which it may only pass on as values
 */
export function prepared<V extends object, Row>(
  build: (reader: Reader, values: V) => Compilable<Row>,
): (reader: Reader, values: V) => Promise<Row[]> {
  const compile = createCompile(build);
  return async (reader, values) => {
    const { query, parameters } = compile(reader, values);
    const given = parameters(values as Values);
    const run = atOnce.get(reader);
    // The rows are those that the query was built for.
    if (run) return run(query.sql, given) as Row[];
    const bound = { ...query, parameters: given };
    if (!reader.isTransaction) return (await reader.executeQuery<Row>(bound)).rows;
    const connection = await connectionOf(reader);
    return (await connection.executeQuery<Row>(bound)).rows;
  };
}

/** An insert, update or delete that is compiled once, and whose result nobody needs: see `send`. */
export function preparedSend<V extends object>(
  build: (transaction: Transaction, values: V) => Compilable,
): (transaction: Transaction, values: V) => Promise<void> {
  const compile = createCompile(build as (reader: Reader, values: V) => Compilable);
  return async (transaction, values) => {
    const { query, parameters } = compile(transaction, values);
    const given = parameters(values as Values);
    const run = atOnce.get(transaction);
    if (run) {
      run(query.sql, given);
      return;
    }
    const connection = await connectionOf(transaction);
    const bound = { ...query, parameters: given };
    if ('send' in connection) (connection as SendingConnection).send(bound);
    else await connection.executeQuery(bound);
  };
}

/** The connection of a transaction, which is its own until it ends. */
function connectionOf(transaction: Reader): Promise<DatabaseConnection> {
  return transaction.getExecutor().provideConnection((connection) => Promise.resolve(connection));
}
