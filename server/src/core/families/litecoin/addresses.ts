/** The addresses of Litecoin. */
import { bitcoinFormats } from '../../addresses/bitcoin-format.js';
import type { FamilyAddresses } from '../family.js';

export const addresses: FamilyAddresses = {
  coinType: 2,
  testAccount: "m/84'/1'/1'",
  formats: bitcoinFormats('litecoin'),
};
