/** Where deposit addresses come from: one extended public key or treasury per merchant, mode and family of networks. */
import { HDKey } from '@scure/bip32';
import type { Mode, Scope } from '../shared/scope.js';
import type { AddressNet, Family } from '../chains/networks.js';
import { isBitcoinLike, type ScriptType } from './bitcoin-scripts.js';
import { readAccountKey } from './extended-keys.js';
import { addressFormat, defaultNet } from './formats.js';

/** Derives the deposit addresses of one extended public key, or of one treasury. */
export interface AddressSource {
  /**
   * Depends on the key and the script type alone, however they are written. Indexes are counted per id, so two merchants
   * who use the same key never share an address.
   */
  readonly id: string;
  /** What a Bitcoin or Litecoin wallet imports to watch all addresses of the source; undefined for EVM and Tron. */
  readonly descriptor: string | undefined;
  /** The address at a child index. */
  derive(index: number): string;
  /** Of a treasury's addresses alone: contracts that pay to it. */
  readonly forwarder?: Forwarder;
}

export interface Forwarder {
  /** In canonical form. */
  readonly treasury: string;
  /** With which the factory makes the address at an index: 0x and 64 digits. */
  salt(index: number): string;
}

export interface AddressSources {
  /** Undefined if the merchant has no key for the family: payments on its networks are not possible. */
  find(scope: Scope, family: Family, net?: AddressNet): AddressSource | undefined;
}

export interface AddressSourceOptions {
  /** By default that of the key's prefix. */
  readonly script?: ScriptType | undefined;
  /** By default main in live mode, and test in test mode. */
  readonly net?: AddressNet | undefined;
}

/** @throws if the text is not an extended public key of an account, or not for these networks */
export function createAddressSource(
  mode: Mode,
  family: Family,
  extendedPublicKey: string,
  { script: chosen, net = defaultNet(mode) }: AddressSourceOptions = {},
): AddressSource {
  const { id, script, derive, descriptor } = readAccountKey(extendedPublicKey, {
    family,
    net,
    script: chosen,
  });
  const format = addressFormat(mode, family, net);
  return { id, descriptor, derive: (index) => format.ofKey(derive(index, format.isCompressed), script) };
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

/** How extended keys of native segwit are written on test networks (SLIP-132): `vpub`. */
const segwitTestVersions = { public: 0x045f1cf6, private: 0x045f18bc };

/** The sources of the simulated networks, the same for every merchant: accounts of the server's own test seed. */
export function createTestAddressSources(seed: Uint8Array): AddressSources {
  const known = new Map<string, AddressSource>();
  return {
    find({ mode }, family, net = 'test') {
      if (mode !== 'test' || net === 'main') return undefined;
      const name = `${family}/${net}`;
      const source = known.get(name) ?? createTestSource(seed, family, net);
      known.set(name, source);
      return source;
    },
  };
}

/** Derives its account when an address is first needed: what can be paid with is asked for all families, and most are never used. */
function createTestSource(seed: Uint8Array, family: Family, net: AddressNet): AddressSource {
  let derived: AddressSource | undefined;
  function source() {
    if (derived) return derived;
    const root = HDKey.fromMasterSeed(seed, isBitcoinLike(family) ? segwitTestVersions : undefined);
    const { publicExtendedKey } = root.derive(testPaths[family]);
    derived = createAddressSource('test', family, publicExtendedKey, { net });
    return derived;
  }
  return {
    get id() {
      return source().id;
    },
    get descriptor() {
      return source().descriptor;
    },
    derive: (index) => source().derive(index),
  };
}
