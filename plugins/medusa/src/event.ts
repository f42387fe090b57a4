/** Reads a webhook of the payment API, as Medusa's route passes it on. */
import { z } from '@medusajs/framework/zod';
import { verifyWebhook, WebhookError } from 'crypto-checkout/client';
import type { Shop } from './shop.js';

export type Received = { readonly type: string; readonly paymentId: string } | { readonly refused: string };

const headerSchema = z.record(
  z.string(),
  z
    .union([z.string(), z.array(z.string())])
    .optional()
    .catch(undefined),
);
/** A Buffer becomes this on its way through a queue. */
const bytesSchema = z.object({ type: z.literal('Buffer'), data: z.array(z.number()) });
const refundSchema = z.object({ paymentId: z.string() });

/** @returns the payment that the event is about, or why the webhook is not acted on */
export function receive(shop: Shop, rawData: unknown, headers: unknown): Received {
  const body = bytesOf(rawData);
  if (body === undefined) return { refused: 'It has no raw body.' };
  try {
    const event = verifyWebhook(body, headerSchema.parse(headers), shop.options.webhookSecret);
    if ('isSample' in event.data) return { refused: 'It is a sample.' };
    if (event.type.startsWith('payment.')) return { type: event.type, paymentId: String(event.data.id) };
    const refund = refundSchema.safeParse(event.data);
    return event.type.startsWith('refund.') && refund.success
      ? { type: event.type, paymentId: refund.data.paymentId }
      : { refused: `${event.type} is about no payment.` };
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    return { refused: `${error.shortMessage}. ${error.remedy}` };
  }
}

function bytesOf(rawData: unknown): string | Uint8Array | undefined {
  if (typeof rawData === 'string' || rawData instanceof Uint8Array) return rawData;
  const queued = bytesSchema.safeParse(rawData);
  return queued.success ? Uint8Array.from(queued.data.data) : undefined;
}
