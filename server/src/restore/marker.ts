/**
 * A file that remembers, outside of the database, how far the database had been: a restored backup is behind it.
 *
 * A value is written after the commit that it is of, so a crash in between is no false alarm; and before anybody hears of the
 * address or the payout that it covers, so an old backup cannot pass for the newest state.
 */
import { appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Logger } from 'pino';

/** By name, each a number that only grows: the payouts that were started, and the next index of each address source. */
export type Progress = ReadonlyMap<string, number>;

export type Marker = ReturnType<typeof openMarker>;

/** A longer file is written anew when it is opened. */
const longestFile = 100_000;

/** @param path undefined if nothing is to be written, as for a database in memory */
export function openMarker(path: string | undefined, log: Pick<Logger, 'error'>) {
  const values = new Map<string, number>();
  let isWritable = true;

  function keep(name: string, value: number): boolean {
    if (value <= (values.get(name) ?? 0)) return false;
    values.set(name, value);
    return true;
  }

  function read(): number {
    const text = path === undefined ? '' : readText(path);
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
  return {
    /** The highest values that this process or another one on this machine has written. */
    read(): Progress {
      read();
      return new Map(values);
    },
    /** Raises a value. A lower one changes nothing. */
    raise(name: string, value: number): void {
      if (!keep(name, value) || path === undefined) return;
      try {
        mkdirSync(dirname(path), { recursive: true });
        // Short lines that are appended do not mix, although several processes write.
        appendFileSync(path, lineOf([name, value]), { mode: 0o600 });
        isWritable = true;
      } catch (error) {
        if (isWritable) {
          log.error(
            { err: error, path },
            'The marker cannot be written, so a restored database may go unnoticed. Set MARKER_DIRECTORY to a folder that the server can write',
          );
        }
        isWritable = false;
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
