/** `npm run check`: runs every check of the repository. It continues after a failure, so that one run shows all of them. */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { argv, env } from 'node:process';

const help = `Checks the whole repository.

  npm run check                   run all checks and the tests
  npm run check -- --no-tests     skip the tests
  npm run check -- --built        use the last build
  npm run check -- --help         show this help`;

const root = resolve(import.meta.dirname, '..');
const manifestFolder = 'node_modules/.cache/manifest';
const withoutTests = argv.includes('--no-tests');
const isBuilt = argv.includes('--built');

/** Switches off telemetry and update checks. */
const quiet = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };

/** Name, command, and the command that fixes a failure. @typedef {[name: string, command: string, remedy?: string]} Step */

/**
 * Without the plug-ins, which `npm run test:plugins` lints: their packages may be missing, or just be installed. Two processes would end
 * sooner on idle processors, but take a third more of their time: both read the types of all.
 * @type {Step}
 */
const lint = ['lint', 'npm run lint --silent -- --ignore-pattern plugins/'];

/** @type {Step} */
const build = ['build', 'npm run build --silent -- --no-check'];

/** @type {Step[]} */
const others = [
  ['format', 'prettier --check . --log-level warn', 'npm run format'],
  ['words', 'node scripts/lint-words.mjs'],
  ['types', 'node node_modules/typescript-native/bin/tsc -b --force'],
  ['import rules', 'depcruise src server/src server/test test demo claim console bench scripts'],
  // Without hints on the configuration: it ignores build output of the plug-ins, which a fresh clone lacks.
  ['unused code', 'knip --no-progress --no-config-hints'],
  // The types are checked above.
  ...(isBuilt ? [] : [build]),
  ['package of the widget', 'publint --strict'],
  ['package of the server', 'publint --strict server'],
  ['types in the package', 'attw --pack . --profile esm-only --no-emoji'],
  ['size budgets', 'size-limit'],
  ['element manifest', `cem analyze --quiet --outdir ${manifestFolder}`, 'npm run manifest'],
  ['element reference', 'node scripts/element-docs.mjs --check', 'npm run manifest'],
  ['lists', 'node scripts/lists.mjs --check', 'npm run lists'],
  ['error entries', 'node scripts/error-docs.mjs --check', 'npm run errors'],
  ['code in the docs', 'node scripts/snippets.mjs --check', 'npm run snippets'],
  ['contracts', 'node scripts/contracts.mjs --check', 'npm run contracts'],
  ['API description', 'node scripts/openapi.mjs --check', 'npm run openapi'],
  ['lint of the API description', 'redocly lint openapi.json'],
];

/** @type {Step[]} */
const tests = [
  ['tests', 'npm test --silent'],
  ['long tests', 'npm run test:long --silent'],
];

/** Extra checks, after a step's command succeeded. @type {Record<string, () => Promise<boolean>>} */
const comparisons = {
  'element manifest': async () => {
    const read = (/** @type {string} */ folder) =>
      readFile(join(root, folder, 'custom-elements.json'), 'utf8');
    return (await read('.')) === (await read(manifestFolder));
  },
};

/**
 * @param {string} command
 * @param {boolean} isShown shows the output while the command runs; otherwise only if it fails
 * @returns {Promise<boolean>}
 */
function run(command, isShown) {
  const [program = '', ...args] = command.split(' ');
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: root,
      stdio: ['ignore', isShown ? 'inherit' : 'pipe', isShown ? 'inherit' : 'pipe'],
      env: { ...env, ...quiet, PATH: `${join(root, 'node_modules/.bin')}:${env.PATH ?? ''}` },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data) => (output += data));
    child.once('error', reject);
    child.once('close', (code) => {
      if (code !== 0) process.stdout.write(output);
      resolve(code === 0);
    });
  });
}

/** @param {Step} step */
async function check([name, command, remedy]) {
  const started = Date.now();
  const isOk =
    (await run(
      command,
      tests.some(([test]) => test === name),
    )) && (await (comparisons[name]?.() ?? true));
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  const advice = !isOk && remedy ? `. To fix it, run: ${remedy}` : '';
  console.log(`${isOk ? 'ok    ' : 'failed'} ${name} (${seconds} s)${advice}`);
  return isOk;
}

/** Runs the steps in sequence. @param {Step[]} steps */
async function checkAll(steps) {
  const results = [];
  for (const step of steps) results.push(await check(step));
  return results;
}

async function main() {
  // The lint takes as long as all the others together, and uses one core.
  const results = (await Promise.all([checkAll([lint]), checkAll(others)])).flat();
  if (!withoutTests) results.push(...(await checkAll(tests)));
  const passed = results.filter(Boolean).length;
  console.log(`\n${passed} passed, ${results.length - passed} failed`);
  return passed < results.length ? 1 : 0;
}

const unknown = argv.slice(2).filter((argument) => !['--no-tests', '--built'].includes(argument));
if (unknown.length > 0) {
  console.log(help);
  process.exitCode = unknown.includes('--help') ? 0 : 1;
} else process.exitCode = await main();
