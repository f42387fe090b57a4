/** Chooses the coins that a payout spends, among those that the node says are unspent. */
import { hex } from '@scure/base';
import { changeScript, scriptsOf, type PayoutOutput, type SpentCoin } from './build.js';
import { dustLimit, feeOf, largestTransaction, transactionWeight, virtualSize } from './sizes.js';
import { chunksOf } from '../../core/db/chunks.js';
import { invalidState } from '../../core/shared/problem.js';
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
  /** The output that the fee is deducted from; undefined if the coins pay it in addition to the outputs. */
  readonly bearer: number | undefined;
}

interface CoinRequest {
  /** Largest first is cheapest: they are asked about in this order, and no further than is needed. */
  readonly known: AsyncIterable<readonly SpentCoin[]>;
  /** Coins that must be spent, by `hash:index`. */
  readonly forced: ReadonlyMap<string, SpentCoin>;
  /** With whether the fee may be taken out of each. */
  readonly outputs: readonly (PayoutOutput & { readonly mayBearFee: boolean })[];
  /** In satoshis, all that the books have on the network, in any state; undefined if the chain undid some of it. */
  readonly custody: bigint | undefined;
  /** Satoshis per 1000 virtual bytes. */
  readonly rate: bigint;
}

/** The number of coins that are looked up at once. */
const coinsAtOnce = 100;
/** No transaction that nodes relay spends more. Of those beyond, only the number and the sum are kept. */
const mostCoins = 2000;

/** The number of coins that are spent, and their sum. */
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

/** The weight of the signed transaction. */
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
  const isWorth = worthOf(wallet, request);
  const coins: UnspentCoin[] = [];
  const missing = new Set(forced.keys());
  let all: Spent = { count: 0, sum: 0n };
  let worth = all;
  for await (const part of forcedFirst(request)) {
    for (const chunk of chunksOf(part, coinsAtOnce)) {
      for (const coin of await usableCoins(chunk, wallet, signal)) {
        if (coins.length < mostCoins) coins.push(coin);
        all = withCoin(all, coin);
        if (isWorth(coin)) worth = withCoin(worth, coin);
        missing.delete(nameOf(coin));
        if (missing.size > 0) continue;
        const plan = planFee(wallet, all, outputs, rate);
        if (plan) return chosen(plan, coins);
      }
    }
  }
  const [lost] = missing;
  if (lost !== undefined) {
    throw invalidState(
      `The coin ${lost}, which this must spend so that a discarded PSBT cannot pay too, has just become uncertain. Run the export again`,
    );
  }
  const emptied = all.sum === request.custody ? emptyWallet(wallet, request, worth) : undefined;
  if (emptied) return chosen(emptied, coins.filter(isWorth), emptied.bearer);
  const amount = amountIn(wallet.currency);
  const fee = feeOf(weightOf(wallet, Math.max(1, all.count), outputs), rate);
  throw invalidState(
    `The coins are not enough: ${amount(all.sum)} can be spent on ${wallet.network.name}, and this takes ${amount(sumOf(outputs))} and a fee of about ${amount(fee)}. Only confirmed coins of the key that are in no other PSBT count. Pay fewer transfers with --transfer ID, or wait for deposits or for the change of another PSBT${outputs.some(({ mayBearFee }) => mayBearFee) ? '' : '. Refunds whose network fee the merchant bears are never made smaller'}`,
  );
}

/** The coins that must be spent, and then the others. */
async function* forcedFirst({ forced, known }: CoinRequest): AsyncGenerator<readonly SpentCoin[]> {
  yield [...forced.values()].sort((a, b) => (a.amount > b.amount ? -1 : 1));
  for await (const part of known) yield part.filter((coin) => !forced.has(nameOf(coin)));
}

const withCoin = ({ count, sum }: Spent, { amount }: SpentCoin): Spent => ({
  count: count + 1,
  sum: sum + amount,
});

/** A coin that costs more than it has would only make the payout smaller. */
function worthOf(wallet: Wallet, { forced, outputs, rate }: CoinRequest): (coin: SpentCoin) => boolean {
  const cost = feeOf(weightOf(wallet, 2, outputs), rate) - feeOf(weightOf(wallet, 1, outputs), rate);
  return (coin) => forced.has(nameOf(coin)) || coin.amount > cost;
}

/**
 * Spends all coins, if there are no others that are still to be confirmed, in another PSBT or of another key. The
 * networks' charges, earlier and now, are deducted from the largest output that may bear them.
 */
function emptyWallet(wallet: Wallet, { outputs, rate }: CoinRequest, worth: Spent) {
  const bearer = outputs.reduce(
    (most, { amount, mayBearFee }, index) =>
      mayBearFee && amount > (outputs[most]?.amount ?? 0n) ? index : most,
    -1,
  );
  const plan = planEmptying(wallet, worth, outputs, bearer, rate);
  return plan && { ...plan, bearer };
}

function chosen(plan: FeePlan, coins: readonly UnspentCoin[], bearer?: number): CoinChoice {
  if (plan.virtualSize <= largestTransaction) return { ...plan, coins, bearer };
  throw invalidState(
    'This takes so many coins that nodes would not relay the transaction. Pay fewer transfers at once with --transfer ID',
  );
}

/**
 * Those that can be spent for certain: unspent, also by waiting transactions, and confirmed at full depth. At most some
 * hundred.
 */
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
