/** Reads extended public keys (BIP-32) and derives child keys. Refuses private keys. */
import { createHmac } from 'node:crypto';
import { sha256 } from '@noble/hashes/sha2.js';
import { createBase58check } from '@scure/base';
import { HDKey } from '@scure/bip32';
import { pointAddScalar } from 'tiny-secp256k1';

/** The version bytes of extended public keys: BIP-32, BIP-49 and BIP-84, on mainnet and testnet. */
const publicVersions = new Set([0x0488b21e, 0x049d7cb2, 0x04b24746, 0x043587cf, 0x044a5262, 0x045f1cf6]);
const base58check = createBase58check(sha256);

/** Derives the public key of a child: 33 bytes compressed, 65 uncompressed. */
export type DerivePublicKey = (index: number, isCompressed: boolean) => Uint8Array;

/**
 * The receiving keys of an account: child `0/index` of its extended public key.
 * @throws if the text is not an extended public key. Messages never contain the key: a private key that was configured
 *   by mistake must not end up in a log
 */
export function receivingKeys(extendedPublicKey: string): DerivePublicKey {
  return childKeys(readExtendedPublicKey(extendedPublicKey).deriveChild(0));
}

/**
 * Derives public child keys as BIP-32 does, with libsecp256k1 in WebAssembly: an `HDKey` for each child takes several
 * times as long.
 */
function childKeys({ publicKey, chainCode }: HDKey): DerivePublicKey {
  if (!publicKey || !chainCode) throw new Error('The extended key is incomplete');
  return (index, isCompressed) => {
    if (!Number.isInteger(index) || index < 0 || index >= 0x80000000) {
      throw new RangeError(`There is no child key with the index ${index}`);
    }
    const data = Buffer.alloc(37);
    data.set(publicKey);
    data.writeUInt32BE(index, 33);
    const left = createHmac('sha512', chainCode).update(data).digest().subarray(0, 32);
    // In BIP-32, an index can have no key, with a probability of 2^-127.
    const child = pointAddScalar(publicKey, left, isCompressed);
    if (!child) throw new RangeError(`There is no child key with the index ${index}`);
    return child;
  };
}

function readExtendedPublicKey(text: string): HDKey {
  const bytes = decode(text);
  if (bytes?.length !== 78) {
    throw new Error('Not an extended public key: it must start with xpub, ypub, zpub, tpub, upub or vpub');
  }
  // BIP-32: the key is the last 33 bytes. A private key starts with 0, whatever the version bytes say.
  if (bytes[45] === 0) {
    throw new Error(
      'This is an extended private key. Use the extended public key: the server must not be able to spend',
    );
  }
  const version = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
  if (!publicVersions.has(version)) {
    throw new Error('An extended public key must start with xpub, ypub, zpub, tpub, upub or vpub');
  }
  return HDKey.fromExtendedKey(text, { public: version, private: 0 });
}

function decode(text: string): Uint8Array | undefined {
  try {
    return base58check.decode(text);
  } catch {
    return undefined;
  }
}
