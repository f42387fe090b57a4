/** Queries that are compiled once, because they run so often that building their SQL each time would cost too much. */
import { hash } from 'node:crypto';
import { sql, type Compilable, type CompiledQuery, type Insertable } from 'kysely';
import { chunksOf } from './chunks.js';
import { pauseIfLong } from '../shared/pause.js';
import { engineOf, type Engine, type Reader, type Transaction } from './engine.js';
import { queryPartsOf, type QueryParts } from './query-parts.js';
import type { Schema } from './schema.js';
import { connectionOf, isSending } from './send.js';

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

/** The name of SQL: a hash of it, because through a pooler, processes share connections, and must not mix up statements. */
const nameOf = (text: string) => hash('sha256', text, 'hex').slice(0, 32);

/** Compiles a query once for each engine, each set of argument names, and each list of modules. */
function createCompile<V extends object, Row>(build: (reader: Reader, values: V) => Compilable<Row>) {
  const knownOf = new WeakMap<readonly QueryParts[], Map<string, Prepared<Row>>>();
  return (reader: Reader, values: V): Prepared<Row> => {
    const parts = queryPartsOf(reader);
    const known = knownOf.get(parts) ?? new Map<string, Prepared<Row>>();
    knownOf.set(parts, known);
    const engine: Engine = engineOf(reader);
    const names = Object.keys(values);
    const key = `${engine} ${names.join()}`;
    const found = known.get(key);
    if (found) return found;
    const placeholders = Object.fromEntries(names.map((name) => [name, new Placeholder(name)]));
    // The cast is safe: `build` only passes its arguments on, so it cannot distinguish a placeholder from a value.
    const compiled = build(reader, placeholders as unknown as V).compile();
    const query = { ...compiled, name: nameOf(compiled.sql) };
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
    if (isSending(connection)) connection.send(bound);
    else await connection.executeQuery(bound);
  };
}

/** The most rows of one compiled insert: each number of rows is compiled separately. */
const mostRows = 8;

declare const rowType: unique symbol;

/** A few rows as the arguments of one query. */
export type Few<Row> = Values & { readonly [rowType]?: Row };

/** Rows, a few for each query: the same number of rows has the same names, by which it is compiled once. */
export function inFew<Row extends object>(rows: readonly Row[]): Few<Row>[] {
  return chunksOf(rows, mostRows).map((chunk) =>
    Object.fromEntries(
      chunk.flatMap((row, place) =>
        Object.entries(row).map(([column, value]) => [`${place} ${column}`, value] as const),
      ),
    ),
  );
}

/** The rows again, for the query. */
export function rowsIn<Row>(values: Few<Row>): Row[] {
  const rows: Record<string, unknown>[] = [];
  for (const [name, value] of Object.entries(values)) {
    const [place = '', column = ''] = name.split(' ');
    (rows[Number(place)] ??= {})[column] = value;
  }
  // The cast is safe: these are the rows that were given to `inFew`.
  return rows as Row[];
}

/** Inserts rows that all have the same columns, a few with each statement. Their results are not awaited: see `send`. */
export function preparedInserts<Table extends keyof Schema>(table: Table) {
  const insert = preparedSend((transaction, values: Few<Insertable<Schema[Table]>>) =>
    transaction.insertInto(table).values(rowsIn(values)),
  );
  return async (transaction: Transaction, rows: readonly Insertable<Schema[Table]>[]): Promise<void> => {
    for (const values of inFew(rows)) {
      await insert(transaction, values);
      await pauseIfLong();
    }
  };
}

/** Runs a statement without arguments in a transaction. */
export async function runStatement(transaction: Transaction, text: string): Promise<void> {
  const run = directRuns.get(transaction);
  if (run) await run(text, [], text);
  else await sql.raw(text).execute(transaction);
}

/** Statements that were combined before, by their names. */
const combinations = new Map<string, { readonly sql: string; readonly name: string }>();

/** Several writes as one statement of PostgreSQL: all but the last become common table expressions. */
export function combine(writes: readonly NamedQuery[]): Pick<NamedQuery, 'sql' | 'parameters' | 'name'> {
  const key = writes.map(({ name }) => name).join();
  const parameters = writes.flatMap((write) => write.parameters);
  const known = combinations.get(key);
  if (known) return { ...known, parameters };
  let offset = 0;
  const parts = writes.map((write) => {
    const before = offset;
    offset += write.parameters.length;
    return write.sql.replace(/\$(\d+)/g, (_, place: string) => `$${Number(place) + before}`);
  });
  const last = parts.pop() ?? '';
  const others = parts.map((part, place) => `write_${place} as (${part})`);
  const sql = others.length > 0 ? `with ${others.join(', ')} ${last}` : last;
  const made = { sql, name: nameOf(sql) };
  combinations.set(key, made);
  return { ...made, parameters };
}
