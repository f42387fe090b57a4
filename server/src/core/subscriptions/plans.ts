/** Payment plans: how much is charged, how often, how many times, and whether the plan is on. */
import type { CoreApi, Data, Input } from 'crypto-checkout/contract';
import { parseAmount, requireCurrency } from '../money/amounts.js';
import { unitsToNumber } from '../money/units.js';
import { orNotFound, Problem } from '../shared/problem.js';
import type { Page } from '../shared/pagination.js';
import type { Scope, Mode } from '../shared/scope.js';
import type { RoomDeps } from '../db/room-deps.js';
import * as store from './plan-store.js';
import type { PlanQuery, PlanRow } from './plan-store.js';
import type { Transaction } from '../db/engine.js';

export type PaymentPlan = Data<CoreApi['paymentPlans']['retrieve']>;

export type PaymentPlans = ReturnType<typeof createPaymentPlans>;
/** The facts about a plan that charging needs. */
export type PlanTerms = Awaited<ReturnType<PaymentPlans['terms']>>;

export function createPaymentPlans({ database, clock, newId, currencies }: RoomDeps) {
  /** The codes in upper case, each once. Problem: `unsupported_currency`. */
  function parsePayingCurrencies(codes: readonly string[], mode: Mode): string[] {
    const payable = new Set(currencies.options(mode).map((option) => option.currency.code));
    const parsed = codes.map((given, index) => {
      const param = `currencies.${index}`;
      const { code } = requireCurrency(currencies, given, param);
      if (payable.has(code)) return code;
      throw new Problem(
        'unsupported_currency',
        `${code} cannot be paid: no network in ${mode} mode supports it`,
        { param },
      );
    });
    return [...new Set(parsed)];
  }

  function view(row: PlanRow): PaymentPlan {
    return {
      id: row.id,
      mode: row.mode,
      isActive: row.is_active,
      currencies: [...row.currencies],
      currency: row.currency,
      amount: unitsToNumber(row.amount, currencies.known(row.currency)),
      numberOfTimesToCharge: row.number_of_times_to_charge,
      frequency: row.frequency,
      planName: row.plan_name,
    };
  }

  return {
    /** Problems: `unsupported_currency`, `validation_error`. */
    async create(
      transaction: Transaction,
      scope: Scope,
      input: Input<CoreApi['paymentPlans']['create']>['body'],
    ): Promise<PaymentPlan> {
      const currency = requireCurrency(currencies, input.currency, 'currency');
      const now = clock.now(scope);
      const row: PlanRow = {
        id: newId(),
        merchant_id: scope.merchantId,
        mode: scope.mode,
        plan_name: input.planName,
        frequency: input.frequency,
        currency: currency.code,
        amount: parseAmount(input.amount, currency, 'amount'),
        currencies: parsePayingCurrencies(input.currencies, scope.mode),
        number_of_times_to_charge: input.numberOfTimesToCharge,
        is_active: true,
        active_since: now,
        created_at: now,
        updated_at: now,
      };
      await store.insertPlan(transaction, row);
      return view(row);
    },

    /** Problem: `not_found`. */
    async retrieve(scope: Scope, id: string): Promise<PaymentPlan> {
      const row = orNotFound(await store.findPlan(database.reader, scope, id), 'payment plan');
      return view(row);
    },

    async list(scope: Scope, query: PlanQuery): Promise<Page<PaymentPlan>> {
      // An unknown currency is not an error here: it matches nothing.
      const currency = query.currency && (currencies.find(query.currency)?.code ?? query.currency);
      const { rows, total } = await store.listPlans(database.reader, scope, { ...query, currency });
      return { rows: rows.map(view), total };
    },

    /** Changes only the given fields. Problems: `validation_error`, `not_found`. */
    async update(
      transaction: Transaction,
      scope: Scope,
      id: string,
      change: Input<CoreApi['paymentPlans']['update']>['body'],
    ): Promise<PaymentPlan> {
      const row = orNotFound(await store.lockPlan(transaction, scope, id), 'payment plan');
      const now = clock.now(scope);
      const isTurnedOn = change.isActive === true && !row.is_active;
      const changes: Partial<PlanRow> = {
        ...(change.amount !== undefined && {
          amount: parseAmount(change.amount, currencies.known(row.currency), 'amount'),
        }),
        ...(change.isActive !== undefined && { is_active: change.isActive }),
        ...(isTurnedOn && { active_since: now }),
        updated_at: now,
      };
      await store.updatePlan(transaction, id, changes);
      return view({ ...row, ...changes });
    },

    /** The charge of a plan. It cannot change until the transaction ends. Problem: `not_found`. */
    async terms(transaction: Transaction, scope: Scope, id: string) {
      const row = orNotFound(await store.lockPlanShared(transaction, scope, id), 'payment plan');
      return {
        id: row.id,
        frequency: row.frequency,
        numberOfTimesToCharge: row.number_of_times_to_charge,
        /** In the smallest units of `currency`. */
        amount: row.amount,
        currency: row.currency,
        currencies: [...row.currencies],
        isActive: row.is_active,
        /** Cycles that were due before this time are not charged; epoch milliseconds. */
        activeSince: row.active_since,
      };
    },
  };
}
