/**
 * Watches every statement that runs in this process, on both engines: how it is planned, and how much it reads. A
 * statement that is added to the server is seen without being named anywhere.
 *
 * PostgreSQL itself reports the rows that each node of a plan visits, through `auto_explain`, also for the statements
 * of triggers and foreign keys. SQLite reports its plan; its reads are counted in pages, by the operating system.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import SqliteDatabase from 'better-sqlite3';
import pg from 'pg';

/** A statement, and the most that one run of it took. */
interface SeenStatement {
  readonly sql: string;
  /** The number of times that it ran. */
  runs: number;
  /** Rows that were visited on PostgreSQL, or pages that were read on SQLite. */
  mostRead: number;
  /** Rows that it returned. */
  mostReturned: number;
  mostMs: number;
  /** Lines of the plan of that run. */
  plan: readonly string[];
  /** The tables that are read whole, by any run. */
  readonly scanned: Set<string>;
  /** The work in which it was seen first: `scan of 10`, `job expiry`. */
  readonly first: string;
}

/**
 * The most that a statement may read, however many payments there are: pages on SQLite, rows on PostgreSQL. The longest
 * are lists that are counted up to 10,000.
 */
const mostPages = 700;
export const mostRows = 12_000;
/** A table is read whole where that is less work, and from its end until a page is full. */
const mostScannedPages = 200;
const isBoundedCount = (text: string) => /^\s*select count\(\*\) as total from \(.* limit /is.test(text);

/** The statements that read more with more payments, in words. */
export function growing(seen: readonly SeenStatement[], isPostgres: boolean): string[] {
  const isScan = ({ sql, scanned, mostRead }: SeenStatement) =>
    scanned.size > 0 && (isPostgres || (mostRead > mostScannedPages && !isBoundedCount(sql)));
  return seen
    .filter((one) => isScan(one) || one.mostRead > (isPostgres ? mostRows : mostPages))
    .map(
      ({ sql, mostRead, mostMs, scanned, first, plan }) =>
        `${first}: reads ${mostRead} ${isPostgres ? 'rows' : 'pages'} in ${mostMs.toFixed(1)} ms` +
        `${scanned.size > 0 ? `, all of ${[...scanned].join(', ')}` : ''}\n  ${sql.replaceAll(/\s+/g, ' ').slice(0, 600)}\n    ${plan.join('\n    ')}`,
    );
}

export interface StatementWatch {
  /** Names what runs from now on. */
  during(name: string): void;
  /** The statements that were seen since the last call. */
  take(): SeenStatement[];
  stop(): void;
}

/** Few enough pages that a statement which reads much cannot hide it in the cache. */
const cachedPages = 64;
const pageSize = 4096;

/**
 * @param isSmall true if a table stays so small that it may be read whole
 * @param isReadCounted false leaves SQLite its cache: what writes millions of rows would take ten times as long
 */
export function watchStatements(isSmall: (table: string) => boolean, isReadCounted = true): StatementWatch {
  let seen = new Map<string, SeenStatement>();
  let during = '';
  const see = (
    sql: string,
    run: Omit<SeenStatement, 'sql' | 'runs' | 'first' | 'scanned'>,
    scanned: string[],
  ) => {
    const found = seen.get(sql);
    const one = found ?? { ...run, sql, runs: 0, first: during, scanned: new Set<string>() };
    one.runs += 1;
    for (const table of scanned) if (!isSmall(table)) one.scanned.add(table);
    if (run.mostRead > one.mostRead || run.plan.length > one.plan.length) one.plan = run.plan;
    one.mostRead = Math.max(one.mostRead, run.mostRead);
    one.mostReturned = Math.max(one.mostReturned, run.mostReturned);
    one.mostMs = Math.max(one.mostMs, run.mostMs);
    seen.set(sql, one);
  };
  const stops = [watchSqlite(see, isReadCounted), watchPostgres(see)];
  return {
    during(name) {
      during = name;
    },
    take() {
      const taken = [...seen.values()];
      seen = new Map();
      return taken;
    },
    stop() {
      for (const stop of stops) stop();
    },
  };
}

type See = (
  sql: string,
  run: Omit<SeenStatement, 'sql' | 'runs' | 'first' | 'scanned'>,
  scanned: string[],
) => void;

const explains = /^\s*(?:select|insert|update|delete|with)\b/i;

function watchSqlite(see: See, isReadCounted: boolean): () => void {
  const prototype = Object.getPrototypeOf(new SqliteDatabase(':memory:').prepare('select 1')) as Record<
    'all' | 'run' | 'get',
    (this: SqliteDatabase.Statement, ...values: unknown[]) => unknown
  >;
  const known = new WeakSet<SqliteDatabase.Database>();
  const original = { all: prototype.all, run: prototype.run, get: prototype.get };
  const planOf = (statement: SqliteDatabase.Statement, values: unknown[]) => {
    const explain = statement.database.prepare(`explain query plan ${statement.source}`);
    const rows = original.all.call(explain, ...values) as { detail: string }[];
    return rows.map(({ detail }) => detail);
  };
  const io = openProcessIo();
  for (const name of ['all', 'run', 'get'] as const) {
    prototype[name] = function (...values) {
      if (!explains.test(this.source)) return original[name].apply(this, values);
      if (isReadCounted && !known.has(this.database)) {
        known.add(this.database);
        this.database.pragma(`cache_size = ${cachedPages}`);
      }
      const plan = planOf(this, values);
      const before = io.bytesRead();
      const started = performance.now();
      const result = original[name].apply(this, values);
      const mostMs = performance.now() - started;
      const mostRead = Math.floor((io.bytesRead() - before) / pageSize);
      const mostReturned = Array.isArray(result) ? result.length : 0;
      see(this.source, { mostRead, mostReturned, mostMs, plan }, plan.flatMap(scannedBy(this.database)));
      return result;
    };
  }
  return () => {
    Object.assign(prototype, original);
    io.close();
  };
}

/** `SCAN payments`, also by an index, unless that leaves out most rows: then the pages show how many there are. */
const scannedBy = (database: SqliteDatabase.Database) => (line: string) => {
  const [, table, index] = /^SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?/.exec(line) ?? [];
  if (table === undefined) return [];
  const isPartial =
    index !== undefined &&
    / where /i.test(
      String(database.prepare('select sql from sqlite_master where name = ?').pluck().get(index)),
    );
  return isPartial ? [] : [table];
};

/** The bytes that this process has read from files, which only Linux reports. Elsewhere, only plans are judged. */
function openProcessIo() {
  let file: number | undefined;
  try {
    file = openSync('/proc/self/io', 'r');
  } catch {
    // Not Linux.
  }
  const buffer = Buffer.alloc(64);
  return {
    bytesRead() {
      if (file === undefined) return 0;
      const length = readSync(file, buffer, 0, buffer.length, 0);
      return Number(/^rchar: (\d+)/.exec(buffer.toString('latin1', 0, length))?.[1] ?? 0);
    },
    close() {
      if (file !== undefined) closeSync(file);
    },
  };
}

/**
 * Makes PostgreSQL report the plan of each statement, with the rows that it visited, as a notice. @param more settings
 */
export function explainingUrl(url: string, more: readonly string[] = []): string {
  if (url.startsWith('sqlite:')) return url;
  const settings = [
    'session_preload_libraries=auto_explain',
    'auto_explain.log_min_duration=0',
    'auto_explain.log_analyze=on',
    'auto_explain.log_nested_statements=on',
    'auto_explain.log_format=json',
    'auto_explain.log_level=notice',
    ...more,
  ];
  const explaining = new URL(url);
  explaining.searchParams.set('options', settings.map((setting) => `-c ${setting}`).join(' '));
  return explaining.href;
}

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Filter?: string;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly PlanNode[];
}

function watchPostgres(see: See): () => void {
  const { connect } = pg.Client.prototype;
  const listen = (client: pg.Client) =>
    client.on('notice', ({ message }) => {
      const [, ms, json] = /^duration: ([\d.]+) ms {2}plan:\n(\{[^]*\})/.exec(message ?? '') ?? [];
      if (json === undefined) return;
      const { Plan: root, 'Query Text': sql } = JSON.parse(json) as { Plan: PlanNode; 'Query Text': string };
      const nodes = allNodes(root);
      const scans = nodes.filter(({ 'Node Type': type }) => type.endsWith('Scan'));
      const whole = scans.filter(
        (node) => node['Actual Loops'] !== 0 && (node['Node Type'] === 'Seq Scan' || isWholeIndex(node)),
      );
      const mostRead = scans.reduce((sum, node) => sum + visited(node), 0);
      see(
        sql,
        {
          mostRead,
          mostMs: Number(ms),
          plan: nodes.map(describe),
          mostReturned: root['Actual Rows'] ?? 0,
        },
        whole.map((node) => node['Relation Name'] ?? ''),
      );
    });
  pg.Client.prototype.connect = function (this: pg.Client, ...given: never[]) {
    listen(this);
    return (connect as (...values: never[]) => never).apply(this, given);
  };
  return () => {
    pg.Client.prototype.connect = connect;
  };
}

const allNodes = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(allNodes)];

/** A partial index leaves out most rows, and a limit ends a walk early: then the rows show it. */
const isWholeIndex = (node: PlanNode) =>
  /^Index (?:Only )?Scan$/.test(node['Node Type']) &&
  node['Index Cond'] === undefined &&
  visited(node) > mostRows;

const visited = (node: PlanNode) =>
  (node['Actual Loops'] ?? 0) *
  ((node['Actual Rows'] ?? 0) +
    (node['Rows Removed by Filter'] ?? 0) +
    (node['Rows Removed by Index Recheck'] ?? 0));

const describe = (node: PlanNode) =>
  [
    node['Node Type'],
    node['Relation Name'],
    node['Index Name'],
    node['Index Cond'],
    node.Filter && `filter ${node.Filter}`,
    `rows ${visited(node)}`,
  ]
    .filter((part) => part !== undefined)
    .join(' ');
