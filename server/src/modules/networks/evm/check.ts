/** Checks the nodes of an EVM network for `networks check`: what they are, how far they are, and what they can do. */
import { checkNodes, ok, problem, warning, type Finding } from '../check-nodes.js';
import type { NetworkFinding } from '../../../core/chains/connected.js';
import { usualBatch, type NodeClient } from '../rpc/node-client.js';
import { unlessRefused } from '../rpc/node-error.js';
import { checkContracts, readAssets, type Assets } from './assets.js';
import { createEvmClient, type EvmClient } from './client.js';
import { evmDialect } from './dialect.js';
import { createEvmNodes, type EvmConfig } from './evm-nodes.js';
import type { EvmHeader } from './replies.js';
import { transferTopic } from './token.js';

const zeroAddress = `0x${'0'.repeat(40)}`;

/** Checks the nodes; see `checkNodes`. @throws if the configuration cannot be used */
export async function* checkEvmNetwork(
  config: EvmConfig,
  signal: AbortSignal,
): AsyncIterable<NetworkFinding> {
  const heights = new Map<string, number>();
  const { clients } = createEvmNodes(config);
  yield* checkNodes(clients, (node) => checkNode(node, config, heights, signal), signal);
  const best = Math.max(...heights.values());
  for (const [subject, height] of heights) {
    if (best - height > 3)
      yield { subject, ...warning(`It is ${best - height} blocks behind the best node`) };
  }
}

async function* checkNode(
  node: NodeClient,
  config: EvmConfig,
  heights: Map<string, number>,
  signal: AbortSignal,
): AsyncIterable<Finding> {
  const { dialect = evmDialect } = config;
  const evm = createEvmClient(node, signal);
  const chainId = await evm.chainId();
  if (chainId !== config.chainId) {
    yield problem(
      `Chain id ${chainId}, but ${config.network} has ${config.chainId}: the URL leads to another network`,
    );
    return;
  }
  yield ok(`Chain id ${chainId}`);
  const head = await evm.head();
  const assets = readAssets(config.network, config.assets, dialect);
  heights.set(node.name, head.height);
  yield checkAge(head, config.blockTimeMs);
  yield await checkFinalized(evm, head);
  yield await checkLogs(evm, assets, head);
  if (dialect.hasPending) yield await checkPending(evm);
  if (dialect.hasBalancesAtBlock) yield await checkBalances(evm, head);
  yield (await evm.blockReceipts(head.height))
    ? ok('Reports the receipts of a block')
    : ok('Does not report the receipts of a block (not needed)');
  await Promise.all(Array.from({ length: config.maxBatch ?? usualBatch }, () => evm.chainId()));
  const limit = node.limit()?.replace(node.name, 'It');
  yield ok(limit ?? `Accepts ${node.batchSize()} calls in one request`);
  const problems = await checkContracts(evm, config.network, assets);
  for (const { currency, contract } of assets.tokens.values()) {
    const text = problems.get(currency);
    yield text === undefined
      ? ok(`${currency}: the contract ${contract ?? ''} is there, with the right decimals`)
      : { ...problem(text), currency };
  }
}

function checkAge({ height, time }: EvmHeader, blockTimeMs: number | undefined): Finding {
  const seconds = Math.max(0, Math.round((Date.now() - time) / 1000));
  const text = `Block ${height}, ${seconds} seconds old`;
  if (blockTimeMs === undefined || seconds * 1000 <= 3 * blockTimeMs + 60_000) return ok(text);
  return problem(`${text}: the node is not up to date. Wait until it is synchronised, or use another one`);
}

async function checkFinalized(evm: EvmClient, head: EvmHeader): Promise<Finding> {
  const finalized = await evm.finalized();
  return finalized.kind === 'value'
    ? ok(`Reports finalized blocks: ${head.height - finalized.value.height} blocks behind the newest`)
    : warning(
        'Does not report finalized blocks: payments wait for their confirmations, and amounts that require finality never count',
      );
}

async function checkLogs(evm: EvmClient, { tokens }: Assets, { hash }: EvmHeader): Promise<Finding> {
  const address = [...tokens.keys()];
  if (address.length === 0) return ok('No tokens are configured');
  const logs = await unlessRefused(evm.blockLogs(hash, { address, topics: [transferTopic] }));
  return logs
    ? ok('Reports logs by block hash')
    : problem('Does not report logs by block hash, so tokens cannot be read. Use another provider');
}

async function checkPending(evm: EvmClient): Promise<Finding> {
  const pending = await evm.pendingBlock();
  const latest = await evm.head();
  return pending.kind === 'value' && pending.value.parentHash === latest.hash
    ? ok('Reports pending transactions')
    : ok('Does not report pending transactions: payments are seen with their first confirmation');
}

async function checkBalances(evm: EvmClient, { hash: blockHash }: EvmHeader): Promise<Finding> {
  return (await evm.atBlock(() => evm.balances(undefined, [zeroAddress], { blockHash })))
    ? ok('Reports balances by block hash: coins sent by contracts are found')
    : warning('Does not report balances by block hash: coins that are sent by a contract are not found');
}
