/** Installing Debian packages waits for another apt-get, whose lock would otherwise cost a fresh machine hundreds of tests. */
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { aptInstall } from '../../scripts/system.mjs';

const lists = 'E: Could not get lock /var/lib/apt/lists/lock. It is held by process 7 (apt-get)';
const network = 'E: Failed to fetch http://deb.debian.org/';
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-apt-'));
  vi.spyOn(process, 'getuid').mockReturnValue(0);
  vi.stubEnv('PATH', `${directory}:${process.env['PATH']}`);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  await rm(directory, { recursive: true });
});

/** An apt-get that fails with these messages, one a call, and succeeds from then on. */
async function fail(...messages: string[]): Promise<void> {
  await writeFile(join(directory, 'failures'), messages.map((message) => `${message}\n`).join(''));
  const program = `#!/bin/sh
    cd '${directory}'
    for word; do case $word in update|install) echo "$word" >> calls;; esac; done
    [ -s failures ] || exit 0
    head -n 1 failures >&2; tail -n +2 failures > rest; mv rest failures; exit 100`;
  await writeFile(join(directory, 'apt-get'), program);
  await chmod(join(directory, 'apt-get'), 0o755);
}
const calls = async () => (await readFile(join(directory, 'calls'), 'utf8')).trim().split('\n');

it('An installation waits until the lock of the package lists is free', async () => {
  await fail(lists, lists, lists);
  await aptInstall(['litecoind'], 5);
  expect(await calls()).toEqual(['update', 'update', 'update', 'update', 'install']);
});

it('An installation tries once more if a step fails, and says why if that fails too', async () => {
  await fail(network);
  await aptInstall(['litecoind'], 5);
  expect(await calls()).toEqual(['update', 'update', 'install']);
  await fail(network, network);
  await expect(aptInstall(['litecoind'], 5)).rejects.toThrow(network);
});
