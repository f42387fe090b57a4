/** Shows subscribers, plans and customers with each other's names, and adds up what was paid. */
import type { ConsoleApi, Data, Input } from 'crypto-checkout/contract';
import type { Core } from '../../core/core.js';
import { unitsToNumber } from '../../core/money/units.js';
import { isoTime } from '../../core/shared/clock.js';
import type { Scope } from '../../core/shared/scope.js';
import * as store from './relations-store.js';

type Api = ConsoleApi['relations'];
type Subscription = Data<Api['listSubscriptions']>[number];

type Deps = Pick<
  Core,
  'database' | 'currencies' | 'personalData' | 'customers' | 'paymentPlans' | 'subscribers'
>;

export type Relations = ReturnType<typeof createRelations>;

export function createRelations(deps: Deps) {
  const { database, currencies, personalData, customers, paymentPlans, subscribers } = deps;
  const { reader } = database;
  const valueOf = (units: bigint, currency: string) => unitsToNumber(units, currencies.known(currency));

  return {
    async listSubscriptions(scope: Scope, query: Input<Api['listSubscriptions']>['query']) {
      const { rows, total } = await subscribers.list(scope, query);
      const details = await store.readSubscriptions(
        reader,
        rows.map(({ id }) => id),
      );
      const byId = new Map(details.map((one) => [one.subscriber, one]));
      const subscriptions = rows.flatMap((row): Subscription[] => {
        const found = byId.get(row.id);
        if (!found) return [];
        const { currency } = found;
        const { email, fullName } = personalData.person(found);
        return [
          {
            id: row.id,
            isActive: row.isActive,
            customer: { id: row.customerId, email, ...(fullName !== undefined && { fullName }) },
            plan: {
              id: row.paymentPlanId,
              planName: found.plan_name,
              amount: valueOf(found.amount, currency),
              currency,
            },
            timesPaid: row.noOfTimesPayed,
            paid: valueOf(found.paid, currency),
            lastPaidAt: found.lastPaidAt === null ? null : isoTime(found.lastPaidAt),
            nextChargeAt: found.charge_at === null ? null : isoTime(found.charge_at),
            createdAt: row.createdAt,
          },
        ];
      });
      return { rows: subscriptions, total };
    },

    /** Problem of this and the other: `not_found`. */
    async sumCustomer(scope: Scope, id: string) {
      const { email } = await customers.retrieve(scope, id);
      const indexes = personalData.payerIndexes(scope.merchantId, email);
      const sums = await store.sumPayments(reader, scope, indexes);
      return sums.map(({ currency, payments, amount }) => ({
        currency,
        payments,
        amount: valueOf(amount, currency),
      }));
    },

    async sumPlan(scope: Scope, id: string) {
      const { currency } = await paymentPlans.retrieve(scope, id);
      const { active, ended, isTooMany } = await store.countSubscribers(reader, id);
      if (isTooMany) return { active, ended, paid: null };
      const { payments, amount } = await store.sumPlan(reader, id);
      return { active, ended, paid: { currency, payments, amount: valueOf(amount, currency) } };
    },
  };
}
