/** The account's balances, one per currency. */
import * as z from 'zod/mini';
import { endpoint } from './endpoint.js';
import { mode } from './fields.js';

const worth = z.object({
  /** The shop's: that of its books. */
  currency: z.string(),
  /** A decimal; null, as the next two, while there is no rate. */
  amount: z.nullable(z.string()),
  /** The worth of one coin, a decimal of at most 8 significant digits. */
  rate: z.nullable(z.string()),
  rateAgeSeconds: z.nullable(z.int()),
});

const balance = z.object({
  mode,
  currency: z.string(),
  /** Amount that can be transferred now. */
  availableBalance: z.number(),
  /** The available balance, funds reserved by transfers, and unsettled funds. Negative if more is owed. */
  totalBalance: z.number(),
  isSuspended: z.boolean(),
  /** Reserved by transfers. This and the next two are parts of the total, each absent if it is 0. */
  reservedBalance: z.optional(z.number()),
  /** Received and not settled yet, less debts. */
  unsettledBalance: z.optional(z.number()),
  /** Charged by networks for transfers, and covered by no fee: it was credited, and cannot be transferred. */
  networkCharges: z.optional(z.number()),
  /** Coins per network, without those that transfers have reserved; absent if there are none. */
  networks: z.optional(z.array(z.object({ network: z.string(), amount: z.number() }))),
  /** The worth of the total at the newest rates, for display; absent if it is 0. */
  worth: z.optional(worth),
});

export const balances = {
  list: endpoint({
    method: 'GET',
    path: '/v1/balances',
    key: 'secret',
    description: 'Lists the balance of every active currency, including zero balances.',
    data: z.array(balance),
    sample: {
      message: 'Balances fetched',
      data: [
        {
          mode: 'live',
          currency: 'USDT',
          availableBalance: 3.214287,
          totalBalance: 3.214287,
          isSuspended: false,
          networks: [{ network: 'tron', amount: 3.214287 }],
          worth: { currency: 'EUR', amount: '2.96', rate: '0.92', rateAgeSeconds: 24 },
        },
      ],
    },
  }),
};
