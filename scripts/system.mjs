/** Runs other programs within a bounded time, and installs Debian packages where that is allowed. */
import { execFile } from 'node:child_process';
import { createServer } from 'node:net';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Runs a program without a shell and without standard input; rejects when it fails or takes longer than the time given.
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
 * Installs Debian packages as root; rejects with the reason when that cannot be done here.
 * @param {string[]} packages
 */
export async function aptInstall(packages) {
  if (process.getuid?.() !== 0) throw new Error('apt-get needs root');
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const options = ['-y', '-q', '-o', 'Acquire::http::Timeout=15', '-o', 'Acquire::Retries=1'];
  await execute('apt-get', ['update', ...options], { timeoutSeconds: 120, env });
  await execute('apt-get', ['install', '--no-install-recommends', ...options, ...packages], {
    timeoutSeconds: 420,
    env,
  });
}

/**
 * The line that says what went wrong, short enough to stand in a list of reasons.
 * @param {unknown} error
 */
export function reasonOf(error) {
  const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
  const lines = `${stderr}\n${error instanceof Error ? error.message : String(error)}`.split('\n');
  const line = lines.find((text) => /error|failed|cannot|not found/i.test(text)) ?? lines.find(Boolean);
  return (line ?? 'unknown reason').trim().slice(0, 200);
}

/** @returns {Promise<number>} a port on the loopback address that is free now */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() =>
        typeof address === 'object' && address ? resolve(address.port) : reject(new Error('no port')),
      );
    });
  });
}
