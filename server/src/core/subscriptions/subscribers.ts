/** Subscribers: the customers that are charged by a plan. */
import type { CoreApi, Input } from 'crypto-checkout/contract';
import type { Customers } from '../customers/customers.js';
import type { PaymentPlans } from './plans.js';
import { orNotFound, Problem } from '../shared/problem.js';
import type { Scope } from '../shared/scope.js';
import type { Outbox } from '../webhooks/outbox.js';
import type { Charges } from './charges.js';
import { endSubscription } from './subscription-status.js';
import * as store from './subscriber-store.js';
import { viewSubscriber, type Subscriber } from './subscriber-view.js';
import type { Transaction } from '../db/engine.js';
import type { RoomDeps } from '../db/room-deps.js';
import type { SubscriberRow } from './subscriber-store.js';

export type Subscribers = ReturnType<typeof createSubscribers>;

interface SubscribersDeps extends RoomDeps {
  readonly customers: Customers;
  readonly paymentPlans: PaymentPlans;
  readonly charges: Charges;
  readonly outbox: Outbox;
}

export function createSubscribers(deps: SubscribersDeps) {
  const { database, clock, newId, customers, paymentPlans, charges, outbox } = deps;

  return {
    /**
     * Subscribes the customer with an email, existing or new, and charges cycle 0.
     * Problems: `not_found`, `plan_inactive`, `customer_not_allowed`, `already_subscribed`, those of creating a payment.
     */
    async create(transaction: Transaction, scope: Scope, planId: string, email: string): Promise<void> {
      const plan = await paymentPlans.terms(transaction, scope, planId);
      if (!plan.isActive) {
        throw new Problem('plan_inactive', 'The payment plan is off; set isActive to take new subscribers');
      }
      const customer = await customers.link(transaction, scope, { email });
      // Another replica may have turned the plan on, with a clock that is slightly ahead of this one's.
      const now = Math.max(clock.now(scope), plan.activeSince);
      const row: SubscriberRow = {
        id: newId(),
        merchant_id: scope.merchantId,
        mode: scope.mode,
        plan_id: plan.id,
        customer_id: customer.id,
        next_cycle: 0,
        charge_at: now,
        times_charged: 0,
        times_paid: 0,
        is_active: true,
        removed_at: null,
        created_at: now,
      };
      if (!(await store.insertSubscriber(transaction, row))) {
        throw new Problem('already_subscribed', 'This customer is already subscribed to the payment plan');
      }
      await charges.charge(transaction, row, now);
    },

    /** Problem: `not_found`. */
    async retrieve(scope: Scope, id: string): Promise<Subscriber> {
      const row = orNotFound(await store.findSubscriber(database.reader, scope, id), 'subscriber');
      return viewSubscriber(row);
    },

    /** @param query `planId`: only the subscribers of this plan, the newest 10,000 */
    async list(
      scope: Scope,
      {
        customer,
        ...query
      }: Input<CoreApi['subscribers']['list']>['query'] & { readonly planId?: string | undefined },
    ) {
      const customerId =
        customer === undefined ? undefined : await customers.findId(database.reader, scope, customer);
      if (customer !== undefined && customerId === undefined) return { rows: [], total: 0 };
      const { rows, total } = await store.listSubscribers(database.reader, scope, { ...query, customerId });
      return { rows: rows.map(viewSubscriber), total };
    },

    /** Ends a subscription. It can no longer be found afterwards. Problem: `not_found`. */
    async remove(transaction: Transaction, scope: Scope, id: string): Promise<Subscriber> {
      const row = orNotFound(await store.lockSubscriber(transaction, scope, id), 'subscriber');
      const removed = { ...row, is_active: false, charge_at: null, removed_at: clock.now(scope) } as const;
      if (row.is_active) await endSubscription(transaction, outbox, removed, 'removed');
      else await store.updateSubscriber(transaction, id, removed);
      return viewSubscriber(removed);
    },
  };
}
