/** How each family of networks writes addresses: parsed with their checksums, and made from public keys. */
import { ripemd160 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { createBase58check, hex } from '@scure/base';
import { Address, NETWORK, TEST_NETWORK } from '@scure/btc-signer';
import type { Mode } from '../../shared/scope.js';
import type { Family, Network } from '../networks.js';
import type { PublicKey } from './extended-keys.js';

/** How one family writes addresses in one mode. */
export interface AddressFormat {
  /** The 20 bytes that identify a public key. */
  hash(publicKey: PublicKey): Uint8Array;
  write(hash: Uint8Array): string;
  /** The canonical form. Throws, or returns undefined, where the text is no address of the family. */
  read(address: string): string | undefined;
}

type BitcoinParameters = typeof NETWORK;

const base58check = createBase58check(sha256);
const hash160 = (bytes: Uint8Array) => ripemd160(sha256(bytes));

/** The last 20 bytes of the Keccak-256 of the uncompressed point, without its 0x04. */
function accountHash(publicKey: PublicKey): Uint8Array {
  return keccak_256(publicKey.toBytes(false).subarray(1)).subarray(12);
}

const litecoinMain: BitcoinParameters = { bech32: 'ltc', pubKeyHash: 0x30, scriptHash: 0x32, wif: 0xb0 };
/** Litecoin once shared Bitcoin's prefix for script addresses, and wallets still show that form. */
const litecoinMainFormer = { ...litecoinMain, scriptHash: 0x05 };
const litecoinTest: BitcoinParameters = { ...TEST_NETWORK, bech32: 'tltc', scriptHash: 0x3a };
const litecoinTestFormer = { ...litecoinTest, scriptHash: 0xc4 };

/** @param former parameters whose addresses are read too, and written in the current form */
function bitcoinFormat(parameters: BitcoinParameters, former: readonly BitcoinParameters[]): AddressFormat {
  const canonical = Address(parameters);
  return {
    hash: (publicKey) => hash160(publicKey.toBytes(true)),
    write: (hash) => canonical.encode({ type: 'wpkh', hash }),
    read(address) {
      for (const accepted of [parameters, ...former]) {
        const decoded = attempt(() => Address(accepted).decode(address));
        if (decoded) return canonical.encode(decoded);
      }
      return undefined;
    },
  };
}

const evm: AddressFormat = {
  hash: accountHash,
  write: (hash) => checksummed(hex.encode(hash)),
  read(address) {
    const digits = /^0x([0-9a-fA-F]{40})$/.exec(address)?.[1];
    if (digits === undefined) return undefined;
    const canonical = checksummed(digits.toLowerCase());
    // EIP-55: digits of one case carry no checksum, digits of mixed case must carry the right one.
    const isPlain = digits === digits.toLowerCase() || digits === digits.toUpperCase();
    return isPlain || address === canonical ? canonical : undefined;
  },
};

const tron: AddressFormat = {
  hash: accountHash,
  write: (hash) => base58check.encode(Uint8Array.of(0x41, ...hash)),
  read(address) {
    const bytes = base58check.decode(address);
    return bytes.length === 21 && bytes[0] === 0x41 ? address : undefined;
  },
};

const formats: Readonly<Record<Mode, Readonly<Record<Family, AddressFormat>>>> = {
  test: {
    bitcoin: bitcoinFormat(TEST_NETWORK, []),
    litecoin: bitcoinFormat(litecoinTest, [litecoinTestFormer]),
    evm,
    tron,
  },
  live: {
    bitcoin: bitcoinFormat(NETWORK, []),
    litecoin: bitcoinFormat(litecoinMain, [litecoinMainFormer]),
    evm,
    tron,
  },
};

export function addressFormat(mode: Mode, family: Family): AddressFormat {
  return formats[mode][family];
}

/** An address of a network in its canonical form, or undefined where the text is none, wrong checksums included. */
export function parseAddress(
  { mode, family }: Pick<Network, 'mode' | 'family'>,
  text: string,
): string | undefined {
  return attempt(() => formats[mode][family].read(text));
}

/** Every form in which this text may be stored: as it is, and as each family that it is an address of writes it. */
export function canonicalForms(mode: Mode, text: string): string[] {
  const forms = Object.values(formats[mode]).flatMap((format) => attempt(() => format.read(text)) ?? []);
  return [...new Set([text, ...forms])];
}

/** EIP-55: a letter is upper case where the hash of the lower-case address has a digit of 8 or more. */
function checksummed(lowerCaseDigits: string): string {
  const hash = hex.encode(keccak_256(new TextEncoder().encode(lowerCaseDigits)));
  const digits = [...lowerCaseDigits].map((digit, position) =>
    parseInt(hash.charAt(position), 16) >= 8 ? digit.toUpperCase() : digit,
  );
  return `0x${digits.join('')}`;
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
