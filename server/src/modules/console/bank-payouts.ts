/**
 * Payouts to bank accounts that the shop's people make at their bank. They end only what they recorded: a payout from the
 * command line is paid by the server's operator, and must not be given back to the balance by the one who is paid.
 */
import { mostBankPayouts, type ConsoleApi, type Data } from 'crypto-checkout/contract';
import type { Reader, Transaction } from '../../core/db/engine.js';
import type { Core } from '../../core/core.js';
import type { PayoutRow } from '../../core/db/schema.js';
import { actorOf } from '../../core/merchants/audit-log.js';
import { unitsToNumber } from '../../core/money/units.js';
import { isoTime } from '../../core/shared/clock.js';
import { invalidState } from '../../core/shared/problem.js';
import type { PersonCaller, Scope } from '../../core/shared/scope.js';
import type { BankPayoutRequest } from '../../core/withdrawals/payouts.js';
import * as store from './bank-payout-store.js';

type BankPayout = Data<ConsoleApi['bankPayouts']['create']>;

export type BankPayouts = ReturnType<typeof createBankPayouts>;

type Deps = Pick<Core, 'database' | 'clock' | 'currencies' | 'payouts' | 'payoutsByHand' | 'bankAccounts'>;

export function createBankPayouts(deps: Deps) {
  const { database, clock, currencies, payouts, payoutsByHand, bankAccounts } = deps;

  async function view(reader: Reader, scope: Scope, rows: readonly PayoutRow[]): Promise<BankPayout[]> {
    const ids = [...new Set(rows.flatMap(({ bank_account_id: id }) => id ?? []))];
    const accounts = new Map<string, Awaited<ReturnType<typeof bankAccounts.find>>>();
    for (const id of ids) accounts.set(id, await bankAccounts.find(reader, scope, id));
    const own = await store.findOwn(
      reader,
      rows.map(({ id }) => id),
    );
    return rows.map((row) => {
      const { id, status, currency, reference, failure_reason: failureReason } = row;
      const found = accounts.get(row.bank_account_id ?? '');
      return {
        id,
        status,
        currency,
        amount: unitsToNumber(row.amount, currencies.known(currency)),
        reference: reference ?? '',
        account: found ?? null,
        isOwn: own.has(id),
        bankReference: own.get(id) ?? '',
        ...(failureReason !== null && { failureReason }),
        createdAt: isoTime(row.created_at),
        updatedAt: isoTime(row.updated_at),
      };
    });
  }

  async function viewOne(transaction: Transaction, scope: Scope, row: PayoutRow): Promise<BankPayout> {
    const [one] = await view(transaction, scope, [row]);
    if (!one) throw new Error('One payout has one view');
    return one;
  }

  async function ensureOwn(transaction: Transaction, id: string): Promise<void> {
    if ((await store.findOwn(transaction, [id])).has(id)) return;
    throw invalidState(
      'This payout was not recorded in the console. End a transfer on its page; the server’s operator ends a payout of the command line, with "payouts settle" or "payouts fail"',
    );
  }

  return {
    async list(scope: Scope) {
      const { reader } = database;
      const [waiting, success, failed] = await Promise.all(
        (['processing', 'success', 'failed'] as const).map((status) =>
          payouts.listOfBanks(reader, scope, status, mostBankPayouts),
        ),
      );
      const ended = [...(success ?? []), ...(failed ?? [])]
        .sort((a, b) => b.updated_at - a.updated_at)
        .slice(0, mostBankPayouts);
      return { waiting: await view(reader, scope, waiting ?? []), ended: await view(reader, scope, ended) };
    },

    async sums(scope: Scope) {
      const sums = await payouts.sumsOfBanks(database.reader, scope);
      return sums.map(({ currency: code, units }) => {
        const currency = currencies.known(code);
        return { currency: currency.code, amount: unitsToNumber(units, currency) };
      });
    },

    async create(transaction: Transaction, caller: PersonCaller, request: BankPayoutRequest) {
      const { row, isNew } = await payoutsByHand.create(transaction, caller, request, actorOf(caller));
      const { id, merchant_id, mode } = row;
      if (isNew) {
        const created_at = clock.real();
        await store.insertOwn(transaction, { id, merchant_id, mode, bank_reference: '', created_at });
      }
      return viewOne(transaction, caller, row);
    },

    /** Problem: `not_found`. To be called before a change of it. */
    find: (scope: Scope, id: string) => payouts.retrieve(scope, id),

    /** Problem of this and the other: `invalid_state`. */
    async settle(transaction: Transaction, caller: PersonCaller, id: string, bankReference: string) {
      await ensureOwn(transaction, id);
      const before = await payouts.findAny(transaction, id);
      const remarks = bankReference === '' ? {} : { bankReference };
      const row = await payoutsByHand.settle(transaction, id, actorOf(caller), remarks);
      if (before?.status !== row.status) await store.setBankReference(transaction, id, bankReference);
      return viewOne(transaction, caller, row);
    },

    async fail(transaction: Transaction, caller: PersonCaller, id: string, reason: string) {
      await ensureOwn(transaction, id);
      const row = await payoutsByHand.fail(transaction, id, reason, actorOf(caller));
      return viewOne(transaction, caller, row);
    },
  };
}
