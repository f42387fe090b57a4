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
import { scopeOf, type Mode } from '../shared/scope.js';

export interface Execution {
  /** Signs pending transfers, broadcasts those that the networks do not know, and ends those that they confirmed. */
  advance(signal: AbortSignal): Promise<void>;
  /** Broadcasts transfers of the last day again if they were confirmed and then dropped from the chain. */
  restoreLost(signal: AbortSignal): Promise<void>;
}

export interface ExecutionDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly currencies: Currencies;
  readonly payouts: Payouts;
  readonly settlement: Settlement;
  readonly signers: readonly Signer[];
}

const restorableMs = 24 * 60 * 60 * 1000;

export function createExecution(deps: ExecutionDeps): Execution {
  const { database, clock, currencies, payouts, settlement } = deps;
  const signerOf = ({ mode, network }: NetworkRef) =>
    deps.signers.find((signer) => signer.mode === mode && signer.network === network);

  async function sign(id: string): Promise<void> {
    await database.write(async (transaction) => {
      const row = await store.claimTransfer(transaction, id);
      const signer = row && signerOf(row);
      if (row?.status !== 'pending' || !signer) return;
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

  async function broadcast(signer: Signer, row: TransferTable, signal: AbortSignal): Promise<void> {
    try {
      await signer.broadcast(signedOf(row), signal);
    } catch (error) {
      if (!(error instanceof TransactionRefused) || row.status !== 'processing') throw error;
      await database.write(async (transaction) => {
        const current = await store.lockTransfer(transaction, row.id);
        if (current?.status === 'processing') await settlement.fail(transaction, current, error.message);
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
            if (confirmations === undefined) await broadcast(signer, row, signal);
            else if (confirmations >= needed && row.status === 'processing') await succeed(row.id);
          });
        }
      });
    }
  }

  return {
    async advance(signal) {
      const failures = createFailures();
      for await (const page of store.signerTransfers(database.reader, { status: 'pending' })) {
        for (const { id } of page) {
          signal.throwIfAborted();
          await failures.collect(() => sign(id));
        }
      }
      for await (const page of store.signerTransfers(database.reader, { status: 'processing' })) {
        await track(page, failures, signal);
      }
      failures.report('transfers could not be processed');
    },

    async restoreLost(signal) {
      const failures = createFailures();
      for (const mode of ['test', 'live'] satisfies Mode[]) {
        // A merchant's clock is never behind real time, so this finds the recent transfers of every merchant.
        const since = clock.real() - restorableMs;
        const recent = store.signerTransfers(database.reader, { status: 'success', mode, since });
        const isRecent = (row: TransferTable) => row.created_at > clock.now(scopeOf(row)) - restorableMs;
        for await (const page of recent) await track(page.filter(isRecent), failures, signal);
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
