/** The shop's pages call the shop's own server through these functions. */
import type { Payment } from 'crypto-checkout';
import * as z from 'zod/mini';

export type SimulationName =
  'exact' | 'half' | 'over' | 'wrong' | 'mine' | 'reorg' | 'deadline' | 'refund' | 'claim';

const configReply = z.object({
  publicKey: z.string(),
  checkoutUrl: z.string(),
  consoleUrl: z.optional(z.string()),
  /** Unit price by currency, as a decimal string. */
  prices: z.record(z.string(), z.string()),
  assets: z.array(z.object({ currency: z.string(), network: z.string(), decimals: z.number() })),
  /** Offset of the shop's test clock from real time. */
  clockAheadSeconds: z.number(),
  /** True if this page may delete the shop's test data. */
  canReset: z.boolean(),
});

const orderReply = z.object({
  id: z.string(),
  reference: z.string(),
  quantity: z.number(),
  baseCurrency: z.string(),
  amount: z.string(),
});

/** The fields of a payment that the simulator needs. */
export type SimulatedPayment = Pick<
  Payment,
  | 'id'
  | 'status'
  | 'state'
  | 'currency'
  | 'currencyNetwork'
  | 'amountDue'
  | 'amountSeen'
  | 'addressInformation'
>;

const orderWithPayment = z.extend(orderReply, {
  /** The order's newest payment that has an address, no matter which page started it. */
  payment: z.optional(
    z.custom<SimulatedPayment>(
      (value: unknown) => typeof value === 'object' && value !== null && 'id' in value,
    ),
  ),
});

const verificationReply = z.object({
  verified: z.boolean(),
  isOverpaid: z.boolean(),
  rules: z.array(
    z.object({
      rule: z.enum(['reference', 'mode', 'status', 'price', 'amount']),
      passed: z.boolean(),
      /** The reason that the rule failed. */
      message: z.optional(z.string()),
    }),
  ),
  transaction: z.object({
    status: z.string(),
    state: z.optional(z.string()),
    amount: z.optional(z.number()),
    amountReceived: z.optional(z.number()),
    currency: z.optional(z.string()),
    baseAmount: z.number(),
    baseCurrency: z.string(),
    txRef: z.optional(z.string()),
  }),
});

const failureReply = z.object({ error: z.string() });

export type Config = z.output<typeof configReply>;
export type Order = z.output<typeof orderReply>;
export type Verification = z.output<typeof verificationReply>;

/** The shop refused. `status` is the HTTP status, or 0 if there was no response. */
export class ShopError extends Error {
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

export function fetchConfig(): Promise<Config> {
  return call('config', configReply);
}

export function placeOrder(quantity: number, baseCurrency: string): Promise<Order> {
  return call('orders', orderReply, { quantity, baseCurrency });
}

export function fetchOrder(id: string): Promise<z.output<typeof orderWithPayment>> {
  return call(`orders/${encodeURIComponent(id)}`, orderWithPayment);
}

/** Lets the shop's server verify the payment with its secret key. */
export function verifyOrder(id: string, paymentId: string): Promise<Verification> {
  return call(`orders/${encodeURIComponent(id)}/verification`, verificationReply, { paymentId });
}

const simulationReply = z.object({
  done: z.string(),
  /** The page where the payer of a refund gives an address, and a sample address. */
  claim: z.optional(z.object({ url: z.string(), address: z.string() })),
  clockAheadSeconds: z.number(),
});

export type Simulated = z.output<typeof simulationReply>;

/** Has the shop's server simulate something for an order's payment. Returns a sentence about it. */
export function simulateOrder(id: string, paymentId: string, name: SimulationName): Promise<Simulated> {
  return call(`orders/${encodeURIComponent(id)}/simulation`, simulationReply, { paymentId, name });
}

/** Deletes the shop's test payments, and resets its test clock. */
export async function resetShop(): Promise<void> {
  await call('reset', z.object({}), {});
}

/** @throws ShopError */
async function call<S extends z.ZodMiniType>(path: string, schema: S, body?: unknown): Promise<z.output<S>> {
  const response = await fetch(`/demo-api/${path}`, {
    ...(body !== undefined && {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    }),
  }).catch(() => undefined);
  if (!response) throw new ShopError('The shop’s server cannot be reached.', 0);
  const json: unknown = await response.json().catch(() => undefined);
  const reply = z.safeParse(schema, json);
  if (response.ok && reply.success) return reply.data;
  const failure = z.safeParse(failureReply, json);
  throw new ShopError(
    failure.success ? failure.data.error : 'The shop’s server sent an unexpected reply.',
    response.status,
  );
}
