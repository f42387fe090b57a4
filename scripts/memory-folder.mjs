/** Finds a folder in memory for the databases and nodes of tests, which wait for the disk most of their time otherwise. */
import { accessSync, constants, statfsSync } from 'node:fs';

const folder = '/dev/shm';
/** Far more than the tests need. Containers often have 64 MB. */
const leastBytes = 4 * 1024 ** 3;

/**
 * Linux has one. A process that is killed loses nothing there, so that tests which kill processes mean as much as on a disk.
 * @returns {string | undefined} undefined if there is none, or not enough room
 */
export function memoryFolder() {
  try {
    accessSync(folder, constants.W_OK);
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= leastBytes ? folder : undefined;
  } catch {
    return undefined;
  }
}
