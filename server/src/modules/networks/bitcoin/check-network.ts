/** Checks the nodes of a Bitcoin or Litecoin network for `networks check`: what they are, how far they are, and what they show. */
import { checkNodes, ok, problem, warning, type Finding } from '../check-nodes.js';
import type { NetworkFinding } from '../../../core/chains/connected.js';
import { createBitcoinNodes, isCatchingUp, verifyNetwork, type BitcoinConfig } from './bitcoin-nodes.js';
import { unlessRefused } from '../rpc/node-error.js';
import { createBitcoinClient, type BitcoinClient, type BlockchainInfo } from './client.js';

/** Lower versions were never tried. 0.21 is Debian's Litecoin Core. */
const oldestVersion = 210_000;

/** Checks the nodes; see `checkNodes`. @throws if the configuration cannot be used */
export function checkBitcoinNetwork(
  config: BitcoinConfig,
  signal: AbortSignal,
): AsyncIterable<NetworkFinding> {
  const { clients } = createBitcoinNodes(config);
  return checkNodes(clients, (node) => checkNode(createBitcoinClient(node, signal), config), signal);
}

async function* checkNode(node: BitcoinClient, config: BitcoinConfig): AsyncIterable<Finding> {
  await verifyNetwork(node, config);
  yield ok('It is on the right network');
  const chain = await node.info();
  yield* checkSoftware(node, chain);
  yield await checkHead(node, chain);
  // The same calls that a scan makes for each block.
  await node.block(chain.bestblockhash, chain.blocks);
  yield chain.pruneheight === undefined
    ? ok('Has all blocks')
    : ok(
        `Pruned: has the blocks from ${chain.pruneheight} on. A server that was off for longer cannot catch up`,
      );
  yield await checkMempool(node);
}

/** Providers often do not report this. It is not needed, only worth knowing. */
async function* checkSoftware(node: BitcoinClient, { chain }: BlockchainInfo): AsyncIterable<Finding> {
  const info = await node.network();
  if (!info) return;
  const { version, connections, localrelay } = info;
  // The text is the node's own.
  const name = info.subversion.replace(/[^\x20-\x7e]/g, '').slice(0, 100);
  if (version !== undefined) {
    yield version < oldestVersion
      ? warning(
          `Runs ${name || version}, which is older than the releases that this server was tried with. Update it`,
        )
      : ok(`Runs ${name || version}`);
  }
  if (localrelay === false) {
    yield warning('Has blocksonly=1: payments are seen with their first confirmation, and not before');
  }
  if (connections === 0 && chain !== 'regtest') {
    yield warning('Is connected to no other node, so it learns of no new blocks. Check its network');
  }
}

async function checkHead(node: BitcoinClient, info: BlockchainInfo): Promise<Finding> {
  const { blocks: height, headers, bestblockhash: hash } = info;
  if (isCatchingUp(info)) {
    return problem(`Is still catching up: it has ${height} of ${headers} blocks. Wait until it has all`);
  }
  const header = await node.header(hash);
  if (!header) return ok(`Block ${height}`);
  const minutes = Math.max(0, Math.round((Date.now() / 1000 - header.time) / 60));
  return ok(`Block ${height}, ${minutes} minutes old`);
}

async function checkMempool(node: BitcoinClient): Promise<Finding> {
  const shown = await unlessRefused(node.mempool());
  if (!shown) return warning('Does not show its mempool: payments are seen with their first confirmation');
  const { isLoaded, txids } = shown;
  if (!isLoaded) return problem('Is still loading its mempool. Wait a few minutes');
  return ok(`Shows its mempool, with ${txids.length} transactions`);
}
