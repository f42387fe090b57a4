/** The key file that pays for gas, as the command makes it. */
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../src/command-line/run.js';
import { readGasKey } from '../../src/modules/treasury/key-file.js';
import { addr } from 'micro-eth-signer';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

describe('a gas key', () => {
  // It is often made before there is a server.
  const run = (...args: string[]) => runCommand(args, { DATABASE_URL: 'sqlite:/nowhere/at-all.db' });

  it('the password of a gas key opens it, and no file is written over', async () => {
    const [file, passwordFile] = [join(directory, 'key.json'), join(directory, 'password')];
    await writeFile(passwordFile, 'correct horse battery staple\n');
    const args = ['sweeps', 'new-key', '--file', file, '--password-file', passwordFile];
    const { address } = JSON.parse((await run(...args, '--json')).stdout) as { address: string };
    expect(addr.fromPrivateKey(await readGasKey({ file, passwordFile }))).toBe(address);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const before = await readFile(file, 'utf8');
    expect(await run(...args)).toMatchObject({
      exitCode: 1,
      stderr: `${file} exists already. Nothing was overwritten; choose a name for a new file\n`,
    });
    expect(await readFile(file, 'utf8')).toBe(before);
    await writeFile(passwordFile, 'short');
    expect((await run(...args)).stderr).toContain('at least 12 characters');
  });

  it('a gas key gets a password of its own, and needs no server', async () => {
    const [file, passwordFile] = [join(directory, 'first-key.json'), join(directory, 'first-password')];
    const args = ['sweeps', 'new-key', '--file', file, '--password-file', passwordFile];
    const { stdout, stderr } = await run(...args);
    expect(stderr).toBe('');
    expect(stdout).toContain(addr.fromPrivateKey(await readGasKey({ file, passwordFile })));
    expect((await stat(passwordFile)).mode & 0o777).toBe(0o600);
    // A keystore that is in the way keeps its password, and nothing is left behind.
    const unused = join(directory, 'unused');
    const again = ['sweeps', 'new-key', '--file', file, '--password-file', unused];
    expect((await run(...again)).exitCode).toBe(1);
    await expect(stat(unused)).rejects.toThrow('ENOENT');
  });
});
