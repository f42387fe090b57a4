/** Reads from blocks what left forwarders, and what left treasuries, whether a transfer explains it or not. */
import { addressFormat } from '../../core/addresses/formats.js';
import { assetAt, coinOf, fromChain, isCoin, toChain } from '../../core/chains/assets.js';
import { topicOf } from '../networks/evm/abi.js';
import type { EvmClient } from '../networks/evm/client.js';
import { createRangeReader, type BlockRange } from '../networks/evm/read-blocks.js';
import type { EvmBlock, EvmHeader, EvmReceipt, EvmTransaction } from '../networks/evm/replies.js';
import { readTransferCall, readTransferLog, transferTopic } from '../networks/evm/token.js';
import { NodeError } from '../networks/rpc/node-error.js';
import { coinIndex, inconsistent, logIndex, readReceipts, type WithLogs } from '../networks/evm/transfers.js';
import type { WantedLogs } from '../networks/evm/wanted-logs.js';
import type { TransferRow } from '../../core/db/schema.js';
import { forwarderFactory } from '../../core/addresses/forwarder-factory.js';
import { nativeToken, readSwept, sweptTopic, type SweptLog } from './factory.js';
import { placeOf, type EvmConnected } from './context.js';
import type { TreasuryOwners } from './owners.js';
import { groupBy } from '../../core/shared/group-by.js';
import type { TreasuryPaymentRow } from './tables.js';

/** A payment as the chain reports it. Addresses are in lower case. */
interface ChainPayment {
  readonly txHash: string;
  /** As in the scan: `coinIndex`, or by the place of its log; negative if a contract sent the coin, which leaves no log. */
  readonly outputIndex: number;
  readonly treasury: string;
  /** Undefined for the coin. */
  readonly contract?: string | undefined;
  readonly address: string;
  readonly amount: bigint;
  /** False if all that is known is that this call of the treasury may have made it. */
  readonly isCertain?: boolean;
}

/** The payer of a transaction, in lower case, and the fee, in wei. */
export type TransactionFee = NonNullable<EvmReceipt['fee']>;

/** The addresses and contracts to look for. Addresses are in lower case. */
export interface Watched {
  readonly on: EvmConnected;
  readonly treasuries: readonly string[];
  /** All tokens of the network. */
  readonly contracts: readonly string[];
  /** The destinations of transfers that may be paid. */
  readonly destinations: ReadonlySet<string>;
  /** By treasury, the transfers of the coin that it may pay. */
  readonly coinTransfers: ReadonlyMap<string, readonly CoinTransfer[]>;
  /** True if the coin that treasuries send is looked for: there are such transfers, or the books have coins there. */
  readonly hasCoin: boolean;
  /** The payments that are stored already, as `keyOfPayment` names them. */
  readonly known?: ReadonlySet<string>;
}

export const keyOfPayment = (txHash: string, blockHash: string): string => `${txHash}/${blockHash}`;

type CoinMove = Pick<EvmTransaction, 'hash' | 'from' | 'to' | 'value'>;

interface CoinTransfer {
  readonly address: string;
  /** In wei. */
  readonly amount: bigint;
}

export interface TreasuryReading {
  readonly swept: readonly SweptLog[];
  /** As they are stored. */
  readonly payments: readonly TreasuryPaymentRow[];
  /** By the hash of the transaction. */
  readonly fees: ReadonlyMap<string, TransactionFee>;
  /** The last block that was read. */
  readonly to: number;
}

/**
 * @param pending the transfers that may be paid
 * @param hasCoins true if the books have some of the coin in treasuries
 */
export function watchedFor(
  on: EvmConnected,
  owners: TreasuryOwners,
  pending: readonly TransferRow[],
  hasCoins = false,
): Watched {
  const { chainAssets } = on;
  const coin = coinOf(chainAssets);
  const coinTransfers = new Map<string, CoinTransfer[]>();
  for (const row of pending.filter(({ currency }) => currency === coin?.currency)) {
    const amount = coin && toChain(coin, row.amount);
    if (amount === undefined) continue;
    for (const treasury of owners.treasuriesOf(row.merchant_id)) {
      const transfer = { address: row.address.toLowerCase(), amount };
      coinTransfers.set(treasury, [...(coinTransfers.get(treasury) ?? []), transfer]);
    }
  }
  return {
    on,
    treasuries: owners.treasuries,
    contracts: Object.values(chainAssets).flatMap((asset) =>
      isCoin(asset) ? [] : (asset.contract?.toLowerCase() ?? []),
    ),
    destinations: new Set(pending.map(({ address }) => address.toLowerCase())),
    coinTransfers,
    hasCoin: coinTransfers.size > 0 || (coin !== undefined && hasCoins),
  };
}

function wantedLogs({ treasuries, contracts }: Watched): WantedLogs[] {
  const sweeps = { address: [forwarderFactory.address.toLowerCase()], topics: [sweptTopic] };
  if (contracts.length === 0 || treasuries.length === 0) return [sweeps];
  return [sweeps, { address: contracts, topics: [transferTopic, treasuries.map(topicOf)] }];
}

/** Payments in the coin need each block's transactions; logs can be proven by headers. */
export function createTreasuryReader() {
  const headers = createRangeReader<EvmHeader>((evm, height) => evm.header(height));
  const blocks = createRangeReader<EvmHeader | EvmBlock>((evm, height) => evm.block(height));

  return {
    /** Reads some of the blocks, with the same proofs as the scan: at least one, and as many as the node accepts. */
    async read(
      evm: EvmClient,
      range: BlockRange,
      watched: Watched,
    ): Promise<TreasuryReading & { readonly blocks: readonly EvmHeader[] }> {
      const reader = watched.hasCoin ? blocks : headers;
      const read = await reader.read(evm, range, wantedLogs(watched));
      const found = await findIn(evm, read, watched);
      return { ...found, to: read.at(-1)?.block.height ?? range.to, blocks: read.map(({ block }) => block) };
    },

    /** The logs of blocks that were read before, once more. */
    async readAgain(
      evm: EvmClient,
      { from, to }: Omit<BlockRange, 'tip'>,
      watched: Watched,
    ): Promise<TreasuryReading> {
      if (from > to) return { swept: [], payments: [], fees: new Map(), to };
      const logs = await Promise.all(wantedLogs(watched).map((one) => evm.logs({ from, to, ...one })));
      const read = await Promise.all(
        [...groupBy(logs.flat(), ({ height }) => height)].map(async ([height, own]) => {
          const block = await evm.header(height);
          if (!block || own.some(({ blockHash }) => blockHash !== block.hash))
            throw inconsistent(evm, height);
          return { block, logs: own };
        }),
      );
      return { ...(await findIn(evm, read, watched)), to };
    },
  };
}

/** The movements in blocks, each payment verified by its transaction's receipt. */
async function findIn(
  evm: EvmClient,
  read: readonly WithLogs<EvmHeader | EvmBlock>[],
  watched: Watched,
): Promise<Omit<TreasuryReading, 'to'>> {
  const found = read.map(({ block, logs }) => ({
    block,
    logs,
    swept: logs.flatMap((log) => readSwept(log) ?? []),
    tokens: logs.flatMap((log) => {
      const transfer = readTransferLog(log);
      // Anybody can have a token log that a treasury sent nothing.
      if (!transfer || transfer.amount === 0n || transfer.from === transfer.to) return [];
      return watched.known?.has(keyOfPayment(log.transactionHash, block.hash)) ? [] : [{ log, transfer }];
    }),
    ...coinMovesIn(block, watched),
  }));
  const receipts = await readReceipts(
    evm,
    found.flatMap(({ block, swept, tokens, direct, calls }) =>
      [
        ...swept.map(({ txHash }) => txHash),
        ...tokens.map(({ log }) => log.transactionHash),
        ...[...direct, ...calls].map(({ hash }) => hash),
      ].map((hash) => ({ hash, block })),
    ),
  );
  const blocks = new Set(read.map(({ block }) => block.hash));
  const fees = new Map<string, TransactionFee>();
  for (const [hash, { blockHash, height, fee }] of receipts) {
    if (!blocks.has(blockHash)) throw inconsistent(evm, height);
    if (!fee) throw new NodeError('garbage', `${evm.name} answered with a receipt without a fee`);
    fees.set(hash, fee);
  }
  const hasSucceeded = ({ hash }: { readonly hash: string }) => receipts.get(hash)?.isSuccess === true;
  const payments: TreasuryPaymentRow[] = [];
  for (const { block, logs, swept, tokens, ...moves } of found) {
    const paid = tokens.map(({ log, transfer }): ChainPayment => {
      const receipt = receipts.get(log.transactionHash);
      if (!receipt) throw inconsistent(evm, block.height);
      const outputIndex = logIndex(evm, block, receipt, log, logs);
      const { from: treasury, to: address, amount } = transfer;
      return { txHash: log.transactionHash, outputIndex, treasury, contract: log.address, address, amount };
    });
    const direct = moves.direct.filter(hasSucceeded);
    for (const { hash, from, to, value } of direct) {
      paid.push({ txHash: hash, outputIndex: coinIndex, treasury: from, address: to, amount: value });
    }
    const hashes = new Set([
      ...tokens.map(({ log }) => log.transactionHash),
      ...[...moves.direct, ...moves.calls].map(({ hash }) => hash),
    ]);
    for (const treasury of new Set(moves.calls.map(({ to }) => to))) {
      const gas = [...hashes].reduce((sum, hash) => {
        const fee = fees.get(hash);
        return fee?.payer === treasury ? sum + fee.amount : sum;
      }, 0n);
      const seen = {
        treasury,
        swept,
        gas,
        isSender: moves.senders.has(treasury),
        calls: moves.calls.filter((call) => call.to === treasury && hasSucceeded(call)),
        sent: direct.filter(({ from }) => from === treasury),
      };
      const expected = watched.coinTransfers.get(treasury) ?? [];
      paid.push(...(await findContractPayments(evm, block.height, seen, expected)));
    }
    payments.push(...paid.flatMap((one) => paymentRow(watched.on, block, one, fees.get(one.txHash)) ?? []));
  }
  return { swept: found.flatMap(({ swept }) => swept), payments, fees };
}

/**
 * The coin that treasuries that are accounts sent, and the calls with which contracts may have. An account that runs the
 * code of a contract (EIP-7702) sends a batch as a call of itself.
 */
function coinMovesIn(block: EvmHeader | EvmBlock, { treasuries }: Watched) {
  const isTreasury = new Set(treasuries);
  const transactions = ('transactions' in block ? block.transactions : []).flatMap(
    ({ hash, from, to, value, input }) => (to === null ? [] : { hash, from, to, value, input }),
  );
  return {
    direct: transactions.flatMap(({ from, to, ...sent }) =>
      from !== null && sent.value > 0n && from !== to && isTreasury.has(from) ? { ...sent, from, to } : [],
    ),
    calls: transactions.filter(
      ({ from, to, input }) => isTreasury.has(to) && (from !== to || input !== '0x'),
    ),
    senders: new Set(transactions.flatMap(({ from }) => from ?? [])),
  };
}

/** @returns undefined for a token that is no asset of the network, or an amount below the books' smallest unit */
function paymentRow(
  on: EvmConnected,
  block: Pick<EvmHeader, 'height' | 'hash' | 'time'>,
  { txHash, outputIndex, treasury, contract, address, amount, isCertain = true }: ChainPayment,
  fee: TransactionFee | undefined,
): TreasuryPaymentRow | undefined {
  const asset = assetAt(on.chainAssets, contract);
  if (!asset) return undefined;
  const units = fromChain(asset, amount);
  if (units === 0n) return undefined;
  return {
    ...placeOf(on),
    tx_hash: txHash,
    output_index: outputIndex,
    treasury: canonical(treasury),
    currency: asset.currency,
    address: canonical(address),
    amount: units,
    is_exact: toChain(asset, units) === amount,
    gas: gasPaidBy(on, fee, [treasury]),
    is_certain: isCertain,
    block_height: block.height,
    block_hash: block.hash,
    paid_at: block.time,
    transfer_id: null,
    may_settle: true,
    note: null,
    noted_by: null,
    noted_at: null,
  };
}

const format = addressFormat('live', 'evm');
/** With its checksum, as it is stored. */
export const canonical = (address: string): string => format.read(address) ?? address;

/** In units of the coin, what a transaction cost one of these treasuries; 0 if somebody else paid. */
export function gasPaidBy(
  { chainAssets }: EvmConnected,
  fee: TransactionFee | undefined,
  treasuries: readonly string[],
): bigint {
  const coin = coinOf(chainAssets);
  return coin && fee && treasuries.includes(fee.payer) ? fromChain(coin, fee.amount) : 0n;
}

/** The movements of a treasury's coin that a block shows. */
interface SeenMoves {
  readonly treasury: string;
  /** True if it sent a transaction itself: then gas has left it as well, perhaps more than is known. */
  readonly isSender: boolean;
  /** In wei, what it paid for the transactions whose receipts were read. */
  readonly gas: bigint;
  /** Transactions to it that succeeded. */
  readonly calls: readonly CoinMove[];
  /** The coin that it has sent itself, as an account. */
  readonly sent: readonly CoinMove[];
  readonly swept: readonly SweptLog[];
}

/** The income of a treasury in a block, in wei, as far as the block shows it: a contract may have sent it more. */
export function incomeOf({
  treasury,
  calls,
  swept,
}: Pick<SeenMoves, 'treasury' | 'calls' | 'swept'>): bigint {
  const fromSweeps = swept
    .filter((one) => one.treasury === treasury && one.token === nativeToken)
    .reduce((sum, { amount }) => sum + amount, 0n);
  return calls.reduce((sum, { from, to, value }) => (from === to ? sum : sum + value), fromSweeps);
}

/**
 * A contract's payment has no log: it is certain if one successful transaction in the block called the treasury, the
 * destinations have more, and the treasury has exactly that less than it had and got. If the node has dropped the balances,
 * or they show something other than one payment, the operator decides.
 */
async function findContractPayments(
  evm: EvmClient,
  height: number,
  seen: SeenMoves,
  expected: readonly CoinTransfer[],
): Promise<ChainPayment[]> {
  const { treasury, calls, sent } = seen;
  const [first] = calls;
  if (first === undefined) return [];
  const paid = (list: readonly CoinTransfer[], isCertain: boolean) =>
    list.map((one, index) => ({ txHash: first.hash, outputIndex: -1 - index, treasury, isCertain, ...one }));
  const destinations = [...new Set(expected.map(({ address }) => address))];
  const changes = await balanceChanges(evm, [treasury, ...destinations], height);
  if (!changes) {
    // An account runs no code when it is called. One that called itself may have had some then (EIP-7702).
    const isPlain = calls.every(({ from }) => from !== treasury) && (await evm.code(treasury)) === '0x';
    return isPlain ? [] : paid(expected, false);
  }
  const [change = 0n, ...gained] = changes;
  const sumOf = (list: readonly { readonly value: bigint }[]) =>
    list.reduce((total, { value }) => total + value, 0n);
  const spent = incomeOf(seen) - sumOf(sent) - seen.gas - change;
  const received = destinations.flatMap((address, index) => {
    const amount = (gained[index] ?? 0n) - sumOf(sent.filter(({ to }) => to === address));
    return amount > 0n ? [{ address, amount }] : [];
  });
  const sum = received.reduce((total, { amount }) => total + amount, 0n);
  if (calls.length === 1 && sum === spent) {
    // A batch can pay several transfers to one address.
    const payments = received.flatMap((one) => {
      const here = expected.filter(({ address }) => address === one.address);
      return here.reduce((total, { amount }) => total + amount, 0n) === one.amount ? here : [one];
    });
    return paid(payments, true);
  }
  // Also if the treasury has no less: another contract may have sent it coins in the same block.
  const isPossible = (one: CoinTransfer) =>
    received.some(({ address, amount }) => address === one.address && amount >= one.amount);
  const possible = expected.filter(isPossible);
  if (possible.length > 0 || seen.isSender || spent <= 0n) return paid(possible, false);
  // It went to somebody whom no transfer names.
  return paid([{ address: '', amount: spent }], true);
}

/** The income of treasuries in one block, as far as it shows: by the order of the treasuries. */
export async function readIncome(
  evm: EvmClient,
  treasuries: readonly string[],
  height: number,
): Promise<bigint[]> {
  const [block, logs] = await Promise.all([
    evm.block(height),
    evm.logs({
      from: height,
      to: height,
      address: [forwarderFactory.address.toLowerCase()],
      topics: [sweptTopic],
    }),
  ]);
  if (!block || logs.some(({ blockHash }) => blockHash !== block.hash)) throw inconsistent(evm, height);
  const calls = block.transactions.filter(
    ({ to, value }) => value > 0n && to !== null && treasuries.includes(to),
  );
  const receipts = await readReceipts(
    evm,
    calls.map(({ hash }) => ({ hash, block })),
  );
  const swept = logs.flatMap((log) => readSwept(log) ?? []);
  return treasuries.map((treasury) =>
    incomeOf({
      treasury,
      swept,
      calls: calls.filter(({ to, hash }) => to === treasury && receipts.get(hash)?.isSuccess === true),
    }),
  );
}

/** By how much the coin of addresses rose in a block; undefined if the node does not have the balances any more. */
export async function balanceChanges(
  evm: EvmClient,
  addresses: readonly string[],
  height: number,
): Promise<bigint[] | undefined> {
  const [before, after] = await Promise.all(
    [height - 1, height].map((at) => evm.atBlock(() => evm.balances(undefined, addresses, at))),
  );
  return before && after && addresses.map((_, index) => (after[index] ?? 0n) - (before[index] ?? 0n));
}

/**
 * The payments that treasuries that are accounts have sent, and no block has yet, as far as the node reports them.
 * Their height is 0.
 * @throws NodeError if the node usually reports them, and cannot now: waiting payments would be exported once more
 */
export async function readPending(
  evm: EvmClient,
  watched: Watched,
  now: number,
): Promise<TreasuryPaymentRow[]> {
  const pending = await evm.pendingBlock();
  if (pending.kind === 'failed') {
    throw (
      pending.failure ?? new NodeError('inconsistent', `${evm.name} does not show now what waits for a block`)
    );
  }
  const transactions = pending.kind === 'value' ? pending.value.transactions : [];
  const block = { height: 0, hash: '', time: now };
  return transactions.flatMap(({ hash: txHash, from: treasury, to, value, input }) => {
    if (treasury === null || to === null || !watched.treasuries.includes(treasury)) return [];
    const contract = watched.contracts.includes(to) ? to : undefined;
    const call = contract ? readTransferCall(input) : { to, amount: value };
    if (!call || !watched.destinations.has(call.to)) return [];
    const payment = {
      txHash,
      outputIndex: coinIndex,
      treasury,
      contract,
      address: call.to,
      amount: call.amount,
    };
    return paymentRow(watched.on, block, payment, undefined) ?? [];
  });
}
