/**
 * Encrypted key files, version 3, as geth, Foundry and most wallets write them.
 * https://ethereum.org/en/developers/docs/data-structures-and-encoding/web3-secret-storage/
 */
import { readFile } from 'node:fs/promises';
import { addr } from 'micro-eth-signer';
import * as z from 'zod/mini';
import { refuseExposedFile } from '../../core/private-file.js';
import type { GasKeyFiles } from './settings.js';

/** Loaded when a key is: it brings ciphers and curves that nothing else needs. */
const loadCrypto = () => import('micro-eth-signer/keystore.js');

const hex = z.string().check(z.regex(/^([0-9a-fA-F]{2})+$/));
const count = z.int().check(z.minimum(1));
const cipher = {
  cipher: z.literal('aes-128-ctr'),
  ciphertext: hex.check(z.length(64)),
  cipherparams: z.object({ iv: hex.check(z.length(32)) }),
  mac: hex,
};
const hash = { dklen: z.literal(32), salt: hex };

const keystore = z.object({
  version: z.literal(3),
  crypto: z.discriminatedUnion('kdf', [
    z.object({
      ...cipher,
      kdf: z.literal('scrypt'),
      kdfparams: z.object({ ...hash, n: count, r: count, p: count }),
    }),
    z.object({
      ...cipher,
      kdf: z.literal('pbkdf2'),
      kdfparams: z.object({ ...hash, c: count, prf: z._default(z.literal('hmac-sha256'), 'hmac-sha256') }),
    }),
  ]),
});

/** The parameters of geth: a quarter of a gigabyte of memory for each guess of the password. */
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
  const { privFromLegacyKeystore } = await loadCrypto();
  return privFromLegacyKeystore({ ...parsed.data, id: '' }, password).catch((error: unknown) => {
    throw new KeystoreError(
      error instanceof RangeError
        ? 'The keystore asks for a password hash that cannot be computed'
        : 'The password does not open the keystore',
    );
  });
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
  const { privToLegacyKeystore } = await loadCrypto();
  const { privateKey, address } = addr.random();
  return {
    keystore: JSON.stringify(await privToLegacyKeystore(privateKey, password, cost), null, 2),
    address,
  };
}
