/** Parses the replies of EVM nodes. Fields that are not needed are not looked at, because networks differ in them. */
import { isObject } from '../rpc/node-client.js';
import { NodeError } from '../rpc/node-error.js';

/** Hashes and addresses are lower-case hex with 0x. */
export type EvmTransaction = ReturnType<typeof parseTransaction>;
export type EvmHeader = ReturnType<typeof parseHeader>;
export type EvmBlock = ReturnType<typeof parseBlock>;
export type EvmLog = ReturnType<typeof parseLog>;
export type EvmReceipt = ReturnType<typeof parseReceipt>;

export function parseHeader(value: unknown) {
  const block = objectOf(value, 'block');
  const { baseFeePerGas: baseFee } = block;
  return {
    height: numberOf(block['number']),
    hash: hashOf(block['hash']),
    parentHash: hashOf(block['parentHash']),
    /** Epoch milliseconds. */
    time: numberOf(block['timestamp']) * 1000,
    /** 256 bytes in hex; undefined if the node gives none or an empty one. */
    logsBloom: bloomOf(block['logsBloom']),
    /** In wei per gas; 0 on networks without one. */
    baseFee: typeof baseFee === 'string' ? quantityOf(baseFee) : 0n,
  };
}

export function parseBlock(value: unknown) {
  const header = parseHeader(value);
  const { transactions } = objectOf(value, 'block');
  return { ...header, transactions: listOf(transactions).map(parseTransaction) };
}

/** A block that is not mined yet: it can lack a hash, and by some specifications its number. */
export function parsePendingBlock(value: unknown) {
  const block = objectOf(value, 'block');
  return {
    parentHash: hashOf(block['parentHash']),
    transactions: listOf(block['transactions']).map(parseTransaction),
  };
}

/** Types and most fields differ from network to network: deposits and system transactions of layer 2 lack some. */
export function parseTransaction(value: unknown) {
  const transaction = objectOf(value, 'transaction');
  const { from, to, value: amount, input } = transaction;
  return {
    hash: textOf(transaction['hash'], 66),
    /** Null in transactions that no account sent. */
    from: from === null || from === undefined ? null : addressOf(from),
    /** Null if the transaction creates a contract. */
    to: to === null || to === undefined ? null : addressOf(to),
    value: amount === null || amount === undefined ? 0n : quantityOf(amount),
    input: typeof input === 'string' ? input : '0x',
  };
}

export function parseLogs(value: unknown): EvmLog[] {
  return listOf(value).flatMap((entry) => {
    const log = objectOf(entry, 'log');
    // Sent by subscriptions for logs of orphaned blocks.
    return log['removed'] === true ? [] : [parseLog(log)];
  });
}

function parseLog(log: Readonly<Record<string, unknown>>) {
  const { data } = log;
  if (typeof data !== 'string') throw garbage('a log without data');
  return {
    address: addressOf(log['address']),
    topics: listOf(log['topics']).map((topic) => textOf(topic, 66)),
    data: data.toLowerCase(),
    blockHash: textOf(log['blockHash'], 66),
    height: numberOf(log['blockNumber']),
    transactionHash: textOf(log['transactionHash'], 66),
    /** Counted through the block. */
    logIndex: numberOf(log['logIndex']),
  };
}

export function parseReceipt(value: unknown) {
  const receipt = objectOf(value, 'receipt');
  const status = quantityOf(receipt['status']);
  return {
    transactionHash: hashOf(receipt['transactionHash']),
    blockHash: hashOf(receipt['blockHash']),
    height: numberOf(receipt['blockNumber']),
    isSuccess: status === 1n,
    logs: parseLogs(receipt['logs']),
    fee: feeOf(receipt),
  };
}

/** The payer, in lower case, and the fee, in wei; undefined on networks that do not report it. */
function feeOf(receipt: Readonly<Record<string, unknown>>) {
  const { from, gasUsed, effectiveGasPrice, l1Fee } = receipt;
  if (gasUsed === undefined || effectiveGasPrice === undefined) return undefined;
  // On layer 2, the fee for the data of the transaction is in a separate field.
  const dataFee = typeof l1Fee === 'string' ? quantityOf(l1Fee) : 0n;
  return { payer: addressOf(from), amount: quantityOf(gasUsed) * quantityOf(effectiveGasPrice) + dataFee };
}

/** True if a transaction that the node reports is in a block; undefined if it reports none. */
export function isInBlock(transaction: unknown): boolean | undefined {
  if (!isObject(transaction)) return undefined;
  return transaction['blockHash'] !== null && transaction['blockHash'] !== undefined;
}

/** The height of the block that a transaction is in; undefined if it is in none. */
export const heightOf = (transaction: unknown): number | undefined =>
  isObject(transaction) && isInBlock(transaction) === true ? numberOf(transaction['blockNumber']) : undefined;

/** Bytes in hex, such as code or what a contract returns. */
export function hexDataOf(value: unknown): string {
  if (typeof value !== 'string' || !/^0x(?:[0-9a-f]{2})*$/i.test(value))
    throw garbage('something that is not hex');
  return value;
}

/** @throws NodeError `garbage` if it is not hex */
export function quantityOf(value: unknown): bigint {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{1,64}$/i.test(value))
    throw garbage('a number that is not hex');
  return BigInt(value);
}

export function numberOf(value: unknown): number {
  const quantity = quantityOf(value);
  if (quantity > BigInt(Number.MAX_SAFE_INTEGER)) throw garbage('a number that is too large');
  return Number(quantity);
}

export function hashOf(value: unknown): string {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{64}$/i.test(value))
    throw garbage('a hash of another length');
  return value.toLowerCase();
}

function addressOf(value: unknown): string {
  return textOf(value, 42);
}

/**
 * Text of a given length that starts with 0x. A block has thousands of them, and they are only compared with others, so nothing
 * depends on the digits.
 */
function textOf(value: unknown, length: number): string {
  if (typeof value !== 'string' || value.length !== length || !value.startsWith('0x')) {
    throw garbage('a hash or an address of another length');
  }
  return value.toLowerCase();
}

function bloomOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{512}$/i.test(value)) return undefined;
  // Some networks fill it with zeros or ones, whatever the block contains. Then it says nothing.
  return /^0x(0+|f+)$/i.test(value) ? undefined : value;
}

function objectOf(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (!isObject(value)) throw garbage(`no ${what}`);
  return value;
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw garbage('no list');
  return value as readonly unknown[];
}

function garbage(what: string): NodeError {
  return new NodeError('garbage', `A node answered with ${what}`);
}
