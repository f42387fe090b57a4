/** Checks the nodes of an EVM network for `networks check`: what they are, how far they are, and what they can do. */
import type { NetworkFinding } from '../connect.js';
import { isObject, type NodeClient } from '../rpc/node-client.js';
import { NodeError, RpcFailure } from '../rpc/node-error.js';
import { checkContracts, readAssets } from './assets.js';
import { parseBalances, balancesCall } from './balances.js';
import type { EvmConfig } from './config.js';
import { evmDialect, type Dialect } from './dialect.js';
import { createEvmPool } from './evm-chain.js';
import { hexOf } from './read-blocks.js';
import { hashOf, numberOf, parseHeader, type EvmHeader } from './replies.js';
import { transferTopic } from './token.js';

const zeroAddress = `0x${'0'.repeat(40)}`;

/**
 * Checks one node after the other, and yields each finding when it is known, for a command that shows progress. Never throws
 * because of a node, only if the signal aborts or the configuration cannot be used.
 */
export function checkEvmNetwork(config: EvmConfig, signal: AbortSignal): AsyncIterable<NetworkFinding> {
  return checkEvmLikeNetwork(config, evmDialect, signal);
}

export async function* checkEvmLikeNetwork(
  config: EvmConfig,
  dialect: Dialect,
  signal: AbortSignal,
): AsyncIterable<NetworkFinding> {
  const heights = new Map<string, number>();
  for (const node of createEvmPool(config, {}).clients) {
    try {
      for await (const finding of checkNode(node, config, dialect, heights, signal)) {
        yield { subject: node.name, ...finding };
      }
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof NodeError || error instanceof RpcFailure)) throw error;
      yield { subject: node.name, kind: 'problem', text: error.message.replace(node.name, 'It') };
    }
  }
  const best = Math.max(...heights.values());
  for (const [subject, height] of heights) {
    if (best - height > 3) {
      yield { subject, kind: 'warning', text: `It is ${best - height} blocks behind the best node` };
    }
  }
}

type Finding = Omit<NetworkFinding, 'subject'>;
const ok = (text: string): Finding => ({ kind: 'ok', text });
const warning = (text: string): Finding => ({ kind: 'warning', text });
const problem = (text: string): Finding => ({ kind: 'problem', text });

async function* checkNode(
  node: NodeClient,
  config: EvmConfig,
  dialect: Dialect,
  heights: Map<string, number>,
  signal: AbortSignal,
): AsyncIterable<Finding> {
  const chainId = numberOf(await node.call('eth_chainId', [], signal));
  if (chainId !== config.chainId) {
    yield problem(
      `Chain id ${chainId}, but ${config.code} has ${config.chainId}: the URL leads to another network`,
    );
    return;
  }
  yield ok(`Chain id ${chainId}`);
  const head = parseHeader(await node.call('eth_getBlockByNumber', ['latest', false], signal));
  heights.set(node.name, head.height);
  yield checkAge(head, config.blockTimeMs);
  yield await checkFinalized(node, head, signal);
  yield await checkLogs(node, config, dialect, head, signal);
  if (dialect.hasPending) yield await checkPending(node, signal);
  if (dialect.hasBalancesAtBlock) yield await checkBalances(node, head, signal);
  yield await checkBlockReceipts(node, head, signal);
  yield await checkBatch(node, config.maxBatch ?? 50, signal);
  const problems = await checkContracts(
    node,
    config.code,
    readAssets(config.code, config.assets, dialect),
    signal,
  );
  for (const { currency, problem: text } of problems) yield { ...problem(text), currency };
  for (const { currency, contract } of config.assets) {
    if (contract === undefined || problems.some((asset) => asset.currency === currency)) continue;
    yield ok(`${currency}: the contract ${contract} is there, with the right decimals`);
  }
}

function checkAge({ height, time }: EvmHeader, blockTimeMs: number | undefined): Finding {
  const seconds = Math.max(0, Math.round((Date.now() - time) / 1000));
  const text = `Block ${height}, ${seconds} seconds old`;
  if (blockTimeMs === undefined || seconds * 1000 <= 3 * blockTimeMs + 60_000) return ok(text);
  return problem(`${text}: the node is not up to date. Wait until it is synchronised, or use another one`);
}

async function checkFinalized(node: NodeClient, head: EvmHeader, signal: AbortSignal): Promise<Finding> {
  const answer = await attempt(node, 'eth_getBlockByNumber', ['finalized', false], signal);
  if (!isObject(answer)) return ok('Does not tell finalized blocks: payments wait for their confirmations');
  return ok(`Tells finalized blocks: ${head.height - parseHeader(answer).height} blocks behind the newest`);
}

async function checkLogs(
  node: NodeClient,
  config: EvmConfig,
  dialect: Dialect,
  head: EvmHeader,
  signal: AbortSignal,
): Promise<Finding> {
  const address = [...readAssets(config.code, config.assets, dialect).tokens.keys()];
  if (address.length === 0) return ok('No tokens are configured');
  const filter = { blockHash: head.hash, address, topics: [transferTopic] };
  const answer = await attempt(node, 'eth_getLogs', [filter], signal);
  if (Array.isArray(answer)) return ok('Tells logs by block hash');
  return problem('Does not tell logs by block hash, so tokens cannot be read. Use another provider');
}

async function checkPending(node: NodeClient, signal: AbortSignal): Promise<Finding> {
  const answer = await attempt(node, 'eth_getBlockByNumber', ['pending', true], signal);
  const latest = parseHeader(await node.call('eth_getBlockByNumber', ['latest', false], signal));
  const isNext =
    isObject(answer) && answer['parentHash'] !== undefined && hashOf(answer['parentHash']) === latest.hash;
  return isNext
    ? ok('Tells pending transactions')
    : ok('Does not tell pending transactions: payments are seen with their first confirmation');
}

async function checkBalances(node: NodeClient, head: EvmHeader, signal: AbortSignal): Promise<Finding> {
  const { method, params } = balancesCall([zeroAddress], head.hash);
  const answer = await attempt(node, method, params, signal);
  const balances = parseBalances([zeroAddress], answer);
  return balances
    ? ok('Tells balances by block hash: native coins sent by contracts are found')
    : warning('Does not tell balances by block hash: native coins that are sent by a contract are not found');
}

async function checkBlockReceipts(node: NodeClient, head: EvmHeader, signal: AbortSignal): Promise<Finding> {
  const answer = await attempt(node, 'eth_getBlockReceipts', [hexOf(head.height)], signal);
  return ok(
    Array.isArray(answer)
      ? 'Tells the receipts of a block'
      : 'Does not tell the receipts of a block (not needed)',
  );
}

async function checkBatch(node: NodeClient, size: number, signal: AbortSignal): Promise<Finding> {
  await node.batch(
    Array.from({ length: size }, () => ({ method: 'eth_chainId', params: [] })),
    signal,
  );
  return ok(`Takes ${node.batchSize()} calls in one request`);
}

/** The answer, or the error that the node answered with. */
async function attempt(
  node: NodeClient,
  method: string,
  params: readonly unknown[],
  signal: AbortSignal,
): Promise<unknown> {
  const [answer] = await node.batch([{ method, params }], signal);
  return answer;
}
