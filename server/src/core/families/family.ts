/** The addresses of a family of networks. A family is a folder with these: `npm run lists` lists them. */
import type { AddressKind } from 'crypto-checkout/contract';
import { keccak_256 } from '@noble/hashes/sha3.js';
import type { AddressPrefixes, ScriptType } from '../addresses/bitcoin-scripts.js';
import type { AddressNet } from '../chains/networks.js';

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

/** A version of extended public keys that only one family has (SLIP-132). */
export interface KeyVersion {
  readonly prefix: string;
  /** Absent if keys of all scripts are written with it. */
  readonly script?: ScriptType;
  readonly isTest: boolean;
}

/** The rules of a family whose addresses stand for scripts, and whose balances are unspent outputs. */
export interface BitcoinRules {
  readonly prefixes: Readonly<Record<AddressNet, AddressPrefixes>>;
  /** Versions by the first four bytes of a key. */
  readonly keyVersions: readonly (readonly [bytes: number, version: KeyVersion])[];
  /** Its node's `DUST_RELAY_TX_FEE`, in satoshis per virtual byte. */
  readonly dustRate: bigint;
}

export type Kind = AddressKind;

export interface FamilyAddresses {
  readonly kind: Kind;
  /** Only of the kind `bitcoin`. */
  readonly bitcoin?: BitcoinRules;
  /** Registered by SLIP-44. */
  readonly coinType: number;
  /**
   * The account of test mode's seed. Test networks share coin type 1; EVM networks and Tron have no test addresses of their own, so
   * their paths are the usual ones.
   */
  readonly testAccount: string;
  readonly formats: Readonly<Record<AddressNet, AddressFormat>>;
}

/** For families that write addresses the same way on every network. */
export const onEveryNet = (format: AddressFormat) => ({ main: format, test: format, regtest: format });

/** The last 20 bytes of the Keccak-256 hash of the uncompressed point, without its leading 0x04. */
export function accountHash(publicKey: Uint8Array): Uint8Array {
  return keccak_256(publicKey.subarray(1)).subarray(12);
}
