/** The calls that a page may make with a public key: everything the widget needs from the API. */
import type * as z from 'zod/mini';
import {
  checkoutRoutes,
  createdPayment,
  payment,
  type CreatedPayment,
  type Payment,
} from '../contract/checkout.js';
import type { payments } from '../contract/payments.js';
import { parseShape } from '../contract/shape.js';
import { request, type Connection, type Reply } from './request.js';

export type CreatePaymentBody = z.input<typeof payments.create.body>;

export interface CheckoutClientOptions extends Omit<Connection, 'key'> {
  /** `pk_test_…` or `pk_live_…`. */
  readonly publicKey: string;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface CreateOptions extends CallOptions {
  /** Random; keep it until the reply arrives. A second call with the same key returns the same payment. */
  readonly idempotencyKey?: string | undefined;
}

/**
 * Every method resolves to the parsed `data` and the server's time. It rejects with `ApiError`, `NetworkError`,
 * `ReplyError`, or the abort reason of the caller's own signal. Nothing is retried.
 */
export interface CheckoutClient {
  create(body: CreatePaymentBody, options?: CreateOptions): Promise<Reply<CreatedPayment>>;
  retrieve(paymentId: string, options?: CallOptions): Promise<Reply<Payment>>;
  setCurrency(
    paymentId: string,
    currency: string,
    network: string,
    options?: CallOptions,
  ): Promise<Reply<Payment>>;
  lockCurrency(paymentId: string, options?: CallOptions): Promise<Reply<Payment>>;
  cancel(paymentId: string, options?: CallOptions): Promise<Reply<undefined>>;
  /** The payment's current status. Use this one for polling. */
  verify(paymentId: string, options?: CallOptions): Promise<Reply<Payment>>;
}

export function createCheckoutClient({ publicKey, ...options }: CheckoutClientOptions): CheckoutClient {
  const connection = { ...options, key: publicKey };
  const { create, retrieve, setCurrency, lockCurrency, cancel, verify } = checkoutRoutes;
  return {
    create: (body, options) => request(connection, { ...create, body, ...options }, parseCreated),
    retrieve: (payment_id, options) =>
      request(connection, { ...checkoutAlias(retrieve), params: { payment_id }, ...options }, parsePayment),
    setCurrency: (payment_id, currency, network, options) => {
      const params = { payment_id, currency, network };
      return request(connection, { ...checkoutAlias(setCurrency), params, ...options }, parsePayment);
    },
    lockCurrency: (payment_id, options) =>
      request(
        connection,
        { ...checkoutAlias(lockCurrency), params: { payment_id }, ...options },
        parsePayment,
      ),
    cancel: (payment_id, options) =>
      request(connection, { ...checkoutAlias(cancel), params: { payment_id }, ...options }, () => undefined),
    verify: (transaction_id, options) =>
      request(connection, { ...verify, params: { transaction_id }, ...options }, parsePayment),
  };
}

const parsePayment = (data: unknown) => parseShape(payment, data, 'data');
const parseCreated = (data: unknown) => parseShape(createdPayment, data, 'data');

/** The route's `/checkout/` path: the specification documents it for public keys, so every server has it. */
function checkoutAlias({ method, aliases: [path] }: { method: string; aliases: readonly [string] }) {
  return { method, path };
}
