/**
 * The Docker image: built only from the files that `.dockerignore` lets through, step by step as the Dockerfile says,
 * and started.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { env } from 'node:process';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildImage, type Image } from './image.js';

const execute = promisify(execFile);
const root = resolve(import.meta.dirname, '../../..');
let directory: string;
let image: Image;
let server: ChildProcess | undefined;
let url = '';

const run = (command: readonly string[]) => ({
  cwd: join(image.folder, image.workdir),
  env: {
    PATH: env['PATH'],
    ...image.env,
    HOST: '127.0.0.1',
    PORT: new URL(url || 'http://127.0.0.1:0').port || '0',
    DATABASE_URL: `sqlite:${join(image.folder, 'data/checkout.db')}`,
  },
  command,
});

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-image-'));
  image = await buildImage(directory);
  const { command, ...options } = run(image.command);
  const [program = '', ...args] = command;
  const started = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'inherit'] });
  server = started;
  for await (const line of createInterface({ input: started.stdout })) {
    const [, found] = /listens on (http\S+)/.exec(line) ?? [];
    if (found === undefined) continue;
    url = found;
    break;
  }
}, 600_000);
afterAll(async () => {
  server?.kill('SIGKILL');
  await rm(directory, { recursive: true, force: true });
});

it('the image is built, and its server answers with everything that it serves', async () => {
  expect(url).not.toBe('');
  // The networks are read first.
  await expect.poll(async () => (await fetch(`${url}/readyz`)).status, { timeout: 20_000 }).toBe(200);
  for (const path of [
    '/readyz',
    '/',
    '/docs',
    '/docs/operations',
    '/console',
    '/openapi.json',
    '/crypto-checkout.js',
    '/crypto-checkout.tgz',
    '/refund/claim.js',
  ]) {
    expect((await fetch(url + path)).status, path).toBe(200);
  }
});

it('the image has the packages of production and no others', async () => {
  const { stdout } = await execute('ls', [join(image.folder, image.workdir, 'node_modules')]);
  const names = stdout.split('\n');
  expect(names).toEqual(expect.arrayContaining(['express', 'lit', 'better-sqlite3', 'crypto-checkout']));
  expect(names.filter((name) => ['vite', 'typescript', 'vitest', 'eslint'].includes(name))).toEqual([]);
});

it('the image offers the whole package of the widget, as a clone does', async () => {
  const list = async (folder: string) => {
    const { stdout } = await execute('tar', ['-tzf', join(folder, 'server/dist/crypto-checkout.tgz')]);
    return stdout.split('\n');
  };
  const { files } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { files: string[] };
  const packed = await list(join(image.folder, image.workdir));
  for (const file of files.filter((name) => !name.startsWith('!'))) {
    expect(
      packed.some((name) => `${name}/`.startsWith(`package/${file}/`)),
      file,
    ).toBe(true);
  }
});

it('the image passes its own health check, and stops when it is asked to', async () => {
  const { command, ...options } = run(image.healthcheck);
  const [program = '', ...args] = command;
  await execute(program, args, options);
  if (!server) throw new Error('The server was not started');
  const exited = once(server, 'exit');
  server.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
});
