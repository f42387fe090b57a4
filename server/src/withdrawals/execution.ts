/**
 * Sends transfers on networks that have a signer, and tracks them until they are final.
 *
 * Why money is sent only once: one database transaction signs a transfer, stores the signed transaction, and moves the
 * transfer out of `pending`. It is never signed again. After that, whatever is killed, restarted or run twice can only
 * broadcast the same signed transaction again, and a network accepts a transaction of a given hash only once.
 *
 * Why no money is lost: until the network has confirmed a transaction, every run looks it up by its hash, and
 * broadcasts it again if the network does not know it. What was held is paid out or given back in the same database
 * transaction that changes the status. It is given back only if the network will never accept the transaction, so that
 * it cannot be sent afterwards.
 */
import type { NetworkRef } from '../chains/chain.js';
import type { SignedTransaction, Signer } from '../chains/signer.js';
import { TransactionRefused } from '../chains/signer.js';
import type { Clock } from '../shared/clock.js';
import type { Currencies } from '../money/currencies.js';
import type { Database } from '../db/database.js';
import type { TransferTable } from '../db/schema.js';
import { createFailures, type Failures } from '../shared/failures.js';
import type { Payouts } from './payouts.js';
import type { Settlement } from './settlement.js';
import * as store from './transfer-store.js';
import { scopeOf, type Scope } from '../shared/scope.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Transaction } from '../db/engine.js';

export interface Execution {
  /** Signs pending transfers, broadcasts those that the networks do not know, and ends those that they confirmed. */
  advance(signal: AbortSignal): Promise<void>;
  /**
   * Looks at the transfers that were confirmed during the last day. One that the chain has dropped is broadcast again until
   * it is confirmed again, however long that takes. If the network refuses it for good, it fails and gives back the money.
   */
  restoreLost(signal: AbortSignal): Promise<void>;
}

export interface ExecutionDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly currencies: Currencies;
  readonly ledger: Ledger;
  readonly payouts: Payouts;
  readonly settlement: Settlement;
  readonly signers: readonly Signer[];
  /** Whether deposits to a merchant that left their blocks may still be confirmed again. */
  readonly returningDeposits: (transaction: Transaction, owner: Scope, currency: string) => Promise<boolean>;
}

const restorableMs = 24 * 60 * 60 * 1000;

export function createExecution(deps: ExecutionDeps): Execution {
  const { database, clock, currencies, ledger, payouts, settlement, returningDeposits } = deps;
  const signerOf = ({ mode, network }: NetworkRef) =>
    deps.signers.find((signer) => signer.mode === mode && signer.network === network);

  async function sign(id: string): Promise<void> {
    await database.write(async (transaction) => {
      const row = await store.claimTransfer(transaction, id);
      const signer = row && signerOf(row);
      if (row?.status !== 'pending' || !signer) return;
      const cover = await coverage(transaction, row);
      if (cover === 'waiting') return;
      if (cover === 'gone') {
        await settlement.fail(transaction, row, 'The deposits that it was to be paid from left the chain');
        return;
      }
      const { currency, address, amount, fee } = row;
      const signed = signer.sign({ currency, address, amount: BigInt(amount), fee: BigInt(fee) });
      const processing: TransferTable = {
        ...row,
        status: 'processing',
        signed_transaction: signed.payload,
        tx_hash: signed.txHash,
        network_fee: signed.networkFee.toString(),
        updated_at: clock.now(scopeOf(row)),
      };
      await store.updateTransfer(transaction, processing);
      await payouts.syncWithTransfer(transaction, processing);
    });
  }

  /**
   * Whether the coins of a held transfer are still there. A reorganisation can take deposits away after the hold: then it
   * waits while they may be confirmed again, and is never paid with the coins of others.
   */
  async function coverage(
    transaction: Transaction,
    row: TransferTable,
  ): Promise<'covered' | 'waiting' | 'gone'> {
    const { merchant_id: merchantId, mode, currency, network } = row;
    const owner = { merchantId, mode };
    // Locks the merchant's money: whatever confirms or reverses a deposit waits until the transaction ends.
    await ledger.balance(transaction, mode, currency, { kind: 'available', merchantId });
    const { held, heldHere, debt, coins } = await ledger.holdings(transaction, owner, currency, network);
    // Everything that is held is there, and so is this.
    if (debt === 0n && coins >= heldHere) return 'covered';
    const needed = BigInt(row.amount) + BigInt(row.fee);
    const moving = await store.sumProcessing(transaction, row);
    const movingInAll = [...moving.values()].reduce((sum, units) => sum + units, 0n);
    const isHere = coins - (moving.get(network) ?? 0n) >= needed;
    const isPaidFor = held - debt - movingInAll >= needed;
    if (isHere && isPaidFor) return 'covered';
    return (await returningDeposits(transaction, owner, currency)) ? 'waiting' : 'gone';
  }

  async function broadcast(signer: Signer, row: TransferTable, signal: AbortSignal): Promise<void> {
    try {
      await signer.broadcast(signedOf(row), signal);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      await database.write(async (transaction) => {
        const current = await store.lockTransfer(transaction, row.id);
        if (current?.status !== row.status) return;
        if (current.status === 'processing') await settlement.fail(transaction, current, error.message);
        else {
          const reason = `The network dropped the transaction after it was confirmed: ${error.message}`;
          await settlement.lose(transaction, current, reason);
        }
      });
    }
  }

  async function succeed(id: string): Promise<void> {
    await database.write(async (transaction) => {
      const row = await store.lockTransfer(transaction, id);
      // Another replica, or the previous run, may have ended it already.
      if (row?.status === 'processing') await settlement.succeed(transaction, row, signedOf(row));
    });
  }

  /** Notes whether a sent transfer is confirmed. While it is not, it is looked at however long ago it was sent. */
  async function noteConfirmed(id: string, isConfirmed: boolean): Promise<void> {
    await database.write(async (transaction) => {
      const row = await store.lockTransfer(transaction, id);
      if (row?.status !== 'success' || (row.confirmed_at !== null) === isConfirmed) return;
      const confirmed_at = isConfirmed ? clock.real() : null;
      await store.updateTransfer(transaction, { ...row, confirmed_at });
    });
  }

  /** Asks each network about its transfers of a page: broadcasts unknown ones, and ends confirmed ones. */
  async function track(page: readonly TransferTable[], failures: Failures, signal: AbortSignal) {
    for (const signer of deps.signers) {
      const rows = page.filter((row) => signerOf(row) === signer);
      if (rows.length === 0) continue;
      await failures.collect(async () => {
        const needed =
          currencies.network(signer.mode, signer.network)?.confirmations ?? Number.POSITIVE_INFINITY;
        const known = await signer.confirmations(
          rows.map((row) => signedOf(row).txHash),
          signal,
        );
        for (const row of rows) {
          signal.throwIfAborted();
          const confirmations = known.get(signedOf(row).txHash);
          await failures.collect(async () => {
            const isConfirmed = confirmations !== undefined && confirmations >= needed;
            if (row.status === 'success' && (row.confirmed_at !== null) !== isConfirmed) {
              await noteConfirmed(row.id, isConfirmed);
            }
            if (confirmations === undefined) await broadcast(signer, row, signal);
            else if (isConfirmed && row.status === 'processing') await succeed(row.id);
          });
        }
      });
    }
  }

  return {
    async advance(signal) {
      const failures = createFailures();
      for await (const page of store.signerTransfers(database.reader, 'pending')) {
        for (const { id } of page) {
          signal.throwIfAborted();
          await failures.collect(() => sign(id));
        }
      }
      for await (const page of store.signerTransfers(database.reader, 'processing')) {
        await track(page, failures, signal);
      }
      failures.report('transfers could not be processed');
    },

    async restoreLost(signal) {
      const failures = createFailures();
      // Chains keep real time, also in test mode.
      const since = clock.real() - restorableMs;
      for await (const page of store.droppableTransfers(database.reader, since)) {
        await track(page, failures, signal);
      }
      failures.report('transfers could not be processed');
    },
  };
}

function signedOf(row: TransferTable): SignedTransaction {
  const { tx_hash: txHash, signed_transaction: payload, network_fee: networkFee } = row;
  if (txHash === null || payload === null || networkFee === null) {
    throw new Error(`The transfer ${row.id} has no signed transaction`);
  }
  return { txHash, payload, networkFee: BigInt(networkFee) };
}
