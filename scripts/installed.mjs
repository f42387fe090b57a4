/** Compares the installed packages of a folder with its lock file. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * True if the installed packages are those of the lock file.
 * @param {string} folder
 */
export async function isInstalled(folder) {
  const locks = await Promise.all(
    ['package-lock.json', 'node_modules/.package-lock.json'].map((name) =>
      readFile(join(folder, name), 'utf8').catch(() => '{}'),
    ),
  );
  const [wanted, installed] = locks.map((lock) => Object.entries(JSON.parse(lock).packages ?? {}));
  const versions = new Map(installed?.map(([path, { version }]) => [path, version]));
  // A package for another system is only in the lock file.
  return wanted?.every(([path, { version, link, optional }]) => {
    return !path.includes('node_modules/') || link || optional || versions.get(path) === version;
  });
}
