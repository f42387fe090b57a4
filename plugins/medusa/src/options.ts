/** The options of one provider: its shop's keys at the payment API. */
import { MedusaError } from '@medusajs/framework/utils';
import { z } from '@medusajs/framework/zod';

/** A key of the API, and the mode that it works in. */
const key = (kind: 'sk' | 'pk') =>
  z.string().regex(new RegExp(`^${kind}_(test|live)_`), `must begin with ${kind}_test_ or ${kind}_live_`);

const secret = z.string().startsWith('whsec_');

const optionsSchema = z
  .object({
    /** The API's URL, for Medusa and for the storefront's browsers. */
    apiUrl: z.url({ protocol: /^https?$/ }),
    secretKey: key('sk'),
    publicKey: key('pk'),
    /** Two while one replaces the other. */
    webhookSecret: z.union([secret, z.array(secret).min(1)]),
    /** False: an order is placed once it is paid, and never before. */
    orderBeforePayment: z.boolean().default(true),
    /** True: a refund gives back the service fee too, out of the shop's balance. */
    refundFee: z.boolean().default(false),
    /** The sender of a refund's link to its payer: the shop (`link`), or the API by its own mail server (`email`). */
    refundDelivery: z.enum(['link', 'email']).default('link'),
  })
  .refine(({ secretKey, publicKey }) => modeOf(secretKey) === modeOf(publicKey), {
    message: 'must be of the same mode as secretKey',
    path: ['publicKey'],
  });

export type ShopOptions = z.input<typeof optionsSchema>;
export type Options = z.output<typeof optionsSchema>;

/** @throws MedusaError that names the options at fault, and never their values */
export function parseOptions(options: unknown): Options {
  const parsed = optionsSchema.safeParse(options);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'options'}: ${message}`);
  throw new MedusaError(
    MedusaError.Types.INVALID_ARGUMENT,
    `crypto-checkout-medusa: ${faults.join('; ')}. Set them in medusa-config`,
  );
}

export function modeOf(key: string): 'test' | 'live' {
  return key.includes('_test_') ? 'test' : 'live';
}
