/**
 * Keeps the files of a SQLite database to the server's own user: they hold customers' names, webhook secrets and the
 * books. A database of an older release, or one that was copied, may be readable by every user of the machine.
 */
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
} from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { errorMessage } from '../shared/error-message.js';

const fileMode = 0o600;
const folderMode = 0o700;
const others = 0o077;
/** Set on folders that all users share, such as /tmp and /dev/shm: only its owner can remove a file there. */
const sticky = 0o1000;
/** Set on folders that a group shares, such as volumes with a Kubernetes `fsGroup`. */
const setgid = 0o2000;
const writableByAll = 0o002;

/** The first bytes of each SQLite file that has any content. https://www.sqlite.org/fileformat.html */
const header = Buffer.from('SQLite format 3\0');

/**
 * Looks at a file before anything touches it.
 * @returns true if it exists
 * @throws if it cannot be a database of this user; the message says why
 */
export function checkDatabaseFile(path: string): boolean {
  const found = explained(path, () => statSync(path, { throwIfNoEntry: false }));
  if (!found) return false;
  if (found.isDirectory())
    throw new Error(`${path} is a folder. Name a file in it, such as ${path}/checkout.db`);
  if (!found.isFile()) throw new Error(`${path} is not a file`);
  explained(path, () => accessSync(path, constants.R_OK | constants.W_OK));
  if (found.size > 0 && !readStart(path).equals(header)) {
    throw new Error(`${path} is not a SQLite database. It was left as it is`);
  }
  return true;
}

function readStart(path: string): Buffer {
  const start = Buffer.alloc(header.length);
  const file = openSync(path, 'r');
  try {
    readSync(file, start, 0, start.length, 0);
  } finally {
    closeSync(file);
  }
  return start;
}

/** Another user's folder is closed, so even whether there is a file cannot be seen. */
function explained<T>(path: string, look: () => T): T {
  try {
    return look();
  } catch (error) {
    const isDenied =
      error instanceof Error && 'code' in error && ['EACCES', 'EPERM'].includes(String(error.code));
    if (!isDenied) throw error;
    throw new Error(`permission denied for ${path}. Run this as the user that the server runs as`, {
      cause: error,
    });
  }
}

/** Creates an empty file and its folder that only this user can read. SQLite gives its other files the same mode. */
export function createDatabaseFile(path: string): void {
  createFolder(dirname(resolve(path)));
  try {
    explained(path, () => closeSync(openSync(path, 'wx', fileMode)));
  } catch (error) {
    // Another process has made it meanwhile.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

/** Not by mkdir's own recursion, which tries for half a minute to make a folder in /proc. */
function createFolder(path: string): void {
  if (existsSync(path)) return;
  createFolder(dirname(path));
  try {
    mkdirSync(path, { mode: folderMode });
  } catch (error) {
    // Another process may have made it meanwhile.
    if (existsSync(path)) return;
    throw new Error(`the folder ${path} cannot be made (${errorMessage(error)})`, { cause: error });
  }
}

/**
 * Closes the files of a database, and a folder of this user that holds nothing else, to other users.
 * @param warn gets a sentence for everything that was fixed, or that could not be
 */
export function protectDatabaseFiles(path: string, warn: (message: string) => void): void {
  const folder = dirname(path);
  for (const file of [path, `${path}-wal`, `${path}-shm`, `${path}-server`]) close(file, fileMode, warn);
  // Other users may need a folder that holds other things too, such as a home, or one that is shared, even if it is otherwise empty, as
  // in a new container. Closing another user's folder would lock out this server.
  const { mode, uid } = statSync(folder);
  const isOpen = (mode & writableByAll) !== 0 && (mode & sticky) === 0;
  const isShared = (mode & sticky) !== 0 || ((mode & setgid) !== 0 && !isOpen);
  if (uid !== (process.geteuid?.() ?? uid)) {
    if (isOpen)
      warn(
        `Other users of this machine can replace ${path}: everybody may write to ${folder}. Make it a folder of the user that the server runs as`,
      );
  } else if (!isShared && readdirSync(folder).every((name) => name.startsWith(basename(path))))
    close(folder, folderMode, warn);
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
