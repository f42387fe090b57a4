/** Finds a Litecoin Core for the tests and starts it on regtest, or installs one. Run it directly to print its URL. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { argv, env } from 'node:process';
import { pathToFileURL } from 'node:url';
import { aptInstall, freePort, reasonOf } from './system.mjs';

/**
 * @typedef {object} Litecoind
 * @property {string} url with its user and password
 * @property {string} directory its data; it writes its cookie to `regtest/.cookie` in there
 * @property {() => Promise<void>} start starts it again after `kill`, on the same port and data
 * @property {() => Promise<void>} kill ends it as a power cut would
 * @property {(isStopped: boolean) => void} freeze pauses the process, or resumes it
 * @property {() => Promise<void>} stop ends it, and deletes its data
 */

/** Maximum start time of a node. Its first start takes about a second. */
const startSeconds = 60;
const user = 'test';
const password = 'litecoin-test-password';

/**
 * The path of a litecoind, which is installed if it is missing and that is possible.
 * @returns {Promise<{ path: string } | { reason: string }>} `reason`: why there is none
 */
export async function findLitecoind() {
  if (env.LITECOIND_PATH) {
    return existsSync(env.LITECOIND_PATH)
      ? { path: env.LITECOIND_PATH }
      : { reason: `LITECOIND_PATH is ${env.LITECOIND_PATH}, which does not exist` };
  }
  const installed = onPath();
  if (installed) return { path: installed };
  try {
    await aptInstall(['litecoind']);
  } catch (error) {
    return { reason: `LITECOIND_PATH is not set; no litecoind in PATH; ${reasonOf(error)}` };
  }
  const path = onPath();
  return path ? { path } : { reason: 'apt-get installed litecoind, but it is not in PATH' };
}

function onPath() {
  return (env.PATH ?? '')
    .split(delimiter)
    .map((directory) => join(directory, 'litecoind'))
    .find((path) => existsSync(path));
}

/**
 * Starts a node of a regtest network of its own, on the loopback address and without peers. It opens a wallet `w`.
 * @param {string} path of litecoind
 * @returns {Promise<Litecoind>}
 */
export async function startLitecoind(path) {
  const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-litecoind-'));
  const port = await freePort();
  const url = `http://${user}:${password}@127.0.0.1:${port}`;
  /** @type {import('node:child_process').ChildProcess | undefined} */
  let node;
  /** @type {Promise<unknown>} */
  let ended = Promise.resolve();
  const killOnExit = () => void node?.kill('SIGKILL');
  process.once('exit', killOnExit);

  const start = async () => {
    const options = [
      '-regtest',
      `-datadir=${directory}`,
      `-rpcport=${port}`,
      '-rpcbind=127.0.0.1',
      '-rpcallowip=127.0.0.1',
      `-rpcuser=${user}`,
      `-rpcpassword=${password}`,
      '-server=1',
      '-listen=0',
      '-maxconnections=0',
      '-dnsseed=0',
      '-dbcache=4',
      '-par=1',
      // By default, a new wallet makes a thousand keys.
      '-keypool=10',
      '-fallbackfee=0.0001',
      // Without it, Litecoin Core keeps the first of two transactions, no matter what the second one pays.
      '-mempoolreplacement=1',
      '-printtoconsole=0',
    ];
    // Debian's wrapper writes a configuration into the home directory, and the node would read it.
    const started = spawn(path, options, {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...env, HOME: directory },
    });
    node = started;
    let message = '';
    started.stderr.on('data', (chunk) => (message += String(chunk)));
    ended = new Promise((resolve) => started.once('close', resolve));
    await ready(
      url,
      () => started.exitCode !== null || started.signalCode !== null,
      () => message,
    );
  };

  const kill = async () => {
    node?.kill('SIGKILL');
    await ended;
  };
  const stop = async () => {
    process.removeListener('exit', killOnExit);
    await kill();
    await rm(directory, { recursive: true, force: true, maxRetries: 3 });
  };
  try {
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url,
    directory,
    start,
    kill,
    freeze: (isStopped) => void node?.kill(isStopped ? 'SIGSTOP' : 'SIGCONT'),
    stop,
  };
}

/**
 * Waits until the node answers.
 * @param {string} url
 * @param {() => boolean} hasEnded
 * @param {() => string} message its text on stderr
 */
async function ready(url, hasEnded, message) {
  const deadline = Date.now() + startSeconds * 1000;
  for (;;) {
    if (hasEnded()) throw new Error(`litecoind failed to start: ${message().trim().slice(-300)}`);
    if (Date.now() > deadline) throw new Error(`litecoind was not ready within ${startSeconds} s`);
    if (await answers(url)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** @param {string} text */
async function answers(text) {
  const url = new URL(text);
  const authorization = `Basic ${Buffer.from(`${url.username}:${url.password}`).toString('base64')}`;
  url.username = '';
  url.password = '';
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization },
      body: JSON.stringify({ method: 'getblockcount', params: [] }),
      signal: AbortSignal.timeout(5000),
    });
    return response.status === 200;
  } catch {
    return false;
  }
}

if (argv[1] && import.meta.url === pathToFileURL(argv[1]).href) {
  const found = await findLitecoind();
  if ('reason' in found) {
    process.stderr.write(`No litecoind: ${found.reason}\n`);
    process.exitCode = 1;
  } else {
    const litecoind = await startLitecoind(found.path);
    process.stdout.write(`${litecoind.url} (press Ctrl-C to stop)\n`);
    process.once('SIGINT', () => void litecoind.stop());
    process.once('SIGTERM', () => void litecoind.stop());
  }
}
