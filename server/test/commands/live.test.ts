/** The commands of going live: deposit keys, exchange rates, and the check of the networks. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HDKey } from '@scure/bip32';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApp } from '../../src/app.js';
import { createAddressSource } from '../../src/core/addresses/address-sources.js';
import type { Chain } from '../../src/core/chains/chain.js';
import { connectNetworks, type Adapter } from '../../src/modules/networks/connect.js';
import { runCommand } from '../../src/command-line/run.js';
import { readConfig } from '../../src/core/config.js';
import { settings } from '../../src/modules.js';
import { openDatabase } from '../../src/database.js';
import { openExchanges, type Exchanges } from '../money/exchanges.js';
import { liveCoinsOf } from '../support/coins.js';
import { commandContext, runWith } from '../support/command-context.js';
import { enginesOfQuick, type TestDatabase } from '../support/engines.js';

const account = HDKey.fromMasterSeed(new Uint8Array(32).fill(9)).derive("m/44'/60'/0'");
const xpub = account.publicExtendedKey;
const source = createAddressSource('live', 'evm', xpub);
const first = [0, 1, 2].map((index) => source.derive(index));

describe.each(enginesOfQuick)('going live by commands on $name', (engine) => {
  let testDatabase: TestDatabase;
  let exchanges: Exchanges;
  let merchantId: string;
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-'));
    testDatabase = await engine.create();
    await (await openDatabase(testDatabase.url)).close();
    exchanges = await openExchanges();
    merchantId = String((await json('merchants', 'create', '--name', 'Shop'))['id']);
  });
  afterAll(async () => {
    await exchanges.close();
    await testDatabase.dispose();
    await rm(directory, { recursive: true, force: true });
  });

  const environment = () => ({
    DATABASE_URL: testDatabase.url,
    RATES: exchanges.setting('kraken', 'coinbase', 'er-api'),
  });
  const run = (...args: string[]) => runCommand(args, environment());
  async function json(...args: string[]): Promise<Record<string, unknown>> {
    const { stdout, stderr } = await run(...args, '--json');
    expect(stderr).not.toContain('failed');
    return JSON.parse(stdout) as Record<string, unknown>;
  }
  const setKey = (...args: string[]) =>
    run('deposit-keys', 'set', '--merchant', merchantId, '--family', 'evm', '--mode', 'live', ...args);
  const listed = async () => (await json('deposit-keys', 'list')) as unknown as Record<string, unknown>[];

  it('deposit-keys set shows the first addresses, and stores the key only when they were compared', async () => {
    const shown = await setKey('--xpub', xpub);
    expect(shown.exitCode).toBe(1);
    for (const address of first) expect(shown.stdout).toContain(address);
    expect(shown.stdout).toContain('Compare');
    expect(await listed()).toEqual([]);

    const stored = await setKey('--xpub', xpub, '--yes');
    expect([stored.exitCode, stored.stdout]).toEqual([0, expect.stringContaining('Stored.')]);
    expect(await listed()).toMatchObject([
      { merchantId, mode: 'live', family: 'evm', extendedPublicKey: xpub, used: 0, replacedAt: null },
    ]);
    const again = await setKey('--xpub', xpub, '--yes');
    expect([again.exitCode, again.stdout]).toEqual([0, expect.stringContaining('in use already')]);
  });

  it('another deposit key waits a day, is listed with the time when it takes effect, and can be withdrawn', async () => {
    const next = HDKey.fromMasterSeed(new Uint8Array(32).fill(78)).derive("m/44'/60'/0'").publicExtendedKey;
    const scope = ['--merchant', merchantId, '--family', 'evm', '--mode', 'live'];
    const set = await setKey('--xpub', next, '--yes');
    const [previous, pending] = await listed();
    const until = String(pending?.['effectiveAt']);
    expect(Date.parse(until) - Date.parse(String(pending?.['createdAt']))).toBe(24 * 3_600_000);
    expect(previous).toMatchObject({ extendedPublicKey: xpub, state: 'in_use', replacedAt: until });
    expect(pending).toMatchObject({ extendedPublicKey: next, state: 'pending', replacedAt: null });
    expect(set.stdout).toContain(`from ${until} on. Until then they get those of the key in use`);
    const { stdout: list } = await run('deposit-keys', 'list');
    expect(list).toContain(`in use until ${until}`);
    expect(list).toContain(`pending until ${until}`);
    const again = await setKey('--xpub', next, '--yes');
    expect(again.stdout).toContain(`takes effect at ${until} already. Nothing was changed`);

    expect((await run('deposit-keys', 'cancel', ...scope)).stdout).toContain('Withdrawn: xpub');
    expect(await listed()).toMatchObject([{ state: 'in_use', replacedAt: null }, { state: 'withdrawn' }]);
    expect(await run('deposit-keys', 'cancel', ...scope)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('No live deposit key for evm waits to take effect') as string,
    });
    await setKey('--xpub', next, '--yes');
    const owner = await setKey('--xpub', xpub, '--yes');
    expect(owner.stdout).toMatch(
      /The pending key xpub\S+ was withdrawn\. This key is in use already\. It stays in use\./,
    );
    const audit = (await run('audit', 'list', '--merchant', merchantId)).stdout;
    expect(audit.match(/deposit_key\.withdrawn/g)).toHaveLength(2);
  });

  it.each([
    ['an extended private key', account.privateExtendedKey, /private key/],
    ['no key', 'hunter2', /extended public key/],
  ])('deposit-keys set refuses %s, and does not repeat it', async (_, given, reason) => {
    const before = await listed();
    const refused = await setKey('--xpub', given, '--yes');
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toMatch(reason);
    expect(refused.stdout + refused.stderr).not.toContain(given);
    expect(await listed()).toEqual(before);
  });

  it('deposit-keys set reads the file that a wallet exported, and says what is wrong with a file', async () => {
    const wallet = HDKey.fromMasterSeed(new Uint8Array(32).fill(9));
    const segwit = wallet.derive("m/84'/0'/0'").publicExtendedKey;
    const file = join(directory, 'coldcard-export.json');
    const bip84 = { name: 'p2wpkh', deriv: "m/84'/0'/0'", xpub: segwit };
    await writeFile(file, JSON.stringify({ chain: 'BTC', xfp: '00000000', account: 0, bip84 }));
    const set = (given: string) => run('deposit-keys', 'set', ...owner, '--xpub', given);
    const owner = ['--merchant', merchantId, '--family', 'bitcoin', '--mode', 'live'];
    const shown = await set(`@${file}`);
    const asEntered = await set(`[00000000/84h/0h/0h]${segwit}`);
    expect(shown.stdout).toMatch(/\bbc1q[a-z0-9]{38}\b/);
    expect(shown).toEqual(asEntered);
    await writeFile(
      file,
      JSON.stringify({ chain: 'BTC', bip84: { ...bip84, xpub: wallet.privateExtendedKey } }),
    );
    const secret = await set(`@${file}`);
    expect([secret.exitCode, secret.stderr]).toEqual([1, expect.stringContaining('private key')]);
    expect(secret.stdout + secret.stderr).not.toContain(wallet.privateExtendedKey);
    expect((await set(`@${file}.none`)).stderr).toContain('--xpub: the file cannot be read: ');
    await writeFile(file, ' '.repeat(1_000_001));
    expect((await set(`@${file}`)).stderr).toContain('too large to be the export of a wallet');
  });

  it('the key of the other mode of a merchant is refused, and another account of the wallet is accepted', async () => {
    const before = await listed();
    const refused = await setKey('--mode', 'test', '--xpub', xpub, '--yes');
    expect([refused.exitCode, refused.stderr]).toEqual([
      1,
      expect.stringContaining(
        "is this merchant's key in live mode. Test coins and real ones would be in one wallet",
      ),
    ]);
    expect(refused.stdout + refused.stderr).not.toContain(xpub);
    expect(await listed()).toEqual(before);
    // It stays refused when another key has taken its place: its addresses are still watched.
    const fresh = HDKey.fromMasterSeed(new Uint8Array(32).fill(77)).derive("m/44'/60'/1'").publicExtendedKey;
    const made = String((await json('merchants', 'create', '--name', 'Two modes'))['id']);
    const set = (mode: string, key: string) =>
      run(
        ...['deposit-keys', 'set', '--merchant', made, '--family', 'evm'],
        ...['--mode', mode, '--xpub', key, '--now', '--yes'],
      );
    const other = HDKey.fromMasterSeed(new Uint8Array(32).fill(77)).derive("m/44'/60'/0'").publicExtendedKey;
    expect(await set('live', other)).toMatchObject({ exitCode: 0 });
    expect(await set('live', fresh)).toMatchObject({ exitCode: 0 });
    expect(await set('test', other)).toMatchObject({ exitCode: 1 });
    expect(await set('live', other)).toMatchObject({ exitCode: 0 });
  });

  it('deposit-keys set says so if the key is already that of another merchant', async () => {
    const other = String((await json('merchants', 'create', '--name', 'Other'))['id']);
    const args = [
      'deposit-keys',
      'set',
      '--merchant',
      other,
      '--family',
      'evm',
      '--mode',
      'live',
      '--xpub',
      xpub,
    ];
    expect((await run(...args)).stdout).toContain(`this is also the key of ${merchantId}`);
    expect(await json(...args)).toMatchObject({ sharedWith: [merchantId], isStored: false });
  });

  it('deposit-keys set refuses the key of a merchant that does not exist', async () => {
    const args = [
      'deposit-keys',
      'set',
      '--merchant',
      'nobody',
      '--family',
      'evm',
      '--mode',
      'live',
      '--xpub',
      xpub,
      '--yes',
    ];
    const refused = await run(...args);
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringMatching(/^No such merchant$/m)]);
    const unknownFamily = args.map((arg) => (arg === 'evm' ? 'doge' : arg));
    expect(await run(...unknownFamily)).toMatchObject({ exitCode: 2 });
  });

  it('addresses export has no rows before an address was given out', async () => {
    const args = ['addresses', 'export', '--merchant', merchantId, '--mode', 'live', '--format'];
    expect(await run(...args, 'json')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('"addresses": []') as string,
    });
    expect((await run(...args, 'csv')).stdout).toBe(
      'index,path,address,currency,network,payment,wallet,received,created,descriptor,range,salt\n',
    );
  });

  it('rates show lists the rates, and the answer of each source', async () => {
    const { exitCode, stdout } = await run('rates', 'show');
    expect(exitCode, stdout).toBe(0);
    expect(stdout).toMatch(/^kraken +answers$/m);
    expect(stdout).toMatch(/^BTC +9\d{4}\S* +kraken 92000 \(\S+Z\), coinbase 9\d+/m);
    exchanges.answer('kraken', (response) => response.writeHead(500).end());
    const failing = await run('rates', 'show');
    exchanges.quote('kraken');
    expect(failing.exitCode).toBe(1);
    expect(failing.stdout).toMatch(/^kraken +It answered HTTP 500$/m);
    expect(failing.stdout).toMatch(/^BTC +no rate/m);
  });

  it('rates show lists the example rates if there are no sources', async () => {
    const { exitCode, stdout } = await runCommand(['rates', 'show'], { DATABASE_URL: testDatabase.url });
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^BTC +92000$/m)]);
  });

  it('networks check says what to configure if there is no network', async () => {
    expect(await run('networks', 'check')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('NETWORKS_FILE is not set') as string,
    });
  });

  it('networks check reports on each network, with the addresses and the offers of the merchant', async () => {
    const file = join(directory, 'networks.json');
    const nodes = ['https://user:hunter2@node.example.com/'];
    await writeFile(file, JSON.stringify({ networks: { polygon: { nodes }, bitcoin: { nodes } } }));
    const adapter: Adapter = ({ network }) => ({
      chain: { mode: 'live', network: 'polygon' } as Chain,
      unreadable: () => new Set(),
      locate: () => Promise.resolve(undefined),
      cost: () => Promise.resolve(undefined),
      status: () => ({ nodes: [], requestsLeft: undefined, requestsSpare: undefined, assetProblems: [] }),
      async *check() {
        yield { subject: 'node 1', kind: 'ok', text: `Chain of ${network.code}` } as const;
        await Promise.resolve();
        if (network.code === 'bitcoin') throw new Error('The node does not answer');
      },
    });
    const config = readConfig({ ...environment(), NETWORKS_FILE: file }, settings);
    const database = await openDatabase(testDatabase.url);
    const progress: string[] = [];
    try {
      const app = await createApp({
        config,
        database,
        log: pino({ level: 'silent' }),
        publicUrl: 'http://localhost:8080',
        checkoutUrl: '',
        stopping: new AbortController().signal,
        overrides: {
          connect: (networks, deps) => connectNetworks(networks, { evm: adapter, bitcoin: adapter }, deps),
        },
      });
      const context = commandContext({ app, database }, progress);
      const output = await runWith(context, 'networks check --merchant', merchantId);
      expect(output.hasFailed).toBe(true);
      expect(output.json).toMatchObject({
        networks: [
          {
            network: 'polygon',
            findings: [{ kind: 'ok', text: 'Chain of polygon' }],
            addresses: first,
            offers: liveCoinsOf('polygon').map((currency) => {
              return { currency, amount: expect.any(Number) as number };
            }),
          },
          {
            network: 'bitcoin',
            findings: [
              { kind: 'ok' },
              { kind: 'problem', text: 'The node does not answer' },
              { kind: 'problem', text: expect.stringContaining('deposit-keys set') as string },
            ],
            addresses: [],
            offers: [],
          },
        ],
      });
      expect(output.text).toContain('There are 2 problems.');
      // Findings are printed once, with the result.
      expect(progress).toEqual(['polygon: asking its nodes', 'bitcoin: asking its nodes']);
      expect(JSON.stringify(output) + progress.join()).not.toContain('hunter2');
      const one = await runWith(context, 'networks check --network polygon --merchant', merchantId);
      expect(one.hasFailed).toBe(false);
      await expect(runWith(context, 'networks check --network doge')).rejects.toThrow(
        '"doge" is not in NETWORKS_FILE',
      );
    } finally {
      await database.close();
    }
  });
});
