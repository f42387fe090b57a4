/** The commands of treasuries: what they refuse, and what they print before they store it. */
import { HDKey } from '@scure/bip32';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createForwarderSource } from '../../src/core/addresses/forwarders.js';
import { runCommand } from '../../src/command-line/run.js';
import { openDatabase } from '../../src/database.js';
import { readSetting } from '../../src/core/db/settings.js';
import type { TestDatabase, TestEngine } from '../support/engines.js';

const treasury = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const xpub = HDKey.fromMasterSeed(new Uint8Array(32).fill(9)).derive("m/44'/60'/0'").publicExtendedKey;

export const testCommands = (engine: TestEngine): unknown =>
  describe(`the commands of treasuries on ${engine.name}`, () => {
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

    it('`deposit-keys set` shows where the contracts pay and that they are not audited, before it stores a treasury', async () => {
      const shown = await set('--family', 'evm', '--treasury', treasury);
      expect(shown.exitCode).toBe(1);
      const database = await openDatabase(testDatabase.url);
      const secret = await readSetting(database.reader, 'forwarder-salt-secret');
      await database.close();
      const source = createForwarderSource({ merchantId, mode: 'live' }, treasury, { epoch: 0, secret });
      expect(secret).toMatch(/^[0-9a-f]{64}$/);
      expect(shown.stdout).toContain(source.derive(0));
      expect(shown.stdout).toContain(treasury);
      expect(shown.stdout).toContain('not audited');
      expect((await run('deposit-keys', 'set', '--help')).stdout).toContain('not audited');
      expect(await listed()).toEqual([]);
    });

    it('A merchant has either a key or a treasury for a family, never both', async () => {
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
    ])('`deposit-keys set` refuses wrong options: %s', async (_, args, exitCode, reason) => {
      const before = await listed();
      const refused = await set(...args, '--yes');
      expect([refused.exitCode, refused.stderr]).toEqual([exitCode, expect.stringMatching(reason)]);
      expect(await listed()).toEqual(before);
    });

    it('`deposit-keys set` warns if the treasury is also that of another merchant', async () => {
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
    ])('A command that lacks an EVM network exits with 2 and a reason: %s', async (_, args, reason) => {
      expect(await run(...args)).toMatchObject({
        exitCode: 2,
        stderr: expect.stringMatching(reason) as string,
      });
    });
  });
