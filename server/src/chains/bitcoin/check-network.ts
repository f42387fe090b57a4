/** Checks the nodes of a Bitcoin or Litecoin network before payments are taken on it. */
import { isObject, type NodeClient } from '../rpc/node-client.js';
import { NodeError, RpcFailure } from '../rpc/node-error.js';
import {
  createBitcoinPool,
  isCatchingUp,
  readBlockchainInfo,
  unlessError,
  verifyNetwork,
  type BlockchainInfo,
} from './bitcoin-nodes.js';
import type { BitcoinConfig } from './config.js';
import { withCookie } from './node-urls.js';
import { isHeight } from './transactions.js';

export interface BitcoinNodeReport {
  /** `node 1` for the first of the configuration. The URL is never shown. */
  readonly name: string;
  /** Such as `/LitecoinCore:0.21.2.1/`; undefined if the node could not be asked. */
  readonly software: string | undefined;
  readonly height: number | undefined;
  /** How old the last block is, by its own time, which miners set. */
  readonly lastBlockAgeMs: number | undefined;
  /** The lowest block that a pruned node still has; undefined if it has all. */
  readonly pruneHeight: number | undefined;
  /** How many transactions wait for a block. */
  readonly mempoolSize: number | undefined;
  /** How many other nodes it is connected to. */
  readonly peers: number | undefined;
  /** A sentence for each. With one of these, no payment can be received through this node now. */
  readonly problems: readonly string[];
  /** A sentence for each: payments can be received, but later or less reliably. */
  readonly warnings: readonly string[];
}

export interface CheckOptions {
  /** Called before each step, with what it does. */
  readonly onProgress?: (step: string) => void;
  /** Epoch milliseconds; real time by default. */
  readonly now?: () => number;
}

/** Lower versions were never tried. 0.21 is Debian's Litecoin Core. */
const oldestVersion = 210_000;

/**
 * Asks each node of a network for all that a payment needs.
 * @throws if the configuration has no node, or a URL that is none
 */
export async function checkBitcoinNetwork(
  config: BitcoinConfig,
  signal: AbortSignal,
  { onProgress, now = Date.now }: CheckOptions = {},
): Promise<readonly BitcoinNodeReport[]> {
  const resolved = config.nodes.map((url, index) => withCookie(url, `node ${index + 1}`));
  const { clients } = createBitcoinPool(
    config,
    resolved.map(({ url }) => url),
  );
  const reports: BitcoinNodeReport[] = [];
  for (const [index, node] of clients.entries()) {
    onProgress?.(`Asking ${node.name} of ${config.code}`);
    const report = await checkNode(node, config, now, signal);
    const cookieProblem = resolved[index]?.problem;
    reports.push(
      cookieProblem === undefined ? report : { ...report, problems: [cookieProblem, ...report.problems] },
    );
  }
  return reports;
}

async function checkNode(
  node: NodeClient,
  { genesisHash }: BitcoinConfig,
  now: () => number,
  signal: AbortSignal,
): Promise<BitcoinNodeReport> {
  const problems: string[] = [];
  const warnings: string[] = [];
  let facts: Omit<BitcoinNodeReport, 'name' | 'problems' | 'warnings'> = {
    software: undefined,
    height: undefined,
    lastBlockAgeMs: undefined,
    pruneHeight: undefined,
    mempoolSize: undefined,
    peers: undefined,
  };
  try {
    const network = await readNetworkInfo(node, signal);
    facts = { ...facts, software: network.software, peers: network.peers };
    if (network.version !== undefined && network.version < oldestVersion) {
      warnings.push(`${node.name} runs an old version that this server was never tried with`);
    }
    if (network.relays === false) {
      warnings.push(`${node.name} has blocksonly=1: payments are seen only when they are in a block`);
    }
    await verifyNetwork(node, genesisHash, signal);
    const chain = await readBlockchainInfo(node, signal);
    facts = { ...facts, height: chain.height, pruneHeight: chain.pruneHeight };
    if (network.peers === 0 && chain.chain !== 'regtest') {
      warnings.push(`${node.name} is connected to no other node, so it learns of no new blocks`);
    }
    if (isCatchingUp(chain)) problems.push(catchingUp(node, chain));
    facts = { ...facts, lastBlockAgeMs: await readAge(node, chain, now, signal) };
    // What a scan does for each block, and for each waiting transaction.
    await node.call('getblock', [chain.hash, 2], signal);
    const mempool = await node.call('getmempoolinfo', [], signal);
    const { size, loaded } = isObject(mempool) ? mempool : {};
    facts = { ...facts, mempoolSize: isHeight(size) ? size : undefined };
    if (loaded === false) problems.push(`${node.name} is still loading its mempool. Wait a few minutes`);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof NodeError || error instanceof RpcFailure)) throw error;
    problems.push(error.message);
  }
  return { name: node.name, ...facts, problems, warnings };
}

function catchingUp({ name }: NodeClient, { height, headers }: BlockchainInfo): string {
  return `${name} is still catching up: it has ${height} of ${headers} blocks. Wait until it has all`;
}

async function readAge(
  node: NodeClient,
  { hash }: BlockchainInfo,
  now: () => number,
  signal: AbortSignal,
): Promise<number | undefined> {
  const header = await node.call('getblockheader', [hash], signal);
  return isObject(header) && isHeight(header['time'])
    ? Math.max(0, now() - header['time'] * 1000)
    : undefined;
}

interface NetworkInfo {
  readonly software: string | undefined;
  readonly version: number | undefined;
  readonly peers: number | undefined;
  /** Whether it learns of transactions that wait for a block. */
  readonly relays: boolean | undefined;
}

/** Providers often do not offer this. It is not needed, only worth knowing. */
async function readNetworkInfo(node: NodeClient, signal: AbortSignal): Promise<NetworkInfo> {
  const info = await unlessError(node.call('getnetworkinfo', [], signal), methodNotFound);
  const { subversion, version, connections, localrelay } = isObject(info) ? info : {};
  return {
    // It is the node's own text.
    software:
      typeof subversion === 'string' ? subversion.replace(/[^\x20-\x7e]/g, '').slice(0, 100) : undefined,
    version: isHeight(version) ? version : undefined,
    peers: isHeight(connections) ? connections : undefined,
    relays: typeof localrelay === 'boolean' ? localrelay : undefined,
  };
}

const methodNotFound = -32601;
