/** The sum of the commands of `.ci/run`, with an npm in its path that prints what the test says. */
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { env } from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';

const gate = fileURLToPath(new URL('../../.ci/run', import.meta.url));

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-gate-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const passing = {
  ci: 'true',
  test: 'echo "5 passed, 0 failed"',
  'run test:long -- --built': 'echo "7 passed, 0 failed"',
  'run test:plugins -- --install': 'sleep 0.1',
  'run test:plugins': 'sleep 0.2; echo "11 passed, 0 failed"',
  'run check -- --no-tests --built': 'echo "13 passed, 0 failed"',
};

/** @param commands by npm's arguments */
async function run(commands: Readonly<Record<string, string>>) {
  const cases = Object.entries({ ...passing, ...commands }).map(
    ([args, script]) => `  '${args}') ${script} ;;`,
  );
  const npm = join(directory, 'npm');
  await writeFile(npm, `#!/usr/bin/env bash\ncase "$*" in\n${cases.join('\n')}\n  *) exit 9 ;;\nesac\n`);
  await chmod(npm, 0o755);
  return new Promise<{ code: unknown; output: string; last: string | undefined }>((resolve) => {
    const path = `${directory}${delimiter}${env['PATH'] ?? ''}`;
    execFile('bash', [gate], { env: { ...env, PATH: path } }, (error, stdout) => {
      resolve({ code: error?.code ?? 0, output: stdout, last: stdout.trim().split('\n').at(-1) });
    });
  });
}

it('the gate passes if all of its commands do, and counts them all', async () => {
  const { code, output, last } = await run({});
  expect([code, last]).toEqual([0, '36 passed, 0 failed']);
  // The two that run at the same time are printed one after the other.
  expect(output).toMatch(/13 passed, 0 failed\n11 passed, 0 failed\n/);
});

it('the gate needs no packages in advance: the run of the plug-ins installs them', async () => {
  const { code, last } = await run({ 'run test:plugins -- --install': 'exit 1' });
  expect([code, last]).toEqual([0, '36 passed, 0 failed']);
});

it.each([
  ['ci', 'exit 1', '0 passed, 1 failed'],
  ['test', 'echo "4 passed, 1 failed"; exit 1', '35 passed, 1 failed'],
  [
    'run test:plugins',
    'printf "Failed:\\n\\na shop\\n\\n10 passed, 1 failed\\n"; exit 1',
    '35 passed, 1 failed',
  ],
  ['run test:plugins', 'echo "11 passed, 0 failed"; exit 1', '36 passed, 1 failed'],
  ['run test:plugins', 'echo "It cannot start" >&2; exit 1', '25 passed, 1 failed'],
  [
    'run check -- --no-tests --built',
    'echo "failed lint (9 s)"; echo "12 passed, 1 failed"; exit 1',
    '35 passed, 1 failed',
  ],
  ['run check -- --no-tests --built', 'exit 1', '23 passed, 1 failed'],
])('the gate fails if "npm %s" does: %s', async (command, script, expected) => {
  const { code, output, last } = await run({ [command]: script });
  expect([code, last]).toEqual([1, expected]);
  const [, repeated = ''] = output.split('Of the whole run:');
  if (script.includes('a shop')) expect(repeated).toContain('a shop');
  if (script.includes('lint')) expect(repeated).toContain('failed lint');
  if (script.includes('start')) expect(output).toContain('It cannot start');
});
