/** Reference data: the currencies that payments, wallets, plans and accounts may name. */
import * as z from 'zod/mini';
import { endpoint } from './endpoint.js';

const currency = z.object({
  code: z.string(),
  name: z.string(),
  type: z.enum(['crypto', 'fiat']),
  /** Decimals of the smallest unit that is kept, and of the amounts a payer is asked for. */
  decimals: z.number(),
  payableDecimals: z.number(),
  networks: z.array(
    z.object({
      code: z.string(),
      name: z.string(),
      confirmations: z.number(),
      minAmount: z.number(),
      contract: z.optional(z.string()),
    }),
  ),
  isActive: z.boolean(),
});

export const currencies = {
  list: endpoint({
    method: 'GET',
    path: '/v1/currencies',
    key: 'secret',
    description: 'Every currency, with the networks it can be paid on.',
    data: z.array(currency),
    sample: {
      message: 'Currencies fetched',
      data: [
        {
          code: 'USDT',
          name: 'Tether USD',
          type: 'crypto',
          decimals: 6,
          payableDecimals: 6,
          networks: [{ code: 'tron', name: 'Tron', confirmations: 2, minAmount: 0.01 }],
          isActive: true,
        },
        {
          code: 'NGN',
          name: 'Nigerian Naira',
          type: 'fiat',
          decimals: 2,
          payableDecimals: 2,
          networks: [],
          isActive: true,
        },
      ],
    },
  }),
};
