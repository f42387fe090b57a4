/** Typed calls of one Bitcoin Core or Litecoin Core node: the only place that knows its methods and what their errors mean. */
import * as z from 'zod/mini';
import { isObject, type NodeClient, type RpcCall } from '../rpc/node-client.js';
import { ifRefused, NodeError, RpcFailure, unlessRefused } from '../rpc/node-error.js';
import type { PendingAnswer } from '../forgotten.js';
import { isHash, readSatoshis, type Outpoint } from './transactions.js';

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

export type BlockchainInfo = Awaited<ReturnType<BitcoinClient['info']>>;

export type BitcoinClient = ReturnType<typeof createBitcoinClient>;

/** Bitcoin Core's error codes that mean something to us. */
/** Blocks by which a node lacks so much that it still has transactions waiting which others have mined. */
const farBehind = 6;

const codes = {
  /** Among others: a block that is not on this node's disk. */
  misc: -1,
  /** An unknown block or transaction. */
  unknown: -5,
  /** A height above the head. */
  invalidParameter: -8,
  /** "Transaction already in block chain". */
  alreadyInChain: -27,
  methodNotFound: -32601,
} as const;

/** It cannot be read, it spends what does not exist, or it breaks a rule. Other errors are about the node. */
const refusals: ReadonlySet<number> = new Set([-22, -25, -26]);

/** The number of blocks that the estimate of the fee is for. */
const blocksToWait = 6;

const hash = z.string().check(z.regex(/^[0-9a-f]{64}$/));
const count = z.int().check(z.nonnegative());
/** Whole coins as a JSON number, to satoshis; undefined if it is absent or cannot be read. */
const satoshis = z.optional(z.pipe(z.unknown(), z.transform(readSatoshis)));

const blockchainInfo = z.object({
  blocks: count,
  /** The height of the best header that the node knows. */
  headers: count,
  bestblockhash: hash,
  // The rest only informs: a provider that answers for a node may leave it out.
  /** Such as main, test or regtest. */
  chain: z.catch(z.string(), ''),
  /** The median time of the last eleven blocks, in epoch seconds. */
  mediantime: z.catch(z.optional(count), undefined),
  initialblockdownload: z.catch(z.optional(z.boolean()), undefined),
  /** The lowest block that a pruned node still has; absent if it has all. */
  pruneheight: z.catch(z.optional(count), undefined),
});
const networkInfo = z.object({
  subversion: z.catch(z.string(), ''),
  version: z.catch(z.optional(count), undefined),
  connections: z.catch(z.optional(count), undefined),
  localrelay: z.catch(z.optional(z.boolean()), undefined),
});
const header = z.object({ height: count, confirmations: z.int(), time: count });
/** The transactions are read where their outputs matter. Transactions before the first block are left out. */
const block = z.object({
  hash,
  height: count,
  time: count,
  previousblockhash: z.optional(hash),
  tx: z.array(z.unknown()),
});
const unspent = z.object({
  value: satoshis,
  confirmations: count,
  bestblock: hash,
  scriptPubKey: z.object({ hex: z.string() }),
});
/** By hand, because a mempool can have hundreds of thousands. */
const hashes = z.custom<readonly string[]>((value) => Array.isArray(value) && value.every(isHash));

/**
 * Every call throws NodeError if the node cannot be used or its answer cannot be read, and RpcFailure if the node refuses the
 * call, as far as its result has no value for that.
 */
export function createBitcoinClient(node: NodeClient, signal: AbortSignal) {
  const { name } = node;

  const call = (method: string, ...params: readonly unknown[]) => node.call(method, params, signal);

  /** The answers of several calls in one request. @param missing the error of calls whose answer is undefined */
  async function callAll(calls: readonly RpcCall[], missing?: number): Promise<readonly unknown[]> {
    const answers = await node.batch(calls, signal);
    return answers.map((answer) => {
      if (!(answer instanceof RpcFailure)) return answer;
      if (answer.code === missing) return undefined;
      throw answer;
    });
  }

  /**
   * The node's answer about a transaction; undefined if the node does not have it any more: other errors do not mean
   * that.
   */
  const unlessGone = <T>(answer: Promise<T>): Promise<T | undefined> =>
    ifRefused(answer, (failure) => {
      if (failure.code === codes.unknown || failure.code === codes.misc) return undefined;
      throw failure;
    });

  function read<S extends z.ZodMiniType>(form: S, what: string, answer: unknown): z.output<S> {
    const found = z.safeParse(form, answer);
    if (!found.success) throw unknownForm(what);
    return found.data;
  }

  const unknownForm = (what: string) =>
    new NodeError('garbage', `${name} answered ${what} in a form that Bitcoin Core does not have`);

  /** The hash of the best chain's block at a height; undefined above the node's head. */
  async function blockHash(height: number): Promise<string | undefined> {
    const found = await unlessRefused(call('getblockhash', height), codes.invalidParameter);
    return read(z.optional(hash), 'getblockhash', found);
  }

  /** Undefined if the node does not know the block. Confirmations are -1 if it is not on the best chain. */
  async function headerOf(blockHash: string) {
    const found = await unlessRefused(call('getblockheader', blockHash), codes.unknown);
    return read(z.optional(header), 'getblockheader', found);
  }

  return {
    /** `node 1` for the first of the configuration. */
    name,
    unknownForm,
    info: async () => read(blockchainInfo, 'getblockchaininfo', await call('getblockchaininfo')),
    blockHash,
    header: headerOf,

    /** The same as `blockHash` for a block that there is. @throws NodeError if the node has not read it yet */
    async knownBlockHash(height: number): Promise<string> {
      const found = await blockHash(height);
      if (found !== undefined) return found;
      throw new NodeError('behind', `${name} is still catching up: it does not have block ${height}`);
    },

    /** A block with its transactions. @throws RpcFailure with the way out if the node has dropped it */
    async block(blockHash: string, height: number) {
      const answer = await ifRefused(call('getblock', blockHash, 2), (failure) => {
        // "Block not available (pruned data)".
        if (failure.code !== codes.misc || !failure.message.includes('pruned')) throw failure;
        throw new RpcFailure(
          codes.misc,
          `${name} no longer has block ${height}: it was pruned. Add a node that has it, or set a higher prune= and start the node with -reindex`,
        );
      });
      const found = read(block, `block ${height}`, answer);
      if (found.hash !== blockHash || found.height !== height) throw unknownForm(`block ${height}`);
      return found;
    },

    /** The hashes of the waiting transactions. Some providers offer only this list. */
    async mempool() {
      const methods = ['getbestblockhash', 'getmempoolinfo', 'getrawmempool', 'getbestblockhash'];
      const answers = await node.batch(
        methods.map((method) => ({ method, params: [] })),
        signal,
      );
      const [head, about, listed, headAfter] = answers.map((answer, index) => {
        if (!(answer instanceof RpcFailure)) return answer;
        if (index === 1 && answer.code === codes.methodNotFound) return {};
        throw answer;
      });
      const { loaded } = read(z.object({ loaded: z.optional(z.boolean()) }), 'getmempoolinfo', about);
      return {
        /** Until the node has read its file, transactions are missing that were never dropped. */
        isLoaded: loaded !== false,
        txids: read(hashes, 'getrawmempool', listed),
        /** The hash of the node's head at that moment; null if it changed just then. */
        head: head === headAfter ? read(hash, 'getbestblockhash', head) : null,
      };
    },

    /** Transactions as the node shows them, in the order of the hashes; undefined for those it does not know. */
    transactions: (txids: readonly string[]) =>
      callAll(
        txids.map((txid) => ({ method: 'getrawtransaction', params: [txid, 1] })),
        codes.unknown,
      ),

    /**
     * A node that has more blocks than were scanned cannot say that it does not know a transaction: without an index, it does not find
     * those of its blocks. Nor can one that is still reading its mempool, and one that is far behind can say nothing.
     * @param height of the last block that was scanned
     */
    async areWaiting(txids: readonly string[], height: number): Promise<PendingAnswer[]> {
      const asked = txids.map((txid) => ({ method: 'getrawtransaction', params: [txid, 1] }));
      const answers = await node.batch([...asked, { method: 'getmempoolinfo', params: [] }], signal);
      const about = answers[txids.length];
      const isLoaded = !isObject(about) || about['loaded'] !== false;
      // Asked last: it may get a block meanwhile.
      const { blocks } = read(blockchainInfo, 'getblockchaininfo', await call('getblockchaininfo'));
      return answers.slice(0, txids.length).map((answer) => {
        if (blocks < height - farBehind) return undefined;
        if (!(answer instanceof RpcFailure)) {
          if (!isObject(answer) || !isHash(answer['blockhash'])) return 'waits';
          return blocks <= height ? 'is over' : undefined;
        }
        const isUnknown = answer.code === codes.unknown || answer.code === codes.methodNotFound;
        return isUnknown && isLoaded && blocks <= height ? 'unknown' : undefined;
      });
    },

    /** A transaction as the node shows it; undefined if it waits for no block, and the node has no index of them. */
    transaction: (txHash: string) => unlessRefused(call('getrawtransaction', txHash, 1), codes.unknown),

    /**
     * A transaction in a block as the node shows it, with its fee if the node reports it; undefined if the node has
     * dropped it.
     */
    transactionWithFee: (txHash: string, blockHash: string) =>
      unlessGone(call('getrawtransaction', txHash, 2, blockHash)),

    /**
     * A transaction in hexadecimal digits; undefined if the node does not have it any more: a pruned block, or a transaction that
     * has left the mempool, is no failure of the node.
     * @param blockHash of the block that it is in; undefined while it waits for one
     */
    async rawTransaction(txHash: string, blockHash: string | undefined): Promise<string | undefined> {
      const at = blockHash === undefined ? [] : [blockHash];
      const found = await unlessGone(call('getrawtransaction', txHash, 0, ...at));
      return typeof found === 'string' ? found : undefined;
    },

    /**
     * In the order of the outpoints; undefined for an output that is spent, or does not exist.
     * @param withMempool also counts transactions that wait for a block: their outputs exist, and the outputs that they
     * spend are spent
     */
    async unspent(
      outpoints: readonly Outpoint[],
      withMempool: boolean,
    ): Promise<(UnspentOutput | undefined)[]> {
      const params = outpoints.map(({ txHash, outputIndex }) => [txHash, outputIndex, withMempool]);
      const answers = await callAll(params.map((one) => ({ method: 'gettxout', params: one })));
      const outputs = answers.map((answer) => read(z.nullable(unspent), 'gettxout', answer));
      const heads = [...new Set(outputs.flatMap((output) => output?.bestblock ?? []))];
      const heights = new Map<string, number>();
      for (const head of heads) {
        const found = await headerOf(head);
        if (!found)
          throw new NodeError('inconsistent', `${name} does not know the block that it calls its newest`);
        heights.set(head, found.height);
      }
      return outputs.map((output) => {
        if (!output) return undefined;
        const { value: amount, confirmations, scriptPubKey, bestblock } = output;
        if (amount === undefined) throw unknownForm('gettxout');
        const height = confirmations === 0 ? undefined : (heights.get(bestblock) ?? 0) - confirmations + 1;
        return { amount, script: scriptPubKey.hex, confirmations, height };
      });
    },

    /** In satoshis per 1000 virtual bytes. */
    async feeRates() {
      const methods = ['getmempoolinfo', 'getnetworkinfo'];
      const [estimate, mempool, network = {}] = await callAll(
        [
          { method: 'estimatesmartfee', params: [blocksToWait] },
          ...methods.map((method) => ({ method, params: [] })),
        ],
        // Providers often leave out what is about the node itself.
        codes.methodNotFound,
      );
      const { feerate } = read(z.object({ feerate: satoshis }), 'estimatesmartfee', estimate);
      const limits = z.object({
        mempoolminfee: satoshis,
        minrelaytxfee: satoshis,
        incrementalrelayfee: satoshis,
      });
      const found = read(limits, 'getmempoolinfo', mempool);
      const { mempoolminfee: floor, minrelaytxfee: relay = 0n, incrementalrelayfee } = found;
      const { incrementalfee } = read(z.object({ incrementalfee: satoshis }), 'getnetworkinfo', network);
      if (floor === undefined) throw unknownForm('getmempoolinfo');
      return {
        /** For a block within about six; undefined if the node has not seen enough transactions to estimate it. */
        estimate: feerate,
        /** Below this, the node takes no transaction. */
        minimum: floor > relay ? floor : relay,
        /** A replacement must pay this for its size, on top of the replaced fee (BIP-125). */
        increment: incrementalfee ?? incrementalrelayfee ?? 1000n,
      };
    },

    /** The node's report on its software and connections; undefined if it gives none, as at many providers. */
    async network() {
      const found = await unlessRefused(call('getnetworkinfo'), codes.methodNotFound);
      return read(z.optional(networkInfo), 'getnetworkinfo', found);
    },

    /** @returns why the node refuses the transaction; undefined if it took it, or has it already */
    send: (transaction: string): Promise<string | undefined> =>
      ifRefused(
        // 0: the limit is the one that the transaction was checked with, not the node's own.
        call('sendrawtransaction', transaction, 0).then(() => undefined),
        (failure) => {
          if (failure.code === codes.alreadyInChain) return undefined;
          if (refusals.has(failure.code)) return failure.message;
          throw failure;
        },
      ),
  };
}
