/** Starts the built API server for tests and benchmarks, in its own process on loopback, with a new account. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from './system.mjs';

const built = fileURLToPath(new URL('../server/dist/main.js', import.meta.url));
/** Both as in the Dockerfile and docs/deployment.md. */
export const flags = ['--max-semi-space-size=4'];
export const allocation = { MALLOC_ARENA_MAX: '1' };

/**
 * @typedef {object} ApiServer
 * @property {string} url without a trailing slash
 * @property {string} publicKey the public test key of the server's only account
 * @property {string} secretKey its secret test key
 * @property {(meanwhile?: () => Promise<void>) => Promise<void>} restart kills the process and starts it again with the same port and data; `meanwhile` runs in between
 * @property {() => number} readyMs from its last start until `/readyz` answered, in milliseconds, looked at every 50
 * @property {() => number} processor the processor time that the process has taken, in milliseconds; on Linux only
 * @property {(name: NodeJS.Signals) => void} signal sends the process a signal
 * @property {() => Promise<void>} stop stops it gracefully and deletes its data; resolves when the process has ended
 */

/**
 * @param {object} [options]
 * @param {string} [options.databaseUrl] defaults to a temporary SQLite file
 * @param {number} [options.blockIntervalMs] 0, the default: only `/sandbox/blocks` adds blocks
 * @param {NodeJS.ProcessEnv} [options.env] additional environment variables
 * @param {readonly string[]} [options.nodeFlags] additional flags of Node.js
 * @param {string} [options.main] the server's `main.js`, by default that of the last build
 * @returns {Promise<ApiServer>} resolves when `/readyz` answers 200
 */
export async function startApiServer({
  databaseUrl,
  blockIntervalMs = 0,
  env = {},
  nodeFlags = [],
  main = built,
} = {}) {
  if (!existsSync(main)) throw new Error('The server is not built. Run: npm run build');
  const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-server-'));
  const port = await freePort();
  const publicKey = `pk_test_${randomBytes(32).toString('base64url')}`;
  const secretKey = `sk_test_${randomBytes(32).toString('base64url')}`;
  /** @type {import('node:child_process').SpawnOptions} */
  const options = {
    cwd: directory,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      PORT: String(port),
      DATABASE_URL: databaseUrl ?? `sqlite:${join(directory, 'data.sqlite')}`,
      BOOTSTRAP_PUBLIC_KEY: publicKey,
      BOOTSTRAP_SECRET_KEY: secretKey,
      BLOCK_INTERVAL_MS: String(blockIntervalMs),
      RATE_LIMIT: 'off',
      LOG_LEVEL: 'error',
      DATABASE_CREATE: 'on',
      ...allocation,
      ...env,
    },
  };
  const url = `http://127.0.0.1:${port}`;
  const program = [...flags, ...nodeFlags, main];
  let server = await launch(program, options, url);
  const killOnExit = () => void server.process.kill('SIGKILL');
  process.once('exit', killOnExit);
  const stop = async () => {
    process.removeListener('exit', killOnExit);
    await end(server);
    await rm(directory, { recursive: true, force: true });
  };
  /** @type {ApiServer['restart']} */
  const restart = async (meanwhile) => {
    server.process.kill('SIGKILL');
    await server.ended;
    await meanwhile?.();
    server = await launch(program, options, url);
  };
  const readyMs = () => server.readyMs;
  return {
    url,
    publicKey,
    secretKey,
    restart,
    readyMs,
    processor: () => processorMs(server.process.pid),
    signal: (name) => void server.process.kill(name),
    stop,
  };
}

/**
 * @param {string[]} program
 * @param {import('node:child_process').SpawnOptions} options
 * @param {string} url
 */
async function launch(program, options, url) {
  const startedAt = performance.now();
  const child = spawn(process.execPath, program, options);
  const server = {
    process: child,
    ended: new Promise((resolve) => child.once('close', resolve)),
    readyMs: 0,
  };
  for (const deadline = Date.now() + 60_000; !(await isReady(url)); await delay(50)) {
    if (child.exitCode === null && child.signalCode === null && Date.now() < deadline) continue;
    await end(server);
    throw new Error(`The API server was not ready within 60 s (exit code ${child.exitCode})`);
  }
  server.readyMs = performance.now() - startedAt;
  return server;
}

/** @param {Awaited<ReturnType<typeof launch>>} server */
async function end({ process: child, ended }) {
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), 15_000);
  await ended;
  clearTimeout(late);
}

/** The processor time that a process has taken, in milliseconds; on Linux only. @param {number | undefined} pid */
export function processorMs(pid) {
  const tasks = `/proc/${pid}/task`;
  // The first field is the time on a processor, in nanoseconds.
  const spent = readdirSync(tasks).map(
    (task) => readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0],
  );
  return spent.reduce((sum, nanoseconds) => sum + Number(nanoseconds), 0) / 1e6;
}

/** @param {string} url */
const isReady = (url) =>
  fetch(`${url}/readyz`).then(
    (response) => response.ok,
    () => false,
  );
