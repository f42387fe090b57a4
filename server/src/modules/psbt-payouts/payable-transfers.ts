/** The waiting transfers that one PSBT can pay, and the coins that it must spend for that. */
import { invalidState } from '../../core/shared/problem.js';
import type { SpentCoin } from './build.js';
import { amountIn, outputTo, type PsbtDeps, type Wallet } from './context.js';
import { knownAmong } from './coin-store.js';
import { usableCoins } from './coins.js';
import { nameOf, nameOfRow, outpointOf } from './outpoints.js';
import { look } from './follow.js';
import { settleFirst, unsettledOf } from './paid-transfers.js';
import * as store from './psbt-store.js';
import type { PayableTransfer, StoredPsbt } from './psbt-store.js';
import { dustLimit } from './sizes.js';

/** A transfer that an export left out, and why. */
export interface SkippedTransfer {
  readonly id: string;
  readonly reason: string;
}

/** The coins that an export spends from: those of one address source that no PSBT holds. */
export interface CoinSource {
  readonly wallet: Wallet;
  readonly of: store.Holder;
  readonly sourceId: string;
}

/** Far below what fits into a transaction that nodes relay, and still something that a person can check. */
const mostTransfers = 500;

/** The transfers to pay now, and those that are left out. */
export async function pickTransfers(
  deps: PsbtDeps,
  of: store.Holder,
  transferIds: readonly string[] | undefined,
  wallet: Wallet,
): Promise<{ payable: PayableTransfer[]; skipped: SkippedTransfer[] }> {
  const waiting = await store.payableTransfers(deps.database.reader, of);
  const unknown = transferIds?.find((id) => !waiting.some((row) => row.id === id));
  if (unknown !== undefined) {
    throw invalidState(
      `The transfer ${unknown} does not wait to be sent on ${wallet.network.name}: see transfers list and transfers psbt list`,
    );
  }
  const chosen = transferIds ? waiting.filter(({ id }) => transferIds.includes(id)) : waiting;
  const amount = amountIn(wallet.currency);
  const held = await deps.whyHeld(deps.database.reader, chosen);
  const skipped: SkippedTransfer[] = [...held].map(([id, reason]) => ({ id, reason }));
  const due = chosen.filter(({ id }) => !held.has(id));
  const payable = due.filter((row) => {
    const { script, amount: asked } = outputTo(row, wallet);
    const smallest = dustLimit(script, wallet.family);
    if (asked >= smallest) return true;
    skipped.push({
      id: row.id,
      reason: `${amount(asked)} is too little: nodes relay no output below ${amount(smallest)} to this address. Fail it with transfers fail`,
    });
    return false;
  });
  for (const { id } of payable.slice(mostTransfers)) {
    skipped.push({
      id,
      reason: `One PSBT pays at most ${mostTransfers} transfers. Export again for the rest`,
    });
  }
  return { payable: payable.slice(0, mostTransfers), skipped };
}

/**
 * A signed copy of a discarded PSBT may still exist. Whatever pays its transfers now must spend one of its coins, so that
 * the chain takes only one of the two.
 */
export async function forcedCoins(
  deps: PsbtDeps,
  picked: readonly PayableTransfer[],
  from: CoinSource,
  signal: AbortSignal,
) {
  const forced = new Map<string, SpentCoin>();
  const unsafe: SkippedTransfer[] = [];
  let payable = picked;
  const ids = await store.discardedWith(
    deps.database.reader,
    picked.map(({ id }) => id),
  );
  for (const id of ids) {
    const { found, depth } = await look(deps, id, signal);
    const psbt = await store.requirePsbt(deps.database.reader, id);
    const isOver = psbt.state === 'discarded' && found.kind === 'conflict' && depth === 'final';
    const paid = new Set(isOver ? unsettledOf(psbt, found.pays) : psbt.transfers.map((one) => one.id));
    const reason = isOver
      ? `It was in the discarded PSBT ${id}. ${settleFirst(found.spender, [...paid])}`
      : (whyUnsafe(psbt, found.kind === 'absent', from.sourceId) ??
        (await forceCoin(deps, psbt, from, forced, signal)));
    if (reason === undefined) continue;
    unsafe.push(...payable.filter((row) => paid.has(row.id)).map((row) => ({ id: row.id, reason })));
    payable = payable.filter((row) => !paid.has(row.id));
  }
  /** `discarded`: the ids of all discarded PSBTs that paid some of them. */
  return { payable, forced, unsafe, discarded: new Set(ids) };
}

function whyUnsafe({ id, state, source_id, key_id }: StoredPsbt, isAbsent: boolean, sourceId: string) {
  if (state !== 'discarded') return `The discarded PSBT ${id} was broadcast after all, and pays it`;
  if (!isAbsent) {
    return `It is in the discarded PSBT ${id}, whose coins are being spent. Try again when that is confirmed`;
  }
  return source_id === sourceId
    ? undefined
    : `It is in the discarded PSBT ${id} of another key. Export it with --key ${key_id}`;
}

/** Adds a free and certain coin of the PSBT, unless one is forced already. @returns why there is none */
async function forceCoin(
  { database }: PsbtDeps,
  { id, inputs }: StoredPsbt,
  { wallet, of, sourceId }: CoinSource,
  forced: Map<string, SpentCoin>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const names = new Set(inputs.map(nameOfRow));
  if ([...forced.keys()].some((name) => names.has(name))) return undefined;
  const free = await knownAmong(database.reader, of, sourceId, inputs.map(outpointOf));
  const [coin] = await usableCoins(free, wallet, signal);
  if (!coin) {
    return `It is in the discarded PSBT ${id}, which can still be broadcast, and none of its coins is free and confirmed ${wallet.network.confirmations} times now. Settle the PSBTs that spend them, or wait for the confirmations`;
  }
  forced.set(nameOf(coin), coin);
  return undefined;
}
