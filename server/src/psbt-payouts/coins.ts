/** Chooses the coins that a payout spends, among those that the node says are unspent. */
import { hex } from '@scure/base';
import { changeScript, scriptsOf, type PayoutOutput, type SpentCoin } from './build.js';
import { dustLimit, feeOf, largestTransaction, transactionWeight, virtualSize } from './sizes.js';
import { chunksOf } from '../db/chunks.js';
import { invalidState } from '../shared/problem.js';
import { amountIn, type Wallet } from './context.js';
import { nameOf, sumOf } from './outpoints.js';

/** The fee of a transaction, and what it leaves as change. */
export interface FeePlan {
  readonly fee: bigint;
  /** 0n: nothing is left that would be worth an output. */
  readonly change: bigint;
  readonly virtualSize: number;
}

export interface UnspentCoin extends SpentCoin {
  readonly height: number | undefined;
}

export interface CoinChoice extends FeePlan {
  readonly coins: readonly UnspentCoin[];
  /** The output that the fee is taken out of; undefined if the coins pay it beside the outputs. */
  readonly bearer: number | undefined;
}

interface CoinRequest {
  /** Largest first is cheapest: they are asked about in this order. */
  readonly known: readonly SpentCoin[];
  /** Coins that must be spent, by `hash:index`. */
  readonly forced: ReadonlySet<string>;
  /** With whether the fee may be taken out of each. */
  readonly outputs: readonly (PayoutOutput & { readonly mayBearFee: boolean })[];
  /** In satoshis, all that the books have on the network, in whatever state; undefined if the chain has taken some of it back. */
  readonly custody: bigint | undefined;
  /** Satoshis per 1000 virtual bytes. */
  readonly rate: bigint;
}

/** How many coins are looked up at once. */
const coinsAtOnce = 100;

/** How many coins are spent, and what they have. */
interface Spent {
  readonly count: number;
  readonly sum: bigint;
}

/** Undefined if the coins do not cover the outputs and the fee. */
export function planFee(
  wallet: Wallet,
  spent: Spent,
  outputs: readonly PayoutOutput[],
  rate: bigint,
): FeePlan | undefined {
  const left = spent.sum - sumOf(outputs);
  const bare = weightOf(wallet, spent.count, outputs);
  if (left < feeOf(bare, rate)) return undefined;
  const script = changeScript(wallet.account, 0);
  const weight = weightOf(wallet, spent.count, [...outputs, { script }]);
  const change = left - feeOf(weight, rate);
  return change >= dustLimit(script, wallet.family)
    ? { fee: left - change, change, virtualSize: virtualSize(weight) }
    : { fee: left, change: 0n, virtualSize: virtualSize(bare) };
}

/**
 * A transaction without change, whose fee is taken out of one of the outputs.
 * @returns undefined if nodes would not relay what is left of that
 */
export function planEmptying(
  wallet: Wallet,
  spent: Spent,
  outputs: readonly PayoutOutput[],
  bearer: number,
  rate: bigint,
): FeePlan | undefined {
  const asked = outputs[bearer];
  if (!asked) return undefined;
  const weight = weightOf(wallet, spent.count, outputs);
  const fee = feeOf(weight, rate);
  const left = asked.amount + spent.sum - sumOf(outputs) - fee;
  if (left < dustLimit(asked.script, wallet.family) || left > asked.amount) return undefined;
  return { fee, change: 0n, virtualSize: virtualSize(weight) };
}

/** Of the signed transaction. */
export const weightOf = (
  { account }: Wallet,
  coins: number,
  outputs: readonly Pick<PayoutOutput, 'script'>[],
): number =>
  transactionWeight(
    account.script,
    coins,
    outputs.map(({ script }) => script),
  );

/** Problem: `invalid_state` if the coins are too few, or too many for one transaction. */
export async function chooseCoins(
  wallet: Wallet,
  request: CoinRequest,
  signal: AbortSignal,
): Promise<CoinChoice> {
  const { forced, outputs, rate } = request;
  const isForced = (coin: SpentCoin) => forced.has(nameOf(coin));
  const ordered = [...request.known].sort((a, b) => {
    if (isForced(a) !== isForced(b)) return isForced(a) ? -1 : 1;
    return a.amount === b.amount ? 0 : a.amount > b.amount ? -1 : 1;
  });
  const coins: UnspentCoin[] = [];
  const missing = new Set(forced);
  let total = 0n;
  for (const chunk of chunksOf(ordered, coinsAtOnce)) {
    for (const coin of await usableCoins(chunk, wallet, signal)) {
      coins.push(coin);
      total += coin.amount;
      missing.delete(nameOf(coin));
      if (missing.size > 0) continue;
      const plan = planFee(wallet, { count: coins.length, sum: total }, outputs, rate);
      if (plan) return chosen(plan, coins);
    }
  }
  const [lost] = missing;
  if (lost !== undefined) {
    throw invalidState(
      `The coin ${lost}, which this must spend so that a discarded PSBT cannot pay too, has just become uncertain. Run the export again`,
    );
  }
  const emptied = emptyWallet(wallet, request, coins, total);
  if (emptied) return emptied;
  const amount = amountIn(wallet.currency);
  const fee = feeOf(weightOf(wallet, Math.max(1, coins.length), outputs), rate);
  throw invalidState(
    `The coins are not enough: ${amount(total)} can be spent on ${wallet.network.name}, and this takes ${amount(sumOf(outputs))} and a fee of about ${amount(fee)}. Only confirmed coins of the key that are in no other PSBT count. Pay fewer transfers with --transfer ID, or wait for deposits or for the change of another PSBT${outputs.some(({ mayBearFee }) => mayBearFee) ? '' : '. Refunds whose network fee the merchant bears are never made smaller'}`,
  );
}

/**
 * Spends all coins, if there are no others that are still to be confirmed, in another PSBT or of another key. What networks
 * charged before, and charge now, is taken out of the largest output that may bear it.
 */
function emptyWallet(
  wallet: Wallet,
  { forced, outputs, custody, rate }: CoinRequest,
  coins: readonly UnspentCoin[],
  total: bigint,
): CoinChoice | undefined {
  if (total !== custody) return undefined;
  // A coin that costs more than it has would only make the payout smaller.
  const cost = feeOf(weightOf(wallet, 2, outputs), rate) - feeOf(weightOf(wallet, 1, outputs), rate);
  const worth = coins.filter((coin) => forced.has(nameOf(coin)) || coin.amount > cost);
  const spent = { count: worth.length, sum: sumOf(worth) };
  const bearer = outputs.reduce(
    (most, { amount, mayBearFee }, index) =>
      mayBearFee && amount > (outputs[most]?.amount ?? 0n) ? index : most,
    -1,
  );
  const plan = planEmptying(wallet, spent, outputs, bearer, rate);
  return plan && chosen(plan, worth, bearer);
}

function chosen(plan: FeePlan, coins: readonly UnspentCoin[], bearer?: number): CoinChoice {
  if (plan.virtualSize <= largestTransaction) return { ...plan, coins, bearer };
  throw invalidState(
    'This takes so many coins that nodes would not relay the transaction. Pay fewer transfers at once with --transfer ID',
  );
}

/** Those that can be spent for certain: unspent, also by what waits, and confirmed at full depth. At most some hundred. */
export async function usableCoins(
  known: readonly SpentCoin[],
  { node, network, account }: Wallet,
  signal: AbortSignal,
): Promise<UnspentCoin[]> {
  const found = await node.unspent(known, true, signal);
  return known.flatMap((coin, position) => {
    const output = found[position];
    if (!output || output.confirmations < network.confirmations) return [];
    // A coin that differs from the books is not what we think it is.
    const { script } = scriptsOf(account.publicKey(coin.branch, coin.index), account.script);
    const isSame = output.amount === coin.amount && output.script === hex.encode(script);
    return isSame ? { ...coin, height: output.height } : [];
  });
}
