/** A subscriber as the API shows it. */
import type { CoreApi, ParsedData } from 'crypto-checkout/contract';
import { isoTime } from '../shared/clock.js';
import type { SubscriberRow } from './subscriber-store.js';

export type Subscriber = ParsedData<CoreApi['subscribers']['list']>[number];

export function viewSubscriber(row: SubscriberRow): Subscriber {
  return {
    id: row.id,
    mode: row.mode,
    isActive: row.is_active,
    noOfTimesPayed: row.times_paid,
    paymentPlanId: row.plan_id,
    accountId: row.merchant_id,
    customerId: row.customer_id,
    createdAt: isoTime(row.created_at),
  };
}
