/** Makes a folder in memory for the databases and nodes of tests, which otherwise mostly wait for the disk. */
import { accessSync, constants, mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { kill, pid } from 'node:process';

const memory = '/dev/shm';
/** Far more than the tests need. Containers often have 64 MB. */
const leastBytes = 4 * 1024 ** 3;
const ofRun = /^crypto-checkout-run-(\d+)$/;

/**
 * Linux has such memory. A process that is killed loses nothing there, so tests that kill processes are as meaningful
 * as on a disk. The folder is removed with this process or, if that was killed, by the next run: several stopped soaks
 * would fill the memory.
 * @returns {string | undefined} undefined if there is none, or not enough room
 */
export function memoryFolder() {
  try {
    accessSync(memory, constants.W_OK);
    for (const name of readdirSync(memory)) if (isAbandoned(name)) remove(join(memory, name));
    const { bavail, bsize } = statfsSync(memory);
    if (bavail * bsize < leastBytes) return undefined;
    const folder = join(memory, `crypto-checkout-run-${pid}`);
    mkdirSync(folder, { recursive: true });
    process.once('exit', () => remove(folder));
    return folder;
  } catch {
    return undefined;
  }
}

/** @param {string} folder */
const remove = (folder) => rmSync(folder, { recursive: true, force: true });

/** @param {string} name */
function isAbandoned(name) {
  const [, owner] = ofRun.exec(name) ?? [];
  if (owner === undefined) return false;
  try {
    kill(Number(owner), 0);
    return false;
  } catch {
    return true;
  }
}
