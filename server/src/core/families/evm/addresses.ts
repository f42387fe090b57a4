/** The addresses of Ethereum, and of every network like it. */
import { hex } from '@scure/base';
import { addr } from 'micro-eth-signer';
import { accountHash, onEveryNet, type AddressFormat, type FamilyAddresses } from '../family.js';

const format: AddressFormat = {
  isCompressed: false,
  ofKey: (publicKey) => format.write(accountHash(publicKey)),
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

export const addresses: FamilyAddresses = {
  kind: 'evm',
  coinType: 60,
  testAccount: "m/44'/60'/0'",
  formats: onEveryNet(format),
};
