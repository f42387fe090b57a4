/**
 * A file that remembers, outside of the database, how far the database had been: a restored backup is behind it.
 *
 * A value is written after its commit, so a crash in between is no false alarm; and before anyone gets the address or
 * the payout that it covers, so an old backup cannot pass for the newest state.
 */
import {
  appendFileSync,
  closeSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { Logger } from 'pino';

/** By name, each a number that only grows: the payouts that were started, and the next index of each address source. */
export type Progress = ReadonlyMap<string, number>;

export type Marker = ReturnType<typeof openMarker>;

/** A longer file is rewritten with one line for each name, in bytes. */
const longestFile = 100_000;
/** This many of the last bytes are compared when a file has grown: if they differ, it is another file. */
const comparedBytes = 64;
/** A rewrite that started earlier was interrupted. */
const rewriteMs = 60_000;
/** Some file systems give a file another number each time. */
const mostTries = 3;

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

  /** The part of the file that was read: all lines that were whole. */
  let known: Known = unread;
  /** Bytes. A file that stays long, because it has many names, is not rewritten at each line. */
  let longest = longestFile;

  /** Reads what was added since the last time, or all if it is another file. */
  function read(): void {
    if (path === undefined) return;
    try {
      const file = openIfExists(path);
      if (file === undefined) known = unread;
      else closing(file, () => readFrom(file));
    } catch (error) {
      // A file that cannot be read now was read before: sales continue, and the complaint is an alert.
      complain(error);
    }
  }

  function readFrom(file: number): void {
    const { ino, dev, size } = fstatSync(file);
    // A copy that was restored into the file is another one, although the file system calls it the same.
    const before = readBytes(file, known.end - known.last.length, known.end);
    const isSame = ino === known.ino && dev === known.dev && before.equals(known.last);
    const begin = isSame ? known.end : 0;
    const bytes = readBytes(file, begin, size);
    const end = bytes.lastIndexOf(newline) + 1;
    for (const line of bytes.subarray(0, end).toString('utf8').split('\n')) {
      // A crash may have cut a line short: a number without a line's end is not believed.
      const [, value, name] = /^(\d{1,15}) (\S+) \.$/.exec(line) ?? [];
      if (name !== undefined) keep(name, Number(value));
    }
    const last = Buffer.concat([isSame ? known.last : unread.last, bytes.subarray(0, end)]);
    // Copied, so that a few bytes do not keep the whole in memory.
    known = { ino, dev, end: begin + end, size, last: Buffer.from(last.subarray(-comparedBytes)) };
  }

  const lineOf = ([name, value]: readonly [string, number]) => `${value} ${name} .\n`;

  /**
   * Rewrites the file without the values that were exceeded. The disk always has a whole file, the old one or the new one. Lines that
   * other processes append meanwhile are kept.
   */
  function rewrite(path: string): void {
    const draft = `${path}.new`;
    const file = openNew(draft);
    // Another process does it now.
    if (file === undefined) return;
    const old = openSync(path, 'r');
    closing(old, () => {
      try {
        closing(file, () => {
          readFrom(old);
          // A command may run as another user, who must not take the file from the server.
          const { uid, gid } = fstatSync(old);
          if (uid !== fstatSync(file).uid) fchownSync(file, uid, gid);
          writeFileSync(file, [...values].map(lineOf).join(''));
          fsyncSync(file);
        });
        const written = new Map(values);
        renameSync(draft, path);
        syncFolder(dirname(path));
        // Processes that append after this line notice that they wrote to the old file.
        readFrom(old);
        const since = [...values].filter(([name, value]) => value !== written.get(name));
        if (since.length > 0) appendFileSync(path, since.map(lineOf).join(''));
      } catch (error) {
        rmSync(draft, { force: true });
        throw error;
      }
    });
    read();
  }

  /** A file that cannot be rewritten still has all values. */
  function rewriteIfLong(path: string): void {
    if (known.size <= longest) return;
    try {
      rewrite(path);
    } catch (error) {
      log.error({ err: error, path }, 'The marker cannot be rewritten, so it grows with every payment');
    }
    longest = Math.max(longestFile, 2 * known.size);
  }

  /** @throws the error of the file system */
  function write(path: string, name: string, value: number): void {
    mkdirSync(dirname(path), { recursive: true });
    // Short lines that are appended do not mix, although several processes write.
    const since = values.has(created) ? '' : lineOf([created, now()]);
    const lines = `${since}${lineOf([name, value])}`;
    // Not appended to a line that a crash has cut short: both would be lost, or read as one other number.
    const isCut = known.size > known.end;
    // Another process may replace the file between the two: then the lines are in a file that nobody reads.
    const added = isCut ? `\n${lines}` : lines;
    let tries = 1;
    while (!append(path, added) && tries < mostTries) tries += 1;
    read();
    rewriteIfLong(path);
  }

  read();
  if (path !== undefined) rewriteIfLong(path);

  return {
    /** True if the last value could be written. */
    isWritable: () => isWritable,

    /** The real time since which it has seen everything; undefined if it has none. */
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

interface Known {
  readonly ino: number;
  readonly dev: number;
  /** The end of the last whole line. */
  readonly end: number;
  /** Greater than `end` if the last line is cut short, or not completely written yet. */
  readonly size: number;
  /** The bytes before `end`. */
  readonly last: Buffer;
}

const unread: Known = { ino: -1, dev: -1, end: 0, size: 0, last: Buffer.alloc(0) };
const newline = 10;

/** @returns false if the file was replaced meanwhile */
function append(path: string, lines: string): boolean {
  const file = openSync(path, 'a', 0o600);
  return closing(file, () => {
    appendFileSync(file, lines);
    const stored = statSync(path, { throwIfNoEntry: false });
    const { ino, dev } = fstatSync(file);
    return stored?.ino === ino && stored.dev === dev;
  });
}

function closing<Result>(file: number, use: () => Result): Result {
  try {
    return use();
  } finally {
    closeSync(file);
  }
}

function readBytes(file: number, from: number, to: number): Buffer {
  const bytes = Buffer.alloc(Math.max(0, to - from));
  let read = 0;
  while (read < bytes.length) {
    const count = readSync(file, bytes, read, bytes.length - read, from + read);
    // It became shorter meanwhile.
    if (count === 0) break;
    read += count;
  }
  return bytes.subarray(0, read);
}

function openIfExists(path: string): number | undefined {
  return unless('ENOENT', () => openSync(path, 'r'));
}

/** @returns undefined if another process writes this file */
function openNew(path: string): number | undefined {
  const create = () => unless('EEXIST', () => openSync(path, 'wx', 0o600));
  const file = create();
  if (file !== undefined) return file;
  const stored = statSync(path, { throwIfNoEntry: false });
  if (stored && Date.now() - stored.mtimeMs < rewriteMs) return undefined;
  rmSync(path, { force: true });
  return create();
}

/** After a power cut, the folder has the new file. Some systems open no folders: then the old file may come back. */
function syncFolder(path: string): void {
  try {
    const folder = openSync(path, 'r');
    closing(folder, () => fsyncSync(folder));
  } catch {
    return;
  }
}

function unless<Result>(code: string, use: () => Result): Result | undefined {
  try {
    return use();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === code) return undefined;
    throw error;
  }
}
