/**
 * Secrets of wallets in the wrong field: seed words, private keys, and files of keys, wherever an address, a key or a
 * hash is entered. They are refused, and appear in no reply, no log and no row.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { secretIn } from 'crypto-checkout/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../src/command-line/run.js';
import { sqlite as engine } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';

const words = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about';
const hex = '5eb00bbddcf069084889a8ab9155568165f5c453ccb85e70811aaed6f6da5fc1';
const secrets = {
  'twelve words': words,
  '24 words': `${words} ${words}`,
  'words in capitals, numbered, one a line': words
    .toUpperCase()
    .split(' ')
    .map((word, index) => `${index + 1}. ${word}`)
    .join('\n'),
  'words that lost their spaces': words.replaceAll(' ', ''),
  'Spanish words': 'ábaco abdomen abeja abierto abogado abono aborto abrazo abrir abuelo abuso acabar',
  'Chinese words': '的 一 是 在 不 了 有 和 人 这 中 大',
  'a raw private key': hex,
  'a raw private key with 0x': `0x${hex}`,
  'a compressed key in the import format': 'KwDiBf89QgGbjEhKnhXJuH7LrciVrZi3qYjgd9M7rFU73sVHnoWn',
  'an uncompressed key in the import format': '5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ',
  'a key of a test network': 'cMahea7zqjxrtgAbB7LSGbcQUr1uX1ojuat9jZodMN87JcbXMTcA',
  'a key with a password (BIP-38)': '6PRVWUbkzzsbcVac2qwfssoUJAN1Xhrg6bNk8J7Nzm5H7kxEbn2Nh2ZoGg',
  'an extended private key':
    'xprv9s21ZrQH143K3GJpoapnV8SFfukcVBSfeCficPSGfubmSFDxo1kuHnLisriDvSnRRuL2Qrg5ggqHKNVpxR86QEC8w35uxmGoggxtQTPvfUu',
  'a keystore': JSON.stringify({
    version: 3,
    id: 'x',
    crypto: { cipher: 'aes-128-ctr', ciphertext: hex, kdf: 'scrypt', mac: hex },
  }),
} as const;

describe('A text that looks like a secret', () => {
  it.each(Object.entries(secrets))('A secret is recognised: %s', (_, text) => {
    expect(secretIn(text, 'key')).toBeDefined();
    expect(secretIn(`  ${text}\n`, 'key')).toBeDefined();
  });

  it('A text of 64 digits is no secret where a hash is asked for', () => {
    expect([secretIn(hex, 'hash'), secretIn(`0x${hex}`, 'hash'), secretIn(words, 'hash')]).toEqual([
      undefined,
      undefined,
      'seed_words',
    ]);
  });

  it.each([
    'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu',
    'bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr',
    'BC1P5CYXNUXMEUWUVKWFEM96LQZSZD02N6XDCJRS20CAC6YQJJWUDPXQKEDRCR',
    'tltc1q56r4qnfqt6wxvj3s4m8x9q3hz5kq9ywz7z7q7a',
    '37VucYSaXLCAsxYyAPfbSi9eh4iEcbShgf',
    'LUWPbpM43E2p7ZSh8cyTBEkvpHmr3cB8Ez',
    'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8',
    '0x52908400098527886E0F7030069857D2E4169EE7',
    '01J9ZQ5W0A1B2C3D4E5F6G7H8J',
    'ab'.repeat(31),
    // Its middle looks like the beginning of a private key.
    'xpub6DKh1LsGhvADa2aJ8S2LRKNmxriUHRb99bVExD7pTHS5D2P7G2KMtpvs2saPfBJoawTq8SrAkSDXnmm5mwHbMATYJxuSdQvbALXudZdNzPq',
    'a note of a few words',
  ])('%s is no secret', (text) => {
    expect([secretIn(text, 'key'), secretIn(text, 'hash')]).toEqual([undefined, undefined]);
  });

  it('The search for secrets takes little time, however long and odd the text is', () => {
    const before = process.cpuUsage().user;
    for (const part of ['5', 'a ', '"kdf', 'xprv', '1.', '-', 'ä', '"ciphertext"   ']) {
      secretIn(part.repeat(100_000), 'key');
      secretIn(`${part.repeat(20_000)}!`, 'hash');
    }
    // With a pattern that takes the square of the length, it would be minutes.
    expect((process.cpuUsage().user - before) / 1000).toBeLessThan(5000);
  });
});

describe('A server', () => {
  let server: TestServer;
  let lines = '';
  beforeAll(async () => {
    const log = pino({ level: 'trace' }, { write: (line: string) => void (lines += line) });
    server = await startServer({ engine, log });
  });
  afterAll(() => server.stop());

  /** No usable part of a secret may leak: its first 20 characters are enough to find it. */
  const partOf = (secret: string) => secret.slice(0, 20);

  describe.each(Object.entries(secrets))('%s', (_, secret) => {
    const fields = [
      ['a saved address', '/v1/wallet-addresses', { address: secret, currency: 'USDT', network: 'tron' }],
      [
        'the destination of a transfer',
        '/v1/transfers',
        { amount: 1, currency: 'USDT', walletAddress: secret, walletNetwork: 'tron' },
      ],
      [
        'the destination of a quote',
        '/v1/transfers/fee',
        { amount: 1, currency: 'USDT', walletAddress: secret, walletNetwork: 'tron' },
      ],
      [
        'the address of a refund claim',
        '/v1/refund-claims/address',
        { token: 'x'.repeat(43), address: secret },
      ],
    ] as const;

    it.each(fields)('The API refuses a secret as %s, and never repeats it', async (_field, path, body) => {
      lines = '';
      const { status, body: reply } = await server.api('POST', path, { body });
      expect(status).toBe(400);
      expect(JSON.stringify(reply)).toContain('Treat it as revoked');
      expect(JSON.stringify(reply)).not.toContain(partOf(secret));
      expect(lines).not.toContain(JSON.stringify(partOf(secret)).slice(1, -1));
    });
  });

  // One of each form: a command opens the database.
  it.each(['twelve words', 'a raw private key', 'a keystore'] as const)(
    'Commands refuse %s, and print no part of it',
    async (name) => {
      const secret = secrets[name];
      const { merchantId } = server.bootstrapped;
      const run = (...args: string[]) => runCommand(args, { DATABASE_URL: server.databaseUrl });
      const scope = ['--merchant', merchantId, '--mode', 'live'];
      const file = join(process.env['TMPDIR'] ?? '/tmp', `secret-${process.pid}-${engine.name}.txt`);
      await writeFile(file, secret);
      const lineList = [
        ['deposit-keys', 'set', ...scope, '--family', 'bitcoin', '--yes', `--xpub=${secret}`],
        ['deposit-keys', 'set', ...scope, '--family', 'bitcoin', '--yes', '--xpub', `@${file}`],
        ['deposit-keys', 'set', ...scope, '--family', 'evm', '--yes', `--treasury=${secret}`],
        ['transfers', 'create', ...scope, '--amount', '1', '--currency', 'BTC', `--to=${secret}`],
        ...(secret === words ? [['merchants', 'list', ...words.split(' ')]] : []),
      ];
      for (const line of lineList) {
        const { exitCode, stdout, stderr } = await run(...line);
        expect([1, 2], line.slice(0, 2).join(' ')).toContain(exitCode);
        expect(stderr).toContain('Treat it as revoked');
        expect(stdout + stderr).not.toContain(partOf(secret));
      }
    },
  );

  it('The database contains no part of a secret', async () => {
    const { reader } = server.database;
    const rows = await Promise.all([
      reader.selectFrom('wallet_addresses').selectAll().execute(),
      reader.selectFrom('transfers').selectAll().execute(),
      reader.selectFrom('deposit_keys').selectAll().execute(),
      reader.selectFrom('idempotency').selectAll().execute(),
      reader.selectFrom('audit_log').selectAll().execute(),
    ]);
    const text = JSON.stringify(rows);
    for (const secret of Object.values(secrets)) expect(text).not.toContain(partOf(secret));
    expect(rows.slice(0, 3).flat()).toEqual([]);
  });
});
