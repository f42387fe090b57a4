/** Acts on the webhooks that Medusa's own route ignores: failed, cancelled, late, too much, and refunds. */
import type { SubscriberArgs, SubscriberConfig } from '@medusajs/framework';
import { PaymentWebhookEvents } from '@medusajs/framework/utils';
import type { ProviderWebhookPayload } from '@medusajs/framework/types';
import { receive } from '../event.js';
import { updatePayment } from '../settle.js';
import { shopsOf } from '../shops.js';

export default async function actOnEvent({
  event,
  container,
}: SubscriberArgs<ProviderWebhookPayload>): Promise<void> {
  const { provider, payload } = event.data;
  const shop = shopsOf(container).get(`pp_${provider}`);
  if (shop === undefined) return;
  const received = receive(shop, payload.rawData, payload.headers);
  // The provider has logged why.
  if ('refused' in received) return;
  await updatePayment(container, shop, received.paymentId);
}

export const config: SubscriberConfig = {
  event: PaymentWebhookEvents.WebhookReceived,
  context: { subscriberId: 'crypto-checkout-payment-event' },
};
