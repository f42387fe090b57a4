/**
 * Sends the transfers on networks with a signer, and follows them until they are on the chain for good.
 *
 * Why money is sent once: a transfer is signed in the transaction that takes it out of `pending` and stores what
 * was signed, and it is never signed again. Whatever is killed, restarted or run twice after that, the same
 * transaction is sent again, and a network takes a transaction of one hash once.
 * Why none is lost: until the network has confirmed it, every run asks for it by its hash and sends it again where
 * the network does not know it; what was held is paid out or given back in the same transaction as the status.
 * It is given back only where the network refuses the transaction for ever, so that it cannot still be sent.
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
import type { Mode } from '../shared/scope.js';

export interface Execution {
  /** Signs what is pending, sends what the networks do not know, and ends what they have confirmed. */
  advance(signal: AbortSignal): Promise<void>;
  /** Sends again what was asked for in the last day, was confirmed and then left the chain. */
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

const restoredMs = 24 * 60 * 60 * 1000;

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
        updated_at: clock.now(row.mode),
      };
      await store.updateTransfer(transaction, processing);
      await payouts.follow(transaction, processing);
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
      // Another server, or the run before, may have been here.
      if (row?.status === 'processing') await settlement.succeed(transaction, row, signedOf(row));
    });
  }

  /** Asks each network about its rows of a page, and sends what it does not know. */
  async function follow(page: readonly TransferTable[], failures: Failures, signal: AbortSignal) {
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
        await follow(page, failures, signal);
      }
      failures.report('transfers could not be carried on');
    },

    async restoreLost(signal) {
      const failures = createFailures();
      for (const mode of ['test', 'live'] satisfies Mode[]) {
        const since = clock.now(mode) - restoredMs;
        const recent = store.signerTransfers(database.reader, { status: 'success', mode, since });
        for await (const page of recent) await follow(page, failures, signal);
      }
      failures.report('transfers could not be carried on');
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
