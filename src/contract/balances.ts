/** What the account holds, currency by currency. */
import * as z from 'zod/mini';
import { endpoint } from './endpoint.js';

const balance = z.object({
  currency: z.string(),
  /** What a transfer may spend now. */
  availableBalance: z.number(),
  /** Available, reserved by transfers under way, and received but not yet settled; below 0 where more is owed. */
  totalBalance: z.number(),
  isSuspended: z.boolean(),
});

export const balances = {
  list: endpoint({
    method: 'GET',
    path: '/v1/balances',
    key: 'secret',
    description: 'One balance for every active currency, zeros included.',
    data: z.array(balance),
    sample: {
      message: 'Balances fetched',
      data: [{ currency: 'USDT', availableBalance: 3.214287, totalBalance: 3.214287, isSuspended: false }],
    },
  }),
};
