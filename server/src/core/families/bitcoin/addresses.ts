/** The addresses of Bitcoin. */
import { bitcoinFormats } from '../../addresses/bitcoin-format.js';
import type { FamilyAddresses } from '../family.js';

export const addresses: FamilyAddresses = {
  coinType: 0,
  testAccount: "m/84'/1'/0'",
  formats: bitcoinFormats('bitcoin'),
};
