/** Extended public keys (BIP-32): read, and derived from. A private one is refused. */
import { createHmac } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { createBase58check } from '@scure/base';
import { HDKey } from '@scure/bip32';

const { Point } = secp256k1;
/** A public key: a point of secp256k1. */
export type PublicKey = InstanceType<typeof Point>;

/** The version bytes of extended public keys: BIP-32, BIP-49 and BIP-84, on the main and the test network. */
const publicVersions = new Set([0x0488b21e, 0x049d7cb2, 0x04b24746, 0x043587cf, 0x044a5262, 0x045f1cf6]);
const base58check = createBase58check(sha256);

/**
 * The receiving keys of an account: child `0/index` of its extended public key.
 * @throws when the text is not an extended public key. No message holds the key itself: whoever configures a private
 *   key by mistake must not find it in a log
 */
export function receivingKeys(extendedPublicKey: string): (index: number) => PublicKey {
  return childKeys(readExtendedPublicKey(extendedPublicKey).deriveChild(0));
}

/**
 * Public child keys as BIP-32 derives them, without the other parts of an `HDKey`, which take more than half of the
 * time. Nothing here is secret, so the time may depend on the index.
 */
function childKeys({ publicKey, chainCode }: HDKey): (index: number) => PublicKey {
  if (!publicKey || !chainCode) throw new Error('The extended key is incomplete');
  const parent = Point.fromBytes(publicKey);
  return (index) => {
    if (!Number.isInteger(index) || index < 0 || index >= 0x80000000) {
      throw new RangeError(`A public key has no child ${index}`);
    }
    const data = Buffer.alloc(37);
    data.set(publicKey);
    data.writeUInt32BE(index, 33);
    const left = createHmac('sha512', chainCode).update(data).digest().subarray(0, 32);
    // BIP-32 allows an index without a key. The odds are 2^-127; such an index throws here.
    const child = parent.add(Point.BASE.multiplyUnsafe(Point.Fn.fromBytes(left)));
    if (child.is0()) throw new RangeError(`A public key has no child ${index}`);
    return child;
  };
}

function readExtendedPublicKey(text: string): HDKey {
  const bytes = decode(text);
  if (bytes?.length !== 78) {
    throw new Error('Not an extended public key: it must start with xpub, ypub, zpub, tpub, upub or vpub');
  }
  // BIP-32: the key is the last 33 bytes. A private one begins with 0, whatever the version bytes say.
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
