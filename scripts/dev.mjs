/** `npm run dev`: the demo shop with reload from Vite, and beside it the API server, built and started again at each change. */
import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { env, execPath } from 'node:process';

const root = resolve(import.meta.dirname, '..');
const tsc = join(root, 'node_modules/.bin/tsc');
const vite = join(root, 'node_modules/.bin/vite');
const pages = 'http://127.0.0.1:5173';

/** @param {string} program @param {string[]} args @param {NodeJS.ProcessEnv} [more] environment */
const start = (program, args, more) =>
  spawn(program, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], env: { ...env, ...more } });

// The watchers need something to run: a type error is shown, and the files are written all the same.
await new Promise((resolve) => start(tsc, ['-b', 'src', 'server']).once('close', resolve));

const children = [
  start(tsc, ['-b', '--watch', '--preserveWatchOutput', 'src', 'server']),
  start(execPath, ['--watch', '--watch-preserve-output', 'server/dist/main.js'], { PUBLIC_URL: pages }),
  start(vite, [], { API_URL: `http://127.0.0.1:${env.PORT || 8080}` }),
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
