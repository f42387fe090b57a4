/** What payouts ask the nodes of a Bitcoin or Litecoin network: unspent outputs, fee rates, and to send a transaction. */
import { isObject, type NodeClient } from '../../rpc/node-client.js';
import {
  callAll,
  heightOf,
  readBlockchainInfo,
  rpcCodes,
  sendTransaction,
  unknownForm,
  unlessError,
  type BitcoinNodes,
} from './bitcoin-nodes.js';
import type { BlockPlace } from '../chain.js';
import { isHash, isHeight, readSatoshis } from './transactions.js';

/** An output of a transaction, which a later one can spend. */
export interface Outpoint {
  readonly txHash: string;
  readonly outputIndex: number;
}

export interface UnspentOutput {
  /** In satoshis. */
  readonly amount: bigint;
  /** In hexadecimal digits. */
  readonly script: string;
  /** 0 while it waits for a block. */
  readonly confirmations: number;
  /** Of its block; undefined while it waits for one. */
  readonly height: number | undefined;
}

export type FeeRates = Awaited<ReturnType<UtxoNode['feeRates']>>;

/** Where a transaction is. */
export type Place =
  | { readonly kind: 'waiting' }
  | {
      readonly kind: 'block';
      readonly blockHash: string;
      readonly height: number;
      readonly confirmations: number;
    };

/** A transaction in a block that spends an output. */
export type Spender = NonNullable<Awaited<ReturnType<typeof findSpender>>>;

export type UtxoNode = ReturnType<typeof createUtxoNode>;

/** How many blocks the estimate is for. */
const blocksToWait = 6;
/** Calls throw NodesUnavailable if no node can be used. @param nodes those of the scan, so that both share a budget */
export function createUtxoNode(nodes: BitcoinNodes) {
  return {
    /** The height of the best block. */
    height: (signal: AbortSignal): Promise<number> => nodes.run((node) => readHeight(node, signal), signal),

    /**
     * In the order of the outpoints; undefined for what is spent, or does not exist.
     * @param withMempool counts what waits for a block, too: its outputs exist, and what it spends is spent
     */
    unspent: (
      outpoints: readonly Outpoint[],
      withMempool: boolean,
      signal: AbortSignal,
    ): Promise<readonly (UnspentOutput | undefined)[]> =>
      nodes.run((node) => readUnspent(node, outpoints, withMempool, signal), signal),

    /** In satoshis per 1000 virtual bytes. */
    feeRates: (signal: AbortSignal) =>
      nodes.run(async (node) => {
        const calls = [
          { method: 'estimatesmartfee', params: [blocksToWait] },
          { method: 'getmempoolinfo', params: [] },
          { method: 'getnetworkinfo', params: [] },
        ];
        const answers = await callAll(node, calls, signal);
        const [estimate, mempool, network] = answers.map((answer) => (isObject(answer) ? answer : {}));
        const floor = readSatoshis(mempool?.['mempoolminfee']);
        const relay = readSatoshis(mempool?.['minrelaytxfee']) ?? 0n;
        if (floor === undefined) throw unknownForm(node, 'getmempoolinfo');
        return {
          /** For a block within about six; undefined if the node has not seen enough transactions to estimate it. */
          estimate: readSatoshis(estimate?.['feerate']),
          /** Below this, the node takes no transaction. */
          minimum: floor > relay ? floor : relay,
          /** A replacement must pay this for its size, on top of the fee of what it replaces (BIP-125). */
          increment: readSatoshis(network?.['incrementalfee']) ?? 1000n,
        };
      }, signal),

    /** A transaction in hexadecimal digits; undefined if the node does not have it any more. */
    rawTransaction: (
      txHash: string,
      height: number | undefined,
      signal: AbortSignal,
    ): Promise<string | undefined> =>
      nodes.run(async (node) => {
        const at = height === undefined ? [] : [await node.call('getblockhash', [height], signal)];
        // A pruned block, or a transaction that has left the mempool, is no failure of the node.
        const found = await unlessError(node.call('getrawtransaction', [txHash, false, ...at], signal));
        return typeof found === 'string' ? found : undefined;
      }, signal),

    /**
     * Where a transaction is; undefined if it neither waits nor has an unspent output. Without `txindex=1`, a node does not
     * find a transaction whose outputs are all spent.
     */
    locate: (txHash: string, outputs: number, signal: AbortSignal): Promise<Place | undefined> =>
      nodes.run((node) => locate(node, txHash, outputs, signal), signal),

    /** How many confirmations a block has; 0 if it is not on the best chain. */
    confirmations: (blockHash: string, signal: AbortSignal): Promise<number> =>
      nodes.run((node) => readConfirmations(node, blockHash, signal), signal),

    /** The transaction that spends an output in one of the blocks from a height on; undefined if none does. */
    findSpender: (outpoint: Outpoint, from: number, signal: AbortSignal) =>
      nodes.run((node) => findSpender(node, outpoint, from, signal), signal),

    /** @returns why the node refuses the transaction; undefined if it took it, or has it already */
    send: (transaction: string, signal: AbortSignal): Promise<string | undefined> =>
      nodes.run((node) => sendTransaction(node, transaction, signal), signal),
  };
}

/** How many outputs of a transaction are looked for. A wallet's payment usually has two. */
const outputsToTry = 20;

/**
 * The block that a transaction is in; undefined if it waits for one, or the node does not find it.
 * @param txHash 64 lower-case hexadecimal digits
 * @throws NodesUnavailable if no node answers
 */
export async function locateTransaction(
  nodes: BitcoinNodes,
  txHash: string,
  signal: AbortSignal,
): Promise<BlockPlace | undefined> {
  if (!isHash(txHash)) return undefined;
  const place = await nodes.run((node) => locate(node, txHash, outputsToTry, signal), signal);
  return place?.kind === 'block' ? { height: place.height, isFailed: false } : undefined;
}

/**
 * What a transaction in a block cost, in satoshis; undefined if the node does not tell what its inputs were: before Bitcoin
 * Core 25, and on Litecoin, that needs txindex=1.
 * @param txHash 64 lower-case hexadecimal digits
 * @throws NodesUnavailable if no node answers
 */
export async function readTransactionFee(
  nodes: BitcoinNodes,
  txHash: string,
  height: number,
  signal: AbortSignal,
): Promise<bigint | undefined> {
  return nodes.run(async (node) => {
    const read = (...params: readonly unknown[]) =>
      unlessError(node.call('getrawtransaction', [...params], signal));
    const blockHash = await node.call('getblockhash', [height], signal);
    const found = await read(txHash, 2, blockHash);
    const outputs = outputsOf(found);
    if (!isObject(found) || outputs.length === 0) return undefined;
    const known = readSatoshis(found['fee']);
    if (known !== undefined) return known;
    let fee = -outputs.reduce((sum, { amount }) => sum + amount, 0n);
    for (const { txHash: previous, outputIndex } of inputsOf(found)) {
      const spent = outputsOf(await read(previous, 1))[outputIndex];
      if (!spent || spent.amount < 0n) return undefined;
      fee += spent.amount;
    }
    return outputs.some(({ amount }) => amount < 0n) || fee < 0n ? undefined : fee;
  }, signal);
}

async function readHeight(node: NodeClient, signal: AbortSignal): Promise<number> {
  return (await readBlockchainInfo(node, signal)).height;
}

async function readUnspent(
  node: NodeClient,
  outpoints: readonly Outpoint[],
  withMempool: boolean,
  signal: AbortSignal,
): Promise<(UnspentOutput | undefined)[]> {
  if (outpoints.length === 0) return [];
  const calls = outpoints.map(({ txHash, outputIndex }) => ({
    method: 'gettxout',
    params: [txHash, outputIndex, withMempool],
  }));
  const heights = new Map<string, number>();
  const found: (UnspentOutput | undefined)[] = [];
  for (const answer of await callAll(node, calls, signal)) {
    if (answer === null) {
      found.push(undefined);
      continue;
    }
    const { value, confirmations, bestblock, scriptPubKey } = isObject(answer) ? answer : {};
    const amount = readSatoshis(value);
    const script = isObject(scriptPubKey) ? scriptPubKey['hex'] : undefined;
    if (
      amount === undefined ||
      !isHeight(confirmations) ||
      !isHash(bestblock) ||
      typeof script !== 'string'
    ) {
      throw unknownForm(node, 'gettxout');
    }
    const head = heights.get(bestblock) ?? (await heightOf(node, bestblock, signal));
    heights.set(bestblock, head);
    const height = confirmations === 0 ? undefined : head - confirmations + 1;
    found.push({ amount, script, confirmations, height });
  }
  return found;
}

async function locate(
  node: NodeClient,
  txHash: string,
  outputs: number,
  signal: AbortSignal,
): Promise<Place | undefined> {
  const known = await unlessError(node.call('getrawtransaction', [txHash, 1], signal), rpcCodes.unknown);
  if (isObject(known)) {
    const { blockhash } = known;
    if (!isHash(blockhash)) return { kind: 'waiting' };
    const confirmations = await readConfirmations(node, blockhash, signal);
    // The index also has transactions of blocks that were left.
    if (confirmations === 0) return undefined;
    return {
      kind: 'block',
      blockHash: blockhash,
      height: await heightOf(node, blockhash, signal),
      confirmations,
    };
  }
  const outpoints = Array.from({ length: outputs }, (_, outputIndex) => ({ txHash, outputIndex }));
  const found = (await readUnspent(node, outpoints, false, signal)).find((output) => output !== undefined);
  if (found?.height === undefined) return undefined;
  const { height, confirmations } = found;
  const blockHash = await node.call('getblockhash', [height], signal);
  if (!isHash(blockHash)) throw unknownForm(node, 'getblockhash');
  return { kind: 'block', blockHash, height, confirmations };
}

async function readConfirmations(node: NodeClient, blockHash: string, signal: AbortSignal): Promise<number> {
  const header = await unlessError(node.call('getblockheader', [blockHash], signal), rpcCodes.unknown);
  const confirmations = isObject(header) ? header['confirmations'] : 0;
  if (typeof confirmations !== 'number') throw unknownForm(node, 'getblockheader');
  return Math.max(0, confirmations);
}

async function findSpender(
  node: NodeClient,
  { txHash, outputIndex }: Outpoint,
  from: number,
  signal: AbortSignal,
) {
  const end = await readHeight(node, signal);
  for (let height = from; height <= end; height += 1) {
    const blockHash = await node.call('getblockhash', [height], signal);
    const block = await node.call('getblock', [blockHash, 2], signal);
    const transactions = isObject(block) ? block['tx'] : undefined;
    if (!isHash(blockHash) || !Array.isArray(transactions)) throw unknownForm(node, `block ${height}`);
    for (const transaction of transactions) {
      const inputs = inputsOf(transaction);
      if (!inputs.some((input) => input.txHash === txHash && input.outputIndex === outputIndex)) continue;
      const { txid, vout } = isObject(transaction) ? transaction : {};
      if (!isHash(txid) || !Array.isArray(vout)) throw unknownForm(node, `block ${height}`);
      return { txHash: txid, inputs, outputs: vout.map(outputOf), blockHash, height };
    }
  }
  return undefined;
}

function inputsOf(transaction: unknown): Outpoint[] {
  const inputs: unknown = isObject(transaction) ? transaction['vin'] : undefined;
  if (!Array.isArray(inputs)) return [];
  return inputs.flatMap((input: unknown): Outpoint[] => {
    if (!isObject(input)) return [];
    const { txid, vout } = input;
    return isHash(txid) && isHeight(vout) ? [{ txHash: txid, outputIndex: vout }] : [];
  });
}

function outputsOf(transaction: unknown): { amount: bigint; script: string }[] {
  const outputs: unknown = isObject(transaction) ? transaction['vout'] : undefined;
  return Array.isArray(outputs) ? outputs.map(outputOf) : [];
}

/** Amounts in satoshis, scripts in hexadecimal digits. An output that cannot be read, such as one in Litecoin's MWEB, equals none of ours. */
function outputOf(output: unknown): { amount: bigint; script: string } {
  const { value, scriptPubKey } = isObject(output) ? output : {};
  const script = isObject(scriptPubKey) ? scriptPubKey['hex'] : undefined;
  return { amount: readSatoshis(value) ?? -1n, script: typeof script === 'string' ? script : '' };
}
