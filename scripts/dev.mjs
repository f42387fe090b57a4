/** `npm run dev`: the demo shop with reload from Vite, and beside it the API server, built and started again at each change. */
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { env, execPath } from 'node:process';

const require = createRequire(import.meta.url);
const root = resolve(import.meta.dirname, '..');
const tsc = require.resolve('typescript/bin/tsc');
const vite = join(dirname(require.resolve('vite/package.json')), 'bin/vite.js');
const pages = 'http://127.0.0.1:5173';

/** @param {string[]} args of node @param {NodeJS.ProcessEnv} [more] environment */
const start = (args, more) =>
  spawn(execPath, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], env: { ...env, ...more } });

// The watchers need something to run: a type error is shown, and the files are written all the same.
await new Promise((resolve) => start([tsc, '-b', 'src', 'server']).once('close', resolve));

const children = [
  start([tsc, '-b', '--watch', '--preserveWatchOutput', 'src', 'server']),
  start(['--watch', '--watch-preserve-output', 'server/dist/main.js'], { PUBLIC_URL: pages }),
  start([vite]),
];
console.log(`\nThe demo shop is at ${pages}/ (Ctrl-C ends it)\n`);

/** @param {number} code */
function end(code) {
  process.exitCode ??= code;
  for (const child of children) child.kill('SIGTERM');
}
process.on('SIGINT', () => end(0));
process.on('SIGTERM', () => end(0));
for (const child of children) child.once('close', (code) => end(code ?? 0));
