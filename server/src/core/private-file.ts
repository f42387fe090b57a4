/** Refuses files with secrets that every user of the machine can read. */
import { realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** The message has the command that mends it. */
export class FileExposed extends Error {
  override readonly name = 'FileExposed';
}

const anybody = { readOrWrite: 0o006, enter: 0o001 } as const;

/**
 * Refuses a file that every user can read or write. A file that its group can read passes, since services often get theirs as
 * `root:checkout 640`, and so does one below a folder that is closed to others. If this user cannot look at the file, its reader
 * reports that.
 * @throws FileExposed
 */
export function refuseExposedFile(path: string): void {
  let isOpen: boolean;
  try {
    const file = realpathSync(path);
    isOpen =
      (statSync(file).mode & anybody.readOrWrite) !== 0 &&
      foldersOf(file).every((folder) => (statSync(folder).mode & anybody.enter) !== 0);
  } catch {
    return;
  }
  if (!isOpen) return;
  throw new FileExposed(`every user of this machine can read or write ${path}. Run: chmod 600 '${path}'`);
}

/** The files that `node --env-file` has read. */
export function envFiles(nodeArguments: readonly string[]): string[] {
  return nodeArguments.flatMap((argument, index) => {
    const option = /^--env-file(?:-if-exists)?(?:=(.*))?$/.exec(argument);
    return option ? (option[1] ?? nodeArguments[index + 1] ?? []) : [];
  });
}

/** From the innermost to the root. */
function foldersOf(path: string): string[] {
  const folder = dirname(path);
  return folder === path ? [] : [folder, ...foldersOf(folder)];
}
