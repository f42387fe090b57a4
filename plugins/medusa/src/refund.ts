/** Turns a refund of Medusa, in the order's currency, into a refund of the API, in the coins that came. */
import { MathBN, MedusaError } from '@medusajs/framework/utils';
import type { BigNumberInput } from '@medusajs/framework/types';
import { z } from '@medusajs/framework/zod';
import { ApiError } from 'crypto-checkout/client';
import type { Session } from './session.js';
import type { Transaction } from './answer.js';
import type { Shop } from './shop.js';

const madeSchema = z.object({
  /** The id of Medusa's refund. */
  for: z.string(),
  /** The id of the API's refund. */
  id: z.string(),
  /** In the order's currency. */
  price: z.string(),
});
type Made = z.output<typeof madeSchema>;

/** True if a refund ended without a payment: its coins are still there. */
export function hasEnded({ status }: NonNullable<Transaction['refunds']>[number]): boolean {
  return ['cancelled', 'expired', 'failed'].includes(status);
}

/** The refunds that were made of a payment, from its data. */
export function madeRefunds(data: Session): readonly Made[] {
  const parsed = z.array(madeSchema).safeParse(data['refunds']);
  return parsed.success ? parsed.data : [];
}

/**
 * Makes a refund, whose link its payer gets. The link itself is worth money: it is not stored, since a storefront can read the
 * data of a payment.
 *
 * @param key the id of Medusa's refund, so that it is made once
 */
export async function refund(
  shop: Shop,
  session: Session,
  amount: BigNumberInput,
  key: string,
): Promise<Session> {
  const made = madeRefunds(session);
  if (made.some((one) => one.for === key)) return session;
  const price = MathBN.convert(amount);
  const transaction = await shop.fetch(session.payment_id);
  const before = made.reduce((sum, one) => sum.plus(one.price), MathBN.convert(0));
  // The coins of an ended refund are available again, and "full" would send them too.
  const ended = new Set((transaction.refunds ?? []).filter(hasEnded).map(({ id }) => id));
  const isRest = before.plus(price).gte(session.price) && !made.some(({ id }) => ended.has(id));
  const { refundFee, refundDelivery: deliver } = shop.options;
  try {
    const { data } = await shop.client.refunds.create({
      params: { payment_id: transaction.id },
      body: {
        ...(isRest
          ? { kind: 'full' as const }
          : { kind: 'partial' as const, amount: await coinsOf(shop, transaction, session, price) }),
        reason: 'Refund of your order',
        metadata: { medusaRefund: key },
        refundFee,
        deliver,
      },
      idempotencyKey: `medusa-${key}`,
    });
    return { ...session, refunds: [...made, { for: key, id: data.id, price: price.toFixed() }] };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new MedusaError(MedusaError.Types.NOT_ALLOWED, error.shortMessage, error.code);
  }
}

/** As many coins as the same share of the price, rounded down to the coin's smallest unit. */
async function coinsOf(
  shop: Shop,
  transaction: Transaction,
  { price }: Session,
  amount: ReturnType<typeof MathBN.convert>,
): Promise<string> {
  const { data: currencies } = await shop.client.currencies.list();
  const decimals = currencies.find(({ code }) => code === transaction.currency)?.decimals ?? 8;
  return amount
    .times(transaction.amount ?? 0)
    .div(price)
    .toFixed(decimals, 1);
}
