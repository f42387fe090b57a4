/** The merchant's books: every change of its balances, one line per booking, for its accountant. Read-only. */
import * as z from 'zod/mini';
import { endpoint } from './endpoint.js';
import { described, integer, text, timestamp } from './fields.js';

export const bookingKinds = [
  'receipt',
  'credit',
  'fee',
  'refund',
  'transfer',
  'network_fee',
  'payout',
  'correction',
] as const;
export type BookingKind = (typeof bookingKinds)[number];

/** A decimal of any length, as text: exact, and negative for a decrease. */
const exact = z.string();

const booking = z.object({
  id: z.string(),
  time: timestamp,
  /** The time in the requested zone: `2026-12-01`, and ISO 8601 with the offset from UTC. */
  localDate: z.string(),
  localTime: z.string(),
  kind: z.enum(bookingKinds),
  asset: z.string(),
  /** Change of the merchant's total balance of the asset; 0 if money only moved between its parts. */
  amount: exact,
  /** Changes of the parts of the balance. Their sum is the amount. */
  available: exact,
  reserved: exact,
  unallocated: exact,
  /** The total balance of the asset afterwards. */
  balance: exact,
  /** Value of one unit of the asset at that time, in `currency`; absent if no rate is known of that time. */
  unitValue: z.optional(exact),
  /** The amount times the unit value, rounded half up to the currency's decimals. */
  value: z.optional(exact),
  currency: z.string(),
  rateSource: z.optional(z.string()),
  rateTime: z.optional(timestamp),
  /** The payer's email, or where money went. */
  counterparty: z.optional(z.string()),
  /** The payment's `txRef`, the refund's or the transfer's id, or the reference of a payout. */
  reference: z.optional(z.string()),
  payment: z.optional(z.string()),
  txHash: z.optional(z.string()),
  network: z.optional(z.string()),
  note: z.string(),
});
export type Booking = z.output<typeof booking>;

const balances = z.array(z.object({ asset: z.string(), total: exact }));

const day = (description: string) =>
  described(
    z.optional(z.string().check(z.regex(/^\d{4}-\d\d-\d\d$/, 'Must be a day: 2026-12-31'))),
    description,
  );

const sampleBooking = {
  id: '01J9ZQ2A0B1C2D3E4F5G6H7J8K',
  time: '2026-12-01T09:30:00.000Z',
  localDate: '2026-12-01',
  localTime: '2026-12-01T10:30:00.000+01:00',
  kind: 'receipt' as const,
  asset: 'USDT',
  amount: '25',
  available: '0',
  reserved: '0',
  unallocated: '25',
  balance: '125',
  unitValue: '0.92',
  value: '23.00',
  currency: 'EUR',
  rateSource: 'median of binance, coinbase, kraken',
  rateTime: '2026-12-01T09:29:12.000Z',
  counterparty: 'ada@example.com',
  reference: 'order-42',
  payment: '01J9ZQ2B0C1D2E3F4G5H6J7K8M',
  txHash: '5f2b9c7e0d1a4b8c6e3f5a7d9b1c2e4f6a8b0c1d3e5f7a9b2c4d6e8f0a1b3c5d',
  network: 'tron',
  note: 'Received',
};

export const books = {
  list: endpoint({
    method: 'GET',
    path: '/v1/books',
    key: 'secret',
    description:
      'Returns the bookings of a period, oldest first: what changed your balances, when it was booked. The next part is read with `cursor`; each costs the same, however long the list is.',
    query: z.object({
      from: day('First day of the period, in the zone.'),
      to: day('Last day of the period, in the zone.'),
      month: described(
        z.optional(z.string().check(z.regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'Must be a month: 2026-12'))),
        'A whole month instead of `from` and `to`: 2026-12.',
      ),
      zone: described(
        z._default(text(60), 'UTC'),
        'IANA name of the time zone in which days and months begin, such as Europe/Berlin. Defaults to UTC.',
      ),
      limit: described(
        z._default(integer(1, 1000), 100),
        'The most bookings to return, up to 1000. Defaults to 100. What belongs to one posting is not split.',
      ),
      cursor: described(z.optional(text(8000)), 'The `next` of the reply before this one.'),
    }),
    data: z.object({
      /** The first moment of the period, and the first one after it. */
      from: timestamp,
      to: timestamp,
      zone: z.string(),
      /** The currency of the values. */
      currency: z.string(),
      /** True if the period is over: its contents never change. */
      isFinal: z.boolean(),
      /** The balances before the first of these bookings, and after the last. */
      begin: balances,
      end: balances,
      bookings: z.array(booking),
      /** The cursor of the next part; absent after the last. */
      next: z.optional(z.string()),
    }),
    sample: {
      query: { month: '2026-12', zone: 'Europe/Berlin' },
      message: 'Books fetched',
      data: {
        from: '2026-11-30T23:00:00.000Z',
        to: '2026-12-31T23:00:00.000Z',
        zone: 'Europe/Berlin',
        currency: 'EUR',
        isFinal: true,
        begin: [{ asset: 'USDT', total: '100' }],
        end: [{ asset: 'USDT', total: '125' }],
        bookings: [sampleBooking],
      },
    },
  }),
};
