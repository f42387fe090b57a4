/** Starts the built API server for tests and benchmarks: a process of its own, on loopback, with a fresh account. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from './system.mjs';

const main = fileURLToPath(new URL('../server/dist/main.js', import.meta.url));

/**
 * @typedef {object} ApiServer
 * @property {string} url without a slash at the end
 * @property {string} publicKey a test key of the server's one account
 * @property {string} secretKey its other one
 * @property {(meanwhile?: () => Promise<void>) => Promise<void>} restart kills it, and starts it again on the same port and data
 * @property {() => Promise<void>} stop drains it and deletes its data; resolves when it has ended
 */

/**
 * @param {object} [options]
 * @param {string} [options.databaseUrl] instead of a SQLite file that is deleted in the end
 * @param {number} [options.blockIntervalMs] 0, the default: blocks come only when `/sandbox/blocks` asks for them
 * @param {NodeJS.ProcessEnv} [options.env] further environment
 * @returns {Promise<ApiServer>} once it answers `/readyz`
 */
export async function startApiServer({ databaseUrl, blockIntervalMs = 0, env = {} } = {}) {
  if (!existsSync(main)) throw new Error('The server is not built: npm run build');
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
      ...env,
    },
  };
  const url = `http://127.0.0.1:${port}`;
  let server = await launch(options, url);
  const abandon = () => void server.process.kill('SIGKILL');
  process.once('exit', abandon);
  const stop = async () => {
    process.removeListener('exit', abandon);
    await end(server);
    await rm(directory, { recursive: true, force: true });
  };
  /** @type {ApiServer['restart']} */
  const restart = async (meanwhile) => {
    server.process.kill('SIGKILL');
    await server.ended;
    await meanwhile?.();
    server = await launch(options, url);
  };
  return { url, publicKey, secretKey, restart, stop };
}

/**
 * @param {import('node:child_process').SpawnOptions} options
 * @param {string} url
 */
async function launch(options, url) {
  const child = spawn(process.execPath, [main], options);
  const server = { process: child, ended: new Promise((resolve) => child.once('close', resolve)) };
  for (const deadline = Date.now() + 60_000; !(await isReady(url)); await delay(50)) {
    if (child.exitCode === null && child.signalCode === null && Date.now() < deadline) continue;
    await end(server);
    throw new Error(`The API server was not ready within 60 s (exit code ${child.exitCode})`);
  }
  return server;
}

/** @param {Awaited<ReturnType<typeof launch>>} server */
async function end({ process: child, ended }) {
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), 15_000);
  await ended;
  clearTimeout(late);
}

/** @param {string} url */
const isReady = (url) =>
  fetch(`${url}/readyz`).then(
    (response) => response.ok,
    () => false,
  );
