/** The Bitcoin Core nodes of one network: each is checked before it is used, and can name the cookie file of its password. */
import { readFileSync } from 'node:fs';
import type { Family } from '../../../core/chains/networks.js';
import type { BlockId } from '../../../core/chains/chain.js';
import type { ChainDeps, NodesConfig } from '../nodes.js';
import type { AddressNet } from '../../../core/chains/networks.js';
import { NodeError } from '../rpc/node-error.js';
import { createNodePool } from '../rpc/node-pool.js';
import { createBitcoinClient, type BitcoinClient, type BlockchainInfo } from './client.js';

/** A node's URL is `http://USER:PASSWORD@HOST:PORT`, or `http://HOST:PORT/?cookie=FILE`. */
export interface BitcoinConfig extends NodesConfig {
  readonly family: Family;
  /** The form of addresses. By default main in live mode, and test in test mode. */
  readonly addressNet?: AddressNet | undefined;
  /** The hash of the network's first block. A node with another one is not used. */
  readonly genesisHash: string;
  /** A block after all forks that have the same first block. A node with another one at its height is not used either. */
  readonly checkpoint?: BlockId | undefined;
  /** The code of the network's coin. */
  readonly currency: string;
}

const defaultTimeoutMs = 30_000;
/** Transactions per request: about 200 kB of JSON. */
const usualBatch = 100;

export type BitcoinNodes = ReturnType<typeof createBitcoinNodes>;

/** @throws if the configuration has no node, or a URL that is none @returns the pool, whose work is done with typed clients */
export function createBitcoinNodes(
  config: BitcoinConfig,
  { now, warn }: Pick<ChainDeps, 'now' | 'warn'> = {},
) {
  for (const [index, text] of config.nodes.entries()) {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url?.searchParams.has('cookie') && (url.username || url.password)) {
      throw new Error(`The URL of node ${index + 1} has both a password and a cookie file. Use one of them`);
    }
  }
  return createNodePool({
    ...config,
    timeoutMs: config.timeoutMs ?? defaultTimeoutMs,
    maxBatch: config.maxBatch ?? usualBatch,
    now,
    warn,
    logIn: readCookie,
    open: createBitcoinClient,
    verify: (node) => verifyNetwork(node, config),
  });
}

/**
 * The URL with the user and password in its cookie file, if it names one: `http://HOST:PORT/?cookie=FILE`, with the path of
 * the `.cookie` that the node writes into its data directory when it starts, and deletes when it stops.
 * @param name the node's name in messages
 * @throws NodeError if the file cannot be read
 */
function readCookie(url: URL, name: string): URL {
  const file = url.searchParams.get('cookie');
  if (file === null) return url;
  const found = new URL(url);
  found.searchParams.delete('cookie');
  try {
    const [user = '', password = ''] = readFileSync(file, 'utf8').trim().split(':', 2);
    found.username = user;
    found.password = password;
    return found;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new NodeError(
      'unreachable',
      `The cookie file of ${name} cannot be read (${code}). The node writes it when it starts. If it runs, allow this server's user to read the file, or use rpcauth`,
    );
  }
}

/** @throws NodeError if the node is on another network */
export async function verifyNetwork(
  node: BitcoinClient,
  { genesisHash, checkpoint }: Pick<BitcoinConfig, 'genesisHash' | 'checkpoint'>,
): Promise<void> {
  for (const { height, hash } of [{ height: 0, hash: genesisHash }, ...(checkpoint ? [checkpoint] : [])]) {
    const found = await node.knownBlockHash(height);
    if (found === hash) continue;
    const which = height === 0 ? 'its first block' : `its block ${height}`;
    throw new NodeError(
      'wrong-network',
      `${node.name} is on another network: ${which} is ${found}, not ${hash}`,
    );
  }
}

/** Blocks of which a node may have just the header: it learns of a new block by its header. */
const longestGap = 2;

/**
 * True if a node has fewer blocks than it knows of. Its head is then old, and payments would expire unpaid if it
 * passed for the present one.
 */
export function isCatchingUp({ chain, blocks, headers, initialblockdownload }: BlockchainInfo): boolean {
  // Regtest begins with a block of 2011, and takes itself to be downloading until it has a new one.
  return (initialblockdownload === true && chain !== 'regtest') || headers - blocks > longestGap;
}
