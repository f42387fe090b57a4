/** `npm run soak`: runs the tests with random timing or random input for many rounds. */
import { spawn } from 'node:child_process';
import { readFile, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { env } from 'node:process';
import { parseArgs } from 'node:util';

const help = `Builds the project and runs the tests with random timing or random input for many rounds: servers that are
killed, servers that share a database, power cuts, a PostgreSQL that dies or has no disk left, clocks that jump, random lives of payments and subscriptions, 2,000 histories of lying nodes, 20,000 malformed requests, and a day of traffic. Then what is too slow for the gate: the guide of CONTRIBUTING.md, the image, failovers of PostgreSQL, the server without each module, and pages of shops, languages and networks that the widget meets, in three browsers. What long tests show on PostgreSQL is shown on SQLite too, and what quick ones show on SQLite on PostgreSQL. npm test and npm run test:long run few rounds of most of them, and none of *.soak.test.ts.

  npm run soak                    100 crashes, and of everything else as much in proportion: more than an hour
  npm run soak -- --times=50      10 times as much as that (the default is 5)
  npm run soak -- PATH…           only test files whose path contains one of these
  npm run soak -- --seed=7 PATH   of random histories only the one with this seed, which a failure has printed; or 1-99
  npm run soak -- --minutes=60 traffic
                                  50 payments a second for an hour, with 10,000 open; less time has as many fewer open
  npm run soak -- --help          show this help

To run as many rounds with npm test, set the environment variable SOAK to the number of times.`;

const root = resolve(import.meta.dirname, '..');

/** @returns {Promise<string[]>} the test files that run a variable number of rounds or engines, and those that only a soak runs */
async function soakFiles() {
  const folders = ['server/test', 'test/e2e', 'test/field'].map(async (folder) =>
    (await readdir(join(root, folder), { recursive: true })).map(
      (name) => `${folder}/${name.replaceAll('\\', '/')}`,
    ),
  );
  const files = (await Promise.all(folders))
    .flat()
    .sort()
    .filter((name) => name.endsWith('.test.ts'));
  const texts = await Promise.all(files.map((file) => readFile(join(root, file), 'utf8')));
  return files.filter(
    (name, index) =>
      name.endsWith('.soak.test.ts') ||
      /support\/rounds\.js|\benginesOf(Soak|Quick)\b/.test(texts[index] ?? ''),
  );
}

/** @param {string} program @param {string[]} args @param {NodeJS.ProcessEnv} [more] @returns {Promise<number>} exit code */
function run(program, args, more) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: root, stdio: 'inherit', env: { ...env, ...more } });
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
}

/** Exits with 2 if an option is invalid. */
function readOptions() {
  try {
    const { values, positionals } = parseArgs({
      options: {
        times: { type: 'string', default: '5' },
        seed: { type: 'string', default: '' },
        minutes: { type: 'string', default: '' },
        help: { type: 'boolean', short: 'h' },
      },
      allowPositionals: true,
    });
    if (!/^[1-9]\d{0,3}$/.test(values.times)) throw new Error('--times must be an integer from 1 to 9999');
    if (!/^(\d+(-\d+)?)?$/.test(values.seed))
      throw new Error('--seed must be a number, or two with a dash between');
    if (!/^([1-9]\d{0,3})?$/.test(values.minutes))
      throw new Error('--minutes must be an integer from 1 to 9999');
    if (values.seed !== '' && positionals.length === 0) throw new Error('--seed needs the path of a test');
    return { ...values, filters: positionals };
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${help}`);
    process.exit(2);
  }
}

async function main() {
  const { times, seed, minutes, filters, help: isHelp } = readOptions();
  if (isHelp) {
    console.log(help);
    return 0;
  }
  const all = await soakFiles();
  const files =
    filters.length === 0 ? all : all.filter((file) => filters.some((text) => file.includes(text)));
  if (files.length === 0) {
    console.error(
      `No soak test's path contains ${filters.join(' or ')}. The soak tests are:\n  ${all.join('\n  ')}`,
    );
    return 1;
  }
  if ((await run('npm', ['run', 'build'])) !== 0) return 1;
  const args = ['run', '--reporter=verbose', ...files];
  return run(join(root, 'node_modules/.bin/vitest'), args, {
    SOAK: times,
    SOAK_SEED: seed,
    SOAK_MINUTES: minutes,
  });
}

process.exitCode = await main();
