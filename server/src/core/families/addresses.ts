/** The addresses of each family. `npm run lists` writes this file from `server/src/core/families/`. */
import type { Family } from '../chains/networks.js';
import type { FamilyAddresses } from './family.js';
import { addresses as bitcoin } from './bitcoin/addresses.js';
import { addresses as evm } from './evm/addresses.js';
import { addresses as litecoin } from './litecoin/addresses.js';
import { addresses as tron } from './tron/addresses.js';

export const addressFamilies: Readonly<Record<Family, FamilyAddresses>> = { bitcoin, evm, litecoin, tron };
