/** The first page for a shop's people: what needs attention, sales, and the state of networks. */
import * as z from 'zod/mini';
import { endpoint } from './endpoint.js';
import { mode } from './fields.js';

export const attentionCodes = [
  'payments_late',
  'payments_short',
  'payments_excess',
  'payments_wrong_coin',
  'payments_reversed',
  'refunds_to_approve',
  'refunds_failed',
  'transfers_waiting',
  'webhooks_failing',
  'webhooks_failed',
  'webhooks_off',
  'balances_suspended',
  'books_differ',
  'payments_stuck',
  'networks_failing',
  'rates_missing',
] as const;
export type AttentionCode = (typeof attentionCodes)[number];

const attention = z.object({
  code: z.enum(attentionCodes),
  count: z.int(),
  /** The path of the list that shows them, and its query; null if only the server's operator can look further. */
  list: z.nullable(z.object({ path: z.string(), query: z.record(z.string(), z.string()) })),
});

const overview = z.object({
  mode,
  /** The zone of the days below: the shop's, an IANA name. */
  timeZone: z.string(),
  /** Today's date by the clock of the mode. */
  today: z.string(),
  /** Counts of records that wait for a person, without zeros. Payments are those of the last 30 days. */
  attention: z.array(attention),
  /**
   * Totals of payments completed on each of the last 31 days, by base currency: oldest day first, without empty
   * days, and without payments that were reversed.
   */
  volume: z.array(
    z.object({ date: z.string(), currency: z.string(), payments: z.int(), amount: z.number() }),
  ),
});

/** The first page for a shop's staff, as the server writes it. */
export type Overview = z.input<typeof overview>;

const network = z.object({
  network: z.string(),
  name: z.string(),
  /** True if payers can choose it now. */
  isOffered: z.boolean(),
  /** The delay of its scan; null if it was never read. */
  lagSeconds: z.nullable(z.number()),
  /** The node that it is read from, by its position in the configuration; null for networks without nodes. */
  node: z.nullable(z.string()),
  problems: z.array(z.string()),
});

export const home = {
  retrieve: endpoint({
    method: 'GET',
    path: '/v1/home',
    key: 'secret',
    description:
      'Returns the work that waits for a person, each kind with the list that shows it, and the sales of each of the last 31 days.',
    data: overview,
    sample: {
      message: 'Home fetched',
      data: {
        mode: 'live',
        timeZone: 'Europe/Berlin',
        today: '2026-01-31',
        attention: [
          {
            code: 'payments_late',
            count: 2,
            list: { path: '/v1/transactions', query: { review: 'late', from: '2025-12-31T23:00:00.000Z' } },
          },
          {
            code: 'webhooks_failed',
            count: 1,
            list: { path: '/v1/webhooks', query: { status: 'failed' } },
          },
        ],
        volume: [{ date: '2026-01-31', currency: 'NGN', payments: 12, amount: 60_000 }],
      },
    },
  }),
  listNetworks: endpoint({
    method: 'GET',
    path: '/v1/networks',
    key: 'secret',
    description: 'Returns the networks of the mode, how far each was read, and what is wrong with it.',
    data: z.array(network),
    sample: {
      message: 'Networks fetched',
      data: [{ network: 'tron', name: 'Tron', isOffered: true, lagSeconds: 2, node: 'node 1', problems: [] }],
    },
  }),
};
