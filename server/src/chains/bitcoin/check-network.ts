/** Checks the nodes of a Bitcoin or Litecoin network for `networks check`: what they are, how far they are, and what they show. */
import { isObject, type NodeClient } from '../rpc/node-client.js';
import { NodeError, RpcFailure } from '../rpc/node-error.js';
import {
  createBitcoinPool,
  isCatchingUp,
  readBlockchainInfo,
  rpcCodes,
  unlessError,
  verifyNetwork,
  type BlockchainInfo,
} from './bitcoin-nodes.js';
import type { BitcoinConfig } from './config.js';
import { withCookie } from './node-urls.js';
import { isHeight } from './transactions.js';

/** One result of a check. */
export interface NetworkFinding {
  /** `node 1`, for the first of the configuration. */
  readonly subject: string;
  /** `problem`: payments cannot be read. `warning`: they can, with the loss that the text names. */
  readonly kind: 'ok' | 'warning' | 'problem';
  readonly text: string;
}

type Finding = Omit<NetworkFinding, 'subject'>;
const ok = (text: string): Finding => ({ kind: 'ok', text });
const warning = (text: string): Finding => ({ kind: 'warning', text });
const problem = (text: string): Finding => ({ kind: 'problem', text });

/** Lower versions were never tried. 0.21 is Debian's Litecoin Core. */
const oldestVersion = 210_000;

/**
 * Checks one node after the other, and yields each finding when it is known, for a command that shows progress. Never throws
 * because of a node, only if the signal aborts or the configuration cannot be used.
 */
export async function* checkBitcoinNetwork(
  config: BitcoinConfig,
  signal: AbortSignal,
): AsyncIterable<NetworkFinding> {
  const resolved = config.nodes.map((url, index) => withCookie(url, `node ${index + 1}`));
  const { clients } = createBitcoinPool(
    config,
    resolved.map(({ url }) => url),
  );
  for (const [index, node] of clients.entries()) {
    const subject = node.name;
    const cookieProblem = resolved[index]?.problem;
    if (cookieProblem !== undefined) {
      yield { subject, ...problem(cookieProblem) };
      continue;
    }
    try {
      for await (const finding of checkNode(node, config, signal)) yield { subject, ...finding };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof NodeError || error instanceof RpcFailure)) throw error;
      yield { subject, ...problem(error.message) };
    }
  }
}

async function* checkNode(
  node: NodeClient,
  { genesisHash }: BitcoinConfig,
  signal: AbortSignal,
): AsyncIterable<Finding> {
  await verifyNetwork(node, genesisHash, signal);
  yield ok('Its first block is the one of the network');
  const chain = await readBlockchainInfo(node, signal);
  yield* checkSoftware(node, chain, signal);
  yield await checkHead(node, chain, signal);
  // What a scan does for each block.
  await node.call('getblock', [chain.hash, 2], signal);
  yield chain.pruneHeight === undefined
    ? ok('Has all blocks')
    : ok(
        `Pruned: has the blocks from ${chain.pruneHeight} on. A server that was off for longer cannot catch up`,
      );
  yield await checkMempool(node, signal);
}

/** Providers often do not tell this. It is not needed, only worth knowing. */
async function* checkSoftware(
  node: NodeClient,
  { chain }: BlockchainInfo,
  signal: AbortSignal,
): AsyncIterable<Finding> {
  const info = await unlessError(node.call('getnetworkinfo', [], signal), rpcCodes.methodNotFound);
  if (!isObject(info)) return;
  const { subversion, version, connections, localrelay } = info;
  // The text is the node's own.
  const name = typeof subversion === 'string' ? subversion.replace(/[^\x20-\x7e]/g, '').slice(0, 100) : '';
  if (isHeight(version)) {
    yield version < oldestVersion
      ? warning(`Runs ${name || version}, which is older than what this server was tried with. Update it`)
      : ok(`Runs ${name || version}`);
  }
  if (localrelay === false) {
    yield warning('Has blocksonly=1: payments are seen with their first confirmation, and not before');
  }
  if (connections === 0 && chain !== 'regtest') {
    yield warning('Is connected to no other node, so it learns of no new blocks. Check its network');
  }
}

async function checkHead(node: NodeClient, info: BlockchainInfo, signal: AbortSignal): Promise<Finding> {
  const { height, headers, hash } = info;
  if (isCatchingUp(info)) {
    return problem(`Is still catching up: it has ${height} of ${headers} blocks. Wait until it has all`);
  }
  const header = await node.call('getblockheader', [hash], signal);
  const time = isObject(header) && isHeight(header['time']) ? header['time'] : undefined;
  const minutes = time === undefined ? undefined : Math.max(0, Math.round(Date.now() / 60_000 - time / 60));
  return ok(minutes === undefined ? `Block ${height}` : `Block ${height}, ${minutes} minutes old`);
}

async function checkMempool(node: NodeClient, signal: AbortSignal): Promise<Finding> {
  const info = await node.call('getmempoolinfo', [], signal);
  const { size, loaded } = isObject(info) ? info : {};
  await node.call('getrawmempool', [], signal);
  if (loaded === false) return problem('Is still loading its mempool. Wait a few minutes');
  return ok(`Shows its mempool, with ${isHeight(size) ? size : 'some'} transactions`);
}
