/** Checks the nodes of a Bitcoin or Litecoin network for `networks check`: what they are, how far they are, and what they show. */
import { checkNodes, ok, problem, warning, type Finding } from '../check-nodes.js';
import type { NetworkFinding } from '../connect.js';
import { isObject, type NodeClient } from '../../rpc/node-client.js';
import {
  createBitcoinPool,
  isCatchingUp,
  readBlockchainInfo,
  rpcCodes,
  unlessError,
  verifyNetwork,
  withCookie,
  type BitcoinConfig,
  type BlockchainInfo,
} from './bitcoin-nodes.js';
import { isHeight } from './transactions.js';

/** Lower versions were never tried. 0.21 is Debian's Litecoin Core. */
const oldestVersion = 210_000;

/** Checks the nodes; see `checkNodes`. @throws if the configuration cannot be used */
export function checkBitcoinNetwork(
  config: BitcoinConfig,
  signal: AbortSignal,
): AsyncIterable<NetworkFinding> {
  const resolved = config.nodes.map((url, index) => withCookie(url, `node ${index + 1}`));
  const { clients } = createBitcoinPool(
    config,
    resolved.map(({ url }) => url),
  );
  const check = (node: NodeClient) =>
    checkNode(node, config, resolved[clients.indexOf(node)]?.problem, signal);
  return checkNodes(clients, check, signal);
}

async function* checkNode(
  node: NodeClient,
  config: BitcoinConfig,
  cookieProblem: string | undefined,
  signal: AbortSignal,
): AsyncIterable<Finding> {
  if (cookieProblem !== undefined) {
    yield problem(cookieProblem);
    return;
  }
  await verifyNetwork(node, config, signal);
  yield ok('It is on the right network');
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

/** Providers often do not report this. It is not needed, only worth knowing. */
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
