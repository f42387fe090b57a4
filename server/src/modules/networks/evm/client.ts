/**
 * Typed calls of one EVM node: the only place that knows the protocol's methods and what their errors mean.
 *
 * Calls that are made together, as in `Promise.all`, are sent in one request.
 */
import { balanceData, isValidSignatureData, validSignature } from './abi.js';
import { balancesCalls, readBalances } from './balance-reader.js';
import type { BlockId } from '../../../core/chains/chain.js';
import type { NodeClient } from '../rpc/node-client.js';
import type { PendingAnswer } from '../forgotten.js';
import { ifRefused, NodeError, RpcFailure, unlessRefused } from '../rpc/node-error.js';
import { isRevert } from '../rpc/refusals.js';
import { createSupport, methodNotFound } from '../rpc/support.js';
import {
  heightOf,
  hexDataOf,
  isInBlock,
  numberOf,
  parseBlock,
  parseHeader,
  parseLogs,
  parsePendingBlock,
  parseReceipt,
  parseTransaction,
  quantityOf,
  type EvmHeader,
  type EvmLog,
} from './replies.js';
import type { WantedLogs } from './wanted-logs.js';

/** A height, the newest block, or a block by its hash. */
export type BlockRef = number | 'latest' | { readonly blockHash: string };

export interface EvmCall {
  readonly from?: string;
  readonly to: string;
  readonly data: string;
}

export type GasPrice = Awaited<ReturnType<EvmClient['gasPrice']>>;

export type EvmClient = ReturnType<typeof createEvmClient>;

/** The memory of a node between pieces of work, so that requests that it refuses are not repeated each time. */
export type NodeMemory = ReturnType<typeof createNodeMemory>;

/** @param now epoch milliseconds */
export const createNodeMemory = (now: () => number = Date.now) => ({
  /** The most blocks of which it reports logs at once, as far as is known. */
  blocks: Infinity,
  finalized: createSupport(now),
  pending: createSupport(now),
  contractMoves: createSupport(now),
  /** True if it has reported the state after a block. */
  hasReportedState: false,
});

/**
 * Every call throws NodeError if the node cannot be used or its reply cannot be read, and RpcFailure if the node refuses the
 * call, as far as its result has no value for that.
 * @param kept of the node
 */
export function createEvmClient(
  node: NodeClient,
  signal: AbortSignal,
  kept: NodeMemory = createNodeMemory(),
) {
  const ask = createBatcher(node, signal);

  async function header(at: number | string): Promise<EvmHeader | undefined> {
    const answer = await ask('eth_getBlockByNumber', tagOf(at), false);
    return answer === null ? undefined : parseHeader(answer);
  }

  const head = async () => parseHeader(await ask('eth_getBlockByNumber', 'latest', false));

  async function logs({ from, to, ...filter }: WantedLogs & { from: number; to: number }): Promise<EvmLog[]> {
    const found: EvmLog[][] = [];
    const before = kept.blocks;
    for (let start = from; start <= to;) {
      const end = Math.min(to, start + kept.blocks - 1);
      const length = end - start + 1;
      try {
        found.push(
          parseLogs(await ask('eth_getLogs', { fromBlock: tagOf(start), toBlock: tagOf(end), ...filter })),
        );
        if (length === kept.blocks) kept.blocks += Math.ceil(kept.blocks / 4);
        start = end + 1;
      } catch (error) {
        if (!isTooMuch(error) || length === 1) {
          // A node that refuses a single block does so for another reason.
          kept.blocks = before;
          throw error;
        }
        kept.blocks = Math.floor(length / 2);
      }
    }
    return found.flat();
  }

  return {
    /** `node 1` for the first of the configuration. */
    name: node.name,
    chainId: async () => numberOf(await ask('eth_chainId')),
    blockNumber: async () => numberOf(await ask('eth_blockNumber')),
    /** The newest header. */
    head,

    /** The newest block that the node calls final. */
    finalized: () =>
      kept.finalized(async (): Promise<BlockId | undefined> => {
        const found = await header('finalized');
        return found && { height: found.height, hash: found.hash };
      }),

    /** Undefined above the node's head. */
    header: (height: number) => header(height),

    /** With its transactions. Undefined above the node's head. */
    async block(height: number) {
      const answer = await ask('eth_getBlockByNumber', tagOf(height), true);
      return answer === null ? undefined : parseBlock(answer);
    },

    /** The block that the node would make next. */
    pendingBlock: () =>
      kept.pending(async () => {
        const answer = await ask('eth_getBlockByNumber', 'pending', true);
        return answer === null ? undefined : parsePendingBlock(answer);
      }),

    /** True if the node knows a transaction that is in no block; undefined if it cannot answer now. */
    isPending: (txHash: string) =>
      ifRefused(
        ask('eth_getTransactionByHash', txHash).then((answer) => isInBlock(answer) === false),
        (failure) => (isUnsupported(failure) ? false : undefined),
      ),

    /** @param height of the last block that was scanned */
    waits: (txHash: string, height: number): Promise<PendingAnswer> =>
      ifRefused(
        ask('eth_getTransactionByHash', txHash).then((answer): PendingAnswer => {
          if (isInBlock(answer) === undefined) return 'unknown';
          return (heightOf(answer) ?? Infinity) <= height ? 'is over' : 'waits';
        }),
        (failure): PendingAnswer => (isUnsupported(failure) ? 'unknown' : undefined),
      ),

    /** A transaction, in a block or not; undefined if the node does not know it, or cannot answer now. */
    transaction: (txHash: string) =>
      ifRefused(
        ask('eth_getTransactionByHash', txHash).then((answer) =>
          answer === null || answer === undefined ? undefined : parseTransaction(answer),
        ),
        () => undefined,
      ),

    /** The logs of a range of blocks, in as many parts as the node needs. */
    logs,

    /** The logs of one block; undefined if the node does not have the block, or not on its chain. */
    blockLogs: (blockHash: string, filter: WantedLogs) =>
      ifRefused(ask('eth_getLogs', { blockHash, ...filter }).then(parseLogs), (failure) => {
        if (!isUnknownBlock(failure)) throw failure;
        return undefined;
      }),

    /** In the order of the hashes; undefined for transactions that are in no block. */
    receipts: (txHashes: readonly string[]) =>
      Promise.all(
        txHashes.map(async (txHash) => {
          const answer = await ask('eth_getTransactionReceipt', txHash);
          if (answer === null || answer === undefined) return undefined;
          if (isInBlock(answer) === true) return parseReceipt(answer);
          throw new NodeError('inconsistent', `${node.name} has a receipt, but not its block`);
        }),
      ),

    /** Undefined if the node does not report the receipts of a block, or not of this one now. */
    async blockReceipts(height: number) {
      const answer = await unlessRefused(ask('eth_getBlockReceipts', tagOf(height)));
      return Array.isArray(answer) ? answer.map(parseReceipt) : undefined;
    },

    /** The code at an address; 0x if there is none. */
    code: async (address: string) => hexDataOf(await ask('eth_getCode', address, 'latest')),

    /** The result of a contract's call, after the newest block by default; undefined if it reverts. */
    call: (call: EvmCall, at: number | 'latest' = 'latest') =>
      ifRefused(ask('eth_call', call, tagOf(at)).then(hexDataOf), (failure) => {
        // Only what the contract itself answers says something about it.
        if (!isOfContract(failure)) throw failure;
        return undefined;
      }),

    /**
     * True if a contract accepts a signature of a hash as its own (EIP-1271); false if there is no contract. The
     * contract is a stranger's, so its gas is limited, and no failure of the call is held against the node.
     */
    async acceptsSignature(contract: string, hash: string, signature: string): Promise<boolean> {
      const call = { to: contract, data: isValidSignatureData(hash, signature), gas: signatureGas };
      const answer = await unlessRefused(ask('eth_call', call, 'latest').then(hexDataOf));
      return answer?.toLowerCase() === validSignature;
    },

    /**
     * Balances as the chain counts them, in the order of the addresses.
     * @param token a contract; undefined for the network's own coin
     */
    async balances(token: string | undefined, addresses: readonly string[], at: BlockRef) {
      const calls = balancesCalls(token, addresses).map((data) => ask('eth_call', { data }, refOf(at)));
      const answers = await ifRefused(Promise.all(calls), (failure) => {
        // Another node may have the block, or the same one later.
        throw isUnknownBlock(failure) ? new NodeError('inconsistent', failure.message) : failure;
      });
      return readBalances(answers.map(hexDataOf), addresses.length);
    },

    /** One balance after the newest block, for nodes that run no code which is not deployed. */
    async newestBalance(token: string | undefined, address: string) {
      const answer =
        token === undefined
          ? await ask('eth_getBalance', address, 'latest')
          : await ask('eth_call', { to: token, data: balanceData(address) }, 'latest');
      return quantityOf(answer);
    },

    /**
     * A node's answer about the state after a block; undefined if it does not have that any more, or never reported
     * any.
     * @throws RpcFailure if it cannot answer now
     */
    async atBlock<T>(question: () => Promise<T>): Promise<T | undefined> {
      const answer = await ifRefused(question(), (failure) => {
        if (kept.hasReportedState && !isStateGone(failure) && !isUnsupported(failure)) throw failure;
        return undefined;
      });
      if (answer !== undefined) kept.hasReportedState = true;
      return answer;
    },

    /** The number of transactions that an address has sent until now; undefined if the node does not report it. */
    sent: (address: string) =>
      ifRefused(ask('eth_getTransactionCount', address, 'latest').then(numberOf), (failure) => {
        if (!isUnsupported(failure)) throw failure;
        return undefined;
      }),

    /** The additions of Tron's nodes to JSON-RPC, not all of which every node has. */
    offers: { contractMoves: kept.contractMoves },

    /** The transactions of an address until a block. */
    nonce: async (address: string, at: number | 'latest') =>
      numberOf(await ask('eth_getTransactionCount', address, tagOf(at))),

    /** With those that wait for a block, as far as the node reports them; undefined if it does not. */
    pendingNonce: (address: string) =>
      unlessRefused(ask('eth_getTransactionCount', address, 'pending').then(numberOf)),

    /** The gas that a transaction needs, or why it would fail. */
    estimateGas: (call: EvmCall) =>
      ifRefused(ask('eth_estimateGas', call).then(quantityOf), ({ message }) => ({ refused: message })),

    /** In wei per gas. */
    async gasPrice() {
      const [{ baseFee }, price, tip] = await Promise.all([
        head(),
        ask('eth_gasPrice').then(quantityOf),
        unlessRefused(ask('eth_maxPriorityFeePerGas').then(quantityOf)),
      ]);
      // A node without a tip still has a price that gets into a block.
      return { baseFee, priorityFee: tip ?? (price > baseFee ? price - baseFee : 0n) };
    },

    /** @returns why the node refuses a signed transaction; undefined if it took it, or has it already */
    send: (transaction: string): Promise<string | undefined> =>
      ifRefused(
        ask('eth_sendRawTransaction', transaction).then(() => undefined),
        (failure) => (isKnown.test(failure.message) && !isOfContract(failure) ? undefined : failure.message),
      ),

    /** Posts JSON to another API of the node, such as Tron's, at a path next to that of JSON-RPC. */
    post: (path: string, body: unknown) => node.post(path, body, signal),
  };
}

/** 10,000,000: more than wallets that verify a passkey themselves need. */
const signatureGas = '0x989680';

interface Waiting {
  readonly method: string;
  readonly params: readonly unknown[];
  resolve(answer: unknown): void;
  reject(error: unknown): void;
}

/** Collects the calls that are made before the next microtask, and sends them together. */
function createBatcher(node: NodeClient, signal: AbortSignal) {
  let waiting: Waiting[] = [];

  async function send(): Promise<void> {
    const sent = waiting;
    waiting = [];
    try {
      const answers = await node.batch(
        sent.map(({ method, params }) => ({ method, params })),
        signal,
      );
      for (const [index, { resolve, reject }] of sent.entries()) {
        const answer = answers[index];
        if (answer instanceof RpcFailure) reject(answer);
        else resolve(answer);
      }
    } catch (error) {
      for (const { reject } of sent) reject(error);
    }
  }

  return (method: string, ...params: readonly unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) queueMicrotask(() => void send());
      waiting.push({ method, params, resolve, reject });
    });
}

const tagOf = (at: number | string): string => (typeof at === 'number' ? `0x${at.toString(16)}` : at);

const refOf = (at: BlockRef) => (typeof at === 'object' ? at : tagOf(at));

/** Providers refuse large ranges in many words, so any error of the call counts. */
function isTooMuch(error: unknown): boolean {
  return error instanceof RpcFailure || (error instanceof NodeError && error.fault === 'too-large');
}

/** A method or parameter that the node does not have: another block would not help. */
function isUnsupported({ code }: RpcFailure): boolean {
  return code === methodNotFound || code === -32602;
}

/** Nodes keep the state only after the newest blocks, and word this error in many ways. */
function isStateGone({ code, message }: RpcFailure): boolean {
  return (
    !isRevert({ code, text: message }) &&
    /trie|state|histor|archive|prune|proof window|old block/i.test(message)
  );
}

const isKnown = /already known|already imported|known transaction/i;

/** True if a call failed in the contract, and not in the node. */
function isOfContract({ code, message }: RpcFailure): boolean {
  return isRevert({ code, text: message }) || halts.test(message);
}

/** The other ways in which code ends by its own fault, in the words of Geth. */
const halts =
  /invalid (opcode|jump)|out of gas|stack (underflow|limit|overflow)|write protection|return data out of bounds/i;

/** Geth says "missing trie node … not found" for a state that it has dropped, and "header not found" for an unknown block. */
function isUnknownBlock({ code, message }: RpcFailure): boolean {
  if (isRevert({ code, text: message }) || /trie|state/i.test(message)) return false;
  return /(header|block)\b.{0,200}\bnot (be )?(found|exist)|(unknown|no such) block|not (currently )?canonical/i.test(
    message,
  );
}
