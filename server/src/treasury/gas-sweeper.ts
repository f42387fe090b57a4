/**
 * Sweeps by itself with a gas key, which can do nothing but pay for it: the money goes to the treasuries whoever sends the
 * transaction.
 *
 * Why nothing is swept twice: a transaction is signed and stored in one database transaction, before it is broadcast. While
 * one is open, no other is made on the network. Its nonce is in a unique index, so two servers never both take it, and
 * whatever replaces it has the same nonce: of those, a network accepts one. After a crash, the stored one is broadcast again.
 */
import { createFailures } from '../shared/failures.js';
import type { TreasuryContext } from './context.js';
import { recordTransaction, reopenFrom, spentLastDay } from './gas-books.js';
import { broadcast, followOpen, smaller } from './gas-broadcast.js';
import { nextNonce, openTransactions } from './gas-transactions.js';
import { mostBalances, planSweeps, transactionsOf, type SweepTransaction } from './plan.js';
import { openSweptNetwork, type SweptNetwork } from './swept-network.js';
import { addressOfPrivateKey } from './transaction.js';

export type GasSweeper = ReturnType<typeof createGasSweeper>;

export interface SweepTimes {
  /** How often a network's addresses are looked at; every five blocks by default, and at least once a minute. */
  readonly planEveryMs?: number | undefined;
  /** After how long a transaction that is in no block is replaced by one that pays more; five minutes by default. */
  readonly stuckMs?: number | undefined;
}

/** @param privateKey 32 bytes @param times that tests shorten */
export function createGasSweeper(deps: TreasuryContext, privateKey: Uint8Array, times: SweepTimes = {}) {
  const sender = addressOfPrivateKey(privateKey);
  const sweepers = deps.networks.flatMap((connected) => {
    const network = openSweptNetwork(deps.log, connected, sender, privateKey);
    return network ? [createNetworkSweeper(deps, network, times)] : [];
  });
  return {
    /** Of the gas key, with its checksum. */
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

function createNetworkSweeper(deps: TreasuryContext, network: SweptNetwork, times: SweepTimes) {
  const { reader } = deps.database;
  const { account, evm, connected } = network;
  const { planEveryMs = Math.min(60_000, Math.max(2000, 5000 * connected.blockSeconds)) } = times;
  let plannedAt = -Infinity;

  return async (signal: AbortSignal): Promise<void> => {
    const isTrusted = await deps.guard.ensureTrusted(reader, account.mode).then(
      () => true,
      () => false,
    );
    if (!isTrusted) {
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
    if (due) await send(deps, network, due, nonce, signal);
  };
}

/** What is worth most among the treasuries that have more than the threshold. */
async function findDue(
  deps: TreasuryContext,
  { connected, evm, limits, logReason }: SweptNetwork,
  signal: AbortSignal,
): Promise<SweepTransaction | undefined> {
  const { baseFee, priorityFee } = await evm.run((node) => node.gasPrice(), signal);
  if (baseFee + priorityFee > limits.maxGasPrice) {
    logReason('gas costs more than maxGasPriceGwei');
    return undefined;
  }
  const plan = await planSweeps(
    deps,
    { network: connected, merchantId: undefined, baseCurrency: 'USD', minimum: 0n, everything: false },
    signal,
  );
  const worthOf = ({ items }: SweepTransaction) => items.reduce((sum, { worth }) => sum + (worth ?? 0n), 0n);
  const byTreasury = transactionsOf(plan, Number.MAX_SAFE_INTEGER).filter(
    (transaction) => worthOf(transaction) >= limits.minValue,
  );
  const [best] = byTreasury.sort((a, b) => (worthOf(b) > worthOf(a) ? 1 : -1));
  if (!best) return undefined;
  // What is worth most goes first.
  const items = [...best.items].sort((a, b) => ((b.worth ?? 0n) > (a.worth ?? 0n) ? 1 : -1));
  return transactionsOf({ items }, mostBalances)[0];
}

async function send(
  deps: TreasuryContext,
  network: SweptNetwork,
  { to, data, items }: SweepTransaction,
  nonce: number,
  signal: AbortSignal,
): Promise<void> {
  const { evm, account, limits, chainId, coin, logReason } = network;
  const { sender } = account;
  const { baseFee, priorityFee } = await evm.run((node) => node.gasPrice(), signal);
  const [estimate, balances] = await evm.run(
    (node) =>
      Promise.all([
        node.estimateGas({ from: sender, to, data }),
        node.balances(undefined, [sender], 'latest'),
      ]),
    signal,
  );
  if (typeof estimate !== 'bigint') {
    logReason(`its transaction would fail: ${estimate.refused}`);
    return;
  }
  const gasLimit = (estimate * 12n) / 10n;
  const maxFee = smaller(2n * baseFee + priorityFee, limits.maxGasPrice);
  const most = gasLimit * maxFee;
  if ((balances[0] ?? 0n) < most) {
    logReason(`it has too little ${coin} for gas`);
    return;
  }
  if ((await spentLastDay(deps, account)) + most > limits.dailyBudget) {
    logReason('the daily budget would be exceeded');
    return;
  }
  const maxPriorityFee = smaller(priorityFee, maxFee);
  const unsigned = { chainId, nonce, gasLimit, to, data, maxFee, maxPriorityFee };
  const row = await recordTransaction(deps, network, unsigned, 0, items.length);
  if (!row) return;
  logReason(undefined);
  await broadcast(deps, network, row, signal);
}
