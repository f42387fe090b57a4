/** Payouts: money paid out to a wallet address by a transfer, or to a bank account by an operator. */
import { parseDecimal, type CoreApi, type Data } from 'crypto-checkout/contract';
import type { Balances } from './balances.js';
import { parseAmount, requireCurrency } from '../money/amounts.js';
import { replyDecimals, unitsToNumber } from '../money/units.js';
import type { Currencies } from '../money/currencies.js';
import type { PayoutRow, TransferRow } from '../db/schema.js';
import { moved } from '../ledger/ledger.js';
import { invalidField, invalidState, orNotFound } from '../shared/problem.js';
import type { WithdrawalsDeps } from './deps.js';
import { sortableUnits } from './sortable-amount.js';
import * as store from './payout-store.js';
import type { PayoutQuery } from './payout-store.js';
import { isoTime } from '../shared/clock.js';
import type { OperatorFilter } from './transfer-store.js';
import type { Reader, Transaction } from '../db/engine.js';
import { scopeOf, type Scope } from '../shared/scope.js';
import type { Page } from '../shared/pagination.js';

export type Payout = Data<CoreApi['payouts']['retrieve']>;

export interface BankPayoutRequest {
  readonly bankAccountId: string;
  /** A decimal in `currency`. */
  readonly amount: string;
  /** The currency of the balance that pays. */
  readonly currency: string;
  /** The reference on the bank statement. A reference is paid once per merchant and mode. */
  readonly reference: string;
}

export type Payouts = ReturnType<typeof createPayouts>;

export function createPayouts(deps: WithdrawalsDeps, balances: Balances) {
  const { database, clock, newId, currencies, ledger, bankAccounts } = deps;

  /** Moves the amount from available to bank_clearing, or back. The coins stay in custody: a bank pays instead. */
  async function post(transaction: Transaction, row: PayoutRow, kind: 'bank' | 'bank-return'): Promise<void> {
    const available = { kind: 'available', merchantId: row.merchant_id } as const;
    const clearing = { kind: 'bank_clearing' } as const;
    const [from, to] = kind === 'bank' ? [available, clearing] : [clearing, available];
    const entries = moved(from, to, row.amount);
    const { id, mode, currency } = row;
    await ledger.post(transaction, { key: `${kind}:${id}`, mode, currency, entries });
  }

  /** For operators. Repeating it changes nothing. */
  async function end(
    transaction: Transaction,
    id: string,
    status: 'success' | 'failed',
    failure_reason: string | null,
  ): Promise<PayoutRow> {
    const row = orNotFound(await store.lockPayout(transaction, id), 'payout');
    if (row.transfer_id !== null) {
      throw invalidState(
        `This payout carries out the transfer ${row.transfer_id}: settle or fail the transfer instead`,
      );
    }
    if (row.status === status) return row;
    if (row.status === 'failed') throw invalidState('The payout has already failed');
    if (row.status === 'success') throw invalidState('The payout is already settled');
    const changes = { status, failure_reason, updated_at: clock.now(scopeOf(row)) };
    await store.updatePayout(transaction, id, changes);
    const ended = { ...row, ...changes };
    if (status === 'failed') await post(transaction, ended, 'bank-return');
    return ended;
  }

  return {
    async retrieve(scope: Scope, id: string): Promise<Payout> {
      const row = orNotFound(await store.findPayout(database.reader, scope, { id }), 'payout');
      return viewPayout(row, currencies);
    },

    async list(scope: Scope, query: PayoutQuery): Promise<Page<Payout>> {
      const { rows, total } = await store.listPayouts(database.reader, scope, query);
      return { rows: rows.map((row) => viewPayout(row, currencies)), total };
    },

    /** Creates the payout of a transfer once it is being sent, and keeps it in step with the transfer. */
    async syncWithTransfer(transaction: Transaction, transfer: TransferRow): Promise<void> {
      const { id: transferId, status, tx_hash, failure_reason, updated_at, currency, amount, fee } = transfer;
      const known = currencies.known(currency);
      const change = {
        status,
        tx_hash,
        failure_reason,
        updated_at,
        amount,
        fee,
        amount_order: sortableUnits(amount, known),
        fee_order: sortableUnits(fee, known),
      };
      if (await store.updatePayoutOfTransfer(transaction, transferId, change)) return;
      // A transfer that failed before it was sent gets no payout.
      if (status === 'pending' || status === 'failed') return;
      await store.insertPayout(transaction, {
        ...change,
        id: newId(),
        merchant_id: transfer.merchant_id,
        mode: transfer.mode,
        currency,
        bank_account_id: null,
        wallet_address_id: transfer.wallet_address_id,
        destination: maskDestination(transfer.address),
        transfer_id: transferId,
        reference: null,
        created_at: updated_at,
      });
    },

    /**
     * Takes the amount from the merchant's balance, for an operator to pay to a bank account. Repeating the same request
     * before the payout has ended returns the same payout, which is not new then. Problems: `validation_error`,
     * `unsupported_currency`, `not_found`, `invalid_state`, `balance_suspended`, `insufficient_balance`.
     */
    async createBankPayout(
      transaction: Transaction,
      scope: Scope,
      request: BankPayoutRequest,
    ): Promise<{ readonly row: PayoutRow; readonly isNew: boolean }> {
      const { merchantId, mode } = scope;
      const { currency, amount, reference } = parseRequest(request, currencies);
      const account = orNotFound(
        await bankAccounts.find(transaction, scope, request.bankAccountId),
        'bank account',
      );
      const now = clock.now(scope);
      const row: PayoutRow = {
        id: newId(),
        merchant_id: merchantId,
        mode,
        status: 'processing',
        currency: currency.code,
        amount,
        fee: 0n,
        amount_order: sortableUnits(amount, currency),
        fee_order: sortableUnits(0n, currency),
        bank_account_id: account.id,
        wallet_address_id: null,
        destination: maskDestination(account.accountNumber),
        transfer_id: null,
        reference,
        tx_hash: null,
        failure_reason: null,
        created_at: now,
        updated_at: now,
      };
      if (!(await store.insertPayout(transaction, row))) {
        const existing = await store.findPayout(transaction, scope, { reference });
        const isSame =
          existing?.amount === row.amount &&
          existing.currency === row.currency &&
          existing.bank_account_id === row.bank_account_id;
        if (isSame && existing.status === 'processing') return { row: existing, isNew: false };
        // Staff would pay once more at the bank, and nothing would leave the balance.
        if (isSame) {
          const how = existing.status === 'failed' ? 'failed' : 'was paid';
          throw invalidState(
            `The payout with the reference ${reference} has ended: it ${how}. For another one, use another reference`,
          );
        }
        throw invalidState(`Another payout already has the reference ${reference}`);
      }
      await balances.ensureSpendable(transaction, scope, currency, amount);
      await post(transaction, row, 'bank');
      return { row, isNew: true };
    },

    /** Marks a bank payout as arrived. Problems: `not_found`, `invalid_state`. */
    settle: (transaction: Transaction, id: string): Promise<PayoutRow> =>
      end(transaction, id, 'success', null),

    /** Marks a bank payout as failed and gives the money back. Problems: `validation_error`, `not_found`, `invalid_state`. */
    fail: async (transaction: Transaction, id: string, reason: string): Promise<PayoutRow> =>
      end(transaction, id, 'failed', parseFailureReason(reason)),

    /** For operators: a payout of any merchant; undefined if there is none. */
    findAny: store.findAnyPayout,

    /** A merchant's payouts to banks in a status: those that wait, oldest first; those that ended, newest first. */
    listOfBanks: (reader: Reader, scope: Scope, status: 'processing' | 'success' | 'failed', most: number) =>
      store.listOfBanks(reader, scope, status, most),

    /** The parts of a merchant's custody that banks pay out, or have paid out, instead, by currency. */
    sumsOfBanks: store.sumsOfBanks,

    /** For operators: payouts to banks of all merchants, oldest first, at most 1000. */
    listBankPayouts: (filter: OperatorFilter): Promise<PayoutRow[]> =>
      store.listBankPayouts(database.reader, filter),
  };
}

function parseRequest(request: BankPayoutRequest, currencies: Currencies) {
  const currency = requireCurrency(currencies, request.currency, 'currency');
  const decimal = parseDecimal(request.amount);
  if (decimal === undefined || decimal === '0') {
    throw invalidField('amount', 'Must be more than 0, with at most 15 significant digits');
  }
  const amount = parseAmount(decimal, currency, 'amount', replyDecimals(currency));
  const reference = request.reference.trim();
  if (reference === '' || reference.length > 255) {
    throw invalidField('reference', 'Must be 1 to 255 characters');
  }
  return { currency, amount, reference };
}

function viewPayout(row: PayoutRow, currencies: Currencies): Payout {
  const currency = currencies.known(row.currency);
  return {
    id: row.id,
    mode: row.mode,
    status: row.status,
    amount: unitsToNumber(row.amount, currency),
    fee: unitsToNumber(row.fee, currency),
    currency: currency.code,
    ...(row.bank_account_id !== null && { bankAccount: row.bank_account_id }),
    ...(row.wallet_address_id !== null && { address: row.wallet_address_id }),
    destination: row.destination,
    ...(row.transfer_id !== null && { transfer: row.transfer_id }),
    ...(row.reference !== null && { reference: row.reference }),
    ...(row.tx_hash !== null && { txHash: row.tx_hash }),
    ...(row.failure_reason !== null && { failureReason: row.failure_reason }),
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  };
}

/**
 * Hides the middle of an account number or an address: enough remains to recognise it, but not to use it. Keeps at most 6
 * characters at the start and 4 at the end, and never more than two thirds in total.
 */
export function maskDestination(text: string): string {
  const end = Math.min(4, Math.floor(text.length / 3));
  const start = Math.min(6, Math.floor((text.length - end) / 3));
  return `${text.slice(0, start)}…${text.slice(text.length - end)}`;
}

/** The reason that an operator gives for failing a transfer or a payout. The merchant sees it. Problem: `validation_error`. */
export function parseFailureReason(text: string): string {
  const reason = text.trim();
  if (reason === '' || reason.length > 255) throw invalidField('reason', 'Must be 1 to 255 characters');
  return reason;
}
