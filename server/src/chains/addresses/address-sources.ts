/** Where deposit addresses come from: one extended public key per merchant, mode and family of networks. */
import { createHash } from 'node:crypto';
import type { Mode, Scope } from '../../shared/scope.js';
import type { AddressNet, Family } from '../networks.js';
import { receivingKeys } from './extended-keys.js';
import { addressFormat } from './formats.js';

/** Derives the deposit addresses of one extended public key. */
export interface AddressSource {
  /**
   * Depends on the key alone. Indexes are counted per id, so two merchants who use the same key never share an
   * address.
   */
  readonly id: string;
  /** What a Bitcoin or Litecoin wallet imports to watch all addresses of the source; undefined for EVM and Tron. */
  readonly descriptor: string | undefined;
  /** The address at a child index. */
  derive(index: number): string;
}

export interface AddressSources {
  /** Undefined if the merchant has no key for the family: payments on its networks are not possible. */
  find(scope: Scope, family: Family, net?: AddressNet): AddressSource | undefined;
}

/**
 * Test mode's keys: accounts of the published BIP-39 test mnemonic "abandon … about" (eleven times "abandon"), without
 * a passphrase. Anybody can spend from them. No private key is stored here.
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

export interface AddressSourceOptions {
  /** By default that of the key's prefix. */
  readonly script?: 'p2pkh' | 'p2sh-p2wpkh' | 'p2wpkh' | 'p2tr' | undefined;
  /** By default main in live mode, and test in test mode. */
  readonly net?: AddressNet | undefined;
}

/** @throws if the text is not an extended public key */
export function createAddressSource(
  mode: Mode,
  family: Family,
  extendedPublicKey: string,
  _options: AddressSourceOptions = {},
): AddressSource {
  const keyAt = receivingKeys(extendedPublicKey);
  const format = addressFormat(mode, family);
  return {
    id: createHash('sha256').update(extendedPublicKey).digest('hex').slice(0, 32),
    descriptor: undefined,
    derive: (index) => format.write(format.hash(keyAt(index, format.isCompressed))),
  };
}

/** Test mode's sources, the same for every merchant. Live mode has none yet. */
export function createTestAddressSources(): AddressSources {
  const source = (family: Family) => createAddressSource('test', family, testExtendedPublicKeys[family]);
  const sources: Readonly<Record<Family, AddressSource>> = {
    bitcoin: source('bitcoin'),
    litecoin: source('litecoin'),
    evm: source('evm'),
    tron: source('tron'),
  };
  return { find: ({ mode }, family) => (mode === 'test' ? sources[family] : undefined) };
}
