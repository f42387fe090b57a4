/** The configuration of a network that is read from Bitcoin Core or Litecoin Core. */
import type { BitcoinFamily } from '../../addresses/bitcoin-scripts.js';
import type { BlockId } from '../chain.js';
import type { NodesConfig } from '../config/nodes.js';
import type { AddressNet } from '../networks.js';

/** A node's URL is `http://USER:PASSWORD@HOST:PORT`, or `http://HOST:PORT/?cookie=FILE`. */
export interface BitcoinConfig extends NodesConfig {
  readonly family: BitcoinFamily;
  /** How addresses are written. By default main in live mode, and test in test mode. */
  readonly addressNet?: AddressNet | undefined;
  /** The hash of the network's first block. A node with another one is not used. */
  readonly genesisHash: string;
  /** A block after all forks that have the same first block. A node with another one at its height is not used either. */
  readonly checkpoint?: BlockId | undefined;
  /** The code of the network's coin. */
  readonly currency: string;
}
