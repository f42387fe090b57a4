/**
 * Payouts' questions to the nodes of a Bitcoin or Litecoin network: unspent outputs, fee rates, and to send a
 * transaction.
 */
import { isObject } from '../rpc/node-client.js';
import type { BlockPlace } from '../../../core/chains/chain.js';
import type { BitcoinNodes } from './bitcoin-nodes.js';
import type { BitcoinClient } from './client.js';
import { inputsOf, isHash, outputsOf, readSatoshis, type Outpoint } from './transactions.js';

export type { Outpoint } from './transactions.js';

export type FeeRates = Awaited<ReturnType<UtxoNode['feeRates']>>;

/** The place of a transaction. */
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

/** Calls throw NodesUnavailable if no node can be used. @param nodes those of the scan, so that both share a budget */
export function createUtxoNode({
  run,
  each,
  providers,
  providerOf,
}: Pick<BitcoinNodes, 'run' | 'each' | 'providers' | 'providerOf'>) {
  return {
    /** The height of the best block. */
    height: (signal: AbortSignal) => run(async (node) => (await node.info()).blocks, signal),

    /** See the client's `unspent`. */
    unspent: (outpoints: readonly Outpoint[], withMempool: boolean, signal: AbortSignal) =>
      run((node) => node.unspent(outpoints, withMempool), signal),

    /**
     * The height of a block after which no node calls any of these outputs spent, be it the lowest of theirs; undefined if
     * one does, or does not say since when they are there: a single node may be wrong, or far behind.
     */
    async unspentAt(outpoints: readonly Outpoint[], signal: AbortSignal): Promise<number | undefined> {
      const answers = await each((node) => node.unspent(outpoints, true), signal);
      const heights = answers.flat().map((output) =>
        // Counted from the block that the node named in the same answer.
        output?.height === undefined ? -1 : output.height + output.confirmations - 1,
      );
      const least = Math.min(...heights);
      return least < 0 || heights.length === 0 ? undefined : least;
    },

    /** In satoshis per 1000 virtual bytes. */
    feeRates: (signal: AbortSignal) => run((node) => node.feeRates(), signal),

    /**
     * A transaction in hexadecimal digits; undefined if the node does not have it any more.
     * @param height of its block; undefined while it waits for one
     */
    rawTransaction: (txHash: string, height: number | undefined, signal: AbortSignal) =>
      run(async (node) => {
        const blockHash = height === undefined ? undefined : await node.knownBlockHash(height);
        return node.rawTransaction(txHash, blockHash);
      }, signal),

    /**
     * The place of a transaction; undefined if it neither waits nor has an unspent output. Without `txindex=1`, a
     * node does not find a transaction whose outputs are all spent.
     */
    locate: (txHash: string, outputs: number, signal: AbortSignal) =>
      run((node) => locate(node, txHash, outputs), signal),

    /** The number of confirmations of a block; 0 if it is not on the best chain. */
    confirmations: (blockHash: string, signal: AbortSignal) =>
      run(async (node) => Math.max(0, (await node.header(blockHash))?.confirmations ?? 0), signal),

    /** The transaction that spends an output in one of the blocks from a height on; undefined if none does. */
    findSpender: (outpoint: Outpoint, from: number, signal: AbortSignal) =>
      run((node) => findSpender(node, outpoint, from), signal),

    /** False if all nodes are one provider's: nobody can confirm what it says. */
    hasSecond: providers > 1,

    /**
     * The outputs of a transaction, if nodes of two providers show it in its block, at about this depth, and none differs; otherwise
     * undefined. A node that does not know the block neither confirms nor contradicts.
     * @param spent an output that it spends
     */
    async agreedOutputs(
      { txHash, blockHash, height }: Pick<Spender, 'txHash' | 'blockHash' | 'height'>,
      spent: Outpoint,
      confirmations: number,
      signal: AbortSignal,
    ): Promise<Spender['outputs'] | undefined> {
      const all = await each(async (node) => {
        const header = await node.header(blockHash);
        if (!header) return undefined;
        // The newest block reaches one node a little later than another.
        const isDeep = header.confirmations >= Math.max(1, confirmations - 1);
        const found = isDeep ? await spenderIn(node, spent, blockHash, height) : undefined;
        return {
          provider: providerOf(node.name),
          outputs: found?.txHash === txHash ? found.outputs : undefined,
        };
      }, signal);
      const answers = all.filter((answer) => answer !== undefined);
      const outputs = answers[0]?.outputs;
      if (outputs === undefined || new Set(answers.map(({ provider }) => provider)).size < 2)
        return undefined;
      return answers.every((one) => hasOutputs(one.outputs, outputs)) ? outputs : undefined;
    },

    /** See `readTransactionFee`. */
    fee: (txHash: string, height: number, signal: AbortSignal) =>
      readTransactionFee({ run }, txHash, height, signal),

    /** @returns why the node refuses the transaction; undefined if it took it, or has it already */
    send: (transaction: string, signal: AbortSignal) => run((node) => node.send(transaction), signal),
  };
}

/** The number of outputs of a transaction that are tried. A wallet's payment usually has two. */
const outputsToTry = 20;

/**
 * The block that a transaction is in; undefined if it waits for one, or the node does not find it or has pruned its block: reading
 * that would make a healthy node count as failing, and anyone may ask.
 * @param txHash 64 lower-case hexadecimal digits
 * @throws NodesUnavailable if no node answers
 */
export async function locateTransaction(
  { run }: Pick<BitcoinNodes, 'run'>,
  txHash: string,
  signal: AbortSignal,
): Promise<BlockPlace | undefined> {
  if (!isHash(txHash)) return undefined;
  return run(async (node) => {
    const place = await locate(node, txHash, outputsToTry);
    if (place?.kind !== 'block') return undefined;
    const { pruneheight = 0 } = await node.info();
    return place.height < pruneheight ? undefined : { height: place.height, isFailed: false };
  }, signal);
}

/**
 * The cost of a transaction in a block, in satoshis; undefined if the node does not report its inputs: before Bitcoin
 * Core 25, and on Litecoin, that needs txindex=1.
 * @param txHash 64 lower-case hexadecimal digits
 * @throws NodesUnavailable if no node answers
 */
export async function readTransactionFee(
  { run }: Pick<BitcoinNodes, 'run'>,
  txHash: string,
  height: number,
  signal: AbortSignal,
): Promise<bigint | undefined> {
  return run(async (node) => {
    const found = await node.transactionWithFee(txHash, await node.knownBlockHash(height));
    const outputs = outputsOf(found);
    if (!isObject(found) || outputs.length === 0) return undefined;
    const known = readSatoshis(found['fee']);
    if (known !== undefined) return known;
    let fee = 0n;
    for (const { txHash: previous, outputIndex } of inputsOf(found)) {
      const spent = outputsOf(await node.transaction(previous))[outputIndex];
      if (!spent || spent.amount < 0n) return undefined;
      fee += spent.amount;
    }
    for (const { amount } of outputs) {
      if (amount < 0n) return undefined;
      fee -= amount;
    }
    return fee < 0n ? undefined : fee;
  }, signal);
}

async function locate(node: BitcoinClient, txHash: string, outputs: number): Promise<Place | undefined> {
  const known = await node.transaction(txHash);
  if (isObject(known)) {
    const { blockhash: blockHash } = known;
    if (!isHash(blockHash)) return { kind: 'waiting' };
    const header = await node.header(blockHash);
    // The index also has transactions of blocks that were left.
    if (!header || header.confirmations <= 0) return undefined;
    return { kind: 'block', blockHash, height: header.height, confirmations: header.confirmations };
  }
  const outpoints = Array.from({ length: outputs }, (_, outputIndex) => ({ txHash, outputIndex }));
  const found = (await node.unspent(outpoints, false)).find((output) => output !== undefined);
  if (found?.height === undefined) return undefined;
  const { height, confirmations } = found;
  return { kind: 'block', blockHash: await node.knownBlockHash(height), height, confirmations };
}

async function findSpender(node: BitcoinClient, outpoint: Outpoint, from: number) {
  const end = (await node.info()).blocks;
  for (let height = from; height <= end; height += 1) {
    const found = await spenderIn(node, outpoint, await node.knownBlockHash(height), height);
    if (found) return found;
  }
  return undefined;
}

async function spenderIn(
  node: BitcoinClient,
  { txHash, outputIndex }: Outpoint,
  blockHash: string,
  height: number,
) {
  for (const transaction of (await node.block(blockHash, height)).tx) {
    const inputs = inputsOf(transaction);
    if (!inputs.some((input) => input.txHash === txHash && input.outputIndex === outputIndex)) continue;
    const { txid, vout } = isObject(transaction) ? transaction : {};
    // Without its outputs, it would look as if it had paid somebody else.
    if (!isHash(txid) || !Array.isArray(vout)) throw node.unknownForm(`block ${height}`);
    return { txHash: txid, inputs, outputs: outputsOf(transaction), blockHash, height };
  }
  return undefined;
}

/** True if a transaction has exactly these outputs. */
export const hasOutputs = (outputs: Spender['outputs'] | undefined, expected: Spender['outputs']): boolean =>
  outputs?.length === expected.length &&
  outputs.every(
    ({ script, amount }, index) => script === expected[index]?.script && amount === expected[index].amount,
  );
