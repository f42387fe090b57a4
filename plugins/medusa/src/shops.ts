/** The shops of all providers in medusa-config: one for each set of keys, such as one for each region. */
import { ContainerRegistrationKeys } from '@medusajs/framework/utils';
import type { MedusaContainer } from '@medusajs/framework/types';
import { z } from '@medusajs/framework/zod';
import { parseOptions } from './options.js';
import { CryptoCheckoutProvider } from './providers/crypto-checkout/service.js';
import { Shop } from './shop.js';

const configSchema = z.object({
  modules: z.object({
    payment: z.object({
      options: z.object({
        providers: z.array(z.object({ id: z.string().optional(), options: z.unknown() })),
      }),
    }),
  }),
});

/** By the provider's id in Medusa, such as `pp_crypto-checkout_eu`. */
export function shopsOf(container: MedusaContainer): ReadonlyMap<string, Shop> {
  const parsed = configSchema.safeParse(container.resolve(ContainerRegistrationKeys.CONFIG_MODULE));
  const providers = parsed.success ? parsed.data.modules.payment.options.providers : [];
  const shops = providers.flatMap(({ id, options }) => {
    // Other providers have other options.
    try {
      const name = `pp_${CryptoCheckoutProvider.identifier}${id === undefined ? '' : `_${id}`}`;
      return [[name, new Shop(parseOptions(options))] as const];
    } catch {
      return [];
    }
  });
  return new Map(shops);
}
