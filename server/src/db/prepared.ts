/** Queries that are asked so often that building their SQL each time would cost more than running it. */
import { PostgresAdapter, type Compilable, type CompiledQuery } from 'kysely';
import type { Engine, Reader } from './database.js';

/** Which engine a handle or a transaction runs on. */
export function engineOf(reader: Reader): Engine {
  return reader.getExecutor().adapter instanceof PostgresAdapter ? 'postgres' : 'sqlite';
}

/** Runs SQL on a connection of its own, at once. */
export type RunAtOnce = (sql: string, parameters: readonly unknown[]) => unknown[];

const atOnce = new WeakMap<Reader, RunAtOnce>();

/**
 * Lets a reader's prepared queries run at once. SQLite answers without waiting, and the turns that Kysely takes to
 * get and give back a connection cost as much as reading a payment.
 */
export function answerAtOnce(reader: Reader, run: RunAtOnce): void {
  atOnce.set(reader, run);
}

class Placeholder {
  readonly index: number;

  constructor(index: number) {
    this.index = index;
  }
}

/**
 * Compiles a query once for each engine.
 * @param build makes the query from its arguments, which it may use as values alone, never to decide on the query
 */
export function prepared<Arguments extends readonly string[], Row>(
  build: (reader: Reader, ...values: Arguments) => Compilable<Row>,
): (reader: Reader, ...values: Arguments) => Promise<Row[]> {
  const compiled = new Map<Engine, CompiledQuery<Row>>();
  return async (reader, ...values) => {
    const engine = engineOf(reader);
    let query = compiled.get(engine);
    if (!query) {
      // Each argument is marked by an object in its place, and found again among the query's parameters.
      const marks = values.map((_, index) => new Placeholder(index)) as unknown as Arguments;
      query = build(reader, ...marks).compile();
      compiled.set(engine, query);
    }
    const parameters = query.parameters.map((parameter) =>
      parameter instanceof Placeholder ? values[parameter.index] : parameter,
    );
    const run = atOnce.get(reader);
    // The rows are those that the query was built for.
    if (run) return run(query.sql, parameters) as Row[];
    return (await reader.executeQuery<Row>({ ...query, parameters })).rows;
  };
}
