/** Deposit addresses of every family: derived from extended public keys, and checked where somebody gives one. */
import { createHmac } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { ripemd160 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { createBase58check, hex } from '@scure/base';
import { HDKey } from '@scure/bip32';
import { Address, TEST_NETWORK } from '@scure/btc-signer';
import type { Network } from './assets.js';
import type { AddressSource } from './chain.js';

export type Family = Network['family'];

/**
 * Test mode's keys: the accounts of the published BIP-39 test mnemonic "abandon … about" (eleven times
 * "abandon"), without passphrase. Anybody can spend from them, and no private key is here.
 * Paths: m/84'/1'/0' and m/84'/1'/1' (test networks share coin type 1), m/44'/60'/0', m/44'/195'/0'.
 */
export const testExtendedPublicKeys: Readonly<Record<Family, string>> = {
  bitcoin:
    'vpub5Y6cjg78GGuNLsaPhmYsiw4gYX3HoQiRBiSwDaBXKUafCt9bNwWQiitDk5VZ5BVxYnQdwoTyXSs2JHRPAgjAvtbBrf8ZhDYe2jWAqvZVnsc',
  litecoin:
    'vpub5Y6cjg78GGuNQePrLecqwMCGL7x8YYGFKqN5LCciiMAuXWPjwsX9pvXhqKJdkzDeoE9xvFGM1j6cVLPqHEVDK5idBAye5LzWyqxjXcen358',
  evm: 'xpub6DCoCpSuQZB2jawqnGMEPS63ePKWkwWPH4TU45Q7LPXWuNd8TMtVxRrgjtEshuqpK3mdhaWHPFsBngh5GFZaM6si3yZdUsT8ddYM3PwnATt',
  tron: 'xpub6D1AabNHCupeiLM65ZR9UStMhJ1vCpyV4XbZdyhMZBiJXALQtmn9p42VTQckoHVn8WNqS7dqnJokZHAHcHGoaQgmv8D45oNUKx6DZMNZBCd',
};

const { Point } = secp256k1;
/** A public key: a point of secp256k1. */
type PublicKey = InstanceType<typeof Point>;

/** How a family writes and reads addresses. */
interface Format {
  /** The 20 bytes that stand for a public key. */
  hash(publicKey: PublicKey): Uint8Array;
  write(hash: Uint8Array): string;
  /** The canonical form. Throws, or answers undefined, where the text is no address of the family. */
  read(address: string): string | undefined;
}

const base58check = createBase58check(sha256);
const hash160 = (bytes: Uint8Array) => ripemd160(sha256(bytes));

/** The last 20 bytes of the Keccak-256 of the uncompressed point, without its 0x04. */
function accountHash(publicKey: PublicKey): Uint8Array {
  return keccak_256(publicKey.toBytes(false).subarray(1)).subarray(12);
}

/** Test network parameters; Litecoin's scripts were written with Bitcoin's 0xc4 before they got 0x3a. */
const bitcoinTest = TEST_NETWORK;
const litecoinTest = { ...TEST_NETWORK, bech32: 'tltc', scriptHash: 0x3a };
const litecoinTestBefore = { ...litecoinTest, scriptHash: 0xc4 };

function bitcoinFormat(parameters: typeof TEST_NETWORK, older: readonly (typeof TEST_NETWORK)[]): Format {
  const canonical = Address(parameters);
  return {
    hash: (publicKey) => hash160(publicKey.toBytes(true)),
    write: (hash) => canonical.encode({ type: 'wpkh', hash }),
    read(address) {
      for (const accepted of [parameters, ...older]) {
        const decoded = attempt(() => Address(accepted).decode(address));
        if (decoded) return canonical.encode(decoded);
      }
      return undefined;
    },
  };
}

const formats: Readonly<Record<Family, Format>> = {
  bitcoin: bitcoinFormat(bitcoinTest, []),
  litecoin: bitcoinFormat(litecoinTest, [litecoinTestBefore]),
  evm: {
    hash: accountHash,
    write: (hash) => checksummed(hex.encode(hash)),
    read(address) {
      const digits = /^0x([0-9a-fA-F]{40})$/.exec(address)?.[1];
      if (digits === undefined) return undefined;
      const canonical = checksummed(digits.toLowerCase());
      // EIP-55: one case throughout carries no checksum, a mixture must carry the right one.
      const isPlain = digits === digits.toLowerCase() || digits === digits.toUpperCase();
      return isPlain || address === canonical ? canonical : undefined;
    },
  },
  tron: {
    hash: accountHash,
    write: (hash) => base58check.encode(Uint8Array.of(0x41, ...hash)),
    read(address) {
      const bytes = base58check.decode(address);
      return bytes.length === 21 && bytes[0] === 0x41 ? address : undefined;
    },
  },
};

/** EIP-55: a letter is upper case where the hash of the lower-case address has a digit of 8 or more. */
function checksummed(lowerCaseDigits: string): string {
  const hash = hex.encode(keccak_256(new TextEncoder().encode(lowerCaseDigits)));
  const digits = [...lowerCaseDigits].map((digit, position) =>
    parseInt(hash.charAt(position), 16) >= 8 ? digit.toUpperCase() : digit,
  );
  return `0x${digits.join('')}`;
}

/**
 * The sources of deposit addresses.
 * @param keys extended public keys of accounts: addresses are their children `0/index`
 * @throws when a key is not an extended public key, above all when it is a private one
 */
export function createAddressSources(
  keys: Readonly<Record<Family, string>> = testExtendedPublicKeys,
): Record<Family, AddressSource> {
  const source = (family: Family): AddressSource => {
    const format = formats[family];
    const receiving = childKeys(readExtendedPublicKey(keys[family]).deriveChild(0));
    return {
      family,
      derive: (index) => format.write(format.hash(receiving(index))),
      parse: (address) => attempt(() => format.read(address)),
    };
  };
  return {
    bitcoin: source('bitcoin'),
    litecoin: source('litecoin'),
    evm: source('evm'),
    tron: source('tron'),
  };
}

/**
 * BIP-32's derivation of public children, for their keys alone: what an `HDKey` of each child holds beside
 * its key takes more than half of the time. Nothing here is secret, so the time may depend on the index.
 */
function childKeys({ publicKey, chainCode }: HDKey): (index: number) => PublicKey {
  if (!publicKey || !chainCode) throw new Error('The extended key is not complete');
  const parent = Point.fromBytes(publicKey);
  return (index) => {
    if (!Number.isInteger(index) || index < 0 || index >= 0x80000000) {
      throw new RangeError(`A public key has no child ${index}`);
    }
    const data = Buffer.alloc(37);
    data.set(publicKey);
    data.writeUInt32BE(index, 33);
    const left = createHmac('sha512', chainCode).update(data).digest().subarray(0, 32);
    // BIP-32: an index may have no key. No hash will ever hit that, and here it throws.
    const child = parent.add(Point.BASE.multiplyUnsafe(Point.Fn.fromBytes(left)));
    if (child.is0()) throw new RangeError(`A public key has no child ${index}`);
    return child;
  };
}

/** The address that stands for 20 bytes, whether or not anybody has its key. */
export function addressOfHash(family: Family, hash: Uint8Array): string {
  return formats[family].write(hash);
}

/** Version bytes of extended public keys: BIP-32, BIP-49 and BIP-84, on the main and the test network. */
const publicVersions = new Set([0x0488b21e, 0x049d7cb2, 0x04b24746, 0x043587cf, 0x044a5262, 0x045f1cf6]);

/** The key itself is in no message: whoever misconfigures a private one must not find it in a log. */
function readExtendedPublicKey(text: string): HDKey {
  const bytes = attempt(() => base58check.decode(text));
  if (bytes?.length !== 78) {
    throw new Error('Not an extended public key: it must start with xpub, ypub, zpub, tpub, upub or vpub');
  }
  // BIP-32: the key is the last 33 bytes, and begins with 0 where it is private, whatever the version says.
  if (bytes[45] === 0) {
    throw new Error(
      'This is an extended private key. Give the extended public key: the server must not be able to spend',
    );
  }
  const version = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
  if (!publicVersions.has(version)) {
    throw new Error('An extended public key must start with xpub, ypub, zpub, tpub, upub or vpub');
  }
  return HDKey.fromExtendedKey(text, { public: version, private: 0 });
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
