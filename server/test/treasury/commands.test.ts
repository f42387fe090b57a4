/** The commands of treasuries: what is refused, what is said before it is stored, and keys that are made. */
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HDKey } from '@scure/bip32';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createForwarderSource } from '../../src/treasury/forwarders.js';
import { runCommand } from '../../src/commands/run.js';
import { openDatabase } from '../../src/db/open.js';
import { readGasKey } from '../../src/treasury/key-file.js';
import { addressOfPrivateKey } from '../../src/treasury/transaction.js';
import { engines, type TestDatabase } from '../support/engines.js';

const treasury = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const xpub = HDKey.fromMasterSeed(new Uint8Array(32).fill(9)).derive("m/44'/60'/0'").publicExtendedKey;

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

describe.each(engines)('the commands of treasuries on $name', (engine) => {
  let testDatabase: TestDatabase;
  let merchantId: string;

  beforeAll(async () => {
    testDatabase = await engine.create();
    await (await openDatabase(testDatabase.url)).close();
    merchantId = (await json<{ id: string }>('merchants', 'create', '--name', 'Shop')).id;
  });
  afterAll(() => testDatabase.dispose());

  const run = (...args: string[]) => runCommand(args, { DATABASE_URL: testDatabase.url });
  const json = async <T>(...args: string[]): Promise<T> =>
    JSON.parse((await run(...args, '--json')).stdout) as T;
  const set = (...args: string[]) =>
    run('deposit-keys', 'set', '--merchant', merchantId, '--mode', 'live', ...args);
  const listed = () =>
    json<{ treasury?: string; extendedPublicKey?: string; replacedAt: string | null }[]>(
      'deposit-keys',
      'list',
    );

  it('say that the contracts are not audited and where they pay, before a treasury is stored', async () => {
    const shown = await set('--family', 'evm', '--treasury', treasury);
    expect(shown.exitCode).toBe(1);
    expect(shown.stdout).toContain(createForwarderSource({ merchantId, mode: 'live' }, treasury).derive(0));
    expect(shown.stdout).toContain(treasury);
    expect(shown.stdout).toContain('not audited');
    expect((await run('deposit-keys', 'set', '--help')).stdout).toContain('not audited');
    expect(await listed()).toEqual([]);
  });

  it('keep a key or a treasury for each merchant and family, never both', async () => {
    expect((await set('--family', 'evm', '--treasury', treasury, '--yes')).stdout).toContain('Stored.');
    expect((await set('--family', 'evm', '--treasury', treasury, '--yes')).stdout).toContain(
      'in use already',
    );
    expect((await set('--family', 'evm', '--xpub', xpub, '--now', '--yes')).exitCode).toBe(0);
    expect((await set('--family', 'evm', '--treasury', treasury, '--now', '--yes')).exitCode).toBe(0);
    const keys = await listed();
    expect(keys).toHaveLength(3);
    const current = keys.filter(({ replacedAt }) => replacedAt === null);
    expect(current).toMatchObject([{ treasury }]);
    expect((await run('deposit-keys', 'list')).stdout).toContain(treasury);
    const audit = await run('audit', 'list', '--merchant', merchantId);
    expect(audit.stdout).toContain('deposit_key.set');
  });

  it.each([
    ['both', ['--family', 'evm', '--treasury', treasury, '--xpub', xpub], 2, /not both/],
    ['neither', ['--family', 'evm'], 2, /--xpub is required/],
    ['another family', ['--family', 'tron', '--treasury', treasury], 1, /Only EVM networks/],
    ['no checksum', ['--family', 'evm', '--treasury', treasury.toLowerCase()], 1, /no checksum/],
    ['the zero address', ['--family', 'evm', '--treasury', `0x${'0'.repeat(40)}`], 1, /Nobody can spend/],
  ])('refuse %s', async (_, args, exitCode, reason) => {
    const before = await listed();
    const refused = await set(...args, '--yes');
    expect([refused.exitCode, refused.stderr]).toEqual([exitCode, expect.stringMatching(reason)]);
    expect(await listed()).toEqual(before);
  });

  it('say so if the treasury is also that of another merchant', async () => {
    const other = await json<{ id: string }>('merchants', 'create', '--name', 'Other');
    const args = ['deposit-keys', 'set', '--merchant', other.id, '--family', 'evm', '--treasury', treasury];
    expect((await run(...args)).stdout).toContain(`this is also the key of ${merchantId}`);
  });

  it.each([
    ['plan', ['sweeps', 'plan'], /No EVM network is configured/],
    [
      'export',
      ['sweeps', 'export', '--network', 'polygon', '--format', 'safe'],
      /"polygon" is not an EVM network/,
    ],
    ['deploy', ['sweeps', 'deploy', '--network', 'litecoin'], /"litecoin" is not an EVM network/],
    [
      'payouts',
      ['transfers', 'export', '--network', 'polygon', '--format', 'links'],
      /"polygon" is not an EVM network/,
    ],
  ])('say what is missing without a network: %s', async (_, args, reason) => {
    expect(await run(...args)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(reason) as string,
    });
  });
});

describe('a gas key', () => {
  // It is often made before there is a server.
  const run = (...args: string[]) => runCommand(args, { DATABASE_URL: 'sqlite:/nowhere/at-all.db' });

  it('its password opens it, and no file is written over', async () => {
    const [file, passwordFile] = [join(directory, 'key.json'), join(directory, 'password')];
    await writeFile(passwordFile, 'correct horse battery staple\n');
    const args = ['sweeps', 'new-key', '--file', file, '--password-file', passwordFile];
    const { address } = JSON.parse((await run(...args, '--json')).stdout) as { address: string };
    expect(addressOfPrivateKey(await readGasKey({ file, passwordFile }))).toBe(address);
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

  it('gets a password of its own, and needs no server', async () => {
    const [file, passwordFile] = [join(directory, 'first-key.json'), join(directory, 'first-password')];
    const args = ['sweeps', 'new-key', '--file', file, '--password-file', passwordFile];
    const { stdout, stderr } = await run(...args);
    expect(stderr).toBe('');
    expect(stdout).toContain(addressOfPrivateKey(await readGasKey({ file, passwordFile })));
    expect((await stat(passwordFile)).mode & 0o777).toBe(0o600);
    // A keystore that is in the way keeps its password, and nothing is left behind.
    const unused = join(directory, 'unused');
    const again = ['sweeps', 'new-key', '--file', file, '--password-file', unused];
    expect((await run(...again)).exitCode).toBe(1);
    await expect(stat(unused)).rejects.toThrow('ENOENT');
  });
});
