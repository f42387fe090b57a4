/** `npm run build`: compiles and bundles everything. It prints two lines, and the whole output of a step that fails. */
import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { argv, env } from 'node:process';

const help = `Builds the widget, the server, the console and the demo shop.

  npm run build                   print how long it took, and the output of a step that fails
  npm run build -- --verbose      print the output of every step
  npm run build -- --no-check     do not check types
  npm run build -- --help         show this help`;

const root = resolve(import.meta.dirname, '..');
const known = ['--verbose', '--no-check'];
const isVerbose = argv.includes('--verbose');

// TypeScript 7 takes a third of the time, but 7.0.2 keeps declarations of an earlier build that depend on a changed file: it
// compiles all each time. The linter and other tools still need the API of TypeScript 6.
const compile = `node node_modules/typescript-native/bin/tsc -b --force ${argv.includes('--no-check') ? '--noCheck ' : ''}src server`;
const pages = [
  'vite build',
  'vite build --mode demo',
  'vite build --config claim/vite.config.ts',
  'vite build --config console/vite.config.ts',
  'vite build --config console/vite.config.ts --mode counter',
  'node scripts/compress.mjs',
  'node scripts/integrity.mjs',
];

/** @param {string} command */
async function run(command) {
  const [program = '', ...args] = command.split(' ');
  const child = spawn(program, args, {
    cwd: root,
    stdio: ['ignore', isVerbose ? 'inherit' : 'pipe', isVerbose ? 'inherit' : 'pipe'],
    env: { ...env, PATH: `${join(root, 'node_modules/.bin')}:${env.PATH ?? ''}` },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data) => (output += data));
  /** @type {number | null} */
  const code = await new Promise((done, fail) => child.once('close', done).once('error', fail));
  if (code !== 0) throw new Error(`${output}\nThe build failed at: ${command}`);
}

/** @param {string[]} commands */
async function runAll(commands) {
  for (const command of commands) await run(command);
}

async function build() {
  const started = Date.now();
  console.log('Building. The first time takes up to a minute …');
  // The compiler and the bundler need nothing of each other, and each uses one core.
  const results = await Promise.allSettled([run(compile), runAll(pages)]);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
  await run('node scripts/programs.mjs');
  await run('node scripts/pack.mjs');
  console.log(`Built in ${Math.ceil((Date.now() - started) / 1000)} s`);
}

const unknown = argv.slice(2).filter((argument) => !known.includes(argument));
if (unknown.length > 0) {
  console.log(help);
  process.exitCode = unknown.includes('--help') ? 0 : 1;
} else {
  await build().catch((error) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  });
}
