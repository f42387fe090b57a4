/** The bundle of the command line: what a command loads, and when the bundle is used. */
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import * as z from 'zod/mini';

const run = promisify(execFile);
const dist = fileURLToPath(new URL('../../dist', import.meta.url));

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-bundle-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const coverage = z.object({ result: z.array(z.object({ url: z.string() })) });

it('a command loads few files, and none of the pages and of the HTTP server', async () => {
  await run(process.execPath, [join(dist, 'cli.js'), 'chains', 'status', '--help'], {
    env: { PATH: process.env['PATH'], NODE_V8_COVERAGE: directory },
  });
  const [report = ''] = await readdir(directory);
  const { result } = coverage.parse(JSON.parse(await readFile(join(directory, report), 'utf8')));
  const files = result.flatMap(({ url }) => (url.startsWith('file://') ? [fileURLToPath(url)] : []));
  expect(files).toContain(join(dist, 'bundle/commands.js'));
  expect(files.filter((file) => file.startsWith(join(dist, 'core/')))).toEqual([]);
  expect(files.filter((file) => /\/(express|kysely|zod|marked|prom-client)\//.test(file))).toEqual([]);
  expect(files.length).toBeLessThan(120);
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
  if (bundle !== undefined) await write('bundle/commands.js', 'process.stdout.write("bundle");', bundle);
  if (compiled !== undefined) await write('.tsbuildinfo', '{}', compiled);
  for (const name of ['cli.js', 'node-version.js']) await copyFile(join(dist, name), place(name));
  const { stdout } = await run(process.execPath, [place('cli.js'), 'keys', 'list']);
  expect(stdout).toBe(runs);
});
