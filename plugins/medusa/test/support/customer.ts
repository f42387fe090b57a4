/** A customer, who fills a cart and pays it, and the order that the shop has then. */
import { setTimeout as delay } from 'node:timers/promises';
import { createCheckoutClient } from 'crypto-checkout/client';
import { expect } from 'vitest';
import { z } from 'zod';
import type { Region, Reply, Stage } from './stage.js';

const sessionSchema = z.object({
  id: z.string(),
  status: z.string(),
  amount: z.number(),
  data: z.looseObject({
    payment_id: z.string(),
    tx_ref: z.string(),
    price: z.string(),
    currency: z.string(),
  }),
});
const collectionSchema = z.object({
  payment_collection: z.object({ id: z.string(), payment_sessions: z.array(sessionSchema).default([]) }),
});
const orderSchema = z.object({
  order: z.object({
    id: z.string(),
    status: z.string(),
    payment_status: z.string(),
    metadata: z.record(z.string(), z.unknown()).nullable(),
    payment_collections: z.array(
      z.object({
        captured_amount: z.number().nullable(),
        refunded_amount: z.number().nullable(),
        payment_sessions: z.array(z.looseObject({ id: z.string(), status: z.string() })).default([]),
        payments: z
          .array(z.looseObject({ id: z.string(), captures: z.array(z.looseObject({ amount: z.number() })) }))
          .default([]),
      }),
    ),
    summary: z.looseObject({ paid_total: z.number(), pending_difference: z.number() }),
  }),
});
export type Order = z.output<typeof orderSchema>['order'];
export type Session = z.output<typeof sessionSchema>;

export interface Cart {
  readonly id: string;
  readonly collection: string;
}

/** Cart → address. @param quantity of lanterns, at 50 each */
export async function fillCart(stage: Stage, region: Region, quantity = 1): Promise<Cart> {
  const items = [{ variant_id: stage.variant, quantity }];
  const made = await stage.store('/carts', { region_id: region.id, email: 'ada@example.com', items });
  const { cart } = z.object({ cart: z.object({ id: z.string() }) }).parse(made.body);
  const address = {
    first_name: 'Ada',
    last_name: 'E',
    address_1: 'Road 1',
    city: 'Town',
    postal_code: '1',
    country_code: region.currency === 'eur' ? 'de' : 'us',
  };
  await stage.store(`/carts/${cart.id}`, { shipping_address: address, billing_address: address });
  const reply = await stage.store('/payment-collections', { cart_id: cart.id });
  return { id: cart.id, collection: collectionSchema.parse(reply.body).payment_collection.id };
}

export function chooseCrypto(
  stage: Stage,
  { collection }: Cart,
  region: Region,
  data?: unknown,
): Promise<Reply> {
  return stage.store(`/payment-collections/${collection}/payment-sessions`, {
    provider_id: region.provider,
    data,
  });
}

export const sessionIn = (reply: Reply): Session => {
  const session = collectionSchema.parse(reply.body).payment_collection.payment_sessions.at(-1);
  if (session === undefined) throw new Error('There is no session');
  return session;
};

/** A cart with a payment that waits for a coin. */
export async function checkout(stage: Stage, region: Region, quantity = 1) {
  const cart = await fillCart(stage, region, quantity);
  return { cart, session: sessionIn(await chooseCrypto(stage, cart, region)) };
}

/** Fixes the price in USDT on Tron, as the tag does. @returns the address and the amount */
export async function lock(stage: Stage, region: Region, payment_id: string) {
  const tag = createCheckoutClient({ apiUrl: stage.api.url, publicKey: region.keys.publicKey });
  await tag.setCurrency(payment_id, 'USDT', 'tron');
  const { data } = await tag.lockCurrency(payment_id);
  return { address: data.addressInformation?.address ?? '', amount: data.amount ?? 0 };
}

export async function sandbox(stage: Stage, region: Region, path: string, body: unknown): Promise<void> {
  const reply = await fetch(`${stage.api.url}/sandbox/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${region.keys.secretKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!reply.ok) throw new Error(await reply.text());
}

/** Sends coins, and confirms them. */
export async function send(stage: Stage, region: Region, address: string, amount: number): Promise<void> {
  await sandbox(stage, region, 'transfers', {
    network: 'tron',
    currency: 'USDT',
    address,
    amount: amount.toFixed(6),
  });
  await sandbox(stage, region, 'blocks', { network: 'tron', count: 5 });
}

export async function pay(stage: Stage, region: Region, payment_id: string, share = 1) {
  const locked = await lock(stage, region, payment_id);
  await send(stage, region, locked.address, locked.amount * share);
  return locked;
}

export async function complete(stage: Stage, { id }: Cart) {
  const reply = await stage.store(`/carts/${id}/complete`, {});
  const parsed = z
    .object({
      type: z.string(),
      order: z.object({ id: z.string() }).optional(),
      error: z.unknown().optional(),
    })
    .safeParse(reply.body);
  return {
    status: reply.status,
    body: reply.body,
    orderId: parsed.success ? parsed.data.order?.id : undefined,
  };
}

export async function orderOf(stage: Stage, id: string): Promise<Order> {
  const fields =
    '*payment_collections.payments.captures,*payment_collections.payment_sessions,+metadata,+summary';
  const reply = await stage.admin(`/orders/${id}?fields=${fields}`);
  return orderSchema.parse(reply.body).order;
}

/** The orders of a cart: never more than one. */
export async function ordersOf(stage: Stage, cart: Cart): Promise<string[]> {
  const reply = await stage.admin('/orders?limit=200&fields=id,cart.id');
  const { orders } = z
    .object({ orders: z.array(z.object({ id: z.string(), cart: z.object({ id: z.string() }).nullish() })) })
    .parse(reply.body);
  return orders.filter((order) => order.cart?.id === cart.id).map(({ id }) => id);
}

/** Waits until it holds, for up to 45 seconds; then fails with the last value. */
export async function eventually<T>(read: () => Promise<T>, expected: (value: T) => void): Promise<T> {
  for (const deadline = Date.now() + 45_000; ;) {
    const value = await read();
    try {
      expected(value);
      return value;
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await delay(150);
  }
}

/** The order is paid, once, with all of its price. */
export function expectPaid(order: Order, price: number): void {
  expect(order.payment_status).toBe('captured');
  expect(order.summary.paid_total).toBe(price);
  expect(order.summary.pending_difference).toBe(0);
  expect(order.payment_collections.flatMap(({ payments }) => payments)).toHaveLength(1);
  expect(
    order.payment_collections.flatMap(({ payments }) => payments.flatMap(({ captures }) => captures)),
  ).toHaveLength(1);
}

/** Notifications about a payment, in the admin's feed. */
export async function notificationsAbout(stage: Stage, paymentId: string): Promise<string[]> {
  const reply = await stage.admin('/notifications?limit=200');
  const { notifications } = z
    .object({
      notifications: z.array(z.object({ data: z.object({ title: z.string(), description: z.string() }) })),
    })
    .parse(reply.body);
  return notifications.flatMap(({ data }) =>
    data.description.includes(paymentId) ? [`${data.title}. ${data.description}`] : [],
  );
}
