/** Connects to Tron's networks. */
import { evmLike } from '../../chains/evm/evm-adapter.js';
import { tronDialect } from '../../chains/tron/tron-dialect.js';

export const adapter = evmLike(tronDialect);
