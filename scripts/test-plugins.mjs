/**
 * `npm run test:plugins`: tests each plug-in in `plugins/` as its users have it, with the packed client and server of the last
 * build. Each has packages of its own, which are not the repository's.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { argv, env } from 'node:process';
import { isInstalled } from './installed.mjs';
import { execute, reasonOf, unpack } from './system.mjs';

const help = `Installs the plug-ins in plugins/ with the packages of the last build, and runs their tests.

  npm run test:plugins               test all of them
  npm run test:plugins -- NAME…      test these, such as vendure
  npm run test:plugins -- --install  only install the packages of their lock files, which needs no build and no package
  npm run test:plugins -- --help     show this help`;

const root = resolve(import.meta.dirname, '..');
const folder = join(root, 'plugins');
/** In a folder with a build. */
const widgetIn = (/** @type {string} */ directory) => join(directory, 'server/dist/crypto-checkout.tgz');
const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];

const allPlugins = async () =>
  (await readdir(folder)).filter((name) => existsSync(join(folder, name, 'package.json')));

/** @typedef {{ passed: number, failed: number, skipped: number, failures: string[] }} Counts */

/** @param {string} failure @returns {Counts} */
const failedWith = (failure) => ({ passed: 0, failed: 1, skipped: 0, failures: [failure] });

/** Runs a program with its output on this terminal. @param {string} program @param {string[]} args @param {string} cwd @param {NodeJS.ProcessEnv} [more] @returns {Promise<number>} exit code */
function run(program, args, cwd, more) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...env, ...more },
    });
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
}

/** The paths of our packages. @typedef {{ server: string, widget: string }} Packages */

/**
 * Packs the server, in a copy: the repository may be built again meanwhile, and while the server is packed, it has a second copy of
 * the widget's package, which the checks would find.
 * @param {string} directory
 * @returns {Promise<Packages>}
 */
async function pack(directory) {
  const parts = ['dist', 'data', 'package.json', 'README.md', 'LICENSE'].map((name) => `server/${name}`);
  for (const part of ['scripts', ...parts])
    await cp(join(root, part), join(directory, part), { recursive: true });
  const args = ['pack', '--silent', '--pack-destination', directory];
  await execute('npm', args, { cwd: join(directory, 'server'), timeoutSeconds: 120 });
  const [name = ''] = (await readdir(directory)).filter((file) => file.endsWith('.tgz'));
  return { server: join(directory, name), widget: widgetIn(directory) };
}

/** @param {string} plugin */
const optionsIn = (plugin) => ({ cwd: plugin, timeoutSeconds: 600 });

/** Installs the packages of a plug-in's lock file, unless they are there. @param {string} plugin */
async function installLocked(plugin) {
  if (!(await isInstalled(plugin))) await execute('npm', ['ci', ...quiet], optionsIn(plugin));
}

/**
 * Installs a plug-in from its lock file, then our packages, which no registry has and no lock file can name.
 * @param {string} plugin
 * @param {Packages} packages
 */
async function install(plugin, { server, widget }) {
  await installLocked(plugin);
  const options = optionsIn(plugin);
  await execute('npm', ['install', '--no-save', '--no-package-lock', ...quiet, server], options);
  await copyBuild(plugin, 'better-sqlite3');
  // npm does not install a peer by its file. Its own packages are there: the server has them too.
  await unpack(widget, join(plugin, 'node_modules/crypto-checkout'));
}

/**
 * Copies what this repository's installation has compiled, which takes a minute. Scripts of packages are not run.
 * @param {string} plugin
 * @param {string} name
 */
async function copyBuild(plugin, name) {
  const [ours, theirs] = [root, plugin].map((folder) => join(folder, 'node_modules', name));
  if (!ours || !theirs || !existsSync(theirs)) return;
  const [version, wanted] = await Promise.all(
    [ours, theirs].map(
      async (path) => JSON.parse(await readFile(join(path, 'package.json'), 'utf8')).version,
    ),
  );
  if (version !== wanted) throw new Error(`It has ${name} ${wanted}, and the repository has ${version}`);
  await cp(join(ours, 'build/Release'), join(theirs, 'build/Release'), { recursive: true });
}

/**
 * Runs a plug-in's `npm test`, which writes its counts as JSON to the file that TEST_COUNTS names.
 * @param {string} plugin
 * @param {string} report
 * @returns {Promise<Counts>}
 */
async function test(plugin, report) {
  const code = await run('npm', ['test', '--silent'], plugin, { TEST_COUNTS: report });
  if (!existsSync(report)) return failedWith(`${plugin}: npm test ended with ${code} and wrote no counts`);
  /** @type {Counts} */
  const counts = JSON.parse(await readFile(report, 'utf8'));
  if (counts.passed + counts.failed === 0) return failedWith(`${plugin}: no test was run`);
  if (code !== 0 && counts.failed === 0) return { ...counts, failed: 1 };
  return counts;
}

/** @param {string} name @param {string} directory @param {Packages} packages @returns {Promise<Counts>} */
async function testPlugin(name, directory, packages) {
  const plugin = join(folder, name);
  const started = Date.now();
  const seconds = () => Math.round((Date.now() - started) / 1000);
  try {
    await install(plugin, packages);
  } catch (error) {
    return failedWith(`${name}: it could not be installed: ${reasonOf(error)}`);
  }
  console.log(`\n${name}: installed in ${seconds()} s`);
  const counts = await test(plugin, join(directory, `${name}.json`));
  // The types of its packages are only there once they are installed, so the lint of the whole repository leaves it out.
  const linted = await run(join(root, 'node_modules/.bin/eslint'), [`plugins/${name}`], root);
  console.log(`${name}: ${counts.passed} of ${counts.passed + counts.failed} tests in ${seconds()} s`);
  if (linted !== 0) counts.failures.push(`${name}: eslint found mistakes`);
  return { ...counts, failed: counts.failed + Number(linted !== 0) };
}

/** @param {string[]} names */
async function main(names) {
  if (!existsSync(widgetIn(root))) throw new Error('The package is not built. Run: npm run build');
  const all = await allPlugins();
  const unknown = names.filter((name) => !all.includes(name));
  if (unknown.length > 0) throw new Error(`plugins/ has no ${unknown.join(', ')}, only ${all.join(', ')}`);
  const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-plugins-'));
  const total = { passed: 0, failed: 0, skipped: 0 };
  /** @type {string[]} */
  const failures = [];
  try {
    // It loads a package of the repository, which are missing while --install works.
    const { findBrowser } = await import('./find-browser.mjs');
    env.CHROME_PATH = (await findBrowser()).executablePath;
    const packages = await pack(directory);
    // At the same time: each mostly waits for its packages, its shop and its browser.
    const tested = (names.length > 0 ? names : all).map((name) => testPlugin(name, directory, packages));
    for (const counts of await Promise.all(tested)) {
      total.passed += counts.passed;
      total.failed += counts.failed;
      total.skipped += counts.skipped;
      failures.push(...counts.failures);
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  if (failures.length > 0) console.log(`\nFailed:\n\n${failures.join('\n\n')}`);
  const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : '';
  console.log(`\n${total.passed} passed, ${total.failed} failed${skipped}`);
  return total.failed > 0 || total.passed === 0 || (env.CI === 'true' && total.skipped > 0) ? 1 : 0;
}

const given = argv.slice(2);
if (given.join(' ') === '--install') {
  for (const name of await allPlugins()) await installLocked(join(folder, name));
} else if (given.some((argument) => argument.startsWith('-'))) {
  console.log(help);
  process.exitCode = given.includes('--help') ? 0 : 1;
} else process.exitCode = await main(given);
