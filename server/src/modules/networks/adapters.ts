/** The adapter of each family of networks: that of its kind. */
import { families } from 'crypto-checkout/contract';
import { addressFamilies } from '../../core/families/addresses.js';
import type { Kind } from '../../core/families/family.js';
import { bitcoinAdapter } from './bitcoin/bitcoin-adapter.js';
import type { Adapter, Adapters } from './connect.js';
import { evmDialect } from './evm/dialect.js';
import { evmLike } from './evm/evm-adapter.js';
import { tronDialect } from './tron/tron-dialect.js';

const kinds: Readonly<Record<Kind, Adapter>> = {
  bitcoin: bitcoinAdapter,
  evm: evmLike(evmDialect),
  tron: evmLike(tronDialect),
};

export const adapters: Adapters = Object.fromEntries(
  families.map((family) => [family, kinds[addressFamilies[family].kind]]),
);
