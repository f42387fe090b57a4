/** The addresses of Bitcoin. */
import { bitcoinKind } from '../../addresses/bitcoin-format.js';
import type { AddressPrefixes } from '../../addresses/bitcoin-scripts.js';
import type { FamilyAddresses } from '../family.js';

const test: AddressPrefixes = { bech32: 'tb', pubKeyHash: 0x6f, scriptHash: 0xc4 };

export const addresses: FamilyAddresses = {
  coinType: 0,
  testAccount: "m/84'/1'/0'",
  ...bitcoinKind({
    prefixes: {
      main: { bech32: 'bc', pubKeyHash: 0x00, scriptHash: 0x05 },
      test,
      regtest: { ...test, bech32: 'bcrt' },
    },
    keyVersions: [],
    dustRate: 3n,
  }),
};
