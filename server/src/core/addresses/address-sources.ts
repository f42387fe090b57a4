/** The sources of deposit addresses: one extended public key or treasury per merchant, mode and family of networks. */
import { HDKey } from '@scure/bip32';
import type { Mode, Scope } from '../shared/scope.js';
import type { AddressNet, Family } from '../chains/networks.js';
import { isBitcoinLike } from '../families/kinds.js';
import type { ScriptType } from './bitcoin-scripts.js';
import { readAccountKey } from './extended-keys.js';
import { addressFamilies } from '../families/addresses.js';
import { addressFormat, defaultNet } from './formats.js';

/** Derives the deposit addresses of one extended public key, or of one treasury. */
export interface AddressSource {
  /**
   * Depends only on the key and the script type, in any notation. Indexes are counted per id, so two merchants who
   * use the same key never share an address.
   */
  readonly id: string;
  /**
   * The descriptor that a Bitcoin or Litecoin wallet imports to watch all addresses of the source; undefined for EVM
   * and Tron.
   */
  readonly descriptor: string | undefined;
  /** The address at a child index. */
  derive(index: number): string;
  /** The contracts that pay to a treasury; only for its addresses. */
  readonly forwarder?: Forwarder;
}

export interface Forwarder {
  /** In canonical form. */
  readonly treasury: string;
  /** The factory makes the address at an index from this: 0x and 64 digits. */
  salt(index: number): string;
}

/** The contents of the salts of a treasury's forwarders other than their index. */
export interface SaltParts {
  readonly epoch: number;
  readonly secret?: string | undefined;
}

export interface AddressSources {
  /** Undefined if the merchant has no key for the family: payments on its networks are not possible. */
  find(scope: Scope, family: Family, net?: AddressNet): AddressSource | undefined;
}

/**
 * @param given the script type, by default that of the key's prefix; the net, by default main in live mode and test in test mode
 * @throws if the text is not an extended public key of an account, or not for these networks
 */
export function createAddressSource(
  mode: Mode,
  family: Family,
  extendedPublicKey: string,
  given: { readonly script?: ScriptType | undefined; readonly net?: AddressNet | undefined } = {},
): AddressSource {
  const net = given.net ?? defaultNet(mode);
  const { id, script, derive, descriptor } = readAccountKey(extendedPublicKey, { ...given, family, net });
  const format = addressFormat(mode, family, net);
  return { id, descriptor, derive: (index) => format.ofKey(derive(index, format.isCompressed), script) };
}

/** The prefixes of extended keys on test networks (BIP-32): `tpub`. */
const testVersions = { public: 0x043587cf, private: 0x04358394 };

/** The sources of the simulated networks, the same for every merchant: accounts of the server's own test seed. */
export function createTestAddressSources(seed: Uint8Array): AddressSources {
  // Not before an address is needed: it takes a tenth of the start of a command.
  let root: HDKey | undefined;
  const known = new Map<string, AddressSource>();
  return {
    find({ mode }, family, net = 'test') {
      if (mode !== 'test' || net === 'main') return undefined;
      const name = `${family}/${net}`;
      const found = known.get(name);
      if (found) return found;
      root ??= HDKey.fromMasterSeed(seed, testVersions);
      const { publicExtendedKey } = root.derive(addressFamilies[family].testAccount);
      const script = isBitcoinLike(family) ? 'p2wpkh' : undefined;
      const source = createAddressSource('test', family, publicExtendedKey, { net, script });
      known.set(name, source);
      return source;
    },
  };
}
