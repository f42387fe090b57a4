/** Connects to EVM networks. */
import { evmDialect } from '../../chains/evm/dialect.js';
import { evmLike } from '../../chains/evm/evm-adapter.js';

export const adapter = evmLike(evmDialect);
