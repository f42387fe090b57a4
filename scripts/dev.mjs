/** `npm run dev`: serves the demo shop with Vite, which reloads it, and an API server that is rebuilt and restarted on changes. */
import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { env, execPath } from 'node:process';

const root = resolve(import.meta.dirname, '..');
const tsc = join(root, 'node_modules/typescript/bin/tsc');
const vite = join(root, 'node_modules/.bin/vite');
const pages = 'http://127.0.0.1:5173';

/** @param {string} program @param {string[]} args @param {NodeJS.ProcessEnv} [more] additional environment variables */
const start = (program, args, more) =>
  spawn(program, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], env: { ...env, ...more } });

// Builds once, so that the watchers have something to run. Type errors are printed but do not stop it.
await new Promise((resolve) => start(tsc, ['-b', 'src', 'server']).once('close', resolve));

const children = [
  start(tsc, ['-b', '--watch', '--preserveWatchOutput', 'src', 'server']),
  start(execPath, ['--watch', '--watch-preserve-output', 'server/dist/main.js'], { PUBLIC_URL: pages }),
  start(vite, [], { API_URL: `http://127.0.0.1:${env.PORT || 8080}` }),
];
console.log(`\nThe demo shop is at ${pages}/ (press Ctrl-C to stop)\n`);

/** @param {number} code */
function end(code) {
  process.exitCode ??= code;
  for (const child of children) child.kill('SIGTERM');
}
process.on('SIGINT', () => end(0));
process.on('SIGTERM', () => end(0));
for (const child of children) child.once('close', (code) => end(code ?? 0));
