/** The bundles of the server and the command line: what is loaded, and when a bundle is used. */
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod/mini';
import { bootstrapKeys } from '../support/confirmed-work.js';
import { startProcess } from '../support/process.js';

const run = promisify(execFile);
const dist = fileURLToPath(new URL('../../dist', import.meta.url));

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-bundle-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const coverage = z.object({ result: z.array(z.object({ url: z.string() })) });

/** The files that a process has loaded, each of whose threads wrote its coverage into the directory. */
async function loaded(): Promise<string[]> {
  const reports = await readdir(directory);
  const texts = await Promise.all(reports.map((report) => readFile(join(directory, report), 'utf8')));
  const results = texts.flatMap((text) => coverage.parse(JSON.parse(text)).result);
  return results.flatMap(({ url }) => (url.startsWith('file://') ? [fileURLToPath(url)] : []));
}

it('a command loads few files, and none of the pages, of the HTTP server and of the other engine', async () => {
  const args = [join(dist, 'cli.js'), 'chains', 'status'];
  const env = {
    PATH: process.env['PATH'],
    NODE_V8_COVERAGE: directory,
    DATABASE_URL: 'sqlite:nowhere/none.db',
  };
  await expect(run(process.execPath, args, { env })).rejects.toThrow('There is no database at');
  const files = await loaded();
  expect(files).toContain(join(dist, 'bundle/commands.js'));
  expect(files.filter((file) => file.startsWith(join(dist, 'core/')))).toEqual([]);
  expect(files.filter((file) => /\/(express|kysely|zod|marked|pg|prom-client)\//.test(file))).toEqual([]);
  expect(files.length).toBeLessThan(120);
});

it('the server loads none of its modules one by one, and not the other engine', async () => {
  const database = await mkdtemp(join(tmpdir(), 'crypto-checkout-bundle-'));
  onTestFinished(() => rm(database, { recursive: true }));
  const server = await startProcess({
    DATABASE_URL: `sqlite:${join(database, 'data.db')}`,
    NODE_V8_COVERAGE: directory,
    ...bootstrapKeys,
  });
  expect(await server.stop()).toBe(0);
  const files = await loaded();
  expect(files).toContain(join(dist, 'bundle/server.js'));
  expect(files.filter((file) => /^(core|modules)\//.test(relative(dist, file)))).toEqual([]);
  expect(files.filter((file) => /\/(kysely|zod|pg)\//.test(file))).toEqual([]);
});

it.each([
  { when: 'newer than the compiled modules', bundle: 2, compiled: 1, runs: 'bundle' },
  { when: 'older than the compiled modules', bundle: 1, compiled: 2, runs: 'modules' },
  { when: 'without them, as in the package', bundle: 1, compiled: undefined, runs: 'bundle' },
  { when: 'not made', bundle: undefined, compiled: 1, runs: 'modules' },
])('if the bundle is $when, the $runs run', async ({ bundle, compiled, runs }) => {
  const place = (name: string) => join(directory, 'server/dist', name);
  const write = async (name: string, content: string, second = 0) => {
    await mkdir(join(place(name), '..'), { recursive: true });
    await writeFile(place(name), content);
    await utimes(place(name), second, second);
  };
  await write('../package.json', '{ "type": "module" }');
  await write('command-line/main.js', 'process.stdout.write("modules");');
  await write('run-server.js', 'process.stdout.write("modules of the server");');
  if (bundle !== undefined) {
    await write('bundle/commands.js', 'process.stdout.write("bundle");', bundle);
    await write('bundle/server.js', 'process.stdout.write("bundle of the server");', bundle);
  }
  if (compiled !== undefined) await write('.tsbuildinfo', '{}', compiled);
  for (const name of ['bundle.js', 'cli.js', 'main.js', 'node-version.js']) {
    await copyFile(join(dist, name), place(name));
  }
  const output = async (...args: string[]) => (await run(process.execPath, args)).stdout;
  expect(await output(place('cli.js'), 'keys', 'list')).toBe(runs);
  expect(await output(place('cli.js'), 'start')).toBe(`${runs} of the server`);
  expect(await output(place('main.js'))).toBe(`${runs} of the server`);
});
