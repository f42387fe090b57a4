/** Reads from final blocks what left forwarders, and what treasuries paid to the destinations of pending transfers. */
import { forwarderFactory } from './forwarder-factory.js';
import { word } from '../chains/evm/abi.js';
import { hexOf } from '../chains/evm/read-blocks.js';
import {
  parseBlock,
  parseHeader,
  parseLogs,
  quantityOf,
  type EvmBlock,
  type EvmLog,
} from '../chains/evm/replies.js';
import { readTransferLog, transferTopic } from '../chains/evm/token.js';
import { isObject, type NodeClient } from '../chains/rpc/node-client.js';
import { RpcFailure } from '../chains/rpc/node-error.js';
import { readSwept, sweptTopic, type Swept } from './factory.js';

export interface SweptLog extends Swept {
  readonly txHash: string;
  readonly logIndex: number;
  readonly height: number;
  readonly blockHash: string;
}

/** A payment of a treasury, in units of the chain. Addresses are in lower case. */
export interface TreasuryPayment {
  readonly txHash: string;
  /** -1 for the native coin. */
  readonly outputIndex: number;
  readonly treasury: string;
  /** Undefined for the native coin. */
  readonly contract: string | undefined;
  readonly address: string;
  readonly amount: bigint;
  readonly height: number;
  /** Epoch milliseconds. */
  readonly time: number;
}

/** Who paid for a transaction, and what, in wei. */
export interface TransactionFee {
  readonly txHash: string;
  readonly payer: string;
  readonly fee: bigint;
}

export interface Range {
  readonly from: number;
  readonly to: number;
}

const nativeIndex = -1;

export async function readSweptLogs(
  node: NodeClient,
  range: Range,
  signal: AbortSignal,
): Promise<SweptLog[]> {
  const logs = await readLogs(
    node,
    { ...range, address: forwarderFactory.address, topics: [sweptTopic] },
    signal,
  );
  return logs.flatMap(({ log, height }) => {
    const swept = readSwept(log);
    if (!swept) return [];
    return {
      ...swept,
      txHash: log.transactionHash,
      logIndex: log.logIndex,
      height,
      blockHash: log.blockHash,
    };
  });
}

/** What treasuries paid in tokens. @param contracts in lower case */
export async function readTokenPayments(
  node: NodeClient,
  range: Range,
  contracts: readonly string[],
  treasuries: readonly string[],
  signal: AbortSignal,
): Promise<TreasuryPayment[]> {
  if (contracts.length === 0 || treasuries.length === 0) return [];
  const topics = [transferTopic, treasuries.map((treasury) => `0x${word(treasury)}`)];
  const logs = await readLogs(node, { ...range, address: contracts, topics }, signal);
  const times = await readTimes(node, [...new Set(logs.map(({ height }) => height))], signal);
  return logs.flatMap(({ log, height }) => {
    const transfer = readTransferLog(log);
    if (!transfer) return [];
    return {
      txHash: log.transactionHash,
      outputIndex: log.logIndex,
      treasury: transfer.from,
      contract: log.address,
      address: transfer.to,
      amount: transfer.amount,
      height,
      time: times.get(height) ?? 0,
    };
  });
}

/**
 * What treasuries paid in the native coin: accounts with a transaction, and contracts from inside of one. A contract's payment
 * has no log: it is found if one successful transaction in the block called the treasury, the destination has the amount
 * more, and the treasury has exactly that less. Anything else is left to the operator.
 * @param expected by treasury, the destinations of pending transfers
 */
export async function readNativePayments(
  node: NodeClient,
  { from, to }: Range,
  expected: ReadonlyMap<string, ReadonlySet<string>>,
  signal: AbortSignal,
): Promise<TreasuryPayment[]> {
  if (expected.size === 0) return [];
  const payments: TreasuryPayment[] = [];
  for (let height = from; height <= to; height += 1) {
    const block = parseBlock(await node.call('eth_getBlockByNumber', [hexOf(height), true], signal));
    const direct = block.transactions.filter(
      (transaction) =>
        transaction.from !== null &&
        transaction.to !== null &&
        expected.get(transaction.from)?.has(transaction.to),
    );
    const calls = [...expected.keys()].filter((treasury) =>
      block.transactions.some((transaction) => transaction.to === treasury && transaction.from !== treasury),
    );
    if (direct.length === 0 && calls.length === 0) continue;
    const succeeded = await readSuccesses(node, block, signal);
    for (const { hash, from: treasury, to: address, value } of direct) {
      if (value === 0n || !succeeded.has(hash) || treasury === null || address === null) continue;
      payments.push({
        ...{ txHash: hash, outputIndex: nativeIndex, treasury, contract: undefined },
        address,
        amount: value,
        height,
        time: block.time,
      });
    }
    for (const treasury of calls) {
      payments.push(
        ...(await readContractPayments(
          node,
          block,
          treasury,
          expected.get(treasury) ?? new Set(),
          succeeded,
          signal,
        )),
      );
    }
  }
  return payments;
}

async function readContractPayments(
  node: NodeClient,
  block: EvmBlock,
  treasury: string,
  destinations: ReadonlySet<string>,
  succeeded: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<TreasuryPayment[]> {
  const calls = block.transactions.filter(({ to, hash }) => to === treasury && succeeded.has(hash));
  const [call] = calls;
  if (!call || calls.length > 1) return [];
  const places = [treasury, ...destinations];
  const answers = await node.batch(
    places.flatMap((place) =>
      [block.height - 1, block.height].map((height) => ({
        method: 'eth_getBalance',
        params: [place, hexOf(height)],
      })),
    ),
    signal,
  );
  const changes = places.map((_, index) => {
    const [before, after] = [answers[index * 2], answers[index * 2 + 1]];
    for (const answer of [before, after]) if (answer instanceof RpcFailure) throw answer;
    return quantityOf(after) - quantityOf(before);
  });
  const [spent = 0n, ...gained] = changes;
  const received = [...destinations].flatMap((address, index) => {
    const amount = gained[index] ?? 0n;
    return amount > 0n ? [{ address, amount }] : [];
  });
  const sum = received.reduce((total, { amount }) => total + amount, 0n);
  if (sum === 0n || sum !== -spent) return [];
  return received.map(({ address, amount }, index) => ({
    txHash: call.hash,
    outputIndex: nativeIndex - index,
    treasury,
    contract: undefined,
    address,
    amount,
    height: block.height,
    time: block.time,
  }));
}

async function readSuccesses(
  node: NodeClient,
  block: EvmBlock,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const hashes = block.transactions.map(({ hash }) => hash);
  const receipts = await node.batch(
    hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
    signal,
  );
  return new Set(
    hashes.filter((_, index) => isObject(receipts[index]) && receipts[index]['status'] === '0x1'),
  );
}

/** What transactions cost. On layer 2, the receipt names the fee for the data of the transaction beside it. */
export async function readFees(
  node: NodeClient,
  hashes: readonly string[],
  signal: AbortSignal,
): Promise<TransactionFee[]> {
  const receipts = await node.batch(
    hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
    signal,
  );
  return receipts.flatMap((receipt, index): TransactionFee[] => {
    if (receipt instanceof RpcFailure) throw receipt;
    return isObject(receipt) ? [{ txHash: hashes[index] ?? '', ...feeOf(receipt) }] : [];
  });
}

export function feeOf(receipt: Readonly<Record<string, unknown>>): { payer: string; fee: bigint } {
  const dataFee = typeof receipt['l1Fee'] === 'string' ? quantityOf(receipt['l1Fee']) : 0n;
  return {
    payer: String(receipt['from']).toLowerCase(),
    fee: quantityOf(receipt['gasUsed']) * quantityOf(receipt['effectiveGasPrice']) + dataFee,
  };
}

interface LogFilter extends Range {
  readonly address: string | readonly string[];
  readonly topics: readonly (string | readonly string[])[];
}

/** Halves the range if a node refuses so many blocks or logs. */
async function readLogs(
  node: NodeClient,
  { from, to, address, topics }: LogFilter,
  signal: AbortSignal,
): Promise<{ log: EvmLog; height: number }[]> {
  const [answer] = await node.batch(
    [{ method: 'eth_getLogs', params: [{ fromBlock: hexOf(from), toBlock: hexOf(to), address, topics }] }],
    signal,
  );
  if (answer instanceof RpcFailure) {
    if (from === to) throw answer;
    const middle = Math.floor((from + to) / 2);
    return [
      ...(await readLogs(node, { from, to: middle, address, topics }, signal)),
      ...(await readLogs(node, { from: middle + 1, to, address, topics }, signal)),
    ];
  }
  const entries = Array.isArray(answer) ? (answer as readonly unknown[]) : [];
  return entries.flatMap((entry) => {
    const [log] = parseLogs([entry]);
    const height = isObject(entry) ? Number(quantityOf(entry['blockNumber'])) : 0;
    return log ? [{ log, height }] : [];
  });
}

async function readTimes(
  node: NodeClient,
  heights: readonly number[],
  signal: AbortSignal,
): Promise<ReadonlyMap<number, number>> {
  const blocks = await node.batch(
    heights.map((height) => ({ method: 'eth_getBlockByNumber', params: [hexOf(height), false] })),
    signal,
  );
  return new Map(
    blocks.map((block, index) => {
      if (block instanceof RpcFailure) throw block;
      return [heights[index] ?? 0, parseHeader(block).time];
    }),
  );
}
