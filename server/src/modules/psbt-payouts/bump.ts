/** Makes a version of a PSBT with a higher fee, to be signed in its place (BIP-125). */
import type { AuditActor } from '../../core/merchants/audit-log.js';
import { changeScript } from './build.js';
import { feeOf } from './sizes.js';
import { invalidState } from '../../core/shared/problem.js';
import { planEmptying, planFee, weightOf } from './coins.js';
import { amountIn, outputTo, rateText, walletOf, type PsbtDeps, type Wallet } from './context.js';
import { chooseFeeRate, parseFeeRate, refuseHighFee } from './fee-rate.js';
import { look } from './follow.js';
import { newVersion, previousTransactions } from './new-version.js';
import { outpointOf, sumOf } from './outpoints.js';
import * as store from './psbt-store.js';
import type { StoredPsbt } from './psbt-store.js';
import { scopeOf } from '../../core/shared/scope.js';

export async function bump(
  deps: PsbtDeps,
  id: string,
  feeRate: string,
  actor: AuditActor,
  signal: AbortSignal,
): Promise<StoredPsbt> {
  const { database, auditLog } = deps;
  parseFeeRate(feeRate);
  const { found } = await look(deps, id, signal);
  const psbt = await store.requirePsbt(database.reader, id);
  if (psbt.state !== 'open' && psbt.state !== 'sent') {
    throw invalidState(`The PSBT is ${psbt.state}: only one that is not confirmed yet can be bumped`);
  }
  if (found.kind === 'block') {
    throw invalidState('Its transaction is in a block already: there is nothing to bump');
  }
  if (found.kind !== 'absent' && found.kind !== 'waiting') {
    throw invalidState(psbt.problem ?? 'Its coins are not there: see transfers psbt list');
  }
  const wallet = await walletOf(deps, psbt);
  const rates = await wallet.node.feeRates(signal);
  const rate = chooseFeeRate(feeRate, rates);
  const plan = planBump(psbt, wallet, rate, rates.increment);
  refuseHighFee(plan.fee, sumOf(psbt.transfers), wallet);
  const outpoints = psbt.inputs.map(outpointOf);
  // Transactions in the mempool spend these coins, and must not hide the heights of the coins.
  const unspent = await wallet.node.unspent(outpoints, false, signal);
  const coins = outpoints.map((coin, position) => ({ ...coin, height: unspent[position]?.height }));
  const previous = await previousTransactions(database.reader, wallet, coins, signal);
  return database.write(async (transaction) => {
    await deps.hooks.beforePayout(transaction, psbt.mode, psbt.merchant_id);
    const current = await store.lockPsbt(transaction, id);
    if (current.state !== psbt.state || current.versions.length !== psbt.versions.length) {
      throw invalidState('The PSBT has changed meanwhile. Look at it, and run the command again');
    }
    const version = newVersion(deps, current, plan, wallet, previous);
    await store.insertVersion(transaction, version);
    await auditLog.record(transaction, {
      ...scopeOf(psbt),
      actor,
      action: 'psbt.bumped',
      subjectId: id,
      before: { version: psbt.versions.length, feeUnits: psbt.versions.at(-1)?.fee.toString() },
      after: { version: version.number, feeUnits: version.fee.toString() },
    });
    return { ...current, versions: [...current.versions, version] };
  });
}

/** The same coins and transfers with a higher fee, which the change pays. Problem: `invalid_state`. */
function planBump(psbt: StoredPsbt, wallet: Wallet, rate: bigint, increment: bigint) {
  const amount = amountIn(wallet.currency);
  const outputs = psbt.transfers.map((transfer) => outputTo(transfer, wallet));
  const spent = { count: psbt.inputs.length, sum: sumOf(psbt.inputs) };
  const beside = spent.sum - sumOf(outputs);
  const highest = psbt.versions.reduce((most, { fee }) => (fee > most ? fee : most), 0n);
  const bearer = psbt.transfers.findIndex(({ bears_fee }) => bears_fee);
  const plan =
    bearer < 0 ? planFee(wallet, spent, outputs, rate) : planEmptying(wallet, spent, outputs, bearer, rate);
  if (!plan || (plan.change > 0n && psbt.change_index === null)) {
    throw invalidState(
      `The coins of this PSBT cannot pay that: after the transfers, ${amount(beside)} is left for the fee. Give a lower --fee-rate`,
    );
  }
  // BIP-125, rules 3 and 4: more than the replaced fee, by the price of its own size.
  const needed = highest + (BigInt(plan.virtualSize) * increment + 999n) / 1000n;
  if (plan.fee >= needed) return plan;
  const change = { script: changeScript(wallet.account, 0) };
  const weight = weightOf(wallet, spent.count, [...outputs, change]);
  let least = (needed * 1000n) / BigInt(plan.virtualSize);
  while (feeOf(weight, least) < needed) least += 1n;
  throw invalidState(
    beside < needed
      ? `The fee cannot be raised: nodes want at least ${amount(needed)} for a replacement, and after the transfers the coins have ${amount(beside)} left`
      : `--fee-rate ${rateText(rate)} is too low: the fee is ${amount(highest)} now, and nodes take a replacement from ${amount(needed)} on. Give at least ${rateText(least)}`,
  );
}
