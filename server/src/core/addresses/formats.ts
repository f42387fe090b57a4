/** Parses addresses of every family, and says what is wrong with a text that is none. */
import { secretIn, secretWarning } from 'crypto-checkout/contract';
import { sha256 } from '@noble/hashes/sha2.js';
import { bech32, bech32m, createBase58check } from '@scure/base';
import type { Mode } from '../shared/scope.js';
import type { AddressNet, Family, Network } from '../chains/networks.js';
import { addressFamilies } from '../families/addresses.js';
import type { AddressFormat } from '../families/family.js';
import { attempt } from '../shared/attempt.js';

const base58check = createBase58check(sha256);
const evm = addressFamilies.evm.formats.main;

/** The form of a network's addresses, if its configuration does not set one. */
export function defaultNet(mode: Mode): AddressNet {
  return mode === 'live' ? 'main' : 'test';
}

export function addressFormat(mode: Mode, family: Family, net = defaultNet(mode)): AddressFormat {
  return addressFamilies[family].formats[net];
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
    .flatMap((net) => Object.values(addressFamilies).map(({ formats }) => formats[net]))
    .flatMap((format) => attempt(() => format.read(text)) ?? []);
  return [...new Set([text, ...forms])];
}
