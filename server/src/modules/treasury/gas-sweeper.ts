/**
 * Sweeps automatically with a gas key, which can do nothing except pay for it: the money goes to the treasuries, no
 * matter who sends the transaction.
 *
 * Nothing is swept twice, because a transaction is signed and stored in one database transaction, before it is
 * broadcast. While one is open, no other is made on the network. Its nonce is in a unique index, so two servers never
 * both use it, and any replacement has the same nonce: of those, a network accepts one. After a crash, the stored one
 * is broadcast again.
 */
import { addr } from 'micro-eth-signer';
import { toUnits as parseUnits } from 'crypto-checkout/contract';
import { coinOf } from '../../core/chains/assets.js';
import { createFailures } from '../../core/shared/failures.js';
import type { EvmConnected, TreasuryContext } from './context.js';
import { forwarderFactory } from '../../core/addresses/forwarder-factory.js';
import { abandonNonce, endTransaction, recordTransaction, reopenFrom, spentLastDay } from './gas-books.js';
import { nextNonce, openTransactions } from './gas-transactions.js';
import { mostBalances, planSweeps, transactionsOf, usualGas, type SweepItem } from './plan.js';
import { signTransaction, type UnsignedTransaction } from './transaction.js';
import type { GasTransactionRow } from './tables.js';

export type GasSweeper = ReturnType<typeof createGasSweeper>;

export interface SweepTimes {
  /** The interval at which a network's addresses are checked; by default five blocks, at most a minute. */
  readonly planEveryMs?: number | undefined;
  /** After how long a transaction that is in no block is replaced by one that pays more; five minutes by default. */
  readonly stuckMs?: number | undefined;
}

/** @param privateKey 32 bytes @param times that tests shorten */
export function createGasSweeper(deps: TreasuryContext, privateKey: Uint8Array, times: SweepTimes = {}) {
  const sender = addr.fromPrivateKey(privateKey);
  const sweepers = deps.networks.flatMap((connected) => {
    const network = openNetwork(deps, connected, sender, privateKey);
    return network ? [createNetworkSweeper(deps, network, times)] : [];
  });
  return {
    /** The address of the gas key, with its checksum. */
    address: sender,
    /** Follows the open transactions, and sweeps what is due. */
    async advance(signal: AbortSignal): Promise<void> {
      const failures = createFailures();
      for (const advance of sweepers) {
        signal.throwIfAborted();
        await failures.collect(() => advance(signal));
      }
      failures.report('networks could not be swept');
    },
  };
}

/** Below, no sweep is possible: that of one address takes more. */
const leastGas = 40_000n;
/** A sweep that takes so many times the usual gas is the doing of a treasury, or of a token. */
const unusualGas = 5n;

type SweptNetwork = NonNullable<ReturnType<typeof openNetwork>>;

/** Undefined if the configuration does not let the gas key sweep the network. */
function openNetwork(
  { log }: TreasuryContext,
  connected: EvmConnected,
  sender: string,
  privateKey: Uint8Array,
) {
  const { evm, sweeps, chainId, chainAssets } = connected;
  const { mode, code } = connected.network;
  const coin = coinOf(chainAssets);
  if (!sweeps || !coin) return undefined;
  let logged: string | undefined;
  /** The treasuries that were passed over, until one of their sweeps is sent. */
  const passedOver = new Set<string>();
  return {
    connected,
    evm,
    chainId,
    coin: coin.currency,
    account: { mode, network: code, sender },
    limits: {
      /** In cents. */
      minValue: parseUnits(sweeps.minValue, 2),
      /** In wei per gas. */
      maxGasPrice: parseUnits(sweeps.maxGasPriceGwei, 9),
      /** In wei. */
      dailyBudget: parseUnits(sweeps.dailyBudget, 18),
    },
    sign: (unsigned: UnsignedTransaction) => signTransaction(unsigned, privateKey),
    /** Logs why nothing is swept, unless that was the last thing logged. Undefined once something is. */
    logReason(reason: string | undefined): void {
      if (logged === reason) return;
      logged = reason;
      if (reason !== undefined)
        log.warn({ mode, network: code }, `The gas key ${sender} does not sweep: ${reason}`);
    },
    /** Logs once why a treasury is not swept: it can give another reason each time. Undefined once it is. */
    logTreasury(treasury: string, reason: string | undefined): void {
      if (reason === undefined) passedOver.delete(treasury);
      if (reason === undefined || passedOver.has(treasury)) return;
      passedOver.add(treasury);
      log.warn(
        { mode, network: code, treasury },
        `The gas key ${sender} does not sweep the treasury ${treasury}, and continues with the next: ${reason}`,
      );
    },
  };
}

function createNetworkSweeper(deps: TreasuryContext, network: SweptNetwork, times: SweepTimes) {
  const { reader } = deps.database;
  const { account, evm, connected } = network;
  const { planEveryMs = Math.min(60_000, Math.max(2000, 5000 * connected.blockSeconds)) } = times;
  let plannedAt = -Infinity;

  return async (signal: AbortSignal): Promise<void> => {
    if (await deps.hooks.isUnsafe(reader, account.mode)) {
      network.logReason('the database may have been restored from an older backup: see "restore status"');
      return;
    }
    const open = await openTransactions(reader, account);
    if (open.length > 0) {
      await followOpen(deps, network, open, times.stuckMs ?? 300_000, signal);
      return;
    }
    if (performance.now() - plannedAt < planEveryMs) return;
    plannedAt = performance.now();
    // Before the plan: if another server sweeps meanwhile, this nonce is taken, and the outdated plan is dropped.
    const nonce = await evm.run((node) => node.nonce(account.sender, 'latest'), signal);
    if (nonce < (await nextNonce(reader, account))) {
      // A reorganisation has dropped what was mined.
      await reopenFrom(deps, account, nonce);
      return;
    }
    const due = await findDue(deps, network, signal);
    if (due.length > 0) await sweep(deps, network, due, nonce, signal);
  };
}

/** The balances of one treasury, the most valuable first. */
type Due = readonly SweepItem[];

/** The treasuries that have more than the threshold, the most valuable first. */
async function findDue(
  deps: TreasuryContext,
  { connected, evm, limits, logReason }: SweptNetwork,
  signal: AbortSignal,
): Promise<readonly Due[]> {
  const { baseFee, priorityFee } = await evm.run((node) => node.gasPrice(), signal);
  if (baseFee + priorityFee > limits.maxGasPrice) {
    logReason('gas costs more than maxGasPriceGwei');
    return [];
  }
  const plan = await planSweeps(deps, { network: connected }, signal);
  const worthOf = (items: Due) => items.reduce((sum, { worth }) => sum + (worth ?? 0n), 0n);
  return transactionsOf(plan, Number.MAX_SAFE_INTEGER)
    .map(({ items }) => [...items].sort((a, b) => ((b.worth ?? 0n) > (a.worth ?? 0n) ? 1 : -1)))
    .filter((items) => worthOf(items) >= limits.minValue)
    .sort((a, b) => (worthOf(b) > worthOf(a) ? 1 : -1));
}

/**
 * Sweeps the first treasury of which a sweep is possible. A treasury that refuses its coins, or burns gas, must not stop the others.
 */
async function sweep(
  deps: TreasuryContext,
  network: SweptNetwork,
  due: readonly Due[],
  nonce: number,
  signal: AbortSignal,
): Promise<void> {
  const { logReason, logTreasury } = network;
  const fees = await readFees(deps, network, nonce, undefined, signal);
  const nothing = whyTooMuch(network, fees, leastGas * fees.maxFee);
  if (nothing !== undefined) {
    logReason(nothing);
    return;
  }
  for (const items of due) {
    const treasury = items[0]?.treasury ?? '';
    const found = await findPossible(network, items, fees, signal);
    if ('reason' in found) {
      logTreasury(treasury, found.reason);
      continue;
    }
    logTreasury(treasury, undefined);
    const row = await sign(deps, network, { nonce, ...found }, fees, undefined);
    if (row) await broadcast(deps, network, row, signal);
    return;
  }
}

/** As many of the balances of a treasury as can be swept within the limits, or why none can: half as many at each try. */
async function findPossible(
  network: SweptNetwork,
  items: Due,
  fees: Fees,
  signal: AbortSignal,
): Promise<Pick<SweepCall, 'gasLimit' | 'data' | 'addresses'> | { readonly reason: string }> {
  const { evm, account, limits } = network;
  let reason = '';
  for (let count = Math.min(items.length, mostBalances); count >= 1; count = Math.floor(count / 2)) {
    const part = items.slice(0, count);
    const [call] = transactionsOf({ items: part }, mostBalances);
    if (!call) break;
    const { to, data } = call;
    const estimate = await evm.run((node) => node.estimateGas({ from: account.sender, to, data }), signal);
    if (typeof estimate !== 'bigint') {
      reason = `its transaction would fail: ${estimate.refused}`;
      continue;
    }
    const gasLimit = (estimate * 12n) / 10n;
    // Half of the budget is left to those that do not burn it.
    const isUnusual = estimate > unusualGas * usualGas(part);
    const budget = isUnusual ? limits.dailyBudget / 2n : limits.dailyBudget;
    const problem = whyTooMuch(network, fees, gasLimit * fees.maxFee, budget);
    if (problem === undefined) return { gasLimit, data, addresses: count };
    reason = problem;
  }
  return { reason };
}

/** Follows the attempts of the lowest open nonce until one is final: again and again, and with a higher fee if stuck. */
async function followOpen(
  deps: TreasuryContext,
  network: SweptNetwork,
  open: readonly GasTransactionRow[],
  stuckMs: number,
  signal: AbortSignal,
): Promise<void> {
  const { evm, account, logReason } = network;
  const { confirmations } = network.connected.network;
  const attempts = open.filter(({ nonce }) => nonce === open[0]?.nonce);
  const [newest] = attempts;
  if (!newest) return;
  const [head, receipts] = await evm.run(
    (node) => Promise.all([node.blockNumber(), node.receipts(attempts.map(({ tx_hash }) => tx_hash))]),
    signal,
  );
  for (const [index, attempt] of attempts.entries()) {
    const receipt = receipts[index];
    if (!receipt) continue;
    if (head - receipt.height + 1 >= confirmations) await endTransaction(deps, attempt, receipt);
    return;
  }
  const final = Math.max(0, head - confirmations + 1);
  if ((await evm.run((node) => node.nonce(account.sender, final), signal)) > newest.nonce) {
    logReason('its nonce was used by another program. No other may use the gas key');
    await abandonNonce(deps, newest);
    return;
  }
  const isStuck = deps.clock.real() - newest.created_at > stuckMs;
  const replacement = isStuck ? await replace(deps, network, newest, signal) : undefined;
  await broadcast(deps, network, replacement ?? newest, signal);
}

/** The limits on a transaction now. In wei; the fees are per gas. */
interface Fees {
  readonly maxFee: bigint;
  readonly maxPriorityFee: bigint;
  /** The lowest fee that replaces the stuck transaction. */
  readonly leastFee: bigint;
  readonly balance: bigint;
  /** Spent within a day, apart from this nonce. */
  readonly spent: bigint;
}

/** @param stuck a transaction with the same nonce, which must be replaced: nodes ask for a tenth more at least */
async function readFees(
  deps: TreasuryContext,
  { evm, account, limits }: SweptNetwork,
  nonce: number,
  stuck: GasTransactionRow | undefined,
  signal: AbortSignal,
): Promise<Fees> {
  const [{ baseFee, priorityFee }, [balance = 0n]] = await evm.run(
    (node) => Promise.all([node.gasPrice(), node.balances(undefined, [account.sender], 'latest')]),
    signal,
  );
  const raised = (fee: bigint | undefined) => (fee === undefined ? 0n : (fee * 1125n) / 1000n + 1n);
  const leastFee = raised(stuck?.max_fee);
  const wantedPriorityFee = larger(raised(stuck?.priority_fee), priorityFee);
  const maxFee = smaller(larger(leastFee, 2n * baseFee + wantedPriorityFee), limits.maxGasPrice);
  return {
    maxFee,
    maxPriorityFee: smaller(wantedPriorityFee, maxFee),
    leastFee,
    balance,
    spent: await spentLastDay(deps, account, nonce),
  };
}

/** Why a transaction must not cost as much; undefined if it may. @param most in wei */
function whyTooMuch(
  { coin, limits }: SweptNetwork,
  { balance, spent }: Fees,
  most: bigint,
  budget: bigint = limits.dailyBudget,
): string | undefined {
  if (balance < most) return `it has too little ${coin} for gas`;
  return spent + most > budget ? 'the daily budget would be exceeded' : undefined;
}

type SweepCall = Pick<UnsignedTransaction, 'nonce' | 'gasLimit' | 'data'> &
  Pick<GasTransactionRow, 'addresses'>;

/** Replaces a stuck transaction by one that pays more, within the limits on fees. */
async function replace(
  deps: TreasuryContext,
  network: SweptNetwork,
  stuck: GasTransactionRow,
  signal: AbortSignal,
): Promise<GasTransactionRow | undefined> {
  const { nonce, gas_limit: gasLimit, call_data: data, addresses } = stuck;
  const fees = await readFees(deps, network, nonce, stuck, signal);
  if (fees.maxFee < fees.leastFee) {
    network.logReason('a transaction is stuck, and replacing it would cost more than maxGasPriceGwei');
    return undefined;
  }
  const problem = whyTooMuch(network, fees, gasLimit * fees.maxFee);
  if (problem !== undefined) {
    network.logReason(`a transaction is stuck, and cannot be replaced: ${problem}`);
    return undefined;
  }
  return sign(deps, network, { nonce, gasLimit, data, addresses }, fees, stuck);
}

/** Signs and stores a call of the factory. @param stuck the transaction that it replaces */
async function sign(
  deps: TreasuryContext,
  network: SweptNetwork,
  { nonce, gasLimit, data, addresses }: SweepCall,
  { maxFee, maxPriorityFee }: Fees,
  stuck: GasTransactionRow | undefined,
): Promise<GasTransactionRow | undefined> {
  const { account, chainId, coin, logReason } = network;
  const to = forwarderFactory.address;
  const signed = network.sign({ chainId, nonce, gasLimit, to, data, maxFee, maxPriorityFee });
  const row = await recordTransaction(deps, {
    ...account,
    nonce,
    attempt: stuck ? stuck.attempt + 1 : 0,
    tx_hash: signed.txHash,
    raw: signed.raw,
    call_data: data,
    addresses,
    currency: coin,
    gas_limit: gasLimit,
    max_fee: maxFee,
    priority_fee: maxPriorityFee,
  });
  if (row) logReason(undefined);
  return row;
}

/** Any refusal is only logged: whether it was accepted shows later, and until then it is broadcast again. */
async function broadcast(
  { log }: TreasuryContext,
  { evm, account: { mode, network }, logReason }: SweptNetwork,
  { raw, tx_hash: txHash, addresses }: GasTransactionRow,
  signal: AbortSignal,
): Promise<void> {
  const refusal = await evm.run((node) => node.send(raw), signal);
  if (refusal === undefined) log.info({ mode, network, txHash, addresses }, 'Sweep sent');
  else logReason(`a node refused its transaction: ${refusal}`);
}

const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);
