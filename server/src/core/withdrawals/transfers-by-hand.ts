/** Ends transfers that a merchant's wallet pays: settled by a transaction that the chain shows, or failed. In the audit log. */
import type { ConnectedNetwork } from '../chains/connected.js';
import type { Database } from '../db/database.js';
import type { Reader, Transaction } from '../db/engine.js';
import type { TransferRow } from '../db/schema.js';
import type { AuditActor, AuditAction, AuditFields, AuditLog } from '../merchants/audit-log.js';
import { parseAmount } from '../money/amounts.js';
import type { Currencies } from '../money/currencies.js';
import type { Clock } from '../shared/clock.js';
import { invalidField, invalidState } from '../shared/problem.js';
import { scopeOf } from '../shared/scope.js';
import { proveSettlement, type ClaimedPayment, type Proof, type ProofDeps } from './settlement-proof.js';
import type { Transfers } from './transfers.js';
import { lockTransfers } from './waiting-transfers.js';

export interface TransfersByHandDeps {
  readonly database: Database;
  readonly clock: Pick<Clock, 'at'>;
  readonly auditLog: Pick<AuditLog, 'record'>;
  readonly currencies: Pick<Currencies, 'known' | 'network'>;
  readonly connected: readonly ConnectedNetwork[];
  readonly transfers: Pick<Transfers, 'findAny' | 'settle' | 'fail'>;
  readonly payer: () => WatchedPayer;
}

/** Facts about the account that pays a transfer, of a module that watches it. */
export interface WatchedPayer {
  readonly sentByContracts: ProofDeps['sentByContracts'];
  readonly payersOf: ProofDeps['payersOf'];
  /** The place that the coins of a transfer leave from; undefined for the addresses that payers paid to. */
  placeOf(reader: Reader, transfer: TransferRow): Promise<'treasury' | undefined>;
  bookGas(
    transaction: Transaction,
    transfer: TransferRow,
    txHash: string,
    cost: NonNullable<Proof['cost']>,
  ): Promise<void>;
  /** Problem: `invalid_state`. @throws NodesUnavailable */
  ensureUnpaidOnChain(transfer: TransferRow, signal: AbortSignal): Promise<void>;
}

/** Nobody knows the merchant's wallet. */
export const unwatchedPayer: WatchedPayer = {
  sentByContracts: () => Promise.resolve(0n),
  payersOf: () => Promise.resolve(undefined),
  placeOf: () => Promise.resolve(undefined),
  bookGas: () => Promise.resolve(),
  ensureUnpaidOnChain: () => Promise.resolve(),
};

export interface PaidByHand extends ClaimedPayment {
  /** In the transfer's own currency, if no node reports it. */
  readonly networkFee: string | undefined;
  /** Believes the given fee even if a node reports another one: only for those who run the server. */
  readonly isFeeCorrected?: boolean;
  /** Skips the look at the nodes: for transactions that none of them can see. */
  readonly isUnverified?: boolean;
}

export type TransfersByHand = ReturnType<typeof createTransfersByHand>;

export function createTransfersByHand(deps: TransfersByHandDeps) {
  const { database, clock, auditLog, currencies, connected, transfers, payer } = deps;

  /** Repeating a change records nothing. @param remarks the log's text about the change itself */
  function change(
    id: string,
    actor: AuditActor,
    action: AuditAction,
    work: (transaction: Transaction) => Promise<TransferRow>,
    remarks: AuditFields = {},
  ): Promise<TransferRow> {
    return database.write(async (transaction) => {
      const previous = await transfers.findAny(transaction, id);
      const row = await work(transaction);
      await auditLog.record(transaction, {
        ...scopeOf(row),
        actor,
        action,
        subjectId: id,
        before: previous && factsOf(previous),
        after: { ...factsOf(row), ...remarks },
      });
      return row;
    });
  }

  /** True if nodes show what happens there. On the other networks that are configured, no real money moves. */
  const hasNodes = ({ mode, network: code }: TransferRow): boolean =>
    connected.some(({ network }) => network.mode === mode && network.code === code);
  const mustHaveNodes = (row: TransferRow): boolean =>
    hasNodes(row) || currencies.network(row.mode, row.network) === undefined;

  /** Refuses a transfer that has not ended: nothing was looked up, because it had, or its network is no longer configured. */
  async function ensureEnded(transaction: Transaction, id: string): Promise<void> {
    const row = (await lockTransfers(transaction, [id])).get(id);
    if (row?.executor !== 'operator' || !mustHaveNodes(row)) return;
    if (row.status !== 'pending' && row.status !== 'processing') return;
    throw invalidState(
      hasNodes(row)
        ? 'The network has dropped the transaction that paid this transfer, and it waits again. Look again'
        : `The network ${row.network} is not configured any more, so no node can show what paid this transfer. Configure it, or use "transfers settle" with --unverified, which takes your word`,
    );
  }

  return {
    /**
     * Looks the transaction up, and settles the transfer that it paid. Repeating it with the same hash changes only a
     * fee that was wrong. Problems: `not_found`, `validation_error`, `invalid_state`, also if nobody can look it up.
     * @throws if no node answers
     */
    async settle(paid: PaidByHand, actor: AuditActor, signal: AbortSignal): Promise<TransferRow> {
      const { transferId, txHash, networkFee, isUnverified = false, isFeeCorrected = false } = paid;
      const { reader } = database;
      const proof = isUnverified
        ? undefined
        : await proveSettlement(
            {
              reader,
              clock,
              currencies,
              networks: connected,
              ...payer(),
            },
            paid,
            signal,
          );
      const row = await transfers.findAny(reader, transferId);
      const paidFrom = row && (await payer().placeOf(reader, row));
      if (proof && paidFrom === 'treasury' && networkFee !== undefined) {
        throw invalidField('network-fee', 'The gas that a treasury paid is read from its transaction');
      }
      const currency = row && currencies.known(row.currency);
      const given =
        networkFee === undefined || !currency
          ? undefined
          : parseAmount(networkFee, currency, 'network-fee', currency.decimals);
      const work = async (transaction: Transaction) => {
        if (!proof && !isUnverified) await ensureEnded(transaction, transferId);
        const part = await proof?.claim(transaction);
        if (given !== undefined && !isFeeCorrected && (!proof || part !== undefined))
          throw invalidField(
            'network-fee',
            'Only for a transaction whose cost no node reports. Leave it out',
          );
        const fee = paidFrom === 'treasury' && proof ? 0n : (given ?? part);
        if (proof && fee === undefined) {
          throw invalidField(
            'network-fee',
            'Required: no node here shows what this transaction cost. An explorer does',
          );
        }
        const known = fee ?? row?.network_fee ?? 0n;
        const settled = await transfers.settle(transaction, transferId, txHash, known, paidFrom);
        if (proof?.cost) await payer().bookGas(transaction, settled, txHash, proof.cost);
        return settled;
      };
      const remarks = isUnverified ? { isUnverified } : {};
      return change(transferId, actor, 'transfer.settled', work, remarks);
    },

    /**
     * Gives up on a transfer that was not sent: its amount is available again. Repeating it changes nothing. Problems:
     * `not_found`; `invalid_state` while it is reserved, if any node shows that a treasury has paid it, or if its network
     * is not configured any more, so that none can.
     * @throws NodesUnavailable
     */
    async fail(id: string, reason: string, actor: AuditActor, signal: AbortSignal): Promise<TransferRow> {
      const row = await transfers.findAny(database.reader, id);
      if (row?.status === 'pending' && mustHaveNodes(row)) {
        if (!hasNodes(row)) {
          throw invalidState(
            `The network ${row.network} is not configured any more, so no node can show whether the wallet has paid this transfer. Configure it first`,
          );
        }
        await payer().ensureUnpaidOnChain(row, signal);
      }
      const work = (transaction: Transaction) => transfers.fail(transaction, id, reason);
      return change(id, actor, 'transfer.failed', work);
    },
  };
}

function factsOf({ status, tx_hash, network_fee, failure_reason }: TransferRow): AuditFields {
  const networkFeeUnits = network_fee?.toString() ?? null;
  return { status, txHash: tx_hash, networkFeeUnits, failureReason: failure_reason };
}
