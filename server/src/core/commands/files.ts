/** Reads and creates the files that commands are given. New ones are readable only by the user who runs the command. */
import { open, readFile, rm, stat, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorMessage } from '../shared/error-message.js';
import { CommandError } from './errors.js';

/**
 * Creates a file and writes it. If that fails, or nothing is written, no file stays.
 * @throws CommandError if the file exists or cannot be created
 */
export async function writeNewFile<T>(path: string, write: (file: FileHandle) => Promise<T>): Promise<T> {
  const existing = await stat(path).catch(() => undefined);
  const taken = existing?.isDirectory()
    ? 'is a folder. Nothing was written; add the name of a new file'
    : 'exists already. Nothing was overwritten; choose a name for a new file';
  const folder = dirname(path);
  const closed = `cannot be created: this user may not write to ${folder}. Choose another folder`;
  const reasons = {
    EEXIST: taken,
    EISDIR: taken,
    EACCES: closed,
    EPERM: closed,
    EROFS: closed,
    ENOENT: `cannot be created: there is no folder ${folder}. Create it first`,
    ENOTDIR: `cannot be created: ${folder} is not a folder. Choose another one`,
  };
  const file = await open(path, 'wx', 0o600).catch(explain(`${path} `, reasons, 'cannot be created: '));
  let isWritten = false;
  try {
    const result = await write(file);
    isWritten = (await stat(path)).size > 0;
    return result;
  } finally {
    await file.close();
    if (!isWritten) await rm(path, { force: true });
  }
}

/** @throws CommandError if it cannot be read */
export function readGivenFile(path: string): Promise<Buffer> {
  const reasons = {
    ENOENT: 'there is no such file',
    EISDIR: 'it is a folder',
    EACCES: 'this user may not read it',
  };
  return readFile(path).catch(explain(`${path} cannot be read: `, reasons));
}

/** True if there is no such file. */
export function isMissing(path: string): Promise<boolean> {
  return stat(path).then(
    () => false,
    (error: unknown) => errorCode(error) === 'ENOENT',
  );
}

/** @param reasons by the code of the error. Another error speaks for itself, after `otherwise` */
function explain(subject: string, reasons: Readonly<Record<string, string>>, otherwise = '') {
  return (error: unknown): never => {
    const reason = reasons[errorCode(error)] ?? otherwise + errorMessage(error);
    throw new CommandError(subject + reason, { cause: error });
  };
}

function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
