/** Address formats of the families of networks: parses addresses, checks their checksums, and encodes public keys. */
import { secretIn, secretWarning } from 'crypto-checkout/contract';
import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bech32, bech32m, createBase58check, hex } from '@scure/base';
import { Address, NETWORK } from '@scure/btc-signer';
import { addr } from 'micro-eth-signer';
import type { Mode } from '../shared/scope.js';
import type { AddressNet, Family, Network } from '../chains/networks.js';
import { addressOfKey, addressPrefixes, type AddressPrefixes, type ScriptType } from './bitcoin-scripts.js';

/** The address format of one family on one of its networks. */
export interface AddressFormat {
  /** True if `ofKey` takes public keys compressed. */
  readonly isCompressed: boolean;
  /** The address of a public key. Only Bitcoin and Litecoin use the script type. */
  ofKey(publicKey: Uint8Array, script: ScriptType): string;
  /** The address of the 20 bytes that identify a public key. */
  write(hash: Uint8Array): string;
  /** The bytes of a valid address that say whose it is: the hash of a key, of a contract or of a script, or an output's key. */
  bytes(address: string): Uint8Array;
  /** The canonical form of an address. Throws or returns undefined if the text is not an address of the family. */
  read(address: string): string | undefined;
}

const base58check = createBase58check(sha256);

/** The last 20 bytes of the Keccak-256 hash of the uncompressed point, without its leading 0x04. */
function accountHash(publicKey: Uint8Array): Uint8Array {
  return keccak_256(publicKey.subarray(1)).subarray(12);
}

/** Reads Litecoin's old script addresses too, and converts them to the current form. */
function bitcoinFormat(prefixes: AddressPrefixes): AddressFormat {
  const { formerScriptHash, ...current } = prefixes;
  const canonical = Address({ ...NETWORK, ...current });
  const former =
    formerScriptHash === undefined
      ? undefined
      : Address({ ...NETWORK, ...current, scriptHash: formerScriptHash });
  return {
    isCompressed: true,
    ofKey: (publicKey, script) => addressOfKey(publicKey, script, prefixes),
    write: (hash) => canonical.encode({ type: 'wpkh', hash }),
    bytes(address) {
      const decoded = canonical.decode(address);
      return 'hash' in decoded ? decoded.hash : 'pubkey' in decoded ? decoded.pubkey : new Uint8Array();
    },
    read(address) {
      const decoded =
        attempt(() => canonical.decode(address)) ?? (former && attempt(() => former.decode(address)));
      return decoded && canonical.encode(decoded);
    },
  };
}

const evm: AddressFormat = {
  isCompressed: false,
  ofKey: (publicKey) => evm.write(accountHash(publicKey)),
  write: (hash) => addr.addChecksum(`0x${hex.encode(hash)}`),
  bytes: (address) => hex.decode(address.slice(2).toLowerCase()),
  // Not by the library's own check, which would hash a second time: scans read each address of a block.
  read(address) {
    const digits = /^0x([0-9a-fA-F]{40})$/.exec(address)?.[1];
    if (digits === undefined) return undefined;
    const canonical = addr.addChecksum(`0x${digits.toLowerCase()}`);
    // EIP-55: digits in one case have no checksum, digits in mixed case must have the right one.
    const isPlain = digits === digits.toLowerCase() || digits === digits.toUpperCase();
    return isPlain || address === canonical ? canonical : undefined;
  },
};

const tron: AddressFormat = {
  isCompressed: false,
  ofKey: (publicKey) => tron.write(accountHash(publicKey)),
  write: (hash) => base58check.encode(Uint8Array.of(0x41, ...hash)),
  bytes: (address) => base58check.decode(address).subarray(1),
  read(address) {
    const bytes = base58check.decode(address);
    return bytes.length === 21 && bytes[0] === 0x41 ? address : undefined;
  },
};

function formatsOf(net: AddressNet): Readonly<Record<Family, AddressFormat>> {
  return {
    bitcoin: bitcoinFormat(addressPrefixes.bitcoin[net]),
    litecoin: bitcoinFormat(addressPrefixes.litecoin[net]),
    evm,
    tron,
  };
}

const formats: Readonly<Record<AddressNet, Readonly<Record<Family, AddressFormat>>>> = {
  main: formatsOf('main'),
  test: formatsOf('test'),
  regtest: formatsOf('regtest'),
};

/** The form of a network's addresses, if its configuration does not set one. */
export function defaultNet(mode: Mode): AddressNet {
  return mode === 'live' ? 'main' : 'test';
}

export function addressFormat(mode: Mode, family: Family, net = defaultNet(mode)): AddressFormat {
  return formats[net][family];
}

/** The canonical form of an address; undefined if it is not valid on the network or its checksum is wrong. */
export function parseAddress(
  { mode, family, addressNet }: Pick<Network, 'mode' | 'family' | 'addressNet'>,
  text: string,
): string | undefined {
  return attempt(() => addressFormat(mode, family, addressNet).read(text));
}

/** An address as pages show it, however somebody has written it: without the capitals of EIP-55, or all in capitals. */
export function asShown(address: string): string {
  const isCapitals = segwit.test(address) && address === address.toUpperCase();
  return evm.read(address) ?? (isCapitals ? address.toLowerCase() : address);
}

const ownId = /^[0-9A-Z]{26}$/;
const base58 = /^[1-9A-HJ-NP-Za-km-z]{26,35}$/;
const segwit = /^[a-z]{2,5}1[02-9ac-hj-np-z]{14,74}$/i;

/** True if a text is written like an address, and one of its characters contradicts its checksum. */
function hasWrongChecksum(text: string): boolean {
  if (/^0x[0-9a-f]{40}$/i.test(text)) return evm.read(text) === undefined;
  // Our own ids are no addresses, although they can be written in the letters of one.
  if (ownId.test(text)) return false;
  if (base58.test(text)) return attempt(() => base58check.decode(text)) === undefined;
  return segwit.test(text) && !bech32.decodeUnsafe(text) && !bech32m.decodeUnsafe(text);
}

/** @returns a sentence about a text that is no address: the reason, if it is known, otherwise `otherwise` */
export function describeInvalid(text: string, otherwise: string): string {
  const secret = secretIn(text, 'key');
  if (secret) return secretWarning(secret);
  return hasWrongChecksum(text)
    ? 'The checksum of this address is wrong: a character is mistyped, or in the wrong case. Copy it again'
    : otherwise;
}

/** Every form in which an address can be stored: as given, and in the canonical form of each family that accepts it. */
export function canonicalForms(mode: Mode, text: string): string[] {
  const nets: readonly AddressNet[] = mode === 'live' ? ['main'] : ['test', 'regtest'];
  const forms = nets
    .flatMap((net) => Object.values(formats[net]))
    .flatMap((format) => attempt(() => format.read(text)) ?? []);
  return [...new Set([text, ...forms])];
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
