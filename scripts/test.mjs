/** `npm test` and `npm run test:long`: builds, runs every test runner, and adds up their results. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { setPriority, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { argv, env, stderr, stdout } from 'node:process';
import { stripVTControlCharacters } from 'node:util';
import { findBrowser } from './find-browser.mjs';

const help = `Builds the project and runs its tests.

  npm test                       run the quick tests: all files but *.long.test.ts and *.soak.test.ts
  npm run test:long              run the long ones, *.long.test.ts, and on PostgreSQL most of what npm test runs only on SQLite;
                                 npm run soak runs the others
  npm test -- PATH…              run the test files, also long ones, whose path contains one of these
  npm test -- --built            use the last build
  npm test -- --help             show this help

  test/**, server/test/**        run in Node (vitest), on SQLite and on PostgreSQL: the slower ones on one of them each
  test/**/*.browser.test.ts      run in Chromium (web-test-runner)
  test/e2e/**, **/*.e2e*.test.ts run the built server and its pages in Chromium (vitest, playwright-core), and some in Firefox and WebKit

Those in Chromium and those in Node run in parallel, and their output is printed afterwards.
The tests find or install a browser, Firefox, WebKitGTK, a PostgreSQL, a PgBouncer and a Litecoin Core. To use your own, set CHROME_PATH, FIREFOX_PATH,
TEST_DATABASE_URL, PGBOUNCER_PATH and LITECOIND_PATH.
Without them, their tests are skipped and the reason is printed; with CI=true that is a failure.`;

/**
 * `missing` has a line for each skipped part, with the reason; `failures` has a text for each failed test, and
 * `repeated` for each that passed only on a retry; `seconds` has the time of each file.
 * @typedef {{ passed: number, failed: number, skipped: number, missing?: string[], failures: string[], repeated?:
 *   string[], seconds: Record<string, number> }} Counts
 */

/** Tests that take minutes or install packages. @param {string} file */
const isLong = (file) => file.endsWith('.long.test.ts');
/** Tests that are too slow for the gate. @param {string} file */
const isSoak = (file) => file.endsWith('.soak.test.ts');
const slowest = 10;

const root = resolve(import.meta.dirname, '..');
const isCI = env.CI === 'true';

/**
 * @typedef {object} Runner
 * @property {string} name
 * @property {(file: string) => boolean} takes a test file belongs to the first runner that takes it
 * @property {boolean} needsBrowser
 * @property {string} program
 * @property {(files: string[]) => string[]} args
 */

const wtr = {
  program: join(root, 'node_modules/.bin/web-test-runner'),
  args: (/** @type {string[]} */ files) => ['--files', ...files],
};

const vitest = (/** @type {string} */ project) => ({
  program: join(root, 'node_modules/.bin/vitest'),
  args: (/** @type {string[]} */ files) => [
    ...['run', '--project', project, '--reporter=default', '--reporter=./scripts/vitest-report.mjs'],
    ...files,
  ],
});

/** @type {Runner[]} */
const runners = [
  { name: 'browser', takes: (file) => file.endsWith('.browser.test.ts'), needsBrowser: true, ...wtr },
  {
    name: 'e2e',
    takes: (file) => /^test\/e2e\/|\.e2e(\.(long|soak))?\.test\.ts$/.test(file),
    needsBrowser: true,
    ...vitest('e2e'),
  },
  { name: 'node', takes: () => true, needsBrowser: false, ...vitest('node') },
];

/** @typedef {(chunk: Buffer | string, stream?: NodeJS.WriteStream) => void} Write prints to standard output by default */

/**
 * @param {string} program
 * @param {string[]} args
 * @param {{ more?: NodeJS.ProcessEnv, write?: Write | undefined, niceness?: number }} [options] `more`: additional environment variables; `write`: prints the output,
 *   which otherwise goes to this terminal directly; `niceness`: that of the program and all that it starts
 * @returns {Promise<number>} exit code
 */
function run(program, args, { more, write, niceness = 0 } = {}) {
  return new Promise((resolve, reject) => {
    const output = write ? 'pipe' : 'inherit';
    const colors = write && stdout.isTTY && !env.NO_COLOR ? { FORCE_COLOR: '1' } : {};
    const child = spawn(program, args, {
      cwd: root,
      stdio: ['ignore', output, output],
      env: { ...env, ...colors, ...more },
    });
    if (child.pid !== undefined && niceness !== 0) setPriority(child.pid, niceness);
    child.stdout?.on('data', (chunk) => write?.(chunk));
    child.stderr?.on('data', (chunk) => write?.(chunk, stderr));
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
}

/** Buffers output until its turn. @param {Promise<unknown>} turn @returns {Write} */
function createWrite(turn) {
  /** @type {[Buffer | string, NodeJS.WriteStream][] | undefined} */
  let kept = [];
  void turn.then(() => {
    for (const [chunk, stream] of kept ?? []) stream.write(chunk);
    kept = undefined;
  });
  return (chunk, stream = stdout) => {
    if (kept) kept.push([chunk, stream]);
    else stream.write(chunk);
  };
}

/**
 * Runs one runner and reads its report. A runner that fails without reporting a failed test, or that runs no test, counts as
 * one failure.
 * @param {Runner} runner
 * @param {string[]} files
 * @param {{ write?: Write | undefined, niceness: number }} options as of `run`
 * @returns {Promise<Counts>}
 */
async function runTests(runner, files, { write, niceness }) {
  const complain = (/** @type {string} */ text) => (write ? write(`${text}\n`, stderr) : console.error(text));
  const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-report-'));
  const report = join(directory, 'report.json');
  try {
    const missing = join(directory, 'missing');
    const more = { TEST_COUNTS: report, TEST_MISSING: missing };
    const code = await run(runner.program, runner.args(files), { more, write, niceness });
    if (!existsSync(report)) {
      complain(`The ${runner.name} tests wrote no report.`);
      return { passed: 0, failed: 1, skipped: 0, failures: [], seconds: {} };
    }
    /** @type {Counts} */
    const counts = JSON.parse(await readFile(report, 'utf8'));
    if (existsSync(missing)) {
      counts.skipped += 1;
      counts.missing = (await readFile(missing, 'utf8')).trim().split('\n');
    }
    if (counts.passed + counts.failed === 0) complain(`No ${runner.name} test was run.`);
    else if (code === 0 || counts.failed > 0) return counts;
    return { ...counts, failed: counts.failed + 1 };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** @param {(file: string) => boolean} isChosen @returns {Promise<Map<string, string[]>>} the chosen test files, by the name of their runner */
async function filesOf(isChosen) {
  const listed = await Promise.all(
    ['test', 'server/test'].map(async (folder) =>
      (await readdir(join(root, folder), { recursive: true }).catch(() => [])).map((name) =>
        `${folder}/${name}`.replaceAll('\\', '/'),
      ),
    ),
  );
  /** @type {Map<string, string[]>} */
  const files = new Map();
  for (const file of listed.flat().sort()) {
    if (!file.endsWith('.test.ts') || !isChosen(file)) continue;
    const { name = '' } = runners.find((runner) => runner.takes(file)) ?? {};
    files.set(name, [...(files.get(name) ?? []), file]);
  }
  return files;
}

/** Does not check types, which `npm run check` does: that takes half of the compiler's time. */
async function build() {
  return (await run('node', ['scripts/build.mjs', '--no-check'])) === 0;
}

/** Sets CHROME_PATH for the runners. @returns {Promise<string | undefined>} the reason if there is no browser */
async function provideBrowser() {
  try {
    env.CHROME_PATH = (await findBrowser()).executablePath;
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** @param {string} failure */
function shorten(failure) {
  const lines = stripVTControlCharacters(failure)
    .replaceAll(`${root}/`, '')
    .split('\n')
    .filter((line) => !/^ +at .*(node_modules|new Promise)/.test(line));
  return lines.length > 60 ? [...lines.slice(0, 60), '…'].join('\n') : lines.join('\n');
}

/** Tests that the quick run has on SQLite, and the long one on PostgreSQL. @param {string} file */
const hasTwoTurns = (file) => readFileSync(join(root, file), 'utf8').includes('enginesOfTurn');

/** @param {{ filters: string[], long: boolean, isBuilt: boolean }} options */
async function main({ filters, long, isBuilt }) {
  if (filters.length === 0) env.TEST_TURN = long ? 'long' : 'quick';
  const isFound = (/** @type {string} */ file) =>
    filters.some((filter) => file.includes(filter.replace(/^\.\//, '')));
  const files = await filesOf((file) =>
    filters.length > 0
      ? isFound(file) && (!long || isLong(file))
      : (isLong(file) === long || (long && hasTwoTurns(file))) && !isSoak(file),
  );
  if (files.size === 0) {
    console.error(`No test file has ${filters.join(' or ')} in its path.`);
    return 1;
  }
  const total = { passed: 0, failed: 0, skipped: 0 };
  /** @type {string[]} */
  const lines = [];
  /** @type {string[]} */
  const failures = [];
  /** @type {string[]} */
  const repeated = [];
  /** @type {string[]} */
  const missing = [];
  /** @type {[file: string, seconds: number][]} */
  const times = [];
  const add = (/** @type {string} */ name, /** @type {Counts} */ counts, note = '') => {
    total.passed += counts.passed;
    total.failed += counts.failed;
    total.skipped += counts.skipped;
    failures.push(...counts.failures);
    repeated.push(...(counts.repeated ?? []));
    times.push(...Object.entries(counts.seconds));
    missing.push(...(counts.missing ?? []));
    lines.push(`${counts.failed > 0 ? 'failed' : 'ok    '} ${name}${note}`);
  };

  if (!isBuilt && !(await build())) {
    console.error('The build failed, so no tests were run.');
    console.log('\n0 passed, 1 failed');
    return 1;
  }
  const chosen = runners.filter(({ name }) => files.has(name)).reverse();
  const noBrowser = chosen.some(({ needsBrowser }) => needsBrowser) ? await provideBrowser() : undefined;
  // In the quick run two runners use Chromium in sequence: those in Node give way to them, and keep the processors busy when they have
  // ended. In the long run those in Node end last, and Chromium takes precedence without it: as root it gives itself more.
  const nicenessOf = (/** @type {Runner} */ { needsBrowser }) =>
    needsBrowser || long || chosen.length === 1 ? 0 : 4;
  /** @param {Runner} runner @param {Write} [write] @returns {Promise<[counts: Counts, note: string]>} */
  const runOne = async (runner, write) => {
    if (runner.needsBrowser && noBrowser) {
      const none = { passed: 0, failed: Number(isCI), skipped: Number(!isCI), failures: [], seconds: {} };
      const reason = noBrowser.replaceAll(/\s*\n\s*/g, ' ');
      return [{ ...none, missing: [`The ${runner.name} tests are skipped: ${reason}`] }, ': not run'];
    }
    const heading = `\n${runner.name} tests`;
    if (write) write(`${heading}\n`);
    else console.log(heading);
    const started = Date.now();
    const counts = await runTests(runner, files.get(runner.name) ?? [], {
      write,
      niceness: nicenessOf(runner),
    });
    const seconds = Math.round((Date.now() - started) / 1000);
    const all = counts.passed + counts.failed + counts.skipped;
    return [counts, `: ${counts.passed} of ${all} in ${seconds} s`];
  };
  // The tests in Node mostly wait for databases, timers and processes, so those in Chromium run in parallel, one runner
  // after the other. The output of each is printed when those before it have ended.
  /** @type {Promise<unknown>} */
  let browserFree = Promise.resolve();
  /** @type {Promise<unknown>} */
  let turn = Promise.resolve();
  const results = chosen.map((runner, index) => {
    const write = index === 0 ? undefined : createWrite(turn);
    const result = (runner.needsBrowser ? browserFree : Promise.resolve()).then(() => runOne(runner, write));
    turn = Promise.allSettled([turn, result]);
    if (runner.needsBrowser) browserFree = result;
    return result;
  });
  const ended = await Promise.all(results);
  // Waits for all buffered output, so that the counts come last.
  await turn;
  for (const [index, [counts, note]] of ended.entries()) {
    add(chosen[index]?.name ?? '', counts, note);
  }
  // Repeated here, because they are hard to find in the output of thousands of tests.
  if (failures.length > 0) console.log(`\nFailed:\n\n${failures.map(shorten).join('\n\n')}`);
  if (repeated.length > 0)
    console.log(`\nPassed only on the second run:\n\n${repeated.map(shorten).join('\n\n')}`);
  times.sort(([, a], [, b]) => b - a);
  console.log(`\nThe slowest files, in seconds:\n`);
  for (const [file, seconds] of times.slice(0, slowest)) {
    console.log(`${seconds.toFixed(1).padStart(7)}  ${file}`);
  }
  lines.push(...[...new Set(missing)].map((text) => `skipped: ${text}`));
  const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : '';
  if (isCI && skipped) lines.push('failed: with CI=true, no test may be skipped');
  console.log(`\n${lines.join('\n')}\n${total.passed} passed, ${total.failed} failed${skipped}`);
  return total.failed > 0 || (isCI && total.skipped > 0) ? 1 : 0;
}

const given = argv.slice(2);
const options = given.filter((argument) => argument.startsWith('-'));
if (options.includes('--help')) console.log(help);
else if (options.some((option) => !['--long', '--built'].includes(option))) {
  console.error(help);
  process.exitCode = 1;
} else {
  const filters = given.filter((argument) => !options.includes(argument));
  process.exitCode = await main({
    filters,
    long: options.includes('--long'),
    isBuilt: options.includes('--built'),
  });
}
