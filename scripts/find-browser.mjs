/** Finds a Chromium that starts on this machine, or installs one. Run it directly to print what it finds. */
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { argv, env, execPath, platform } from 'node:process';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { aptInstall, execute, reasonOf } from './system.mjs';

const require = createRequire(import.meta.url);

/**
 * Without these, Chromium does not start as root, and in a container it looks for a GPU and for updates. Disabling the
 * sandbox is safe here: it only opens pages of this repository. Launchers add `--headless` themselves.
 */
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const debianChromium = '/usr/bin/chromium';

/** Tried in this order. Each returns the executables that it knows, best first. @type {[string, () => Promise<string[]>][]} */
const sources = [
  ['CHROME_PATH', async () => (env.CHROME_PATH ? [env.CHROME_PATH] : [])],
  ['installed on this machine', async () => (await import('chrome-launcher')).Launcher.getInstallations()],
  ['Playwright cache', playwrightCache],
  ['playwright install', playwrightInstall],
  ['apt-get install chromium', aptChromium],
  ['@sparticuz/chromium', unpackedChromium],
];

/** @type {Promise<{ executablePath: string, args: string[] }> | undefined} */
let found;

/**
 * Finds a browser for tests. Downloads have a time limit, so a machine that can neither find nor download one fails within
 * minutes.
 * @returns {Promise<{ executablePath: string, args: string[] }>}
 */
export function findBrowser() {
  found ??= search();
  return found;
}

/**
 * Finds Chromium's headless shell: the same engine, which opens a page in about a third of the processor time. It has
 * no back-forward cache and does not freeze background pages. Installs Debian's if its Chromium is there without it; returns
 * the whole browser if there is none.
 * @returns {Promise<{ executablePath: string, args: string[] }>}
 */
export async function findHeadlessShell() {
  const { executablePath, args } = await findBrowser();
  const shell = `${executablePath}-headless-shell`;
  if (!existsSync(shell) && executablePath === debianChromium)
    await aptInstall(['chromium-headless-shell']).catch((/** @type {unknown} */ error) =>
      console.error(`Pages take longer without the package chromium-headless-shell: ${reasonOf(error)}`),
    );
  if (!existsSync(shell)) return { executablePath, args };
  const failure = await start(shell).catch(reasonOf);
  return { executablePath: failure === undefined ? shell : executablePath, args };
}

async function search() {
  /** @type {string[]} */
  const reasons = [];
  for (const [name, candidates] of sources) {
    try {
      const executablePaths = await candidates();
      if (executablePaths.length === 0) reasons.push(`${name}: none`);
      for (const executablePath of executablePaths) {
        const failure = await start(executablePath).catch((error) => `${executablePath}: ${reasonOf(error)}`);
        if (!failure) return { executablePath, args: [...args] };
        reasons.push(failure);
      }
    } catch (error) {
      reasons.push(`${name}: ${reasonOf(error)}`);
    }
  }
  throw new Error(
    `Could not find or install Chromium. Set CHROME_PATH to its executable.\n  ${reasons.join('\n  ')}`,
  );
}

/**
 * Starts the browser, because a file that exists may still not work: it can be the wrapper of a package that is not
 * installed, or lack libraries.
 * @param {string} executablePath
 */
async function start(executablePath) {
  const browser = await chromium.launch({ executablePath, args, timeout: 30_000 });
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(30_000);
    await page.setContent('<p>started</p>');
  } finally {
    await browser.close();
  }
}

/** Any revision works, newest first. Another version of Playwright may have filled the cache. */
async function playwrightCache() {
  const defaults = {
    darwin: join(homedir(), 'Library/Caches/ms-playwright'),
    win32: join(env.LOCALAPPDATA ?? homedir(), 'ms-playwright'),
    linux: join(env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'ms-playwright'),
  };
  const cache = env.PLAYWRIGHT_BROWSERS_PATH || defaults[/** @type {keyof typeof defaults} */ (platform)];
  if (!cache || !existsSync(cache)) return [];
  const revision = (/** @type {string} */ name) => Number(name.split('-').at(-1));
  const builds = (await readdir(cache)).filter((name) => /^chromium(_headless_shell)?-\d+$/.test(name));
  builds.sort((a, b) => revision(b) - revision(a));
  const executable =
    /(^|[\\/])(chrome|chrome-headless-shell|headless_shell|Chromium|Google Chrome for Testing)(\.exe)?$/;
  const paths = builds.map(async (build) => {
    const files = await readdir(join(cache, build), { recursive: true, withFileTypes: true });
    return files
      .filter((file) => file.isFile() && executable.test(file.name))
      .map((file) => join(file.parentPath, file.name));
  });
  return (await Promise.all(paths)).flat();
}

async function playwrightInstall() {
  const cli = join(dirname(require.resolve('playwright-core/package.json')), 'cli.js');
  await execute(execPath, [cli, 'install', '--no-shell', 'chromium'], {
    timeoutSeconds: 300,
    env: { ...env, PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT: '5000' },
  });
  return playwrightCache();
}

async function aptChromium() {
  // Debian's releases before 12 have no headless shell.
  await aptInstall(['chromium', 'chromium-headless-shell']).catch(() => aptInstall(['chromium']));
  return [debianChromium];
}

/** A Chromium from an npm package, for Linux on x64, with the libraries that a minimal system lacks. */
async function unpackedChromium() {
  if (platform !== 'linux' || process.arch !== 'x64') throw new Error('only for Linux on x64');
  const directory = join(tmpdir(), `crypto-checkout-chromium-${process.getuid?.() ?? 0}`);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  // The package unpacks into TMPDIR, but its libraries only if it thinks that it runs on Lambda, and importing it sets
  // LD_LIBRARY_PATH. A separate process keeps all of that away from this one.
  const unpack = `process.stdout.write(await (await import('@sparticuz/chromium')).default.executablePath())`;
  const executablePath = await execute(execPath, ['--input-type=module', '--eval', unpack], {
    timeoutSeconds: 120,
    cwd: import.meta.dirname,
    env: { ...env, TMPDIR: directory, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs20.x' },
  });
  const wrapper = join(directory, 'chromium-with-libraries');
  await writeFile(
    wrapper,
    `#!/bin/sh\nLD_LIBRARY_PATH='${directory}/al2023/lib' FONTCONFIG_PATH='${directory}/fonts' exec '${executablePath}' "$@"\n`,
  );
  await chmod(wrapper, 0o700);
  return [executablePath, wrapper];
}

if (argv[1] && import.meta.url === pathToFileURL(argv[1]).href) {
  const { executablePath, args } = await findBrowser();
  process.stdout.write(`${executablePath} ${args.join(' ')}\n`);
}
