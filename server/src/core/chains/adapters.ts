/** The adapter of each family. `npm run lists` writes this file from `server/src/core/families/`. */
import type { Adapter } from './connect.js';
import type { Family } from './networks.js';
import { adapter as bitcoin } from '../families/bitcoin/adapter.js';
import { adapter as evm } from '../families/evm/adapter.js';
import { adapter as litecoin } from '../families/litecoin/adapter.js';
import { adapter as tron } from '../families/tron/adapter.js';

export const adapters: Readonly<Record<Family, Adapter>> = { bitcoin, evm, litecoin, tron };
