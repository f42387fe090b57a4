/** Queries that are compiled once, because they run so often that building their SQL each time would cost too much. */
import { hash } from 'node:crypto';
import { sql, type Compilable, type CompiledQuery, type Insertable } from 'kysely';
import { chunksOf, inChunks } from './chunks.js';
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
  /** The index of its row; undefined if the arguments are not rows. */
  readonly row: number | undefined;

  constructor(name: string, row?: number) {
    this.name = name;
    this.row = row;
  }
}

/** A compiled query. With a name, PostgreSQL prepares it. */
export interface NamedQuery<Row = unknown> extends CompiledQuery<Row> {
  readonly name?: string;
}

type Values = Readonly<Record<string, unknown>>;
/** Values by name, or rows that all have the same columns. */
type Arguments = Values | readonly Values[];

interface Prepared<Row> {
  readonly query: NamedQuery<Row> & { readonly name: string };
  parameters(values: Arguments): unknown[];
}

/** A query as it was compiled. */
interface Variant<Row> {
  readonly parts: readonly QueryParts[];
  readonly engine: Engine;
  readonly names: readonly string[];
  readonly count: number | undefined;
  readonly prepared: Prepared<Row>;
}

/** The name of SQL: a hash of it, because through a pooler, processes share connections, and must not mix up statements. */
const nameOf = (text: string) => hash('sha256', text, 'hex').slice(0, 32);

const isEach = (names: readonly string[], others: readonly string[]) =>
  names.length === others.length && names.every((name, place) => name === others[place]);

/** Compiles a query once for each engine, each set of argument names, each number of rows, and each list of modules. */
function createCompile<V extends object, Row>(build: (reader: Reader, values: V) => Compilable<Row>) {
  const variants: Variant<Row>[] = [];
  return (reader: Reader, values: V): Prepared<Row> => {
    const parts = queryPartsOf(reader);
    const engine = engineOf(reader);
    const rows: readonly Values[] | undefined = Array.isArray(values) ? values : undefined;
    const count = rows?.length;
    const names = Object.keys(rows ? (rows[0] ?? {}) : values);
    const found = variants.find(
      (one) =>
        one.parts === parts && one.engine === engine && one.count === count && isEach(names, one.names),
    );
    if (found) return found.prepared;
    const placeholders = (row?: number) =>
      Object.fromEntries(names.map((name) => [name, new Placeholder(name, row)]));
    const given = rows ? rows.map((_, row) => placeholders(row)) : placeholders();
    // The cast is safe: `build` only passes its arguments on, so it cannot distinguish a placeholder from a value.
    const compiled = build(reader, given as unknown as V).compile();
    const prepared: Prepared<Row> = {
      query: { ...compiled, name: nameOf(compiled.sql) },
      parameters: (all) =>
        compiled.parameters.map((parameter) => {
          if (!(parameter instanceof Placeholder)) return parameter;
          const { name, row } = parameter;
          const from: unknown = row === undefined ? all : (all as readonly Values[])[row];
          return (from as Values)[name];
        }),
    };
    variants.push({ parts, engine, names, count, prepared });
    return prepared;
  };
}

/**
 * A query that is compiled once. Several that are started at once inside a transaction travel to PostgreSQL together,
 * and run in the order in which they were started.
 * @param build builds the query. It must only pass its arguments on as values, and never inspect them. They may be a few rows
 */
export function prepared<V extends object, Row>(
  build: (reader: Reader, values: V) => Compilable<Row>,
): (reader: Reader, values: V) => Promise<Row[]> {
  const compile = createCompile(build);
  return async (reader, values) => {
    const { query, parameters } = compile(reader, values);
    const given = parameters(values as Arguments);
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
    const given = parameters(values as Arguments);
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

/** Repeats the last value up to a power of two: a statement with a list is compiled for each length of it. */
export function filledUp<V>(values: readonly V[]): V[] {
  const last = values.slice(-1);
  const filled = [...values];
  while ((filled.length & (filled.length - 1)) !== 0) filled.push(...last);
  return filled;
}

/**
 * A query for a list of any length, such as the rows that have one of these ids, which is compiled once for each power of two.
 * @param build builds the query as with `prepared`, from the list and more arguments
 */
export function preparedIn<More extends object, Row>(
  build: (reader: Reader, list: readonly string[], more: More) => Compilable<Row>,
): (reader: Reader, list: readonly string[], more: More) => Promise<Row[]> {
  const run = prepared((reader, rows: readonly (More & { readonly item: string })[]) => {
    const [first] = rows;
    if (!first) throw new Error('A list is empty');
    const list = rows.map(({ item }) => item);
    return build(reader, list, first);
  });
  return (reader, list, more) =>
    inChunks(list, (chunk) =>
      run(
        reader,
        filledUp(chunk).map((item) => ({ ...more, item })),
      ),
    );
}

/** The most rows of one compiled insert: each number of rows is compiled separately. */
const mostRows = 8;

/** Rows for inserts that are compiled once, a few for each. */
export const inFew = <Row>(rows: readonly Row[]): Row[][] => chunksOf(rows, mostRows);

/** Inserts rows that all have the same columns, a few with each statement. Their results are not awaited: see `send`. */
export function preparedInserts<Table extends keyof Schema>(table: Table) {
  const insert = preparedSend((transaction, rows: readonly Insertable<Schema[Table]>[]) =>
    transaction.insertInto(table).values(rows),
  );
  return async (transaction: Transaction, rows: readonly Insertable<Schema[Table]>[]): Promise<void> => {
    for (const few of inFew(rows)) {
      await insert(transaction, few);
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
