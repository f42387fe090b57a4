/** Chooses the coins that a payout spends, among those that the node says are unspent. */
import { hex } from '@scure/base';
import type { SpendingAccount } from './account.js';
import { scriptsOf, type SpentCoin } from './build.js';
import { dustLimit, feeOf, heaviestTransaction, transactionWeight, virtualSize } from './sizes.js';
import type { UnspentOutput } from '../chains/bitcoin/utxo-node.js';
import { chunksOf } from '../db/chunks.js';
import type { Problem } from '../shared/problem.js';
import { invalidState } from '../shared/problem.js';
import { amountIn, type PsbtNetwork } from './context.js';
import { nameOf, nameOfRow, outpointOf } from './outpoints.js';
import type { KnownCoin } from './psbt-store.js';

/** The fee of a transaction, and what it leaves as change. */
export interface FeePlan {
  readonly fee: bigint;
  /** 0n: nothing is left that would be worth an output. */
  readonly change: bigint;
  readonly virtualSize: number;
  readonly weight: number;
}

export interface UnspentCoin extends SpentCoin {
  readonly height: number | undefined;
}

export interface CoinChoice extends FeePlan {
  readonly coins: readonly UnspentCoin[];
  /** The output that the fee is taken out of; undefined if the coins pay it beside the outputs. */
  readonly bearer: number | undefined;
}

export interface CoinRequest {
  readonly to: PsbtNetwork;
  readonly account: SpendingAccount;
  /** Largest first is cheapest: they are asked about in this order. */
  readonly known: readonly KnownCoin[];
  /** Coins that must be spent, by `hash:index`. */
  readonly forced: ReadonlySet<string>;
  /** The scripts and the amounts of the outputs. */
  readonly scripts: readonly Uint8Array[];
  readonly amounts: readonly bigint[];
  /** Whether the fee may be taken out of each: not out of a refund whose fee the merchant bears. */
  readonly mayBear: readonly boolean[];
  /** In satoshis, all that the books have on the network, in whatever state; undefined if the chain has taken some of it back. */
  readonly custody: bigint | undefined;
  /** Satoshis per 1000 virtual bytes. */
  readonly rate: bigint;
}

/** How many coins are looked up at once. */
const coinsAtOnce = 100;

/** Undefined if the coins do not cover the outputs and the fee. */
export function planFee(
  { script, publicKey }: SpendingAccount,
  family: PsbtNetwork['family'],
  inputs: { readonly count: number; readonly sum: bigint },
  outputs: { readonly scripts: readonly Uint8Array[]; readonly sum: bigint },
  rate: bigint,
): FeePlan | undefined {
  const left = inputs.sum - outputs.sum;
  const bare = transactionWeight(script, inputs.count, outputs.scripts);
  if (left < feeOf(bare, rate)) return undefined;
  // All change addresses of an account have scripts of one length.
  const changeScript = scriptsOf(publicKey(1, 0), script).script;
  const weight = transactionWeight(script, inputs.count, [...outputs.scripts, changeScript]);
  const change = left - feeOf(weight, rate);
  if (change >= dustLimit(changeScript, family)) {
    return { fee: left - change, change, weight, virtualSize: virtualSize(weight) };
  }
  return { fee: left, change: 0n, weight: bare, virtualSize: virtualSize(bare) };
}

/**
 * A transaction without change, whose fee is taken out of one of the outputs.
 * @returns undefined if nodes would not relay what is left of that
 */
export function planEmptying(
  { script }: SpendingAccount,
  family: PsbtNetwork['family'],
  inputs: { readonly count: number; readonly sum: bigint },
  outputs: { readonly scripts: readonly Uint8Array[]; readonly amounts: readonly bigint[] },
  bearer: number,
  rate: bigint,
): FeePlan | undefined {
  const weight = transactionWeight(script, inputs.count, outputs.scripts);
  const fee = feeOf(weight, rate);
  const others = outputs.amounts.reduce((sum, units, index) => (index === bearer ? sum : sum + units), 0n);
  const [asked, to] = [outputs.amounts[bearer], outputs.scripts[bearer]];
  const left = inputs.sum - others - fee;
  if (asked === undefined || !to || left < dustLimit(to, family) || left > asked) return undefined;
  return { fee, change: 0n, weight, virtualSize: virtualSize(weight) };
}

/** Problem: `invalid_state` if the coins are too few, or too many for one transaction. */
export async function chooseCoins(request: CoinRequest, signal: AbortSignal): Promise<CoinChoice> {
  const { to, account, forced, scripts, amounts, rate } = request;
  const sum = amounts.reduce((all, units) => all + units, 0n);
  const isForced = (coin: KnownCoin) => forced.has(nameOfRow(coin));
  const ordered = [...request.known].sort((a, b) => {
    if (isForced(a) !== isForced(b)) return isForced(a) ? -1 : 1;
    const [first, second] = [BigInt(a.amount), BigInt(b.amount)];
    return first === second ? 0 : first > second ? -1 : 1;
  });
  const coins: UnspentCoin[] = [];
  const missing = new Set(forced);
  let total = 0n;
  for (const chunk of chunksOf(ordered, coinsAtOnce)) {
    for (const coin of await usableCoins(chunk, to, account, signal)) {
      coins.push(coin);
      total += coin.amount;
      missing.delete(nameOf(coin));
      if (missing.size > 0) continue;
      const plan = planFee(account, to.family, { count: coins.length, sum: total }, { scripts, sum }, rate);
      if (!plan) continue;
      if (plan.weight > heaviestTransaction) throw tooHeavy();
      return { ...plan, coins, bearer: undefined };
    }
  }
  const [lost] = missing;
  if (lost !== undefined) {
    throw invalidState(
      `The coin ${lost}, which this must spend so that a discarded PSBT cannot pay too, has just become uncertain. Run the export again`,
    );
  }
  const emptied = emptyWallet(request, coins, total);
  if (emptied) return emptied;
  const amount = amountIn(to.currency);
  const fee = feeOf(transactionWeight(account.script, Math.max(1, coins.length), scripts), rate);
  throw invalidState(
    `The coins are not enough: ${amount(total)} can be spent on ${to.network.name}, and this takes ${amount(sum)} and a fee of about ${amount(fee)}. Only confirmed coins of the key that are in no other PSBT count. Pay fewer transfers with --transfer ID, or wait for deposits or for the change of another PSBT${request.mayBear.includes(true) ? '' : '. Refunds whose network fee the merchant bears are never made smaller'}`,
  );
}

/**
 * Spends all coins, if there are no others that are still to be confirmed, in another PSBT or of another key. What networks
 * charged before, and charge now, is taken out of the largest output that may bear it.
 */
function emptyWallet(
  { to, account, forced, scripts, amounts, mayBear, custody, rate }: CoinRequest,
  coins: readonly UnspentCoin[],
  total: bigint,
): CoinChoice | undefined {
  if (total !== custody) return undefined;
  const [one, two] = [1, 2].map((count) => feeOf(transactionWeight(account.script, count, scripts), rate));
  // A coin that costs more than it has would only make the payout smaller.
  const worth = coins.filter((coin) => forced.has(nameOf(coin)) || coin.amount > (two ?? 0n) - (one ?? 0n));
  const inputs = { count: worth.length, sum: worth.reduce((sum, { amount }) => sum + amount, 0n) };
  const bearer = amounts.reduce(
    (most, units, index) => (mayBear[index] === true && units > (amounts[most] ?? 0n) ? index : most),
    -1,
  );
  const plan = planEmptying(account, to.family, inputs, { scripts, amounts }, bearer, rate);
  if (!plan) return undefined;
  if (plan.weight > heaviestTransaction) throw tooHeavy();
  return { ...plan, coins: worth, bearer };
}

/** Those that can be spent for certain: unspent, also by what waits, and confirmed at full depth. At most some hundred. */
export async function usableCoins(
  known: readonly KnownCoin[],
  { node, network }: PsbtNetwork,
  account: SpendingAccount,
  signal: AbortSignal,
): Promise<UnspentCoin[]> {
  const found = await node.unspent(known.map(outpointOf), true, signal);
  return known.flatMap(
    (coin, position) => usable(coin, found[position], account, network.confirmations) ?? [],
  );
}

/** Compares what the node says with the books: a coin that differs is not what we think it is. */
function usable(
  known: KnownCoin,
  found: UnspentOutput | undefined,
  account: SpendingAccount,
  confirmations: number,
): UnspentCoin | undefined {
  if (!found || found.confirmations < confirmations) return undefined;
  const amount = BigInt(known.amount);
  const { branch, derivation_index: index } = known;
  const key = account.publicKey(branch, index);
  const { script } = scriptsOf(key, account.script);
  if (found.amount !== amount || found.script !== hex.encode(script)) return undefined;
  return { ...outpointOf(known), amount, branch, index, height: found.height };
}

function tooHeavy(): Problem {
  return invalidState(
    'This takes so many coins that nodes would not relay the transaction. Pay fewer transfers at once with --transfer ID',
  );
}
