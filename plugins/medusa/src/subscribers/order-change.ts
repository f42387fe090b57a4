/** Says on an order what its payment is, once Medusa has placed, paid or refunded it. */
import type { SubscriberArgs, SubscriberConfig } from '@medusajs/framework';
import { ContainerRegistrationKeys, OrderWorkflowEvents, PaymentEvents } from '@medusajs/framework/utils';
import type { MedusaContainer } from '@medusajs/framework/types';
import { z } from '@medusajs/framework/zod';
import { update } from '../settle.js';
import { shopsOf } from '../shops.js';

const sessionSchema = z.object({ id: z.string(), provider_id: z.string() });
type SessionRow = z.output<typeof sessionSchema>;

export default async function sayOnOrder({
  event,
  container,
}: SubscriberArgs<{ id: string }>): Promise<void> {
  const isOrder = event.name === 'order.placed';
  const sessions = await (isOrder ? sessionsOfOrder : sessionsOfPayment)(container, event.data.id);
  const shops = shopsOf(container);
  for (const { id, provider_id } of sessions) {
    const shop = shops.get(provider_id);
    if (shop !== undefined) await update(container, shop, id, false);
  }
}

async function sessionsOfOrder(container: MedusaContainer, id: string): Promise<SessionRow[]> {
  const { data } = await container.resolve(ContainerRegistrationKeys.QUERY).graph({
    entity: 'order',
    fields: [
      'id',
      'payment_collections.payment_sessions.id',
      'payment_collections.payment_sessions.provider_id',
    ],
    filters: { id },
  });
  const collection = z.object({ payment_sessions: z.array(sessionSchema).nullish() });
  return z
    .array(z.object({ payment_collections: z.array(collection).nullish() }))
    .parse(data)
    .flatMap(({ payment_collections }) => payment_collections ?? [])
    .flatMap(({ payment_sessions }) => payment_sessions ?? []);
}

async function sessionsOfPayment(container: MedusaContainer, id: string): Promise<SessionRow[]> {
  const { data } = await container.resolve(ContainerRegistrationKeys.QUERY).graph({
    entity: 'payment',
    fields: ['id', 'payment_session.id', 'payment_session.provider_id'],
    filters: { id },
  });
  return z
    .array(z.object({ payment_session: sessionSchema }))
    .parse(data)
    .map(({ payment_session }) => payment_session);
}

export const config: SubscriberConfig = {
  event: [OrderWorkflowEvents.PLACED, PaymentEvents.CAPTURED, PaymentEvents.REFUNDED],
  context: { subscriberId: 'crypto-checkout-order-change' },
};
