/** Runs other programs with a time limit, and installs Debian packages if it may. */
import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Runs a program without a shell and with empty standard input. Rejects if it fails or takes longer than `timeoutSeconds`.
 * @param {string} file
 * @param {string[]} args
 * @param {{ timeoutSeconds: number, env?: NodeJS.ProcessEnv, uid?: number, gid?: number, cwd?: string }} options
 * @returns {Promise<string>} its standard output
 */
export async function execute(file, args, { timeoutSeconds, ...options }) {
  const running = run(file, args, {
    ...options,
    timeout: timeoutSeconds * 1000,
    killSignal: 'SIGKILL',
    maxBuffer: 64 * 1024 * 1024,
  });
  running.child.stdin?.end();
  return (await running).stdout;
}

/**
 * Unpacks an npm package into a folder, which it replaces.
 * @param {string} file
 * @param {string} directory
 */
export async function unpack(file, directory) {
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  await execute('tar', ['-xzf', file, '-C', directory, '--strip-components=1'], { timeoutSeconds: 60 });
}

/** Maximum time that another apt-get may hold its locks, as it does for minutes on a machine that has just started. */
const aptLockSeconds = 180;

/**
 * Installs Debian packages as root. Waits while another apt-get runs, and retries once if a step fails. Rejects with
 * the reason if that is not possible here.
 * @param {string[]} packages
 * @param {number} [pauseMs] between two checks of a lock
 */
export async function aptInstall(packages, pauseMs = 2000) {
  if (process.getuid?.() !== 0) throw new Error('apt-get needs root');
  for (const args of [['update'], ['install', '--no-install-recommends', ...packages]]) {
    await aptGet(args, pauseMs).catch(() => aptGet(args, pauseMs));
  }
}

/** @param {string[]} args @param {number} pauseMs @returns {Promise<string>} */
async function aptGet(args, pauseMs) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };
  const options = [
    ...['-y', '-q', '-o', 'Acquire::http::Timeout=15', '-o', 'Acquire::Retries=1'],
    ...['-o', `DPkg::Lock::Timeout=${aptLockSeconds}`],
  ];
  const timeoutSeconds = 420 + aptLockSeconds;
  for (const deadline = Date.now() + aptLockSeconds * 1000; ; await delay(pauseMs)) {
    try {
      return await execute('apt-get', [...options, ...args], { timeoutSeconds, env });
    } catch (error) {
      // For the lock of the package lists, apt-get does not wait.
      if (!/Could not get lock/.test(String(error)) || Date.now() > deadline) throw error;
    }
  }
}

/**
 * The most useful line of an error, short enough for a list of reasons.
 * @param {unknown} error
 */
export function reasonOf(error) {
  const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
  const lines = `${stderr}\n${error instanceof Error ? error.message : String(error)}`.split('\n');
  const line = lines.find((text) => /error|failed|cannot|not found/i.test(text)) ?? lines.find(Boolean);
  return (line ?? 'unknown reason').trim().slice(0, 200);
}

/**
 * Finds a port on the loopback address that is free now, and that no outgoing connection takes in the meantime: systems
 * use higher ones for those. Tests start servers on it while others are connecting to theirs.
 * @returns {Promise<number>}
 */
export async function freePort() {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = randomInt(10_000, 32_000);
    if (await isFree(port)) return port;
  }
  throw new Error('No free port was found from 10000 to 32000');
}

/** @param {number} port @returns {Promise<boolean>} */
function isFree(port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/**
 * The user to run a server as that refuses to run as root; undefined if this user is not root.
 * @returns {Promise<{ uid: number, gid: number } | undefined>}
 */
export async function unprivilegedUser() {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ['postgres', 'nobody']) {
    const ids = ['-u', '-g'].map((option) => execute('id', [option, name], { timeoutSeconds: 10 }));
    const [uid, gid] = (await Promise.all(ids).catch(() => [])).map(Number);
    if (uid && gid) return { uid, gid };
  }
  throw new Error('It cannot run as root, and neither the user postgres nor nobody exists');
}
