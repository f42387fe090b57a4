/** Bitcoin's and Litecoin's standard scripts: the address of a key in each, and of an output that a node shows. */
import { createHash } from 'node:crypto';
import { ripemd160 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bech32, bech32m, createBase58check } from '@scure/base';
import { xOnlyPointAddTweak } from 'tiny-secp256k1';
import type { AddressNet, Family } from '../chains/networks.js';

/** How a wallet locks an account's coins: BIP-44, BIP-49, BIP-84 and BIP-86. */
export const scriptTypes = ['p2pkh', 'p2sh-p2wpkh', 'p2wpkh', 'p2tr'] as const;
export type ScriptType = (typeof scriptTypes)[number];

export type BitcoinFamily = 'bitcoin' | 'litecoin';

export const isBitcoinLike = (family: Family | undefined): family is BitcoinFamily =>
  family === 'bitcoin' || family === 'litecoin';

/** What a family's addresses begin with on one of its networks. */
export interface AddressPrefixes {
  /** The human-readable part of segwit addresses. */
  readonly bech32: string;
  readonly pubKeyHash: number;
  readonly scriptHash: number;
  /** Litecoin once shared Bitcoin's prefix for script addresses, and wallets still show that form. */
  readonly formerScriptHash?: number;
}

const bitcoinTest: AddressPrefixes = { bech32: 'tb', pubKeyHash: 0x6f, scriptHash: 0xc4 };
const litecoinTest: AddressPrefixes = {
  bech32: 'tltc',
  pubKeyHash: 0x6f,
  scriptHash: 0x3a,
  formerScriptHash: 0xc4,
};

export const addressPrefixes: Readonly<Record<BitcoinFamily, Readonly<Record<AddressNet, AddressPrefixes>>>> =
  {
    bitcoin: {
      main: { bech32: 'bc', pubKeyHash: 0x00, scriptHash: 0x05 },
      test: bitcoinTest,
      regtest: { ...bitcoinTest, bech32: 'bcrt' },
    },
    litecoin: {
      main: { bech32: 'ltc', pubKeyHash: 0x30, scriptHash: 0x32, formerScriptHash: 0x05 },
      test: litecoinTest,
      regtest: { ...litecoinTest, bech32: 'rltc' },
    },
  };

const base58check = createBase58check(sha256);

/** RIPEMD-160 of SHA-256: the 20 bytes by which scripts name a key or another script. */
export const hash160 = (bytes: Uint8Array): Uint8Array => ripemd160(sha256(bytes));

/**
 * The address that only the holder of a key can spend from.
 * @param publicKey 33 bytes, compressed
 */
export function addressOfKey(publicKey: Uint8Array, script: ScriptType, prefixes: AddressPrefixes): string {
  switch (script) {
    case 'p2pkh':
      return base58(prefixes.pubKeyHash, hash160(publicKey));
    case 'p2sh-p2wpkh':
      return base58(prefixes.scriptHash, hash160(Uint8Array.of(0x00, 0x14, ...hash160(publicKey))));
    case 'p2wpkh':
      return segwit(prefixes, 0, hash160(publicKey));
    case 'p2tr':
      return segwit(prefixes, 1, taprootOutputKey(publicKey.subarray(1)));
    default:
      return script satisfies never;
  }
}

const standardScripts: readonly {
  readonly pattern: RegExp;
  readonly write: (hash: Uint8Array, prefixes: AddressPrefixes) => string;
}[] = [
  { pattern: /^0014([0-9a-f]{40})$/, write: (hash, prefixes) => segwit(prefixes, 0, hash) },
  { pattern: /^5120([0-9a-f]{64})$/, write: (key, prefixes) => segwit(prefixes, 1, key) },
  { pattern: /^a914([0-9a-f]{40})87$/, write: (hash, { scriptHash }) => base58(scriptHash, hash) },
  { pattern: /^76a914([0-9a-f]{40})88ac$/, write: (hash, { pubKeyHash }) => base58(pubKeyHash, hash) },
  { pattern: /^0020([0-9a-f]{64})$/, write: (hash, prefixes) => segwit(prefixes, 0, hash) },
];

/**
 * The address that an output pays to, whichever version of the node shows it; undefined for a script without an
 * address, such as OP_RETURN, a bare public key, or bare multisig.
 * @param script in lower-case hexadecimal digits
 */
export function addressOfScript(script: string, prefixes: AddressPrefixes): string | undefined {
  for (const { pattern, write } of standardScripts) {
    const hash = pattern.exec(script)?.[1];
    if (hash !== undefined) return write(Buffer.from(hash, 'hex'), prefixes);
  }
  return undefined;
}

function base58(version: number, hash: Uint8Array): string {
  return base58check.encode(Uint8Array.of(version, ...hash));
}

function segwit({ bech32: prefix }: AddressPrefixes, version: 0 | 1, program: Uint8Array): string {
  const encoding = version === 0 ? bech32 : bech32m;
  return encoding.encode(prefix, [version, ...encoding.toWords(program)]);
}

/** BIP-341: the output key commits to no script, which BIP-86 requires of single keys. */
function taprootOutputKey(internalKey: Uint8Array): Uint8Array {
  const tag = createHash('sha256').update('TapTweak').digest();
  const tweak = createHash('sha256').update(tag).update(tag).update(internalKey).digest();
  const tweaked = xOnlyPointAddTweak(internalKey, tweak);
  if (!tweaked) throw new RangeError('This key has no taproot address');
  return tweaked.xOnlyPubkey;
}
