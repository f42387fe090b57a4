/** Finds WebKitGTK for the tests, the engine of Safari, and starts it on a screen of its own, or installs it. Run it directly to print its URL. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { argv, env } from 'node:process';
import { pathToFileURL } from 'node:url';
import { aptInstall, freePort, reasonOf } from './system.mjs';

/**
 * @typedef {object} WebkitPrograms
 * @property {string} driver speaks WebDriver over HTTP
 * @property {string} browser which the driver opens
 * @property {string} display the X server that the browser draws on
 */

/**
 * @typedef {object} Webkit
 * @property {string} url of the driver, which takes one session at a time
 * @property {Record<string, unknown>} capabilities for a new session
 * @property {() => Promise<void>} stop ends the driver, its browsers, also those that hang, and the screen
 */

/** Maximum start time of the screen and the driver. Both need less than a second. */
const startSeconds = 30;

/**
 * The programs, which are installed if they are missing and that is possible.
 * @returns {Promise<WebkitPrograms | { reason: string }>} `reason`: why there are none
 */
export async function findWebkit() {
  const found = await search();
  if (!('reason' in found)) return found;
  try {
    await aptInstall(['webkit2gtk-driver', 'xvfb']);
  } catch (error) {
    return { reason: `${found.reason}; ${reasonOf(error)}` };
  }
  return search();
}

/** @returns {Promise<WebkitPrograms | { reason: string }>} */
async function search() {
  const driver = onPath('WebKitWebDriver');
  const display = onPath('Xvfb');
  const browser = await miniBrowser();
  if (driver && display && browser) return { driver, display, browser };
  const missing = Object.entries({ WebKitWebDriver: driver, MiniBrowser: browser, Xvfb: display })
    .filter(([, path]) => path === undefined)
    .map(([name]) => name);
  return { reason: `not installed: ${missing.join(', ')}` };
}

/** @param {string} program */
function onPath(program) {
  return (env.PATH ?? '')
    .split(delimiter)
    .map((directory) => join(directory, program))
    .find((path) => existsSync(path));
}

/** It belongs to the library, and is in no PATH: `/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser`. */
async function miniBrowser() {
  const folders = async (/** @type {string} */ parent, /** @type {RegExp} */ name) => {
    const names = await readdir(parent).catch(() => []);
    return names.filter((one) => name.test(one)).map((one) => join(parent, one));
  };
  const libraries = ['/usr/libexec', ...(await folders('/usr/lib', /-linux-gnu/))];
  const versions = await Promise.all(libraries.map((one) => folders(one, /^webkit2?gtk-\d/)));
  return versions
    .flat()
    .sort()
    .map((folder) => join(folder, 'MiniBrowser'))
    .findLast((path) => existsSync(path));
}

/**
 * Starts a driver on the loopback address, and a screen for its browser. Nothing is kept from one start to the next.
 * @param {WebkitPrograms} programs
 * @returns {Promise<Webkit>}
 */
export async function startWebkit({ driver, browser, display }) {
  const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-webkit-'));
  /** @type {import('node:child_process').ChildProcess[]} */
  const running = [];
  const kill = () => running.forEach(killGroup);
  process.once('exit', kill);
  const stop = async () => {
    process.removeListener('exit', kill);
    kill();
    await rm(directory, { recursive: true, force: true, maxRetries: 3 });
  };
  try {
    const screen = spawn(display, ['-displayfd', '3', '-screen', '0', '1280x900x24', '-nolisten', 'tcp'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
      detached: true,
    });
    running.push(screen);
    const number = await firstLine(screen);
    const port = await freePort();
    const server = spawn(driver, ['--host=127.0.0.1', `--port=${port}`], {
      stdio: 'ignore',
      // The browser is a child of the driver: one group, so that both can be ended together.
      detached: true,
      env: {
        ...env,
        DISPLAY: `:${number}`,
        HOME: directory,
        XDG_RUNTIME_DIR: directory,
        GTK_A11Y: 'none',
        NO_AT_BRIDGE: '1',
      },
    });
    running.push(server);
    const url = `http://127.0.0.1:${port}`;
    await ready(url, () => server.exitCode !== null || server.signalCode !== null);
    const options = { binary: browser, args: ['--automation'] };
    return { url, capabilities: { 'webkitgtk:browserOptions': options }, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** @param {import('node:child_process').ChildProcess} child */
function killGroup({ pid }) {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}

/** The number of the screen that the X server has chosen. @param {import('node:child_process').ChildProcess} screen @returns {Promise<string>} */
function firstLine(screen) {
  return new Promise((resolve, reject) => {
    const fail = () => reject(new Error(`The X server did not start within ${startSeconds} s`));
    const timer = setTimeout(fail, startSeconds * 1000);
    screen.once('error', reject);
    screen.once('exit', fail);
    screen.stdio[3]?.once('data', (/** @type {Buffer} */ data) => {
      clearTimeout(timer);
      resolve(String(data).trim());
    });
  });
}

/**
 * Waits until the driver answers.
 * @param {string} url
 * @param {() => boolean} hasEnded
 */
async function ready(url, hasEnded) {
  const deadline = Date.now() + startSeconds * 1000;
  for (;;) {
    if (hasEnded()) throw new Error('WebKitWebDriver failed to start');
    if (Date.now() > deadline) throw new Error(`WebKitWebDriver was not ready within ${startSeconds} s`);
    if (
      await fetch(`${url}/status`).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

if (argv[1] && import.meta.url === pathToFileURL(argv[1]).href) {
  const found = await findWebkit();
  if ('reason' in found) {
    process.stderr.write(`No WebKit: ${found.reason}\n`);
    process.exitCode = 1;
  } else {
    const webkit = await startWebkit(found);
    process.stdout.write(`${webkit.url} ${JSON.stringify(webkit.capabilities)} (press Ctrl-C to stop)\n`);
    process.once('SIGINT', () => void webkit.stop());
    process.once('SIGTERM', () => void webkit.stop());
  }
}
