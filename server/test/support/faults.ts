/** Lets the surroundings of a server process fail: its clock jumps, its power is cut, no name is resolved, its disk is full. */
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { platform } from 'node:process';
import { fileURLToPath } from 'node:url';
import { reportSkipped } from '../../../test/missing.js';

export interface Faults {
  /** For `startProcess`. */
  readonly env: Readonly<Record<string, string>>;
  /** From now on, each name takes five seconds, and is then not resolved. */
  loseNames(): void;
  findNames(): void;
  /** Sets the server's clock to the machine's plus so many seconds. */
  jump(seconds: number): void;
  dispose(): Promise<void>;
}

const source = fileURLToPath(new URL('faults.c', import.meta.url));

/** True if there is a compiler for the preloaded library, on an operating system that preloads it so. */
export const canFail = canCompile();

function canCompile(): boolean {
  if (platform !== 'linux') return false;
  try {
    execFileSync('cc', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    reportSkipped('Clocks that jump and power cuts', 'there is no C compiler');
    return false;
  }
}

/** True if a file system can be mounted, so that it can be really full: only for root. */
export const canMount = canMountHere();

function canMountHere(): boolean {
  if (platform !== 'linux') return false;
  const directory = mkdtempSync(join(tmpdir(), 'crypto-checkout-disk-'));
  try {
    mount('1m', directory);
    execFileSync('umount', [directory]);
    return true;
  } catch {
    // Only root can, and in many containers not even root, so that no CI can be asked for it.
    console.warn('A PostgreSQL whose disk is full is not tested: this user cannot mount a small disk');
    return false;
  } finally {
    rmdirSync(directory);
  }
}

function mount(size: string, directory: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=755`, 'tmpfs', directory], {
    stdio: 'ignore',
  });
}

export interface SmallDisk {
  readonly path: string;
  /** Takes what is left of it. */
  fill(): void;
  /** Gives it back. */
  empty(): void;
  dispose(): Promise<void>;
}

export async function mountSmallDisk(size: string): Promise<SmallDisk> {
  const path = await mkdtemp(join(tmpdir(), 'crypto-checkout-disk-'));
  mount(size, path);
  const ballast = join(path, 'ballast');
  return {
    path,
    fill() {
      const file = openSync(ballast, 'w');
      try {
        for (const bytes of [1 << 20, 4096]) {
          const block = Buffer.alloc(bytes);
          try {
            while (writeSync(file, block) === bytes);
          } catch {
            // It is full.
          }
        }
      } finally {
        closeSync(file);
      }
    },
    empty: () => rmSync(ballast),
    async dispose() {
      execFileSync('umount', ['-l', path]);
      await rm(path, { recursive: true, force: true });
    },
  };
}

export async function createFaults(): Promise<Faults> {
  const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-faults-'));
  const library = join(directory, 'faults.so');
  execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl']);
  const clock = join(directory, 'clock');
  writeFileSync(clock, Buffer.alloc(8));
  return {
    env: { LD_PRELOAD: library, FAULTS_DIRECTORY: directory },
    loseNames: () => writeFileSync(join(directory, 'no-names'), ''),
    findNames: () => rmSync(join(directory, 'no-names')),
    jump(seconds) {
      const bytes = Buffer.alloc(8);
      bytes.writeBigInt64LE(BigInt(seconds));
      // In place, because the server has mapped the file.
      const file = openSync(clock, 'r+');
      writeSync(file, bytes, 0, 8, 0);
      closeSync(file);
    },
    dispose: () => rm(directory, { recursive: true, force: true }),
  };
}

const sectorBytes = 512;

/**
 * Leaves of a SQLite database, whose server was killed, what a power cut leaves: all that was synced, and of the rest some
 * sectors, or none.
 * @param keeps true if a sector that was not synced has reached the disk
 */
export function cutPower(databaseUrl: string, keeps: () => boolean): { readonly lostBytes: number } {
  const path = databaseUrl.slice('sqlite:'.length);
  let lostBytes = 0;
  for (const file of [path, `${path}-wal`]) {
    const written = readFileSync(file);
    const synced = existsSync(`${file}.synced`) ? readFileSync(`${file}.synced`) : Buffer.alloc(0);
    // The length is part of the file's metadata, which is written on its own.
    const left = Buffer.alloc(keeps() ? written.length : synced.length);
    for (let at = 0; at < left.length; at += sectorBytes) {
      const end = at + sectorBytes;
      const [before, after] = [synced.subarray(at, end), written.subarray(at, end)];
      const isChanged = !before.equals(after);
      const isKept = isChanged && keeps();
      if (isChanged && !isKept) lostBytes += after.length;
      (isKept ? after : before).copy(left, at);
    }
    lostBytes += Math.max(0, written.length - left.length);
    writeFileSync(file, left);
    writeFileSync(`${file}.synced`, left);
  }
  // It is in memory only.
  rmSync(`${path}-shm`, { force: true });
  return { lostBytes };
}
