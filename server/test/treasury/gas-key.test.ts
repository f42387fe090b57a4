/** The gas key: opened from standard keystores, and its transactions are what others sign too. */
import { createDecipheriv } from 'node:crypto';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scrypt } from '@noble/hashes/scrypt.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  keccak256,
  parseTransaction,
  recoverTransactionAddress,
  type Hex,
  type TransactionSerializedEIP1559,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { readConfig } from '../../src/core/config.js';
import { gasKeyOf, treasurySettings } from '../../src/modules/treasury/settings.js';
import { createKeystore, openKeystore } from '../../src/modules/treasury/key-file.js';
import { engines } from '../support/engines.js';
import { startServer } from '../support/server.js';
import { signTransaction } from '../../src/modules/treasury/transaction.js';

/** https://ethereum.org/en/developers/docs/data-structures-and-encoding/web3-secret-storage/ */
const published = {
  pbkdf2: {
    crypto: {
      cipher: 'aes-128-ctr',
      cipherparams: { iv: '6087dab2f9fdbbfaddc31a909735c1e6' },
      ciphertext: '5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46',
      kdf: 'pbkdf2',
      kdfparams: {
        c: 262144,
        dklen: 32,
        prf: 'hmac-sha256',
        salt: 'ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd',
      },
      mac: '517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2',
    },
    id: '3198bc9c-6672-5ab3-d995-4942343ae5b6',
    version: 3,
  },
};
const weak = { n: 2, r: 1, p: 1 };

describe('a keystore', () => {
  it('A keystore of the specification opens', async () => {
    const key = await openKeystore(JSON.stringify(published.pbkdf2), 'testpassword');
    expect(Buffer.from(key).toString('hex')).toBe(
      '7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d',
    );
  });

  it('A keystore opens with the password that it was made with, and holds the key of its address', async () => {
    const { keystore, address } = await createKeystore('correct horse battery', weak);
    const key = await openKeystore(keystore, 'correct horse battery');
    expect(privateKeyToAccount(`0x${Buffer.from(key).toString('hex')}`).address).toBe(address);
    expect(keystore).not.toContain(Buffer.from(key).toString('hex'));
  });

  it('A new keystore can be opened by another program', async () => {
    const { keystore, address } = await createKeystore('correct horse battery', { n: 1024, r: 8, p: 1 });
    const { crypto } = JSON.parse(keystore) as {
      crypto: { ciphertext: string; cipherparams: { iv: string }; kdfparams: { salt: string } };
    };
    const salt = Buffer.from(crypto.kdfparams.salt, 'hex');
    const derived = scrypt('correct horse battery', salt, { N: 1024, r: 8, p: 1, dkLen: 32 });
    const iv = Buffer.from(crypto.cipherparams.iv, 'hex');
    const cipher = createDecipheriv('aes-128-ctr', derived.subarray(0, 16), iv);
    expect(privateKeyToAccount(`0x${cipher.update(crypto.ciphertext, 'hex', 'hex')}`).address).toBe(address);
  });

  it.each([
    [
      'a wrong password',
      () => createKeystore('one', weak).then(({ keystore }) => keystore),
      /password does not open/,
    ],
    ['another kind of file', () => '{"version":1}', /not an encrypted keystore/],
    ['a bare private key', () => `0x${'1'.repeat(64)}`, /not JSON/],
    [
      'a changed file',
      () =>
        createKeystore('two', weak).then(({ keystore }) =>
          keystore.replace(/"ciphertext": "../, '"ciphertext": "00'),
        ),
      /password does not open|cannot/,
    ],
  ])('The gas key does not open with %s, and is not shown', async (_, given, reason) => {
    const text = await given();
    const work = openKeystore(text, 'two2');
    await expect(work).rejects.toThrow(reason);
    await expect(work).rejects.not.toThrow('1111');
  });
});

describe('a signed transaction', () => {
  it('A signed transaction is the one that viem signs, and comes from the key, for 20 random ones', async () => {
    for (let round = 0; round < 20; round += 1) {
      const key = generatePrivateKey();
      const account = privateKeyToAccount(key);
      const bytes = Buffer.from(key.slice(2), 'hex');
      const transaction = {
        chainId: round === 0 ? 1 : 42_161 + round,
        nonce: round * 131,
        maxPriorityFee: BigInt(round) * 10n ** 8n,
        maxFee: 10n ** 11n + BigInt(round),
        gasLimit: 500_000n,
        to: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
        data: `0x${'ab'.repeat(round * 7)}`,
      };
      const { raw, txHash } = signTransaction(transaction, bytes);
      const serialized = raw as TransactionSerializedEIP1559;
      expect(keccak256(raw as Hex)).toBe(txHash);
      expect(await recoverTransactionAddress({ serializedTransaction: serialized })).toBe(account.address);
      expect(raw).toBe(
        await account.signTransaction({
          type: 'eip1559',
          chainId: transaction.chainId,
          nonce: transaction.nonce,
          maxFeePerGas: transaction.maxFee,
          maxPriorityFeePerGas: transaction.maxPriorityFee,
          gas: transaction.gasLimit,
          to: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
          data: transaction.data as Hex,
        }),
      );
      expect(parseTransaction(serialized).chainId).toBe(transaction.chainId);
    }
  });
});

describe('the configuration of the gas key', () => {
  it('The configuration names the gas key and its password, or neither', () => {
    const read = (env: Record<string, string>) => gasKeyOf(readConfig(env, treasurySettings));
    expect(read({ GAS_KEY_FILE: 'key', GAS_KEY_PASSWORD_FILE: 'password' })).toEqual({
      file: 'key',
      passwordFile: 'password',
    });
    expect(read({})).toBeUndefined();
    for (const name of ['GAS_KEY_FILE', 'GAS_KEY_PASSWORD_FILE']) {
      expect(() => read({ [name]: 'file' })).toThrow('set both or none');
    }
  });

  it('The server does not start if everybody can read the gas key, its password or the networks, and shows the remedy', async () => {
    const [engine] = engines;
    if (!engine) throw new Error('There is no database engine');
    const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-modes-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const file = async (name: string, mode: number) => {
      const path = join(directory, name);
      await writeFile(path, '{}');
      await chmod(path, mode);
      return path;
    };
    const [open, closed] = [await file('open', 0o644), await file('closed', 0o640)];
    const start = (env: Record<string, string>) => startServer({ engine, env });
    const settings = [
      { GAS_KEY_FILE: open, GAS_KEY_PASSWORD_FILE: closed },
      { GAS_KEY_FILE: closed, GAS_KEY_PASSWORD_FILE: open },
      { NETWORKS_FILE: open },
    ];
    await chmod(directory, 0o755);
    for (const env of settings) {
      await expect(start(env)).rejects.toThrow(
        `every user of this machine can read or write ${open}. Run: chmod 600 '${open}'`,
      );
    }
    // Nobody else gets into this folder.
    await chmod(directory, 0o700);
    for (const env of settings) await expect(start(env)).rejects.not.toThrow('every user');
  });

  it('The server does not start if the gas key cannot be opened', async () => {
    const [engine] = engines;
    if (!engine) throw new Error('There is no database engine');
    const env = { GAS_KEY_FILE: '/does/not/exist', GAS_KEY_PASSWORD_FILE: '/does/not/exist' };
    await expect(startServer({ engine, env })).rejects.toThrow(
      /^GAS_KEY_FILE, GAS_KEY_PASSWORD_FILE: the key cannot be opened/,
    );
  });
});
