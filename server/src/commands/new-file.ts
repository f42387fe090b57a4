/** Creates the files that commands write: always new, and readable only by the user who runs the command. */
import { open, rm, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorMessage } from '../shared/error-message.js';
import { CommandError } from './command.js';

/**
 * Creates a file and writes it. If that fails, no part of it stays.
 * @throws CommandError if the file exists or cannot be created
 */
export async function writeNewFile<T>(path: string, write: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(path, 'wx', 0o600).catch((error: unknown) => {
    throw new CommandError(reasonOf(path, error), { cause: error });
  });
  try {
    return await write(file);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

function reasonOf(path: string, error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const folder = dirname(path);
  switch (code) {
    case 'EEXIST':
      return `${path} exists already. Nothing was overwritten; choose a name for a new file`;
    case 'ENOENT':
      return `${path} cannot be created: there is no folder ${folder}`;
    case 'ENOTDIR':
      return `${path} cannot be created: ${folder} is not a folder`;
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return `${path} cannot be created: this user may not write to ${folder}`;
    default:
      return `${path} cannot be created: ${errorMessage(error)}`;
  }
}
