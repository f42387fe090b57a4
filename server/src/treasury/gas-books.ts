/** What the gas key has signed and spent: kept before it is broadcast, and posted to the ledger when it is final. */
import type { EvmReceipt } from '../chains/evm/replies.js';
import type { GasTransactionTable } from '../db/schema.js';
import type { Transaction } from '../db/engine.js';
import { moved } from '../ledger/ledger.js';
import type { TreasuryContext } from './context.js';
import * as store from './gas-transactions.js';
import type { SweptNetwork } from './swept-network.js';
import type { UnsignedTransaction } from './transaction.js';

const dayMs = 86_400_000;

/** Signs a transaction and stores it. @returns undefined if another process has taken the nonce */
export async function recordTransaction(
  { database, clock, newId, guard }: TreasuryContext,
  { account, coin, sign }: SweptNetwork,
  unsigned: UnsignedTransaction,
  attempt: number,
  addresses: number,
): Promise<GasTransactionTable | undefined> {
  const { txHash, raw } = sign(unsigned);
  const row: GasTransactionTable = {
    id: newId(),
    ...account,
    nonce: unsigned.nonce,
    attempt,
    tx_hash: txHash,
    raw,
    call_data: unsigned.data,
    addresses,
    currency: coin,
    gas_limit: unsigned.gasLimit.toString(),
    max_fee: unsigned.maxFee.toString(),
    priority_fee: unsigned.maxPriorityFee.toString(),
    status: 'open',
    cost: null,
    block_height: null,
    created_at: clock.real(),
    ended_at: null,
  };
  const isNew = await database.write(async (transaction) => {
    await guard.startPayout(transaction, account.mode);
    return store.insertTransaction(transaction, row);
  });
  return isNew ? row : undefined;
}

/** What was spent in the last day, or can still be. In wei. */
export async function spentLastDay({ database, clock }: TreasuryContext, account: store.GasAccount) {
  const rows = await store.transactionsSince(database.reader, account, clock.real() - dayMs);
  const byNonce = new Map<number, bigint>();
  for (const { nonce, cost, gas_limit: gas, max_fee: fee, status } of rows) {
    const units = cost !== null ? BigInt(cost) : status === 'open' ? BigInt(gas) * BigInt(fee) : 0n;
    const before = byNonce.get(nonce) ?? 0n;
    byNonce.set(nonce, units > before ? units : before);
  }
  return [...byNonce.values()].reduce((sum, units) => sum + units, 0n);
}

/** Ends the attempts of a nonce that another program has used. */
export function abandonNonce({ database, clock }: TreasuryContext, row: GasTransactionTable): Promise<void> {
  return database.write((transaction) => store.endNonce(transaction, row, clock.real()));
}

/** Books what it cost. The money that it swept is booked by what the chain reports, as that of every sweep. */
export async function endTransaction(
  deps: TreasuryContext,
  { account }: SweptNetwork,
  row: GasTransactionTable,
  { fee, height, isSuccess }: EvmReceipt,
): Promise<void> {
  const { database, clock, log } = deps;
  if (!fee) throw new Error(`The receipt of the sweep ${row.tx_hash} has no fee`);
  const now = clock.real();
  await database.write(async (transaction) => {
    const locked = await store.lockTransactionsFrom(transaction, account, row.nonce);
    // Another server with the same key was faster.
    if (locked.find(({ id }) => id === row.id)?.status !== 'open') return;
    await store.endNonce(transaction, row, now);
    const status = isSuccess ? 'mined' : 'reverted';
    const ended = { status, cost: fee.amount.toString(), block_height: height, ended_at: now } as const;
    await store.updateTransaction(transaction, row.id, ended);
    await post(deps, transaction, { ...row, ...ended }, 'gas', now);
  });
  const { mode, network } = account;
  const facts = { mode, network, txHash: row.tx_hash };
  if (isSuccess) log.info(facts, 'Sweep confirmed');
  else log.warn(facts, 'A sweep failed on the chain: it cost its gas, and moved nothing');
}

/** Opens again what ended from a nonce on, and was dropped with its blocks. */
export async function reopenFrom(deps: TreasuryContext, account: store.GasAccount, nonce: number) {
  const now = deps.clock.real();
  await deps.database.write(async (transaction) => {
    for (const row of await store.lockTransactionsFrom(transaction, account, nonce)) {
      if (row.status === 'open') continue;
      const open = { status: 'open', cost: null, block_height: null, ended_at: null } as const;
      await store.updateTransaction(transaction, row.id, open);
      await post(deps, transaction, row, 'ungas', now);
    }
  });
}

/** Posts what a transaction cost, or takes it back. Its end is in the key: it can end again after a reorganisation. */
async function post(
  { ledger }: TreasuryContext,
  transaction: Transaction,
  { id, mode, currency, cost, ended_at: endedAt }: GasTransactionTable,
  direction: 'gas' | 'ungas',
  now: number,
): Promise<void> {
  if (cost === null) return;
  const [debit, credit] = [{ kind: 'network_fee' }, { kind: 'gas_paid' }] as const;
  const [from, to] = direction === 'gas' ? [debit, credit] : [credit, debit];
  const entries = moved(from, to, BigInt(cost));
  await ledger.post(transaction, { key: `${direction}:${id}:${endedAt}`, mode, currency, entries }, now);
}
