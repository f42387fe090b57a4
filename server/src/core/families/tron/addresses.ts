/** The addresses of Tron. */
import { sha256 } from '@noble/hashes/sha2.js';
import { createBase58check } from '@scure/base';
import { accountHash, onEveryNet, type AddressFormat, type FamilyAddresses } from '../family.js';

const base58check = createBase58check(sha256);

const format: AddressFormat = {
  isCompressed: false,
  ofKey: (publicKey) => format.write(accountHash(publicKey)),
  write: (hash) => base58check.encode(Uint8Array.of(0x41, ...hash)),
  bytes: (address) => base58check.decode(address).subarray(1),
  read(address) {
    const bytes = base58check.decode(address);
    return bytes.length === 21 && bytes[0] === 0x41 ? address : undefined;
  },
};

export const addresses: FamilyAddresses = {
  kind: 'tron',
  coinType: 195,
  testAccount: "m/44'/195'/0'",
  formats: onEveryNet(format),
};
