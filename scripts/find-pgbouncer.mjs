/** Finds a PgBouncer for the tests and starts it before a PostgreSQL, or installs one. Run it directly with a URL to print that of the pooler. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { argv, env } from 'node:process';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { aptInstall, freePort, reasonOf, unprivilegedUser } from './system.mjs';

/**
 * The path of a pgbouncer, which is installed if it is missing and that is possible.
 * @returns {Promise<{ path: string } | { reason: string }>} `reason`: why there is none
 */
export async function findPgbouncer() {
  if (env.PGBOUNCER_PATH) {
    return existsSync(env.PGBOUNCER_PATH)
      ? { path: env.PGBOUNCER_PATH }
      : { reason: `PGBOUNCER_PATH is ${env.PGBOUNCER_PATH}, which does not exist` };
  }
  const installed = onPath();
  if (installed) return { path: installed };
  try {
    await aptInstall(['pgbouncer']);
  } catch (error) {
    return { reason: `PGBOUNCER_PATH is not set; no pgbouncer in PATH; ${reasonOf(error)}` };
  }
  const path = onPath();
  return path ? { path } : { reason: 'apt-get installed pgbouncer, but it is not in PATH' };
}

/** Debian installs it into a folder that is in root's PATH only. */
function onPath() {
  return [...(env.PATH ?? '').split(delimiter), '/usr/sbin']
    .map((directory) => join(directory, 'pgbouncer'))
    .find((path) => existsSync(path));
}

/**
 * Starts a pooler on the loopback address, by default in transaction mode, as most installations.
 * @param {string} path of pgbouncer
 * @param {string} target URL of the PostgreSQL, whose user needs no password
 * @param {Readonly<Record<string, string | number>>} [settings] more settings
 * @returns {Promise<{ url: string, stop: () => Promise<void> }>} the URL has the name of the target's database
 */
export async function startPgbouncer(path, target, settings = {}) {
  const user = await unprivilegedUser();
  const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-pgbouncer-'));
  const { hostname, port: targetPort, username, pathname } = new URL(target);
  const port = await freePort();
  const lines = Object.entries({
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'trust',
    auth_file: join(directory, 'users'),
    pool_mode: 'transaction',
    ignore_startup_parameters: 'extra_float_digits',
    max_client_conn: 200,
    ...settings,
  }).map(([name, value]) => `${name} = ${value}`);
  const file = join(directory, 'pgbouncer.ini');
  const databases = `* = host=${hostname} port=${targetPort || 5432}`;
  await writeFile(file, `[databases]\n${databases}\n[pgbouncer]\n${lines.join('\n')}\n`);
  await writeFile(join(directory, 'users'), `"${username}" ""\n`);
  if (user) await chown(directory, user.uid, user.gid);
  const pooler = spawn(path, [file], { ...user, cwd: directory, stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = new Promise((resolve) => pooler.once('close', resolve));
  const killOnExit = () => void pooler.kill('SIGKILL');
  process.once('exit', killOnExit);
  const stop = async () => {
    process.removeListener('exit', killOnExit);
    pooler.kill('SIGKILL');
    await ended;
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await ready(pooler);
  } catch (error) {
    await stop();
    throw error;
  }
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String(port);
  url.pathname = pathname;
  return { url: url.href, stop };
}

/**
 * Waits until it logs that it listens.
 * @param {import('node:child_process').ChildProcess} pooler
 * @returns {Promise<void>}
 */
function ready(pooler) {
  return new Promise((resolve, reject) => {
    let last = 'nothing';
    pooler.once('error', reject);
    pooler.once('close', (code) => {
      reject(new Error(`PgBouncer failed to start (exit code ${code}). Its last log line: ${last}`));
    });
    if (!pooler.stderr) return reject(new Error('PgBouncer was started without a pipe for its log'));
    createInterface(pooler.stderr).on('line', (line) => {
      last = line;
      if (line.includes('process up')) resolve();
    });
  });
}

if (argv[1] && import.meta.url === pathToFileURL(argv[1]).href) {
  const found = await findPgbouncer();
  if ('reason' in found || !argv[2]) {
    process.stderr.write(
      'reason' in found ? `No PgBouncer: ${found.reason}\n` : 'Give the URL of a PostgreSQL\n',
    );
    process.exitCode = 1;
  } else {
    const pooler = await startPgbouncer(found.path, argv[2]);
    process.stdout.write(`${pooler.url} (press Ctrl-C to stop)\n`);
    process.once('SIGINT', () => void pooler.stop());
    process.once('SIGTERM', () => void pooler.stop());
  }
}
