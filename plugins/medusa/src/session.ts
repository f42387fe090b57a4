/** The data of a payment session. The storefront can read all of it, so it holds no secret. */
import { MathBN } from '@medusajs/framework/utils';
import type { BigNumberInput } from '@medusajs/framework/types';
import { z } from '@medusajs/framework/zod';

const sessionSchema = z.looseObject({
  /** The payment that the tag shows. A further attempt of its payer is found by its reference. */
  payment_id: z.string(),
  /** The hosted page of the payment, for a storefront without the tag. */
  payment_url: z.string(),
  /** The reference of the payment at the API: the session's id. */
  tx_ref: z.string(),
  /** The price, as Medusa asked for it. Only this price settles the session. */
  price: z.string(),
  currency: z.string(),
  api_url: z.string(),
  public_key: z.string(),
});

export type Session = z.output<typeof sessionSchema>;

/** @returns undefined if no payment was made for the session */
export function parseSession(data: unknown): Session | undefined {
  const parsed = sessionSchema.safeParse(data);
  return parsed.success ? parsed.data : undefined;
}

/** A price with as many decimals as its currency has: Medusa computes taxes with more. */
export function priceOf(amount: BigNumberInput, currency: string): string {
  return MathBN.convert(amount).toFixed(decimalsOf(currency));
}

function decimalsOf(currency: string): number {
  try {
    const format = new Intl.NumberFormat('en', { style: 'currency', currency });
    return format.resolvedOptions().maximumFractionDigits ?? 2;
  } catch {
    return 2;
  }
}

/**
 * The session of a payment's reference: `payses_1`; `payses_1:2` for a further attempt of its payer, or for another price; and
 * `payses_1:2:2` for a further attempt at that.
 */
export function sessionIdOf(txRef: string | undefined): string | undefined {
  return /^(payses_[A-Za-z0-9]{1,60})(?::\d{1,12})*$/.exec(txRef ?? '')?.[1];
}
