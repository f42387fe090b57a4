/** The addresses of Litecoin. Its wallets use Bitcoin's extended keys, too. */
import { bitcoinKind } from '../../addresses/bitcoin-format.js';
import type { AddressPrefixes } from '../../addresses/bitcoin-scripts.js';
import type { FamilyAddresses } from '../family.js';

const test: AddressPrefixes = {
  bech32: 'tltc',
  pubKeyHash: 0x6f,
  scriptHash: 0x3a,
  oldScriptHash: 0xc4,
};

export const addresses: FamilyAddresses = {
  coinType: 2,
  testAccount: "m/84'/1'/1'",
  ...bitcoinKind({
    prefixes: {
      main: { bech32: 'ltc', pubKeyHash: 0x30, scriptHash: 0x32, oldScriptHash: 0x05 },
      test,
      regtest: { ...test, bech32: 'rltc' },
    },
    keyVersions: [
      [0x019da462, { prefix: 'Ltub', isTest: false }],
      [0x01b26ef6, { prefix: 'Mtub', script: 'p2sh-p2wpkh', isTest: false }],
      [0x0436f6e1, { prefix: 'ttub', isTest: true }],
    ],
    dustRate: 30n,
  }),
};
