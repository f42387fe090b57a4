/** Reads extended public keys (BIP-32, SLIP-132) and derives child keys. Refuses private keys. */
import { createHash, createHmac } from 'node:crypto';
import { sha256 } from '@noble/hashes/sha2.js';
import { createBase58check } from '@scure/base';
import { HDKey } from '@scure/bip32';
import { secretIn, secretWarning } from 'crypto-checkout/contract';
import { pointAdd, pointCompress, pointFromScalar } from 'tiny-secp256k1';
import type { Family, AddressNet } from '../chains/networks.js';
import { bitcoinFamilies, bitcoinRules, isBitcoinLike } from '../families/kinds.js';
import type { KeyVersion } from '../families/family.js';
import type { ScriptType } from './bitcoin-scripts.js';
import { descriptorChecksum } from './descriptor-checksum.js';

/** Derives the public key of a child: 33 bytes compressed, 65 uncompressed. */
type DerivePublicKey = (index: number, isCompressed: boolean) => Uint8Array;

interface KeyUse {
  readonly family: Family;
  readonly net: AddressNet;
  /** If the prefix leaves the script type open: `xpub` without a path means BIP-44's. */
  readonly script?: ScriptType | undefined;
}

/** The meaning of an extended public key's first four bytes. */
interface Version extends KeyVersion {
  /** Absent if all families use it. */
  readonly families?: readonly Family[];
}

/** BIP-32, the prefixes that SLIP-132 registers for Bitcoin, which wallets of all its kind use, and those that a family has to itself. */
const versions: ReadonlyMap<number, Version> = new Map<number, Version>([
  [0x0488b21e, { prefix: 'xpub', isTest: false }],
  [0x049d7cb2, { prefix: 'ypub', script: 'p2sh-p2wpkh', isTest: false, families: bitcoinFamilies }],
  [0x04b24746, { prefix: 'zpub', script: 'p2wpkh', isTest: false, families: bitcoinFamilies }],
  [0x043587cf, { prefix: 'tpub', isTest: true }],
  [0x044a5262, { prefix: 'upub', script: 'p2sh-p2wpkh', isTest: true, families: bitcoinFamilies }],
  [0x045f1cf6, { prefix: 'vpub', script: 'p2wpkh', isTest: true, families: bitcoinFamilies }],
  ...bitcoinFamilies.flatMap((family) =>
    bitcoinRules(family).keyVersions.map(([bytes, version]): [number, Version] => [
      bytes,
      { ...version, families: [family] },
    ]),
  ),
]);

/** Ypub, Zpub, Upub and Vpub: one of the keys of a wallet that several people sign for. */
const multisigVersions: ReadonlySet<number> = new Set([0x0295b43f, 0x02aa7ed3, 0x024289ef, 0x02575483]);

const descriptorOf: Readonly<Record<ScriptType, (keys: string) => string>> = {
  p2pkh: (keys) => `pkh(${keys})`,
  'p2sh-p2wpkh': (keys) => `sh(wpkh(${keys}))`,
  p2wpkh: (keys) => `wpkh(${keys})`,
  p2tr: (keys) => `tr(${keys})`,
};

const prefixes = [...versions.values()].map(({ prefix }) => prefix);
const prefixList = `${prefixes.slice(0, -1).join(', ')} or ${prefixes.at(-1) ?? ''}`;
const base58check = createBase58check(sha256);
const xpubVersion = 0x0488b21e;
const tpubVersion = 0x043587cf;
/** m / purpose' / coin type' / account'. Electrum's own accounts are at depth 0 and 1. */
const deepestAccount = 3;

/**
 * Reads an account-level extended public key, fit for the networks that it is read for.
 * @throws if the text is none, or not for these networks. Messages never contain the key: a private key that was
 *   configured by mistake must not end up in a log
 */
export function readAccountKey(text: string, use: KeyUse) {
  const secret = secretIn(text, 'key');
  if (secret) throw new Error(secretWarning(secret));
  const bytes = decode(text.trim());
  if (bytes?.length !== 78) {
    throw new Error(
      isLikeKey(text.trim())
        ? 'The checksum of this key is wrong: a character is mistyped, or some are missing. Copy it again'
        : `Not an extended public key: it must start with ${prefixList}, and be complete`,
    );
  }
  // BIP-32: the key is the last 33 bytes. A private key starts with 0, whatever the version bytes say.
  if (bytes[45] === 0) {
    throw new Error(secretWarning('extended_private_key'));
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const bits = view.getUint32(0);
  if (multisigVersions.has(bits)) {
    throw new Error('This extended key belongs to a multisig wallet. Use one of a wallet with a single key');
  }
  const version = versions.get(bits);
  if (!version) throw new Error(`An extended public key must start with ${prefixList}`);
  const script = scriptFor(version, use);
  if (view.getUint8(4) > deepestAccount) {
    throw new Error('This extended key is below account level. Use the account’s own extended public key');
  }
  // SLIP-132 changes only the four version bytes, and descriptors know only BIP-32's own.
  view.setUint32(0, version.isTest ? tpubVersion : xpubVersion);
  const plain = base58check.encode(bytes);
  const account = HDKey.fromExtendedKey(plain, { public: view.getUint32(0), private: 0 });
  const descriptor = descriptorOf[script](`${plain}/0/*`);
  return {
    /** Identifies the key and the script type, however they were written: zpub…, or xpub… with p2wpkh. */
    // The chain code and the public key: the bytes before them do not change the addresses.
    id: createHash('sha256').update(bytes.subarray(13)).update(script).digest('hex').slice(0, 32),
    script,
    account,
    /** The receiving keys: child `0/index`. */
    derive: childKeys(account.deriveChild(0)),
    /**
     * The descriptor that a Bitcoin or Litecoin wallet imports to watch the receiving addresses (BIP-380); undefined
     * for EVM and Tron.
     */
    descriptor: isBitcoinLike(use.family) ? `${descriptor}#${descriptorChecksum(descriptor)}` : undefined,
  };
}

/** True if a text starts like an extended public key, and has only characters that one may have. */
const isLikeKey = (text: string): boolean =>
  prefixes.some((prefix) => text.startsWith(prefix)) && /^[1-9A-HJ-NP-Za-km-z]+$/.test(text);

/** The depth of a key below its master key, and its last step; undefined if the text is no extended key. */
export function positionOf(text: string): { readonly depth: number; readonly index: number } | undefined {
  const bytes = decode(text);
  if (bytes?.length !== 78) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  return { depth: view.getUint8(4), index: view.getUint32(9) };
}

/** Checks that a key is meant for the networks that will use it, so that coins never go to a wallet that shows none. */
function scriptFor({ prefix, script, isTest, families }: Version, use: KeyUse): ScriptType {
  const { family, net } = use;
  if (families && !families.includes(family)) {
    throw new Error(`A ${prefix} is a key of ${families.join(' or ')}, not of ${family}`);
  }
  if (isTest && net === 'main') {
    throw new Error(`A ${prefix} is a key of a test network. Use the one of a wallet on the main network`);
  }
  if (!isTest && net !== 'main' && isBitcoinLike(family)) {
    throw new Error(`A ${prefix} is a key of the main network. Use the one of a wallet on a test network`);
  }
  if (use.script && !isBitcoinLike(family)) {
    throw new Error(`The script type is for ${bitcoinFamilies.join(' and ')}. Leave it out for ${family}`);
  }
  if (use.script && script && use.script !== script) {
    throw new Error(`A ${prefix} is a key of ${script}, not of ${use.script}. Leave the script type out`);
  }
  return script ?? use.script ?? 'p2pkh';
}

/**
 * Derives public child keys as BIP-32 does, with libsecp256k1 in WebAssembly: an `HDKey` for each child takes several
 * times as long. So does `pointAddScalar`, to a lesser degree: it uses no table of the generator's multiples. Uncompressed
 * points need no square root.
 */
function childKeys({ publicKey, chainCode }: HDKey): DerivePublicKey {
  if (!publicKey || !chainCode) throw new Error('The extended key is incomplete');
  const parent = pointCompress(publicKey, false);
  return (index, isCompressed) => {
    if (!Number.isInteger(index) || index < 0 || index >= 0x80000000) {
      throw new RangeError(`There is no child key with the index ${index}`);
    }
    const data = Buffer.alloc(37);
    data.set(publicKey);
    data.writeUInt32BE(index, 33);
    const left = createHmac('sha512', chainCode).update(data).digest().subarray(0, 32);
    // In BIP-32, an index can have no key, with a probability of 2^-127.
    const offset = pointFromScalar(left, false);
    const child = offset && pointAdd(parent, offset, isCompressed);
    if (!child) throw new RangeError(`There is no child key with the index ${index}`);
    return child;
  };
}

function decode(text: string): Uint8Array | undefined {
  try {
    return base58check.decode(text);
  } catch {
    return undefined;
  }
}
