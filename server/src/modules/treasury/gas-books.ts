/**
 * The transactions that the gas key has signed, and their costs: kept before they are broadcast, and posted to the
 * ledger when they are final.
 */
import type { EvmReceipt } from '../networks/evm/replies.js';
import type { Transaction } from '../../core/db/engine.js';
import { moved } from '../../core/ledger/ledger.js';
import type { TreasuryContext } from './context.js';
import * as store from './gas-transactions.js';
import type { GasTransactionRow } from './tables.js';

const dayMs = 86_400_000;

/** The columns of a transaction that are stored when it is signed. */
type Signed = Omit<GasTransactionRow, 'id' | 'status' | 'cost' | 'block_height' | 'created_at' | 'ended_at'>;

/** Stores a transaction that was signed. @returns undefined if another process has taken the nonce */
export async function recordTransaction(
  { database, clock, newId, hooks }: TreasuryContext,
  signed: Signed,
): Promise<GasTransactionRow | undefined> {
  const open = { status: 'open', cost: null, block_height: null, ended_at: null } as const;
  const row = { id: newId(), ...signed, ...open, created_at: clock.real() };
  const isNew = await database.write(async (transaction) => {
    await hooks.beforePayout(transaction, row.mode);
    return store.insertTransaction(transaction, row);
  });
  return isNew ? row : undefined;
}

/** The sum, in wei, that was spent in the last day or can still be spent, with nonces other than `except`. */
export async function spentLastDay(
  { database, clock }: TreasuryContext,
  account: store.GasAccount,
  except: number,
): Promise<bigint> {
  const rows = await store.transactionsSince(database.reader, account, clock.real() - dayMs, except);
  const byNonce = new Map<number, bigint>();
  for (const { nonce, cost, gas_limit: gas, max_fee: fee, status } of rows) {
    const units = cost ?? (status === 'open' ? gas * fee : 0n);
    const before = byNonce.get(nonce) ?? 0n;
    byNonce.set(nonce, units > before ? units : before);
  }
  return [...byNonce.values()].reduce((sum, units) => sum + units, 0n);
}

/** Ends the attempts of a nonce that another program has used. */
export function abandonNonce({ database, clock }: TreasuryContext, row: GasTransactionRow): Promise<void> {
  return database.write((transaction) => store.endNonce(transaction, row, clock.real()));
}

/** Books what it cost. The money that it swept is booked from the chain, as with every sweep. */
export async function endTransaction(
  deps: TreasuryContext,
  row: GasTransactionRow,
  { fee, height, isSuccess }: EvmReceipt,
): Promise<void> {
  const { database, clock, log } = deps;
  if (!fee) throw new Error(`The receipt of the sweep ${row.tx_hash} has no fee`);
  const now = clock.real();
  await database.write(async (transaction) => {
    const locked = await store.lockTransactionsFrom(transaction, row, row.nonce);
    // Another server with the same key was faster.
    if (locked.find(({ id }) => id === row.id)?.status !== 'open') return;
    await store.endNonce(transaction, row, now);
    const status = isSuccess ? 'mined' : 'reverted';
    const ended = { status, cost: fee.amount, block_height: height, ended_at: now } as const;
    await store.updateTransaction(transaction, row.id, ended);
    await post(deps, transaction, { ...row, ...ended }, 'gas');
  });
  const { mode, network, tx_hash: txHash } = row;
  const facts = { mode, network, txHash };
  if (isSuccess) log.info(facts, 'Sweep confirmed');
  else log.warn(facts, 'A sweep failed on the chain: it cost its gas, and moved nothing');
}

/** Opens again what ended from a nonce on, and was dropped with its blocks. */
export async function reopenFrom(deps: TreasuryContext, account: store.GasAccount, nonce: number) {
  await deps.database.write(async (transaction) => {
    for (const row of await store.lockTransactionsFrom(transaction, account, nonce)) {
      if (row.status === 'open') continue;
      const open = { status: 'open', cost: null, block_height: null, ended_at: null } as const;
      await store.updateTransaction(transaction, row.id, open);
      await post(deps, transaction, row, 'ungas');
    }
  });
}

/** Posts the cost of a transaction, or reverts it. Its end is in the key: it can end again after a reorganisation. */
async function post(
  { ledger }: TreasuryContext,
  transaction: Transaction,
  { id, mode, currency, cost, ended_at: endedAt }: GasTransactionRow,
  direction: 'gas' | 'ungas',
): Promise<void> {
  if (cost === null) return;
  const [debit, credit] = [{ kind: 'network_fee' }, { kind: 'gas_paid' }] as const;
  const [from, to] = direction === 'gas' ? [debit, credit] : [credit, debit];
  const entries = moved(from, to, cost);
  await ledger.post(transaction, { key: `${direction}:${id}:${endedAt}`, mode, currency, entries });
}
