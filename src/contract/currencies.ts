/** Reference data: the currencies of payments, wallets, plans and bank accounts. */
import * as z from 'zod/mini';
import { endpoint } from './endpoint.js';

const currency = z.object({
  code: z.string(),
  name: z.string(),
  type: z.enum(['crypto', 'fiat']),
  /** Decimals of the smallest unit in the books. */
  decimals: z.number(),
  /** Decimals of the amounts that payers are asked for. */
  payableDecimals: z.number(),
  networks: z.array(
    z.object({
      code: z.string(),
      name: z.string(),
      confirmations: z.number(),
      minAmount: z.number(),
      contract: z.optional(z.string()),
      /** The usual time between two blocks. Absent on test networks, which have no usual time. */
      blockSeconds: z.optional(z.number()),
    }),
  ),
  isActive: z.boolean(),
});

export const currencies = {
  list: endpoint({
    method: 'GET',
    path: '/v1/currencies',
    key: 'secret',
    description: 'Lists the currencies, with the networks on which each can be paid.',
    data: z.array(currency),
    sample: {
      message: 'Currencies fetched',
      data: [
        {
          code: 'USDT',
          name: 'Tether USD',
          type: 'crypto',
          decimals: 6,
          payableDecimals: 2,
          networks: [{ code: 'tron', name: 'Tron', confirmations: 2, minAmount: 0.01, blockSeconds: 3 }],
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
