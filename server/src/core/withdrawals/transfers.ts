/** Transfers: a merchant's withdrawals. The money is held at once, sent later, and then paid out or given back. */
import type { CoreApi, Data } from 'crypto-checkout/contract';
import type { Balances } from './balances.js';
import { refuseLeftTables } from '../db/removed-modules.js';
import type { TransferRow } from '../db/schema.js';
import { moved, type AccountName } from '../ledger/ledger.js';
import { unitsToNumber } from '../money/units.js';
import { invalidField, invalidState, orNotFound } from '../shared/problem.js';
import { scopeOf, type Scope } from '../shared/scope.js';
import { readCursor } from '../scanning/cursors.js';
import type { WithdrawalsDeps } from './deps.js';
import { resolveDestination, type Destination, type TransferRequest } from './destination.js';
import { ensureAllowed, ensureRefundAllowed } from './transfer-policy.js';
import { parseFailureReason } from './payouts.js';
import type { Settlement } from './settlement.js';
import * as store from './transfer-store.js';
import type { OperatorFilter } from './transfer-store.js';
import { viewTransfer } from './transfer-view.js';
import type { Transaction } from '../db/engine.js';
import type { Page, PageRequest } from '../shared/pagination.js';

export type Transfer = Data<CoreApi['transfers']['retrieve']>;

export type Transfers = ReturnType<typeof createTransfers>;

type NewTransfer = Pick<Destination, 'currency' | 'network' | 'amount' | 'fee'> &
  Pick<TransferRow, 'address' | 'wallet_address_id' | 'refund_id'>;

/** A refund that was approved. */
export type RefundToPay = Pick<
  TransferRow,
  'id' | 'merchant_id' | 'mode' | 'currency' | 'network' | 'address' | 'amount' | 'fee'
>;

export function createTransfers(deps: WithdrawalsDeps, balances: Balances, settlement: Settlement) {
  const { database, clock, newId, currencies, ledger, isSimulated } = deps;
  const view = (row: TransferRow) => viewTransfer(row, currencies);

  /** Locks a transfer that an operator may settle or fail. */
  async function lockForOperator(transaction: Transaction, id: string): Promise<TransferRow> {
    const row = orNotFound(await store.lockTransfer(transaction, id), 'transfer');
    // A transfer never changes its executor, so the server and an operator never both send it.
    if (row.executor === 'simulator') {
      throw invalidState(
        `The server sends this transfer itself: operators cannot settle or fail transfers on ${row.network}`,
      );
    }
    return row;
  }

  /** Holds the amount and the fee of a transfer, and stores it. @param from the place of its coins */
  async function start(
    transaction: Transaction,
    scope: Scope,
    { currency, network, amount, fee, ...to }: NewTransfer,
    from: AccountName,
  ): Promise<TransferRow> {
    const { merchantId, mode } = scope;
    const now = clock.now(scope);
    const read = await readCursor(transaction, { mode, network: network.code });
    const row: TransferRow = {
      id: newId(),
      merchant_id: merchantId,
      mode,
      status: 'pending',
      executor: isSimulated(network) ? 'simulator' : 'operator',
      currency: currency.code,
      network: network.code,
      amount,
      fee,
      ...to,
      tx_hash: null,
      paid_from: null,
      network_fee: null,
      failure_reason: null,
      settled_at: null,
      reversals: 0,
      // Not the head, which a single node can make up: the transfer would be blind to its payment.
      from_height: read?.height ?? null,
      pays_again: null,
      created_at: now,
      updated_at: now,
    };
    await ledger.post(transaction, {
      key: `hold:${row.id}`,
      mode,
      currency: currency.code,
      entries: moved(from, { kind: 'reserved', network: network.code, merchantId }, amount + fee),
    });
    await store.insertTransfer(transaction, row);
    return row;
  }

  return {
    /**
     * Creates a transfer, and holds its amount and fee. Problems: `validation_error`, `unsupported_currency`,
     * `invalid_address`, `balance_suspended`, `insufficient_balance`. The merchant's own limits give the first or third.
     */
    async create(transaction: Transaction, scope: Scope, request: TransferRequest): Promise<Transfer> {
      const destination = await resolveDestination(deps, transaction, scope, request);
      const { currency, network, address, savedId, amount, fee } = destination;
      const { merchantId } = scope;
      await balances.ensureSpendableOn(transaction, scope, currency, network, amount + fee);
      await ensureAllowed(deps, transaction, scope, destination);
      const to = { currency, network, address, amount, fee, wallet_address_id: savedId, refund_id: null };
      return view(await start(transaction, scope, to, { kind: 'available', merchantId }));
    },

    /**
     * Pays a refund from its reserved money. The limit is that of refunds, and any address will do. Problems:
     * `balance_suspended`, `validation_error`.
     */
    async createForRefund(transaction: Transaction, refund: RefundToPay): Promise<TransferRow> {
      const { id, network, amount, fee, address } = refund;
      const scope = scopeOf(refund);
      const currency = currencies.known(refund.currency);
      await balances.ensureSpendable(transaction, scope, currency, 0n);
      await ensureRefundAllowed(deps, transaction, scope, { currency, amount });
      const to = {
        currency,
        network: currencies.option(scope.mode, currency.code, network).network,
        address,
        amount,
        fee,
        wallet_address_id: null,
        refund_id: id,
      };
      const reserved = { kind: 'reserved', network, merchantId: scope.merchantId } as const;
      return start(transaction, scope, to, reserved);
    },

    /** Its destination was erased, with the customer who named it. */
    async forgetAddress(transaction: Transaction, id: string): Promise<void> {
      const row = orNotFound(await store.lockTransfer(transaction, id), 'transfer');
      await store.updateTransfer(transaction, { ...row, address: '' });
    },

    /**
     * The sums that refunds sent since a time, without fees, in units by currency. Those whose transfer failed do not
     * count.
     */
    refundedSince: store.sumRefundsSince,

    /** The fee of such a transfer. Same problems, except those of the balance. */
    async quoteFee(scope: Scope, request: TransferRequest): Promise<{ currency: string; amount: number }> {
      const { currency, fee } = await resolveDestination(deps, database.reader, scope, request);
      return { currency: currency.code, amount: unitsToNumber(fee, currency) };
    },

    /** Problem: `not_found`. */
    async retrieve(scope: Scope, id: string): Promise<Transfer> {
      const row = orNotFound(await store.findTransfer(database.reader, scope, id), 'transfer');
      return view(row);
    },

    async list(scope: Scope, query: PageRequest & Pick<OperatorFilter, 'status'>): Promise<Page<Transfer>> {
      const { rows, total } = await store.listTransfers(database.reader, scope, query);
      return { rows: rows.map(view), total };
    },

    /** For operators: a transfer of any merchant; undefined if there is none. */
    findAny: store.findAnyTransfer,

    /** For operators: transfers of all merchants, oldest first, at most 1000. */
    listAll: (filter: OperatorFilter): Promise<TransferRow[]> =>
      store.listAllTransfers(database.reader, filter),

    /**
     * For operators: records that a transfer was sent by hand, in the transaction with this hash. Repeating it with
     * the same hash changes only the network's fee, if that was wrong. Problems: `not_found`, `validation_error`,
     * `invalid_state`.
     * @param networkFee in units: the network's charge to custody in the currency that was sent
     * @param paidFrom the place of the coins; undefined for the addresses that payers paid to
     */
    async settle(
      transaction: Transaction,
      id: string,
      givenHash: string,
      networkFee: bigint,
      paidFrom?: 'treasury',
    ): Promise<TransferRow> {
      const row = await lockForOperator(transaction, id);
      const txHash = parseHash(givenHash);
      if (row.status === 'success') {
        if (row.tx_hash === txHash) {
          if (row.network_fee === networkFee) return row;
          return settlement.correct(transaction, row, { txHash, networkFee });
        }
        throw invalidState(`The transfer is already settled with ${row.tx_hash ?? 'another hash'}`);
      }
      if (row.status === 'failed') throw invalidState('The transfer has already failed');
      await deps.beforeSettle(transaction, row);
      return settlement.succeed(transaction, row, { txHash, networkFee, paidFrom });
    },

    /**
     * The merchant's wallet has paid it, whatever its status. A failed transfer becomes a success. If another transaction has
     * paid it as well, this payment becomes a transfer of its own.
     * @returns the transfer that the transaction has settled
     */
    async settleAnyway(
      transaction: Transaction,
      id: string,
      givenHash: string,
      paidFrom: 'treasury',
    ): Promise<TransferRow> {
      const row = await lockForOperator(transaction, id);
      const sent = { txHash: parseHash(givenHash), networkFee: 0n, paidFrom };
      return row.status === 'success'
        ? settlement.payAgain(transaction, row, sent)
        : settlement.succeed(transaction, row, sent);
    },

    /**
     * The chain has dropped the transaction that settled it: it waits again. A payment that was one too many is gone instead.
     * @returns undefined if something else settled it
     */
    async unsettle(transaction: Transaction, id: string, txHash: string): Promise<TransferRow | undefined> {
      const row = await store.lockTransfer(transaction, id);
      if (row?.status !== 'success' || row.tx_hash !== parseHash(txHash)) return undefined;
      if (row.pays_again === null) return settlement.unsettle(transaction, row);
      return settlement.lose(
        transaction,
        row,
        'The network dropped the block in which it was paid once more',
      );
    },

    /** For operators: gives up on a transfer that was not sent. Repeating it changes nothing. Same problems. */
    async fail(transaction: Transaction, id: string, given: string): Promise<TransferRow> {
      const reason = parseFailureReason(given);
      const row = await lockForOperator(transaction, id);
      if (row.status === 'failed') return row;
      if (row.status === 'success') throw invalidState('The transfer is already settled');
      await deps.beforeSettle(transaction, row);
      await deps.beforeFail(transaction, row);
      // A module that was removed since may have given it to a wallet, which can still pay it. A refund only follows it.
      await refuseLeftTables(transaction, { transfer_id: [id] }, 'refunds');
      return settlement.fail(transaction, row, reason);
    },
  };
}

/** In every family, a transaction hash is 32 bytes in hexadecimal digits. EVM networks write 0x in front. */
function parseHash(text: string): string {
  const hash = text.trim().toLowerCase();
  if (!/^(0x)?[0-9a-f]{64}$/.test(hash)) throw invalidField('tx-hash', 'Must be 64 hexadecimal digits');
  return hash;
}
