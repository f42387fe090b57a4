/**
 * Keeps the files of a SQLite database to the server's own user: they hold customers' names, webhook secrets and the
 * books. A database of an older release, or one that was copied, may be readable by every user of the machine.
 */
import { chmodSync, closeSync, mkdirSync, openSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { errorMessage } from '../shared/error-message.js';

const fileMode = 0o600;
const folderMode = 0o700;
const others = 0o077;

/**
 * Creates the database's folder and an empty database file if they do not exist, and closes both to other users.
 * @param warn gets a sentence for everything that was mended, or that could not be
 */
export function protectDatabaseFiles(path: string, warn: (message: string) => void): void {
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true, mode: folderMode });
  createPrivately(path);
  for (const file of [path, `${path}-wal`, `${path}-shm`]) close(file, fileMode, warn);
  // A folder that holds other things too, such as a home or /tmp, is not the database's to close.
  const isOwn = readdirSync(folder).every((name) => name.startsWith(basename(path)));
  if (isOwn) close(folder, folderMode, warn);
}

/** Creates an empty file for this user alone, unless there is one. SQLite gives its other files the same mode. */
function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, 'wx', fileMode));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

/** Takes the access of other users from a file or folder, if they have any. Does nothing if it does not exist. */
function close(path: string, mode: number, warn: (message: string) => void): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found || (found.mode & others) === 0) return;
  try {
    chmodSync(path, mode);
    warn(`Other users of this machine could read ${path}. It is mode ${mode.toString(8)} now`);
  } catch (error) {
    warn(
      `Other users of this machine can read ${path}: change its mode to ${mode.toString(8)} (${errorMessage(error)})`,
    );
  }
}
