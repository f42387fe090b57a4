/** Books what happened at treasuries in blocks that were read: sweeps, payments that may settle transfers, and gas. */
import { forwarderMerchants } from '../../core/addresses/owners.js';
import { markUnswept } from '../../core/addresses/unswept.js';
import { assetAt, coinOf, fromChain } from '../../core/chains/assets.js';
import type { NetworkRef } from '../../core/chains/chain.js';
import type { Transaction } from '../../core/db/engine.js';
import type { TransferRow } from '../../core/db/schema.js';
import { moved, type AccountName } from '../../core/ledger/ledger.js';
import { placeOf, type EvmConnected, type TreasuryContext } from './context.js';
import { nativeToken, type SweptLog } from './factory.js';
import type { TreasuryOwners } from './owners.js';
import { canonical, gasPaidBy, type TreasuryReading } from './watch-reads.js';
import * as store from './watch-store.js';
import { clearSwept } from './unswept.js';
import type { SweepRow, TreasuryFeeRow, TreasuryPaymentRow } from './tables.js';
import { hasLike } from './ended-transfers.js';

/** The movements that were read from some blocks. */
export interface TreasuryBlocks extends TreasuryReading {
  /** The last block that was read before. */
  readonly cursor: number;
  readonly from: number;
  readonly owners: TreasuryOwners;
  /** The transfers that may be paid by payments which no node knows for certain. */
  readonly payable: readonly TransferRow[];
}

/** Books the blocks and moves the cursor, unless another replica was faster. */
export async function bookTreasuryBlocks(
  deps: TreasuryContext,
  watched: EvmConnected,
  read: TreasuryBlocks,
): Promise<void> {
  const place = placeOf(watched);
  const { owners, payable } = read;
  const unexplained: TreasuryPaymentRow[] = [];
  await deps.database.write(async (transaction) => {
    unexplained.length = 0;
    if ((await store.lockCursor(transaction, place)) !== read.cursor) return;
    await bookSweeps(deps, transaction, watched, read);
    for (const payment of read.payments) {
      const isPossible = payment.is_certain || payable.some((transfer) => mayPay(owners, payment, transfer));
      if (!isPossible) continue;
      const maySettle = payment.is_exact && (await hasLike(transaction, payment));
      // Between treasuries of the same merchants, nothing has left, unless a transfer asked for it.
      if (!maySettle && areOfOne(owners, payment)) continue;
      const row = { ...payment, may_settle: maySettle };
      const isNew = await store.insertPayment(transaction, row);
      if (isNew && !maySettle) unexplained.push(row);
    }
    await store.moveCursor(transaction, place, read.to);
  });
  for (const row of unexplained) logUnexplained(deps, place, row);
}

/** Says that money has left a treasury, and nobody knows why. */
export function logUnexplained(
  { log }: Pick<TreasuryContext, 'log'>,
  place: NetworkRef,
  { tx_hash: txHash, treasury, currency, amount, address }: TreasuryPaymentRow,
): void {
  log.error(
    { ...place, txHash, treasury, currency, units: amount.toString(), address },
    'Money has left a treasury, and no transfer explains it. Look at the transaction; if it was yours, say so with "transfers explain"',
  );
}

const areOfOne = ({ ownersOf }: TreasuryOwners, { treasury, address }: TreasuryPaymentRow): boolean =>
  [...ownersOf(address)].some((merchant) => ownersOf(treasury).has(merchant));

async function bookSweeps(
  deps: TreasuryContext,
  transaction: Transaction,
  watched: EvmConnected,
  { from, to, swept, fees, owners }: TreasuryBlocks,
): Promise<void> {
  const place = placeOf(watched);
  const merchants = await forwarderMerchants(transaction, place.mode, [
    ...new Set(swept.map(({ forwarder }) => canonical(forwarder))),
  ]);
  const placeInBlock = (row: SweepRow) => `${row.tx_hash}/${row.log_index}/${row.block_hash}`;
  const found = swept.flatMap((log) => sweepRow(watched, log, merchants) ?? []);
  const present = new Set(found.map(placeInBlock));
  const booked = (await store.sweepsFrom(transaction, place, from, to)).filter((row) => !row.is_reversed);
  const known = new Set(booked.map(placeInBlock));
  const lost = booked.filter((row) => !present.has(placeInBlock(row)));
  const changed = [...lost, ...found.filter((row) => !known.has(placeInBlock(row)))];
  if (changed.length === 0) return;
  await markUnswept(transaction, changed);
  for (const row of lost) {
    await post(deps, transaction, row, 'unsweep');
    await store.writeSweep(transaction, { ...row, is_reversed: true, reversals: row.reversals + 1 });
    await takeBackGas(deps, transaction, row, row.tx_hash);
  }
  for (const row of found) {
    const before = await store.findSweep(transaction, row);
    if (before?.is_reversed === false) continue;
    // The same transaction can sweep something else once it is in another block.
    const amount = await unitsOf(transaction, watched, row);
    const added = { ...row, amount, reversals: before?.reversals ?? 0 };
    await store.writeSweep(transaction, added);
    await post(deps, transaction, added, 'sweep');
    const gas = gasPaidBy(watched, fees.get(row.tx_hash), owners.treasuriesOf(row.merchant_id));
    await bookGas(deps, transaction, watched, row.tx_hash, row.merchant_id, gas);
  }
  await clearSwept(transaction, place, [...new Set(changed.map(({ address }) => address))]);
}

function sweepRow(
  watched: EvmConnected,
  { forwarder, treasury, token, amount, txHash, logIndex, height, blockHash }: SweptLog,
  merchants: ReadonlyMap<string, string>,
): SweepRow | undefined {
  const address = canonical(forwarder);
  const merchantId = merchants.get(address);
  const asset = assetAt(watched.chainAssets, token === nativeToken ? undefined : token);
  if (merchantId === undefined || !asset) return undefined;
  return {
    ...placeOf(watched),
    tx_hash: txHash,
    log_index: logIndex,
    merchant_id: merchantId,
    address,
    treasury: canonical(treasury),
    currency: asset.currency,
    amount: fromChain(asset, amount),
    chain_amount: amount,
    block_height: height,
    block_hash: blockHash,
    is_reversed: false,
    reversals: 0,
  };
}

/**
 * The amount that a sweep moves on the books: everything that left an address is summed as the chain counts it and
 * cut off once, as with its receipts, so that the books of an empty address are empty too.
 */
async function unitsOf(transaction: Transaction, watched: EvmConnected, row: SweepRow): Promise<bigint> {
  const asset = watched.chainAssets[row.currency];
  if (asset === undefined || asset.decimals <= (asset.unitDecimals ?? asset.decimals)) return row.amount;
  const before = await store.sumSwept(transaction, row);
  return fromChain(asset, before.chainAmount + row.chain_amount) - before.amount;
}

/** Moves a swept sum from the addresses to the treasury, or a gas cost out of the treasury; or reverts it. */
async function post(
  { ledger }: TreasuryContext,
  transaction: Transaction,
  row: SweepRow | TreasuryFeeRow,
  kind: 'sweep' | 'unsweep' | 'treasury-fee' | 'treasury-fee-back',
): Promise<void> {
  const { mode, network, merchant_id: merchantId, currency, tx_hash: txHash, reversals } = row;
  const addresses: AccountName = { kind: 'custody', network, merchantId };
  const treasury: AccountName = { ...addresses, place: 'treasury' };
  const gas: AccountName = { kind: 'network_fee' };
  const directions: Readonly<Record<typeof kind, readonly [AccountName, AccountName]>> = {
    sweep: [treasury, addresses],
    unsweep: [addresses, treasury],
    'treasury-fee': [gas, treasury],
    'treasury-fee-back': [treasury, gas],
  };
  const [to, from] = directions[kind];
  // Other decisions about the merchant's coins need this lock, and must not see half of this change.
  await ledger.balance(transaction, mode, currency, { kind: 'available', merchantId });
  const what = 'log_index' in row ? `${txHash}/${row.log_index}` : txHash;
  // A reverted posting can be posted once more.
  const name = [mode, network, what, ...(reversals > 0 ? [reversals] : [])].join('/');
  const entries = moved(to, from, row.amount);
  await ledger.post(transaction, { key: `${kind}:${name}`, mode, currency, entries });
}

/** True if a payment matches a transfer, and is by a treasury of its merchant. */
function mayPay(owners: TreasuryOwners, payment: TreasuryPaymentRow, transfer: TransferRow): boolean {
  return (
    transfer.currency === payment.currency &&
    transfer.address === payment.address &&
    transfer.amount === payment.amount &&
    owners.ownersOf(payment.treasury).has(transfer.merchant_id)
  );
}

/**
 * The gas that a treasury paid itself left the treasury, once for each transaction. Any other payer did not use coins
 * of a merchant.
 * @param units of the coin
 */
export async function bookGas(
  deps: TreasuryContext,
  transaction: Transaction,
  { network: { mode, code: network }, chainAssets }: EvmConnected,
  txHash: string,
  merchantId: string,
  units: bigint,
): Promise<void> {
  const coin = coinOf(chainAssets);
  if (!coin || units === 0n) return;
  const { currency } = coin;
  const row = { mode, network, tx_hash: txHash, merchant_id: merchantId, currency, amount: units };
  const fee = await store.insertFee(transaction, row);
  if (fee) await post(deps, transaction, fee, 'treasury-fee');
}

/**
 * The transaction is no longer in its block, and has cost nothing there. @returns the amount that was in the books
 * until now
 */
export async function takeBackGas(
  deps: TreasuryContext,
  transaction: Transaction,
  place: NetworkRef,
  txHash: string,
): Promise<TreasuryFeeRow | undefined> {
  const fee = await store.reverseFee(transaction, place, txHash);
  if (fee) await post(deps, transaction, fee, 'treasury-fee-back');
  return fee;
}
