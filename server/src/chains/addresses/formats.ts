/** Address formats of the families of networks: parses addresses, checks their checksums, and encodes public keys. */
import { ripemd160 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { createBase58check, hex } from '@scure/base';
import { Address, NETWORK, TEST_NETWORK } from '@scure/btc-signer';
import type { Mode } from '../../shared/scope.js';
import type { Family, Network } from '../networks.js';

/** The address format of one family in one mode. */
export interface AddressFormat {
  /** Whether `hash` takes public keys compressed. */
  readonly isCompressed: boolean;
  /** The 20 bytes that identify a public key. */
  hash(publicKey: Uint8Array): Uint8Array;
  write(hash: Uint8Array): string;
  /** The canonical form of an address. Throws or returns undefined if the text is not an address of the family. */
  read(address: string): string | undefined;
}

type BitcoinParameters = typeof NETWORK;

const base58check = createBase58check(sha256);
const hash160 = (bytes: Uint8Array) => ripemd160(sha256(bytes));

/** The last 20 bytes of the Keccak-256 hash of the uncompressed point, without its leading 0x04. */
function accountHash(publicKey: Uint8Array): Uint8Array {
  return keccak_256(publicKey.subarray(1)).subarray(12);
}

const litecoinMain: BitcoinParameters = { bech32: 'ltc', pubKeyHash: 0x30, scriptHash: 0x32, wif: 0xb0 };
/** Litecoin once shared Bitcoin's prefix for script addresses, and wallets still show that form. */
const litecoinMainFormer = { ...litecoinMain, scriptHash: 0x05 };
const litecoinTest: BitcoinParameters = { ...TEST_NETWORK, bech32: 'tltc', scriptHash: 0x3a };
const litecoinTestFormer = { ...litecoinTest, scriptHash: 0xc4 };

/** @param former older parameters: their addresses are accepted too, and converted to the current form */
function bitcoinFormat(parameters: BitcoinParameters, former: readonly BitcoinParameters[]): AddressFormat {
  const canonical = Address(parameters);
  return {
    isCompressed: true,
    hash: hash160,
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
  isCompressed: false,
  hash: accountHash,
  write: (hash) => checksummed(hex.encode(hash)),
  read(address) {
    const digits = /^0x([0-9a-fA-F]{40})$/.exec(address)?.[1];
    if (digits === undefined) return undefined;
    const canonical = checksummed(digits.toLowerCase());
    // EIP-55: digits in one case have no checksum, digits in mixed case must have the right one.
    const isPlain = digits === digits.toLowerCase() || digits === digits.toUpperCase();
    return isPlain || address === canonical ? canonical : undefined;
  },
};

const tron: AddressFormat = {
  isCompressed: false,
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

/** The canonical form of an address; undefined if it is not valid on the network or its checksum is wrong. */
export function parseAddress(
  { mode, family }: Pick<Network, 'mode' | 'family'>,
  text: string,
): string | undefined {
  return attempt(() => formats[mode][family].read(text));
}

/** Every form in which an address can be stored: as given, and in the canonical form of each family that accepts it. */
export function canonicalForms(mode: Mode, text: string): string[] {
  const forms = Object.values(formats[mode]).flatMap((format) => attempt(() => format.read(text)) ?? []);
  return [...new Set([text, ...forms])];
}

/** EIP-55: a letter is upper case if the hash of the lower-case address has a digit of 8 or more in its place. */
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
