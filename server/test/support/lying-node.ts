/**
 * A node of a network in memory, which answers in this process. It can send wrong data, lag, forget and fail in the
 * ways in which nodes do.
 */
import { readFileSync } from 'node:fs';
import { decimalsData } from '../../src/modules/networks/evm/abi.js';
import { anvilChainId } from './anvil.js';
import {
  ancestor,
  callFactory,
  gasPrice,
  gasUsed,
  lower,
  token,
  type EvmModel,
  type ModelBlock,
  type ModelTx,
} from './evm-model.js';
import { factory } from './forwarders.js';

const { code: readerCode } = JSON.parse(
  readFileSync(new URL('../../data/balance-reader.json', import.meta.url), 'utf8'),
) as { code: string };

/** The faults of a node; none while it is empty. */
export interface Lies {
  /** Answers nothing. */
  readonly isDown?: boolean;
  /** It knows these blocks: older ones, or a branch of its own. */
  readonly tip?: ModelBlock;
  /** Only every second answer is from there: one of two servers behind a balancer. */
  readonly isBalancer?: boolean;
  /** Leaves out logs: of ranges of blocks, or of single blocks too. */
  readonly logs?: 'ranges' | 'all';
  /** Headers say that a block has no logs. */
  readonly hasNoBloom?: boolean;
  /** Does not know the receipts of a block, as many providers. */
  readonly hasNoBlockReceipts?: boolean;
  readonly hasNoReceipts?: boolean;
  readonly hasNoPending?: boolean;
  /** Keeps only the newest balances. */
  readonly hasNoState?: boolean;
  /** Says that nobody has anything. */
  readonly saysZero?: boolean;
  readonly decimals?: number;
  readonly finalized?: 'absurd' | 'none';
}

interface Call {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

class Refusal extends Error {
  readonly code: number;
  constructor(message: string, code = -32000) {
    super(message);
    this.code = code;
  }
}

export interface LyingNode {
  readonly url: string;
  lies: Lies;
  requests: number;
  /** In the reverse order of their start. */
  close(): void;
}

const finalDepth = 4;
const hex = (value: number | bigint): string => `0x${value.toString(16)}`;
const noBloom = `0x${'0'.repeat(512)}`;

let started = 0;

/** Answers without a socket, which would take more time than all the rest of a history. */
export function startLyingNode(model: EvmModel): LyingNode {
  // Nothing listens there.
  const place = (started += 1);
  const url = `http://127.0.0.1:${place}/${place}`;
  const previousFetch = globalThis.fetch;
  const own: typeof fetch = async (...args) => {
    const [to, init] = args;
    if ((to instanceof URL ? to.href : to) !== url) return previousFetch(...args);
    node.requests += 1;
    if (node.lies.isDown) return new Response('down', { status: 503 });
    if (typeof init?.body !== 'string') throw new Error('A request without text');
    const body = JSON.parse(init.body) as Call | Call[];
    const answers = (Array.isArray(body) ? body : [body]).map(answer);
    const text = JSON.stringify(Array.isArray(body) ? answers : answers[0]);
    // The fields of a response that the client reads. A real one takes ten times as long.
    const response = { status: 200, headers: new Headers(), body: [Buffer.from(text)] };
    return response as unknown as Response;
  };
  globalThis.fetch = own;
  const node: LyingNode = {
    url,
    lies: {},
    requests: 0,
    close() {
      globalThis.fetch = previousFetch;
    },
  };

  function answer({ id, method, params }: Call): unknown {
    try {
      return { jsonrpc: '2.0', id, result: ask(method, params) };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { jsonrpc: '2.0', id, error: { code: error.code, message: error.message } };
    }
  }

  /** The newest block that it knows now. */
  function head(): ModelBlock {
    const { tip, isBalancer } = node.lies;
    return tip && !(isBalancer && node.requests % 2 === 0) ? tip : model.tip;
  }

  function blockAt(tip: ModelBlock, at: unknown): ModelBlock | undefined {
    if (typeof at === 'object' && at !== null && 'blockHash' in at) {
      const found = model.find(String(at.blockHash));
      return found && ancestor(tip, found.height) === found ? found : undefined;
    }
    if (at === undefined || at === 'latest' || at === 'pending') return tip;
    return ancestor(tip, Number(at));
  }

  function stateAt(tip: ModelBlock, at: unknown) {
    const block = blockAt(tip, at);
    if (!block) throw new Refusal('header not found');
    if (node.lies.hasNoState && at !== 'latest')
      throw new Refusal('missing trie node 1234 (path ) state is not available');
    return block.state;
  }

  function ask(method: string, params: readonly unknown[]): unknown {
    const tip = head();
    const [first, second] = params;
    switch (method) {
      case 'eth_chainId':
        return hex(anvilChainId);
      case 'eth_blockNumber':
        return hex(tip.height);
      case 'eth_getBlockByNumber':
        return getBlock(tip, first, second === true);
      case 'eth_getLogs':
        return getLogs(tip, first as LogFilter);
      case 'eth_getTransactionReceipt': {
        const found = node.lies.hasNoReceipts ? undefined : findTx(tip, String(first));
        return found ? receiptOf(found.block, found.tx) : null;
      }
      case 'eth_getBlockReceipts': {
        if (node.lies.hasNoBlockReceipts) throw new Refusal('the method is not available', -32601);
        const block = blockAt(tip, first);
        return block ? block.mined.map(({ tx }) => receiptOf(block, tx)) : null;
      }
      case 'eth_getTransactionByHash': {
        const found = findTx(tip, String(first));
        if (found) return transactionOf(found.tx, found.block);
        const waiting = model.mempool.find(({ hash }) => hash === first);
        return waiting && !node.lies.hasNoPending ? transactionOf(waiting, undefined) : null;
      }
      case 'eth_getCode':
        return codeAt(tip, lower(String(first)));
      case 'eth_getBalance':
        return hex(
          node.lies.saysZero ? 0n : (stateAt(tip, second).get(`coin/${lower(String(first))}`) ?? 0n),
        );
      case 'eth_getTransactionCount':
        return hex(
          node.lies.saysZero ? 0n : (stateAt(tip, second).get(`nonce/${lower(String(first))}`) ?? 0n),
        );
      case 'eth_call':
        return call(tip, first as { to?: string; data: string }, second);
      case 'eth_gasPrice':
      case 'eth_maxPriorityFeePerGas':
        return hex(gasPrice);
      default:
        throw new Refusal(`the method ${method} does not exist`, -32601);
    }
  }

  function getBlock(tip: ModelBlock, at: unknown, isFull: boolean): unknown {
    if (at === 'finalized') {
      if (node.lies.finalized === 'none') throw new Refusal('finalized block not found');
      if (node.lies.finalized === 'absurd')
        return headerOf({ ...tip, height: tip.height + 1_000_000 }, isFull);
      return headerOf(ancestor(tip, Math.max(0, tip.height - finalDepth)) ?? tip, isFull);
    }
    if (at === 'pending') {
      if (node.lies.hasNoPending) throw new Refusal('pending block is not available');
      const transactions = model.mempool.map((tx) => transactionOf(tx, undefined));
      return {
        ...headerOf(tip, false),
        number: hex(tip.height + 1),
        parentHash: tip.hash,
        hash: null,
        transactions,
      };
    }
    const block = blockAt(tip, at);
    return block ? headerOf(block, isFull) : null;
  }

  function headerOf(block: ModelBlock, isFull: boolean) {
    return {
      number: hex(block.height),
      hash: block.hash,
      timestamp: hex(block.time),
      parentHash: block.parent?.hash ?? `0x${'0'.repeat(64)}`,
      logsBloom: node.lies.hasNoBloom ? noBloom : block.bloom,
      baseFeePerGas: hex(gasPrice),
      transactions: block.mined.map(({ tx }) => (isFull ? transactionOf(tx, block) : tx.hash)),
    };
  }

  interface LogFilter {
    readonly blockHash?: string;
    readonly fromBlock?: string;
    readonly toBlock?: string;
    readonly address: string | readonly string[];
    readonly topics: readonly (string | readonly string[])[];
  }

  function getLogs(tip: ModelBlock, filter: LogFilter): unknown[] {
    const { logs } = node.lies;
    const addresses = [filter.address].flat().map(lower);
    const found: ModelBlock[] = [];
    if (filter.blockHash !== undefined) {
      const block = blockAt(tip, filter);
      if (!block) throw new Refusal('unknown block');
      if (logs !== 'all') found.push(block);
    } else if (logs === undefined) {
      const from = Number(filter.fromBlock);
      let block: ModelBlock | undefined = tip;
      for (; block && block.height >= from; block = block.parent) {
        if (block.height <= Number(filter.toBlock)) found.unshift(block);
      }
    }
    return found.flatMap((block) =>
      logsOf(block).filter(
        ({ address, topics }) =>
          addresses.includes(address) &&
          filter.topics.every((topic, place) => [topic].flat().includes(topics[place] ?? '')),
      ),
    );
  }

  function findTx(tip: ModelBlock, hash: string) {
    let block: ModelBlock | undefined = tip;
    for (let depth = 0; block && depth < 300; depth += 1, block = block.parent) {
      const found = block.mined.find(({ tx }) => tx.hash === hash);
      if (found) return { block, tx: found.tx };
    }
    return undefined;
  }

  function codeAt(tip: ModelBlock, address: string): string {
    if (address === lower(factory.address)) return factory.code;
    if (address === lower(factory.implementation)) return factory.implementationCode;
    if (address === lower(factory.deployer) || address === token) return '0x00';
    return (tip.state.get(`code/${address}`) ?? 0n) === 0n ? '0x' : '0x00';
  }

  function call(tip: ModelBlock, { to, data }: { to?: string; data: string }, at: unknown): string {
    if (to === undefined) {
      const words = data.slice(readerCode.length).match(/.{64}/g) ?? [];
      const [asset = '', , , ...owners] = words;
      const kind = BigInt(`0x${asset}`) === 0n ? 'coin' : 'token';
      const state = stateAt(tip, at);
      const balances = owners.map((owner) => state.get(`${kind}/0x${owner.slice(24)}`) ?? 0n);
      return `0x${balances.map((units) => (node.lies.saysZero || units < 0n ? 0n : units).toString(16).padStart(64, '0')).join('')}`;
    }
    if (lower(to) === token && data === decimalsData) {
      return `0x${(node.lies.decimals ?? 6).toString(16).padStart(64, '0')}`;
    }
    if (lower(to) === lower(factory.address)) return callFactory(data);
    return '0x';
  }

  return node;
}

const logsOf = (block: ModelBlock) =>
  block.mined.flatMap(({ tx, logs }) =>
    logs.map(({ index, ...log }) => ({
      ...log,
      blockHash: block.hash,
      blockNumber: hex(block.height),
      transactionHash: tx.hash,
      logIndex: hex(index),
      removed: false,
    })),
  );

function receiptOf(block: ModelBlock, { hash, from }: ModelTx) {
  const isSuccess = block.mined.some(({ tx, isSuccess: succeeded }) => tx.hash === hash && succeeded);
  return {
    transactionHash: hash,
    blockHash: block.hash,
    blockNumber: hex(block.height),
    from,
    status: isSuccess ? '0x1' : '0x0',
    gasUsed: hex(gasUsed),
    effectiveGasPrice: hex(gasPrice),
    logs: logsOf(block).filter(({ transactionHash }) => transactionHash === hash),
  };
}

const transactionOf = ({ hash, from, to, value, input }: ModelTx, block: ModelBlock | undefined) => ({
  hash,
  from,
  to,
  value: hex(value),
  input,
  blockHash: block?.hash ?? null,
  blockNumber: block ? hex(block.height) : null,
});
