/**
 * The changes of a PSBT's state, each in one transaction with the transfers that it pays and the books.
 *
 * Why a transfer is paid only once: it is held by one PSBT at a time. All versions of a PSBT spend the same coins, and a
 * PSBT that pays what a discarded one paid spends one of that one's coins. So a chain can have only one of them.
 */
import { Transaction as BitcoinTransaction } from '@scure/btc-signer';
import { clearSpent, markUnspent, type UnspentCoin } from '../../core/addresses/unspent-coins.js';
import type { Transaction } from '../../core/db/engine.js';
import type { TransferRow } from '../../core/db/schema.js';
import type { AccountName } from '../../core/ledger/ledger.js';
import type { Sent } from '../../core/withdrawals/settlement.js';
import { lockTransfers } from '../../core/withdrawals/waiting-transfers.js';
import { lenient } from './build.js';
import { paidAmounts, type PsbtDeps } from './context.js';
import type { Found } from './location.js';
import * as store from './psbt-store.js';
import type { StoredPsbt } from './psbt-store.js';
import type { PsbtTable, PsbtVersionRow } from './tables.js';

export interface Signed {
  readonly txHash: string;
  /** In hexadecimal digits; undefined if no node showed it. */
  readonly transaction: string | undefined;
}

/** The transfers of a PSBT, locked, in the order of their outputs. */
async function lockPaid(
  { hooks }: PsbtDeps,
  transaction: Transaction,
  { transfers }: StoredPsbt,
): Promise<TransferRow[]> {
  const ids = transfers.map(({ id }) => id);
  const locked = await lockTransfers(transaction, ids);
  await hooks.beforeTransfers(transaction, [...locked.values()]);
  return ids.flatMap((id) => locked.get(id) ?? []);
}

/** The same, with everything that the end of its transfers posts to, in the ledger's own order. */
async function lockWithBooks(
  deps: PsbtDeps,
  transaction: Transaction,
  psbt: StoredPsbt,
): Promise<TransferRow[]> {
  const rows = await lockPaid(deps, transaction, psbt);
  const { merchant_id: merchantId, mode, network, currency } = psbt;
  const accounts: AccountName[] = [
    { kind: 'available', merchantId },
    { kind: 'reserved', network, merchantId },
    { kind: 'custody', network, merchantId },
    { kind: 'network_fee' },
    { kind: 'fee_income' },
  ];
  await deps.ledger.lock(
    transaction,
    mode,
    accounts.map((account) => ({ currency, account })),
  );
  return rows;
}

/** Notes that a version is signed. Its transfers are on their way from now on, and nothing else may pay them. */
export async function markSent(
  deps: PsbtDeps,
  transaction: Transaction,
  psbt: StoredPsbt,
  version: PsbtVersionRow,
  { txHash, transaction: raw }: Signed,
): Promise<void> {
  const { clock, settlement } = deps;
  const rows = await lockWithBooks(deps, transaction, psbt);
  await store.updateVersion(transaction, version, {
    tx_hash: txHash,
    signed_transaction: raw ?? version.signed_transaction,
    imported_at: version.imported_at ?? clock.real(),
  });
  if (psbt.state !== 'settled') {
    await store.holdAll(transaction, psbt);
    await store.updatePsbt(transaction, psbt.id, {
      state: 'sent',
      problem: null,
      updated_at: clock.real(),
    });
    for (const row of rows) {
      if (row.status !== 'pending' && row.status !== 'processing') continue;
      await settlement.move(transaction, row, { status: 'processing', tx_hash: txHash });
    }
  }
}

/** A version was found on the network although it was not imported. */
export function adopt(deps: PsbtDeps, id: string, number: number, signed: Signed) {
  return deps.database.write(async (transaction) => {
    const psbt = await store.lockPsbt(transaction, id);
    const version = psbt.versions.find((one) => one.number === number);
    if (!version || (version.imported_at !== null && (psbt.state === 'sent' || psbt.state === 'settled')))
      return;
    await markSent(deps, transaction, psbt, version, signed);
  });
}

/** The wallet has replaced the transaction by one of its own, which is in a block and pays the same transfers. */
export function adoptReplacement(
  deps: PsbtDeps,
  id: string,
  { fee, changeAmount }: Pick<Found<'replaced'>, 'fee' | 'changeAmount'>,
  signed: Signed,
) {
  return deps.database.write(async (transaction) => {
    const psbt = await store.lockPsbt(transaction, id);
    if (psbt.versions.some(({ tx_hash: hash }) => hash === signed.txHash)) return;
    const last = psbt.versions.at(-1);
    if (!last) return;
    const raw = signed.transaction;
    const version: PsbtVersionRow = {
      ...last,
      number: last.number + 1,
      // Nobody will sign it any more, so that it needs no transactions of its inputs. Only its hash matters.
      psbt: '',
      fee,
      virtual_size: (raw === undefined ? undefined : sizeOf(raw)) ?? last.virtual_size,
      change_amount: changeAmount,
      signed_transaction: raw ?? null,
      tx_hash: signed.txHash,
      imported_at: null,
      block_hash: null,
      block_height: null,
      created_at: deps.clock.real(),
    };
    await store.insertVersion(transaction, version);
    await markSent(deps, transaction, psbt, version, signed);
  });
}

/** A version is deep enough in the chain: its transfers end, and each bears a part of the network's fee. */
export function settle(deps: PsbtDeps, id: string, number: number) {
  return deps.database.write(async (transaction): Promise<string | undefined> => {
    const psbt = await store.lockPsbt(transaction, id);
    const version = psbt.versions.find((one) => one.number === number);
    const txHash = version?.tx_hash;
    if (!version || !txHash) throw new Error(`The PSBT ${id} has no version ${number}`);
    const rows = await lockWithBooks(deps, transaction, psbt);
    const shares = sharesOf(version.fee, rows.length);
    const amounts = paidAmounts(psbt, version);
    const exclusive = await store.exclusiveHashes(transaction, psbt);
    const warnings: string[] = [];
    for (const [position, row] of rows.entries()) {
      const sent = { txHash, networkFee: shares[position] ?? 0n, paid: amounts[position] };
      const warning = await settleTransfer(deps, transaction, psbt, row, sent, exclusive);
      if (warning !== undefined) warnings.push(warning);
    }
    await store.holdAll(transaction, psbt);
    await clearSpent(transaction, psbt, psbt.inputs);
    await markUnspent(transaction, changeOf(psbt, version));
    await store.updatePsbt(transaction, id, {
      state: 'settled',
      settled_version: number,
      confirmed_at: deps.clock.real(),
      problem: null,
      warning: [...(psbt.warning === null ? [] : [psbt.warning]), ...warnings].join('. ') || null,
      updated_at: deps.clock.real(),
    });
    return warnings.length === 0 ? undefined : warnings.join('. ');
  });
}

/** The chain has dropped its transaction, or the one that precluded it. Transfers that it settled stay ended. */
export function unconfirm(deps: PsbtDeps, id: string) {
  return deps.database.write(async (transaction) => {
    const psbt = await store.lockPsbt(transaction, id);
    if (psbt.state === 'settled') await markUnspent(transaction, inputCoins(psbt));
    await store.updatePsbt(transaction, id, { confirmed_at: null });
  });
}

const keyOf = ({ mode, network, merchant_id, source_id }: PsbtTable) => ({
  mode,
  network,
  merchant_id,
  source_id,
});

const inputCoins = (psbt: StoredPsbt): UnspentCoin[] =>
  psbt.inputs.map(({ tx_hash, output_index, amount, branch, derivation_index }) => ({
    ...keyOf(psbt),
    tx_hash,
    output_index,
    amount: Number(amount),
    branch,
    derivation_index,
  }));

/** The coin that a version leaves to the wallet, if it leaves one. */
function changeOf(psbt: StoredPsbt, { tx_hash, change_amount }: PsbtVersionRow): UnspentCoin[] {
  const { change_index: derivation_index, transfers } = psbt;
  if (tx_hash === null || derivation_index === null || change_amount === 0n) return [];
  const coin = { tx_hash, output_index: transfers.length, amount: Number(change_amount), derivation_index };
  return [{ ...keyOf(psbt), ...coin, branch: 1 }];
}

/**
 * Ends a transfer that a PSBT has paid, whatever was thought to have become of it.
 * @param exclusive the transactions of which a chain can have only one
 * @returns a remark for the operator, if there is one
 */
async function settleTransfer(
  { settlement }: PsbtDeps,
  transaction: Transaction,
  psbt: StoredPsbt,
  row: TransferRow,
  sent: Sent,
  exclusive: ReadonlySet<string>,
): Promise<string | undefined> {
  switch (row.status) {
    case 'pending':
    case 'processing':
    case 'failed':
      await settlement.succeed(transaction, row, sent);
      return row.status === 'failed'
        ? `It has paid ${row.id} although it had failed, so it is success now`
        : undefined;
    case 'success': {
      if (row.tx_hash === sent.txHash) return undefined;
      if (row.tx_hash !== null && exclusive.has(row.tx_hash)) {
        await settlement.correct(transaction, row, sent);
        return undefined;
      }
      const second = await settlement.payAgain(transaction, row, sent);
      // From now on, this PSBT's outcome applies to the second payment.
      await store.replaceTransfer(transaction, psbt.id, row.id, second.id);
      return `It has paid ${row.id} a second time, which is booked as the transfer ${second.id}: compare them with the wallet`;
    }
    default:
      return row.status satisfies never;
  }
}

/**
 * Its coins went elsewhere for good. Transfers that it had settled are given back, unless the transaction that spent them
 * pays them too, as another PSBT's that is about to settle it, or in a form of the wallet's own.
 */
export function conflict(
  deps: PsbtDeps,
  id: string,
  { spender, pays }: Pick<Found<'conflict'>, 'spender' | 'pays'>,
  problem: string,
) {
  return deps.database.write(async (transaction) => {
    const psbt = await store.lockPsbt(transaction, id);
    if (psbt.state === 'conflicted' || psbt.state === 'discarded') return;
    if (psbt.state === 'settled') {
      const rows = await lockWithBooks(deps, transaction, psbt);
      const settledHash = psbt.versions.find(({ number }) => number === psbt.settled_version)?.tx_hash;
      const isPaid = await store.transfersPaidBy(transaction, spender.txHash);
      for (const row of rows) {
        if (row.status !== 'success' || row.tx_hash !== settledHash) continue;
        if (isPaid.has(row.id) || pays.has(row.id)) continue;
        await deps.settlement.lose(
          transaction,
          row,
          'The network dropped the transaction, and its coins were spent elsewhere',
        );
      }
      // Perhaps only one of the coins was spent.
      await markUnspent(transaction, inputCoins(psbt));
    }
    await store.updatePsbt(transaction, id, {
      state: 'conflicted',
      confirmed_at: null,
      problem,
      warning: null,
      updated_at: deps.clock.real(),
    });
  });
}

/** Gives it up. Its transfers wait again, for another PSBT or another way to be paid. */
export async function discard(deps: PsbtDeps, transaction: Transaction, psbt: StoredPsbt): Promise<void> {
  const held = new Set(psbt.transfers.filter((one) => one.is_held).map(({ id }) => id));
  for (const row of await lockPaid(deps, transaction, psbt)) {
    if (row.status === 'processing' && held.has(row.id)) {
      await deps.settlement.move(transaction, row, { status: 'pending', tx_hash: null });
    }
  }
  await store.setHeld(transaction, psbt.id, false);
  await store.updatePsbt(transaction, psbt.id, {
    state: 'discarded',
    problem: null,
    updated_at: deps.clock.real(),
  });
}

/** Equal parts of a fee; the first one has what cannot be divided. */
export function sharesOf(fee: bigint, parts: number): bigint[] {
  if (parts === 0) return [];
  const share = fee / BigInt(parts);
  const rest = fee - share * BigInt(parts);
  return Array.from({ length: parts }, (_, index) => (index === 0 ? share + rest : share));
}

/** Undefined if it cannot be read: the wallet may have added outputs of any kind, and its transfers still end. */
function sizeOf(raw: string): number | undefined {
  try {
    return BitcoinTransaction.fromRaw(Buffer.from(raw, 'hex'), lenient).vsize;
  } catch {
    return undefined;
  }
}
