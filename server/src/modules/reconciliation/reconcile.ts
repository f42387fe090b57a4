/**
 * Compares the balances of addresses with the books: balance + sent − received must be 0. A difference in one answer
 * is only noted. One that a later block confirms, from another node if there is one, becomes a receipt if it is a
 * surplus, and an alarm if it is a shortage.
 */
import { isForwarder, merchantOf } from '../../core/addresses/owners.js';
import type { Database } from '../../core/db/database.js';
import type { BalanceDifferenceRow } from './tables.js';
import { fromChain, isCoin } from '../../core/chains/assets.js';
import { amountText } from '../../core/commands/records.js';
import type { ChainHead } from '../../core/chains/chain.js';
import type { AskedBalance } from '../networks/evm/balances.js';
import { bookSurplus } from './book-surplus.js';
import { placeKey, readBooked, sizeOf, sweepParts, type Place } from '../networks/booked.js';
import { refOf, type Pass } from './reconcile-deps.js';
import * as store from './store.js';

/** The outcome of a difference: `seen` waits for a second look. */
export type Outcome = Exclude<BalanceDifferenceRow['state'], 'spent'> | 'credited' | 'none';

export interface Finding extends Place {
  /** In units of the chain. */
  readonly difference: bigint;
  readonly outcome: Outcome;
}

/** Reads the balances of some places after a block that was scanned. @returns those that differ from the books, or did before */
export async function compare(
  { deps: { database }, network, except, signal }: Pass,
  places: readonly Place[],
  at: ChainHead,
) {
  const { reader } = database;
  const asked = places.flatMap(({ address, currency }): readonly AskedBalance[] => {
    const asset = network.chainAssets[currency];
    return asset && !network.unreadable().has(currency) ? [{ address, asset }] : [];
  });
  if (asked.length === 0) return [];
  const reading = await network.balances.read(asked, at, except, signal);
  const ref = refOf(network);
  const addresses = [...new Set(asked.map(({ address }) => address))];
  const booked = await readBooked(reader, ref, addresses, reading.height);
  const known = new Map(
    (await store.readDifferences(reader, ref, addresses)).map((row) => [placeKey(row), row]),
  );
  return asked.flatMap(({ address, asset }, index) => {
    const place = { address, currency: asset.currency };
    const row = known.get(placeKey(place));
    const balance = reading.amounts[index] ?? 0n;
    const difference = booked.difference(place, balance, row?.spent);
    if (sizeOf(asset, difference, undefined) === 'nothing' && (!row || row.state === 'spent')) return [];
    return {
      place,
      asset,
      balance,
      difference,
      reading,
      /** The row that was known before. */
      row,
      /** The height of the books: a node may be ahead of them. */
      scanned: at.height,
    };
  });
}

/** Acts on differences: notes one, or concludes it when two looks agree. */
export async function reconcile(pass: Pass, places: readonly Place[], at: ChainHead): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const look of await compare(pass, places, at)) {
    const { place, difference, row } = look;
    const isOpen = row?.state === 'seen' || (pass.withDust === true && row?.state === 'dust');
    let outcome: Outcome;
    if (isOpen) outcome = await lookAgain(pass, look, row);
    else if (row?.difference === difference) outcome = outcomeSoFar(row);
    else outcome = await noteFirst(pass, look, row);
    findings.push({ ...place, difference, outcome });
  }
  return findings;
}

/** The outcome of a difference so far. */
export const outcomeSoFar = (row: BalanceDifferenceRow | undefined): Outcome =>
  row === undefined || row.state === 'spent' ? 'none' : row.state;

export type Look = Awaited<ReturnType<typeof compare>>[number];

async function noteFirst(
  { deps: { database, now }, network, above }: Pass,
  { place, asset, balance, difference, reading }: Look,
  previous: BalanceDifferenceRow | undefined,
): Promise<Outcome> {
  // An amount that must be counted again is looked at twice, although nothing differs without it.
  if (sizeOf(asset, difference, undefined) === 'nothing' && previous?.sent !== store.sentUnknown) {
    if (previous) await quiet(database, previous);
    return 'none';
  }
  const { height, hash, node } = reading;
  await store.writeDifference(database, {
    ...refOf(network),
    ...place,
    state: 'seen',
    difference,
    balance,
    height,
    hash,
    node,
    above: Math.min(above, previous?.above ?? above, height - 1),
    spent: previous?.spent ?? 0n,
    sent: previous?.sent ?? 0,
    found_at: previous?.found_at ?? now(),
  });
  return 'seen';
}

/** There is no difference any more. The amount that a wallet has moved stays known. */
async function quiet(database: Database, row: BalanceDifferenceRow): Promise<void> {
  if (row.spent === 0n) await store.deleteDifference(database, row);
  else await store.writeDifference(database, { ...row, state: 'spent', difference: 0n });
}

async function lookAgain(pass: Pass, look: Look, noted: BalanceDifferenceRow): Promise<Outcome> {
  const row = { ...noted, sent: Math.max(noted.sent, 0) };
  const { deps, network, withDust } = pass;
  const { difference, reading, place, asset } = look;
  // Nobody has looked yet: the row only says that the address must be counted again.
  if (noted.hash === '') return noteFirst(pass, look, noted);
  const isAnother = network.balances.isAnother(reading.node, row.node);
  if (reading.height <= row.height || look.scanned < row.height || !isAnother) return outcomeSoFar(row);
  // The books have moved on since the first look, which may have been ahead of them.
  const books = await readBooked(deps.database.reader, refOf(network), [place.address], row.height);
  const previous = books.difference(place, row.balance, row.spent);
  const counted = await countSpending(pass, look, { ...noted, difference: previous });
  if (counted) return counted;
  const wasMoved = previous > 0n && difference < previous && (await movedSince(pass, look, row));
  const agreed = wasMoved ? previous : agreedOn(previous, difference);
  const { minAmount } = network.network.assets[place.currency] ?? {};
  const size = sizeOf(asset, agreed, minAmount);
  if (size === 'nothing') return noteFirst(pass, look, row);
  const found = { ...row, difference: agreed };
  if (size === 'shortage') return concludeShortage(pass, found, reading.height);
  if (!withDust && size === 'dust') {
    await store.writeDifference(deps.database, { ...found, state: 'dust' });
    return 'dust';
  }
  const isBooked = await bookSurplus(pass, asset, found, agreed);
  if (!isBooked) return noteFirst(pass, look, row);
  await quiet(deps.database, row);
  return 'credited';
}

/**
 * The amount that the wallet of an extended key has sent itself is known to the last unit, if nodes report its nonce
 * after a block: a contract may have paid it in the block in which it paid others, and its balance only shows the sum
 * of both.
 * @returns undefined if there is nothing to count, or no node reports it: only the balance decides
 */
async function countSpending(
  pass: Pass,
  look: Look,
  row: BalanceDifferenceRow,
): Promise<Outcome | undefined> {
  const { network, signal } = pass;
  const { database } = pass.deps;
  const { address } = row;
  const { mode } = network.network;
  if (!isCoin(look.asset) || (await isForwarder(database.reader, mode, address))) return undefined;
  // The sent amount is counted up to the block of the first look: if that one is gone, the look starts over.
  if ((await network.balances.blockAt(row.height, signal))?.hash !== row.hash)
    return noteFirst(pass, look, row);
  const spending = await network.balances.spending(address, Math.max(row.sent, 0), row, signal);
  if (!spending) return undefined;
  // As deep as a payment must be before it counts.
  if (look.reading.height < row.height + network.network.confirmations) return 'seen';
  const { sent, amount, from } = spending;
  const spent = row.spent + amount;
  const difference = row.difference + amount;
  const above = Math.max(row.above, from - 1);
  await store.writeDifference(database, { ...row, difference, spent, sent, above });
  return 'seen';
}

/**
 * The wallet of an extended key may move coins before the second look. It did if it has sent a transaction since, and
 * another answer about the block of the first look agrees with the first one.
 */
async function movedSince(
  { deps: { database }, network, signal }: Pass,
  { place: { address }, asset }: Look,
  row: BalanceDifferenceRow,
): Promise<boolean> {
  const { balances } = network;
  if (await isForwarder(database.reader, network.network.mode, address)) return false;
  const sent = await balances.sent(address, signal);
  if (sent === undefined || sent <= row.sent) return false;
  const again = await balances.readOld([{ address, asset }], row.height, row.node, signal);
  return again?.hash === row.hash && again.amounts[0] === row.balance;
}

/** The difference that both looks agree on: the smaller one, or 0 if their directions differ. */
function agreedOn(previous: bigint, now: bigint): bigint {
  if (previous > 0n && now > 0n) return previous < now ? previous : now;
  if (previous < 0n && now < 0n) return previous > now ? previous : now;
  return 0n;
}

/**
 * Forwarders pay nobody but their treasury, and that is on the books once its blocks were read: anything else is an alarm. The
 * wallet of an extended key spends when it likes. Its nonce must show that, or a node that forgets a balance could make it pass
 * for new money when it remembers it.
 */
async function concludeShortage(pass: Pass, row: BalanceDifferenceRow, height: number): Promise<Outcome> {
  const { deps, network, signal } = pass;
  const { database, log } = deps;
  const ref = refOf(network);
  if (await isForwarder(database.reader, ref.mode, row.address)) {
    const [sweeps] = sweepParts(database.reader);
    if (((await sweeps?.readUpTo(database.reader, ref)) ?? 0) < row.height) return 'seen';
    const { address, currency, difference } = row;
    log.error(
      { ...ref, address, currency, difference: difference.toString() },
      'An address holds less than the books say',
    );
    return tellShortage(pass, row);
  }
  // As deep as a payment must be before it counts.
  if (height < row.height + network.network.confirmations) return 'seen';
  const sent = await network.balances.sent(row.address, signal);
  if (sent === undefined || sent <= row.sent) {
    return tellShortage(pass, row);
  }
  const spent = row.spent - row.difference;
  await store.writeDifference(database, { ...row, state: 'spent', difference: 0n, spent, sent });
  return 'none';
}

async function tellShortage({ deps, network }: Pass, row: BalanceDifferenceRow): Promise<'shortage'> {
  const { mode, address, currency, difference } = row;
  await store.writeDifference(deps.database, { ...row, state: 'shortage' }, async (transaction) => {
    const merchantId = await merchantOf(transaction, mode, address);
    if (merchantId === undefined) return;
    const asset = network.chainAssets[currency];
    const amount = asset ? amountText(fromChain(asset, -difference), currency) : currency;
    const trouble = {
      merchantId,
      mode,
      code: 'books_differ',
      network: network.network.name,
      amount,
    } as const;
    await deps.hooks.onTrouble(transaction, trouble);
  });
  return 'shortage';
}
