/** Finds a PostgreSQL for the tests and starts it, or installs one. Run it directly to print its URL. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chown, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { argv, env } from 'node:process';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { aptInstall, execute, freePort, reasonOf, unprivilegedUser } from './system.mjs';

/**
 * Methods that exist only for our own PostgreSQL, and not for the one of TEST_DATABASE_URL, are optional.
 * @typedef {object} Postgres
 * @property {string} url
 * @property {() => Promise<void>} stop ends it, and deletes its data
 * @property {() => Promise<void>} [crash] kills all its processes and starts it again
 * @property {() => Promise<Postgres>} [standby] starts a copy that follows it, and that can only be read
 * @property {() => Promise<void>} [kill] kills all its processes
 * @property {() => Promise<void>} [promote] makes a standby writable
 * @property {() => Promise<void>} [returnReadOnly] starts it again after `kill`, as a standby
 */

/**
 * Starts a PostgreSQL with an empty database `postgres` and its superuser. The caller stops it with `stop`. By default it is as
 * durable as in production: fsync stays on.
 * @param {readonly string[]} [settings] more settings, each as `name=value`
 * @param {string} [parent] the folder that its folder is made in
 * @returns {Promise<Postgres | { reason: string }>} `reason`: why there is no PostgreSQL
 */
export async function startPostgres(settings = [], parent = tmpdir()) {
  if (env.TEST_DATABASE_URL) return { url: env.TEST_DATABASE_URL, stop: async () => undefined };
  /** @type {string[]} */
  const reasons = [];
  for (const directory of await installedBinaries()) {
    try {
      return await startFrom(directory, settings, parent);
    } catch (error) {
      reasons.push(`${directory}: ${reasonOf(error)}`);
    }
  }
  if (reasons.length > 0) return { reason: reasons.join('; ') };
  try {
    await aptInstall(['postgresql']);
    const [directory] = await installedBinaries();
    if (!directory) throw new Error('apt-get installed PostgreSQL, but initdb and postgres were not found');
    return await startFrom(directory, settings, parent);
  } catch (error) {
    return { reason: `TEST_DATABASE_URL is not set; no initdb found; ${reasonOf(error)}` };
  }
}

/** Folders that contain both initdb and postgres, newest Debian version first. */
async function installedBinaries() {
  const byConfig = await execute('pg_config', ['--bindir'], { timeoutSeconds: 10 }).catch(() => '');
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? await readdir(debian) : [];
  versions.sort((a, b) => Number(b) - Number(a));
  const directories = [
    byConfig.trim(),
    ...versions.map((version) => join(debian, version, 'bin')),
    ...(env.PATH ?? '').split(delimiter),
  ];
  const complete = directories.filter((directory) =>
    ['initdb', 'postgres'].every((name) => directory && existsSync(join(directory, name))),
  );
  return [...new Set(complete)];
}

/**
 * @param {string} binaries the folder that contains initdb and postgres
 * @param {readonly string[]} more
 * @param {string} parent
 */
async function startFrom(binaries, more, parent) {
  return startIn(binaries, more, parent, async (data, options) => {
    const initdb = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
    await execute(join(binaries, 'initdb'), initdb, { timeoutSeconds: 60, ...options });
  });
}

/**
 * @param {string} binaries
 * @param {readonly string[]} more settings
 * @param {string} parent
 * @param {(data: string, options: { cwd: string, env: NodeJS.ProcessEnv, uid?: number, gid?: number }) => Promise<void>} fill makes the folder `data`
 * @returns {Promise<Postgres>}
 */
async function startIn(binaries, more, parent, fill) {
  const user = await unprivilegedUser();
  const directory = await mkdtemp(join(parent, 'crypto-checkout-postgres-'));
  const options = { cwd: directory, env: { ...env, LC_ALL: 'C' }, ...user };
  try {
    if (user) await chown(directory, user.uid, user.gid);
    const data = join(directory, 'data');
    await fill(data, options);
    const port = await freePort();
    const settings = [
      'listen_addresses=127.0.0.1',
      `port=${port}`,
      'unix_socket_directories=',
      'max_connections=200',
      ...more,
    ];
    const run = () => {
      const server = spawn(
        join(binaries, 'postgres'),
        ['-D', data, ...settings.flatMap((setting) => ['-c', setting])],
        { ...options, stdio: ['ignore', 'ignore', 'pipe'] },
      );
      return { server, ended: new Promise((resolve) => server.once('close', resolve)) };
    };
    let running = run();
    // If the tests end before they could stop it: SIGQUIT stops it at once.
    const killOnExit = () => void running.server.kill('SIGQUIT');
    process.once('exit', killOnExit);
    await ready(running.server);
    // Without a checkpoint and without notice to its clients, so that the next start recovers from the log.
    const kill = async () => {
      running.server.kill('SIGQUIT');
      await running.ended;
    };
    const start = async () => {
      running = run();
      await ready(running.server);
    };
    const address = `postgres://postgres@127.0.0.1:${port}`;
    return {
      url: `${address}/postgres`,
      stop: async () => {
        process.removeListener('exit', killOnExit);
        running.server.kill('SIGINT');
        await running.ended;
        await rm(directory, { recursive: true, force: true });
      },
      crash: async () => {
        await kill();
        await start();
      },
      kill,
      standby: () =>
        startIn(binaries, more, parent, async (copy, context) => {
          const backup = ['-D', copy, '-d', address, '-R', '-X', 'stream', '--checkpoint=fast', '--no-sync'];
          await execute(join(binaries, 'pg_basebackup'), backup, { timeoutSeconds: 60, ...context });
        }),
      promote: async () => {
        const promote = ['promote', '-D', data, '--wait'];
        await execute(join(binaries, 'pg_ctl'), promote, { timeoutSeconds: 60, ...options });
      },
      returnReadOnly: async () => {
        await writeFile(join(data, 'standby.signal'), '');
        await start();
      },
    };
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    throw error;
  }
}

/**
 * Waits until PostgreSQL logs that it accepts connections.
 * @param {import('node:child_process').ChildProcess} server
 * @returns {Promise<void>}
 */
function ready(server) {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      server.kill('SIGQUIT');
      reject(new Error('PostgreSQL was not ready within 60 s'));
    }, 60_000);
    let last = 'nothing';
    server.once('error', reject);
    server.once('close', (code) => {
      clearTimeout(late);
      reject(new Error(`PostgreSQL failed to start (exit code ${code}). Its last log line: ${last}`));
    });
    if (!server.stderr) return reject(new Error('PostgreSQL was started without a pipe for its log'));
    createInterface(server.stderr).on('line', (line) => {
      last = line;
      if (!/ready to accept (read-only )?connections/.test(line)) return;
      clearTimeout(late);
      resolve();
    });
  });
}

if (argv[1] && import.meta.url === pathToFileURL(argv[1]).href) {
  const postgres = await startPostgres();
  if ('reason' in postgres) {
    process.stderr.write(`No PostgreSQL: ${postgres.reason}\n`);
    process.exitCode = 1;
  } else {
    process.stdout.write(`${postgres.url} (press Ctrl-C to stop)\n`);
    process.once('SIGINT', () => void postgres.stop());
    process.once('SIGTERM', () => void postgres.stop());
  }
}
