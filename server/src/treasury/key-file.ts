/**
 * Encrypted key files, version 3, as geth, Foundry and most wallets write them.
 * https://ethereum.org/en/developers/docs/data-structures-and-encoding/web3-secret-storage/
 */
import {
  createCipheriv,
  createDecipheriv,
  pbkdf2,
  randomBytes,
  randomUUID,
  scrypt,
  timingSafeEqual,
  type ScryptOptions,
} from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { concatBytes } from '@noble/hashes/utils.js';
import { isPrivate } from 'tiny-secp256k1';
import * as z from 'zod/mini';
import { refuseExposedFile } from '../private-file.js';
import type { TreasuryDeps } from './context.js';
import { addressOfPrivateKey } from './transaction.js';

const hex = z.string().check(z.regex(/^([0-9a-fA-F]{2})+$/));
const cost = (most: number) => z.int().check(z.minimum(1), z.maximum(most));

const keystore = z.object({
  version: z.literal(3),
  crypto: z.object({
    cipher: z.literal('aes-128-ctr'),
    ciphertext: hex,
    cipherparams: z.object({ iv: hex }),
    mac: hex,
    kdf: z.enum(['scrypt', 'pbkdf2']),
    kdfparams: z.object({
      dklen: z.literal(32),
      salt: hex,
      n: z.optional(cost(2 ** 22)),
      r: z.optional(cost(64)),
      p: z.optional(cost(64)),
      c: z.optional(cost(2 ** 26)),
      prf: z.optional(z.literal('hmac-sha256')),
    }),
  }),
});

type GasKeyFiles = NonNullable<TreasuryDeps['gasKey']>;
type KdfParams = z.output<typeof keystore>['crypto']['kdfparams'];

/** What geth uses: a quarter of a gigabyte of memory for each guess of the password. */
const strong = { n: 2 ** 18, r: 8, p: 1 } as const;

/** The file cannot be used. The message holds nothing of it. */
export class KeystoreError extends Error {
  override readonly name = 'KeystoreError';
}

/**
 * @returns the private key, 32 bytes
 * @throws KeystoreError if the text is not a keystore, or the password is wrong
 */
export async function openKeystore(text: string, password: string): Promise<Uint8Array> {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw new KeystoreError('The file is not JSON');
  }
  // Some programs write `Crypto`.
  const lowered =
    content !== null && typeof content === 'object' && 'Crypto' in content
      ? { ...content, crypto: content.Crypto }
      : content;
  const parsed = keystore.safeParse(lowered);
  if (!parsed.success) {
    throw new KeystoreError(
      'The file is not an encrypted keystore of version 3 (scrypt or pbkdf2, aes-128-ctr)',
    );
  }
  const { ciphertext, cipherparams, mac, kdf, kdfparams } = parsed.data.crypto;
  const derived = await derive(kdf, kdfparams, password);
  const encrypted = Buffer.from(ciphertext, 'hex');
  const expected = keccak_256(concatBytes(derived.subarray(16, 32), encrypted));
  const given = Buffer.from(mac, 'hex');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new KeystoreError('The password does not open the keystore');
  }
  const cipher = createDecipheriv(
    'aes-128-ctr',
    derived.subarray(0, 16),
    Buffer.from(cipherparams.iv, 'hex'),
  );
  const key = Buffer.concat([cipher.update(encrypted), cipher.final()]);
  if (key.length !== 32 || !isPrivate(key)) throw new KeystoreError('The keystore holds no private key');
  return key;
}

/** @throws if a file cannot be read, FileExposed or KeystoreError. The message holds nothing of either */
export async function readGasKey({ file, passwordFile }: GasKeyFiles): Promise<Uint8Array> {
  for (const path of [file, passwordFile]) refuseExposedFile(path);
  const [text, password] = await Promise.all([readFile(file, 'utf8'), readFile(passwordFile, 'utf8')]);
  // Editors end a file with a new line.
  return openKeystore(text, password.replace(/\r?\n$/, ''));
}

/** Makes a new key. @returns its keystore as JSON, and its address */
export async function createKeystore(
  password: string,
  cost: { readonly n: number; readonly r: number; readonly p: number } = strong,
): Promise<{ keystore: string; address: string }> {
  let key = randomBytes(32);
  while (!isPrivate(key)) key = randomBytes(32);
  const salt = randomBytes(32).toString('hex');
  const iv = randomBytes(16);
  const kdfparams = { dklen: 32 as const, salt, ...cost };
  const derived = await derive('scrypt', kdfparams, password);
  const cipher = createCipheriv('aes-128-ctr', derived.subarray(0, 16), iv);
  const ciphertext = Buffer.concat([cipher.update(key), cipher.final()]);
  const address = addressOfPrivateKey(key);
  const file = {
    version: 3,
    id: randomUUID(),
    address: address.slice(2).toLowerCase(),
    crypto: {
      cipher: 'aes-128-ctr',
      cipherparams: { iv: iv.toString('hex') },
      ciphertext: ciphertext.toString('hex'),
      kdf: 'scrypt',
      kdfparams,
      mac: Buffer.from(keccak_256(concatBytes(derived.subarray(16, 32), ciphertext))).toString('hex'),
    },
  };
  return { keystore: JSON.stringify(file, null, 2), address };
}

async function derive(
  kdf: 'scrypt' | 'pbkdf2',
  { salt, dklen, n, r, p, c }: KdfParams,
  password: string,
): Promise<Buffer> {
  const bytes = Buffer.from(salt, 'hex');
  if (kdf === 'pbkdf2') {
    if (c === undefined) throw new KeystoreError('The keystore does not say how its password is hashed');
    return promisify(pbkdf2)(password, bytes, c, dklen, 'sha256');
  }
  if (n === undefined || r === undefined || p === undefined) {
    throw new KeystoreError('The keystore does not say how its password is hashed');
  }
  try {
    const scryptOf = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);
    return await scryptOf(password, bytes, dklen, { N: n, r, p, maxmem: 256 * r * (n + p) });
  } catch (error) {
    throw new KeystoreError('The keystore asks for a password hash that cannot be computed', {
      cause: error,
    });
  }
}
