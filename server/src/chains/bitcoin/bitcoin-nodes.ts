/** The Bitcoin Core nodes of one network: checks each, and reads the cookie file again when a node has restarted. */
import { readFileSync } from 'node:fs';
import type { BitcoinFamily } from '../../addresses/bitcoin-scripts.js';
import type { BlockId } from '../chain.js';
import type { NodesConfig } from '../config/nodes.js';
import type { AddressNet } from '../networks.js';
import { isObject, type NodeClient, type RpcCall } from '../../rpc/node-client.js';
import { NodeError, NodesUnavailable, RpcFailure } from '../../rpc/node-error.js';
import { createNodePool, type NodePool, type NodePoolOptions } from '../../rpc/node-pool.js';
import { isHash, isHeight } from './transactions.js';

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

/** Bitcoin Core's error codes that mean something to us. */
export const rpcCodes = {
  /** Among others: a block that is not on this node's disk. */
  misc: -1,
  /** An unknown block or transaction. */
  unknown: -5,
  /** A height above the head. */
  invalidParameter: -8,
  methodNotFound: -32601,
} as const;

const defaultTimeoutMs = 30_000;
/** Transactions per request: about 200 kB of JSON. */
const maxBatch = 100;

export type BitcoinNodes = Pick<NodePool, 'run' | 'each' | 'status' | 'requestsLeft'>;

type PoolOptions = Pick<NodePoolOptions, 'warn' | 'now'>;

/** @throws if the configuration has no node, or a URL that is none */
export function createBitcoinNodes(config: BitcoinConfig, options: PoolOptions = {}): BitcoinNodes {
  const hasCookies = config.nodes.some(hasCookie);
  const resolve = () => config.nodes.map((url, index) => withCookie(url, `node ${index + 1}`));
  const open = () =>
    createBitcoinPool(
      config,
      resolved.map(({ url }) => url),
      options,
    );
  let resolved = resolve();
  let pool = open();

  return {
    async run(work, signal) {
      try {
        return await pool.run(work, signal);
      } catch (error) {
        if (!hasCookies || !(error instanceof NodesUnavailable)) throw error;
        // A node has a new cookie after each start.
        const former = resolved;
        resolved = resolve();
        if (resolved.some(({ url }, index) => url !== former[index]?.url)) {
          pool = open();
          return pool.run(work, signal);
        }
        const problems = resolved.flatMap(({ problem }) => problem ?? []);
        throw new NodesUnavailable([error.message, ...problems].join('. '), error.errors);
      }
    },
    each: (work, signal) => pool.each(work, signal),
    status: () => pool.status(),
    requestsLeft: () => pool.requestsLeft(),
  };
}

/**
 * The URL with the user and password in a cookie file, if it names one: `http://HOST:PORT/?cookie=FILE`, with the path of
 * the `.cookie` that the node writes into its data directory when it starts, and deletes when it stops.
 * @param name what the node is called in messages
 * @returns the URL, and why the cookie file could not be read, in a sentence without it; undefined if there is nothing wrong
 * @throws if the URL has a password too
 */
export function withCookie(text: string, name: string): { url: string; problem: string | undefined } {
  // What is not a URL is refused where URLs are read.
  if (!hasCookie(text)) return { url: text, problem: undefined };
  const url = new URL(text);
  const file = url.searchParams.get('cookie') ?? '';
  if (url.username || url.password) {
    throw new Error(`The URL of ${name} has both a password and a cookie file. Use one of them`);
  }
  url.searchParams.delete('cookie');
  try {
    const [user = '', password = ''] = readFileSync(file, 'utf8').trim().split(':', 2);
    url.username = user;
    url.password = password;
    return { url: url.href, problem: undefined };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    const problem = `The cookie file of ${name} cannot be read (${code}). The node writes it when it starts. If it runs, allow this server's user to read the file, or use rpcauth`;
    return { url: url.href, problem };
  }
}

function hasCookie(text: string): boolean {
  return URL.canParse(text) && new URL(text).searchParams.has('cookie');
}

/** @param urls with their credentials */
export function createBitcoinPool(
  config: BitcoinConfig,
  urls: readonly string[],
  options: PoolOptions = {},
): NodePool {
  return createNodePool({
    ...config,
    ...{ nodes: urls, timeoutMs: config.timeoutMs ?? defaultTimeoutMs, maxBatch },
    verify: (node, signal) => verifyNetwork(node, config, signal),
    ...options,
  });
}

/** @throws NodeError if the node is on another network */
export async function verifyNetwork(
  node: NodeClient,
  { genesisHash, checkpoint }: Pick<BitcoinConfig, 'genesisHash' | 'checkpoint'>,
  signal: AbortSignal,
): Promise<void> {
  for (const { height, hash } of [{ height: 0, hash: genesisHash }, ...(checkpoint ? [checkpoint] : [])]) {
    const found = await unlessError(node.call('getblockhash', [height], signal), rpcCodes.invalidParameter);
    if (found === hash) continue;
    if (found === undefined) {
      throw new NodeError('behind', `${node.name} is still catching up: it does not have block ${height}`);
    }
    if (!isHash(found)) throw unknownForm(node, 'getblockhash');
    const which = height === 0 ? 'its first block' : `its block ${height}`;
    throw new NodeError(
      'wrong-network',
      `${node.name} is on another network: ${which} is ${found}, not ${hash}`,
    );
  }
}

export type BlockchainInfo = Awaited<ReturnType<typeof readBlockchainInfo>>;

/** What `getblockchaininfo` says. */
export async function readBlockchainInfo(node: NodeClient, signal: AbortSignal) {
  const info = await node.call('getblockchaininfo', [], signal);
  const { blocks, headers, bestblockhash, chain, mediantime, initialblockdownload, pruned, pruneheight } =
    isObject(info) ? info : {};
  if (!isHeight(blocks) || !isHeight(headers) || !isHash(bestblockhash)) {
    throw unknownForm(node, 'getblockchaininfo');
  }
  return {
    height: blocks,
    hash: bestblockhash,
    /** The height of the best header that the node knows. */
    headers,
    /** Of the last eleven blocks, epoch milliseconds; undefined if the node does not tell. */
    medianTime: isHeight(mediantime) ? mediantime * 1000 : undefined,
    /** Such as main, test or regtest. */
    chain: typeof chain === 'string' ? chain : '',
    isInitialDownload: initialblockdownload === true,
    /** The lowest block that a pruned node still has; undefined if it has all. */
    pruneHeight: pruned === true && isHeight(pruneheight) ? pruneheight : undefined,
  };
}

/** Blocks of which a node may have just the header: it learns of a new block by its header. */
const longestGap = 2;

/**
 * Whether a node has fewer blocks than it knows of. Its head is then old, and payments would expire unpaid if it passed
 * for the present one.
 */
export function isCatchingUp({ chain, height, headers, isInitialDownload }: BlockchainInfo): boolean {
  // Regtest begins with a block of 2011, and takes itself to be downloading until it has a new one.
  return (isInitialDownload && chain !== 'regtest') || headers - height > longestGap;
}

export function unknownForm(node: NodeClient, what: string): NodeError {
  return new NodeError('garbage', `${node.name} answered ${what} in a form that Bitcoin Core does not have`);
}

/** The answer of a call; undefined if the node refuses it, with this error if one is named. */
export async function unlessError<T>(answer: Promise<T>, code?: number): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof RpcFailure && (code === undefined || error.code === code)) return undefined;
    throw error;
  }
}

/**
 * The answers of several calls in one request.
 * @param missing the error of calls whose answer is undefined; any other is thrown
 */
export async function callAll(
  node: NodeClient,
  calls: readonly RpcCall[],
  signal: AbortSignal,
  missing?: number,
): Promise<readonly unknown[]> {
  const answers = await node.batch(calls, signal);
  return answers.map((answer) => {
    if (!(answer instanceof RpcFailure)) return answer;
    if (answer.code === missing) return undefined;
    throw answer;
  });
}

/** @throws RpcFailure with the way out if the node has dropped the block */
export async function readFullBlock(
  node: NodeClient,
  hash: string,
  height: number,
  signal: AbortSignal,
): Promise<unknown> {
  try {
    return await node.call('getblock', [hash, 2], signal);
  } catch (error) {
    // "Block not available (pruned data)".
    if (!(error instanceof RpcFailure && error.code === rpcCodes.misc && error.message.includes('pruned')))
      throw error;
    throw new RpcFailure(
      rpcCodes.misc,
      `${node.name} no longer has block ${height}: it was pruned. Add a node that has it, or set a higher prune= and start the node with -reindex`,
    );
  }
}

export async function heightOf(node: NodeClient, hash: string, signal: AbortSignal): Promise<number> {
  const header = await node.call('getblockheader', [hash], signal);
  const height = isObject(header) ? header['height'] : undefined;
  if (!isHeight(height)) throw unknownForm(node, 'getblockheader');
  return height;
}

/** "Transaction already in block chain". */
const alreadyInChain = -27;
/** It cannot be read, it spends what does not exist, or it breaks a rule. Other errors are about the node. */
const refusals: ReadonlySet<number> = new Set([-22, -25, -26]);

/** @returns why the node refuses the transaction; undefined if it took it, or has it already */
export async function sendTransaction(
  node: NodeClient,
  transaction: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    // 0: the limit is the one that the transaction was checked with, not the node's own.
    await node.call('sendrawtransaction', [transaction, 0], signal);
    return undefined;
  } catch (error) {
    if (!(error instanceof RpcFailure)) throw error;
    if (error.code === alreadyInChain) return undefined;
    if (refusals.has(error.code)) return error.message;
    throw error;
  }
}
