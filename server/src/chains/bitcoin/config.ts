/** The configuration of a network that is read from Bitcoin Core or Litecoin Core. */
import type { Mode } from '../../shared/scope.js';
import type { BitcoinFamily } from '../../addresses/bitcoin-scripts.js';
import type { BlockId } from '../chain.js';
import type { AddressNet } from '../networks.js';

export interface BitcoinConfig {
  readonly mode: Mode;
  readonly network: string;
  readonly family: BitcoinFamily;
  /** How addresses are written. By default main in live mode, and test in test mode. */
  readonly addressNet?: AddressNet | undefined;
  /** The hash of the network's first block. A node with another one is not used. */
  readonly genesisHash: string;
  /** A block after all forks that have the same first block. A node with another one at its height is not used either. */
  readonly checkpoint?: BlockId | undefined;
  /** In order of preference: `http://USER:PASSWORD@HOST:PORT`, or `http://HOST:PORT/?cookie=FILE`. Never shown. */
  readonly nodes: readonly string[];
  /** Sent with each request, such as a provider's key. Never shown. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The code of the network's coin. */
  readonly currency: string;
  /** The usual time between blocks; undefined for chains that make blocks only on demand. */
  readonly blockTimeMs?: number | undefined;
  /** How long one request may take, 30 seconds by default. */
  readonly timeoutMs?: number | undefined;
  /** What all nodes together may be asked in a minute, each call of a batch counted; no limit by default. */
  readonly requestsPerMinute?: number | undefined;
}
