/** Where deposit addresses come from: one extended public key per merchant, mode and family of networks. */
import { createHash } from 'node:crypto';
import { HDKey } from '@scure/bip32';
import type { Mode, Scope } from '../../shared/scope.js';
import type { Family } from '../networks.js';
import { receivingKeys } from './extended-keys.js';
import { addressFormat } from './formats.js';

/** Derives the deposit addresses of one extended public key. */
export interface AddressSource {
  /**
   * Depends on the key alone. Indexes are counted per id, so two merchants who use the same key never share an
   * address.
   */
  readonly id: string;
  /** The address at a child index. */
  derive(index: number): string;
}

export interface AddressSources {
  /** Undefined if the merchant has no key for the family: payments on its networks are not possible. */
  find(scope: Scope, family: Family): AddressSource | undefined;
}

/** @throws if the text is not an extended public key */
export function createAddressSource(mode: Mode, family: Family, extendedPublicKey: string): AddressSource {
  const keyAt = receivingKeys(extendedPublicKey);
  const format = addressFormat(mode, family);
  return {
    id: createHash('sha256').update(extendedPublicKey).digest('hex').slice(0, 32),
    derive: (index) => format.write(format.hash(keyAt(index, format.isCompressed))),
  };
}

/**
 * The accounts of test mode's seed. Test networks share coin type 1; EVM networks and Tron have no test addresses of
 * their own, so their paths are the usual ones.
 */
const testPaths: Readonly<Record<Family, string>> = {
  bitcoin: "m/84'/1'/0'",
  litecoin: "m/84'/1'/1'",
  evm: "m/44'/60'/0'",
  tron: "m/44'/195'/0'",
};

/** Test mode's sources, the same for every merchant: accounts of the server's own test seed. Live mode has none yet. */
export function createTestAddressSources(seed: Uint8Array): AddressSources {
  const root = HDKey.fromMasterSeed(seed);
  const source = (family: Family) =>
    createAddressSource('test', family, root.derive(testPaths[family]).publicExtendedKey);
  const sources: Readonly<Record<Family, AddressSource>> = {
    bitcoin: source('bitcoin'),
    litecoin: source('litecoin'),
    evm: source('evm'),
    tron: source('tron'),
  };
  return { find: ({ mode }, family) => (mode === 'test' ? sources[family] : undefined) };
}
