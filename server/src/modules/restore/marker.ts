/**
 * A file that remembers, outside of the database, how far the database had been: a restored backup is behind it.
 *
 * A value is written after its commit, so a crash in between is no false alarm; and before anyone gets the address or
 * the payout that it covers, so an old backup cannot pass for the newest state.
 */
import { appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Logger } from 'pino';

/** By name, each a number that only grows: the payouts that were started, and the next index of each address source. */
export type Progress = ReadonlyMap<string, number>;

export type Marker = ReturnType<typeof openMarker>;

/** A longer file is rewritten when it is opened. */
const longestFile = 100_000;

/** When the file was made: what happened before, it has not seen. A name as no address source has one. */
const created = 'created';

/** @param path undefined if nothing should be written, as for a database in memory */
export function openMarker(
  path: string | undefined,
  log: Pick<Logger, 'error'>,
  now: () => number = Date.now,
) {
  const values = new Map<string, number>();
  let isWritable = true;

  function keep(name: string, value: number): boolean {
    if (value <= (values.get(name) ?? 0)) return false;
    values.set(name, value);
    return true;
  }

  function complain(error: unknown): void {
    if (isWritable) {
      log.error(
        { err: error, path },
        'The marker cannot be used, so a restored database may go unnoticed. Set MARKER_DIRECTORY to a folder that the server can write',
      );
    }
    isWritable = false;
  }

  /** A file that cannot be read now was read before: sales continue, and the complaint is an alert. */
  function readFile(path: string): string {
    try {
      return readText(path);
    } catch (error) {
      complain(error);
      return '';
    }
  }

  function read(): number {
    const text = path === undefined ? '' : readFile(path);
    for (const line of text.split('\n')) {
      // A crash may have cut the last line short: a number without a line's end is not believed.
      const [, value, name] = /^(\d{1,15}) (\S+) \.$/.exec(line) ?? [];
      if (name !== undefined) keep(name, Number(value));
    }
    return text.length;
  }

  const lineOf = ([name, value]: readonly [string, number]) => `${value} ${name} .\n`;

  if (path !== undefined && read() > longestFile) {
    writeFileSync(`${path}.new`, [...values].map(lineOf).join(''), { mode: 0o600 });
    renameSync(`${path}.new`, path);
  }
  /** @throws the error of the file system */
  function write(path: string, name: string, value: number): void {
    mkdirSync(dirname(path), { recursive: true });
    // Short lines that are appended do not mix, although several processes write.
    const since = values.has(created) ? '' : lineOf([created, now()]);
    appendFileSync(path, `${since}${lineOf([name, value])}`, { mode: 0o600 });
    if (since !== '') read();
  }

  return {
    /** True if the last value could be written. */
    isWritable: () => isWritable,

    /** Real time since when it has seen all that was done; undefined while there is none. */
    since(): number | undefined {
      read();
      return values.get(created);
    },

    /** Tries whether it can be written, and makes it if there is none. @throws the error of the file system */
    check(): void {
      if (path === undefined) return;
      read();
      const since = values.get(created) ?? now();
      write(path, created, since);
      read();
    },

    /** The highest values that this process or another one on this machine has written. */
    read(): Progress {
      read();
      return new Map([...values].filter(([name]) => name !== created));
    },
    /** Raises a value. A lower one changes nothing. */
    raise(name: string, value: number): void {
      if (!keep(name, value) || path === undefined) return;
      try {
        write(path, name, value);
        isWritable = true;
      } catch (error) {
        complain(error);
      }
    },
  };
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}
