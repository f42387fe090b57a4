/** Reads from final blocks what left forwarders, and what treasuries paid to the destinations of pending transfers. */
import { topicOf } from '../chains/evm/abi.js';
import type { BlockSpan, EvmClient } from '../chains/evm/client.js';
import type { EvmBlock } from '../chains/evm/replies.js';
import { readTransferLog, transferTopic } from '../chains/evm/token.js';
import { coinIndex, firstLogIndex } from '../chains/evm/transfers.js';
import { NodeError } from '../chains/rpc/node-error.js';
import { readSwept, sweptTopic, type Swept } from './factory.js';
import { forwarderFactory } from './forwarder-factory.js';

export interface SweptLog extends Swept {
  readonly txHash: string;
  readonly logIndex: number;
  readonly height: number;
  readonly blockHash: string;
}

/** A payment of a treasury, in units of the chain. Addresses are in lower case. */
export interface TreasuryPayment {
  readonly txHash: string;
  /** `coinIndex`, or by the place of its log in the block; negative if a contract sent the coin, which leaves no log. */
  readonly outputIndex: number;
  readonly treasury: string;
  /** Undefined for the coin. */
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

export async function readSweptLogs(evm: EvmClient, span: BlockSpan): Promise<SweptLog[]> {
  const logs = await evm.logs({ ...span, address: forwarderFactory.address, topics: [sweptTopic] });
  return logs.flatMap((log) => {
    const swept = readSwept(log);
    const { transactionHash: txHash, logIndex, height, blockHash } = log;
    return swept ? { ...swept, txHash, logIndex, height, blockHash } : [];
  });
}

/** What treasuries paid in tokens. @param contracts in lower case */
export async function readTokenPayments(
  evm: EvmClient,
  span: BlockSpan,
  contracts: readonly string[],
  treasuries: readonly string[],
): Promise<TreasuryPayment[]> {
  if (contracts.length === 0 || treasuries.length === 0) return [];
  const topics = [transferTopic, treasuries.map(topicOf)];
  const logs = await evm.logs({ ...span, address: contracts, topics });
  const times = await readTimes(evm, [...new Set(logs.map(({ height }) => height))]);
  return logs.flatMap((log) => {
    const transfer = readTransferLog(log);
    if (!transfer) return [];
    return {
      txHash: log.transactionHash,
      outputIndex: firstLogIndex + log.logIndex,
      treasury: transfer.from,
      contract: log.address,
      address: transfer.to,
      amount: transfer.amount,
      height: log.height,
      time: times.get(log.height) ?? 0,
    };
  });
}

/**
 * What treasuries paid in the coin: accounts with a transaction, and contracts from inside of one. A contract's payment has no
 * log: it is found if one successful transaction in the block called the treasury, the destination has the amount more, and
 * the treasury has exactly that less. Anything else is left to the operator.
 * @param expected by treasury, the destinations of pending transfers
 */
export async function readCoinPayments(
  evm: EvmClient,
  { from, to }: BlockSpan,
  expected: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<TreasuryPayment[]> {
  if (expected.size === 0) return [];
  const payments: TreasuryPayment[] = [];
  for (let height = from; height <= to; height += 1) {
    const block = await evm.block(height);
    if (!block) throw new NodeError('behind', `${evm.name} does not have block ${height} yet`);
    payments.push(...(await readPaymentsIn(evm, block, expected)));
  }
  return payments;
}

async function readPaymentsIn(
  evm: EvmClient,
  block: EvmBlock,
  expected: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<TreasuryPayment[]> {
  const { height, time, transactions } = block;
  const direct = transactions.filter(
    ({ from, to }) => from !== null && to !== null && expected.get(from)?.has(to),
  );
  const called = [...expected.keys()].filter((treasury) =>
    transactions.some(({ from, to }) => to === treasury && from !== treasury),
  );
  if (direct.length === 0 && called.length === 0) return [];
  const receipts = await evm.receipts(transactions.map(({ hash }) => hash));
  const succeeded = new Set(
    receipts.flatMap((receipt) => (receipt?.isSuccess ? receipt.transactionHash : [])),
  );
  const payments = direct.flatMap(({ hash, from, to, value }): TreasuryPayment[] => {
    if (value === 0n || !succeeded.has(hash) || from === null || to === null) return [];
    const paid = { txHash: hash, outputIndex: coinIndex, treasury: from, contract: undefined, address: to };
    return [{ ...paid, amount: value, height, time }];
  });
  for (const treasury of called) {
    payments.push(
      ...(await readContractPayments(evm, block, treasury, expected.get(treasury) ?? new Set(), succeeded)),
    );
  }
  return payments;
}

async function readContractPayments(
  evm: EvmClient,
  { height, time, transactions }: EvmBlock,
  treasury: string,
  destinations: ReadonlySet<string>,
  succeeded: ReadonlySet<string>,
): Promise<TreasuryPayment[]> {
  const calls = transactions.filter(({ to, hash }) => to === treasury && succeeded.has(hash));
  const [call] = calls;
  if (!call || calls.length > 1) return [];
  const places = [treasury, ...destinations];
  const [before, after] = await Promise.all(
    [height - 1, height].map((at) => evm.balances(undefined, places, at)),
  );
  const [spent = 0n, ...gained] = places.map((_, index) => (after?.[index] ?? 0n) - (before?.[index] ?? 0n));
  const received = [...destinations].flatMap((address, index) => {
    const amount = gained[index] ?? 0n;
    return amount > 0n ? [{ address, amount }] : [];
  });
  const sum = received.reduce((total, { amount }) => total + amount, 0n);
  if (sum === 0n || sum !== -spent) return [];
  return received.map(({ address, amount }, index) => ({
    txHash: call.hash,
    outputIndex: -1 - index,
    treasury,
    contract: undefined,
    address,
    amount,
    height,
    time,
  }));
}

/** What transactions cost. */
export async function readFees(evm: EvmClient, hashes: readonly string[]): Promise<TransactionFee[]> {
  const receipts = await evm.receipts(hashes);
  return receipts.flatMap((receipt) => {
    if (!receipt) return [];
    if (!receipt.fee) throw new NodeError('garbage', `${evm.name} answered with a receipt without a fee`);
    return { txHash: receipt.transactionHash, payer: receipt.fee.payer, fee: receipt.fee.amount };
  });
}

async function readTimes(evm: EvmClient, heights: readonly number[]): Promise<ReadonlyMap<number, number>> {
  const headers = await Promise.all(heights.map((height) => evm.header(height)));
  return new Map(
    headers.map((header) => {
      if (!header) throw new NodeError('behind', `${evm.name} does not have a block whose logs it reports`);
      return [header.height, header.time];
    }),
  );
}
