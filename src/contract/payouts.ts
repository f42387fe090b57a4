/** Payouts: money paid out to a merchant's bank accounts and wallet addresses. Read-only. */
import * as z from 'zod/mini';
import { endpoint } from './endpoint.js';
import { boolean, decimal, described, id, listQuery, mode, text, timestamp } from './fields.js';
import { transferStatus } from './transfers.js';

const payout = z.object({
  id: z.string(),
  mode,
  status: transferStatus,
  amount: z.number(),
  fee: z.number(),
  currency: z.string(),
  /** Id of the bank account or saved wallet address that was paid. Both are absent if the address was not saved. */
  bankAccount: z.optional(z.string()),
  address: z.optional(z.string()),
  /** Account number or address, with the middle masked. */
  destination: z.string(),
  /** Id of the transfer that requested this payout. */
  transfer: z.optional(z.string()),
  reference: z.optional(z.string()),
  txHash: z.optional(z.string()),
  failureReason: z.optional(z.string()),
  createdAt: timestamp,
  updatedAt: timestamp,
});

const samplePayout = {
  id: '01J9ZQ7P0A1B2C3D4E5F6G7H8J',
  mode: 'live' as const,
  status: 'success',
  amount: 3,
  fee: 0.2,
  currency: 'USDT',
  address: '01J9ZQ5W0A1B2C3D4E5F6G7H8J',
  destination: 'TJRabP…RTv8',
  transfer: '01J9ZQ6T0A1B2C3D4E5F6G7H8J',
  txHash: '5f2b9c7e0d1a4b8c6e3f5a7d9b1c2e4f6a8b0c1d3e5f7a9b2c4d6e8f0a1b3c5d',
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:01:00.000Z',
} as const;

export const payouts = {
  list: endpoint({
    method: 'GET',
    path: '/v1/payouts',
    key: 'secret',
    description: 'Lists your payouts, newest first unless `sort` or `isAscending` is given.',
    query: listQuery({
      currency: described(z.optional(text()), 'Only payouts in this currency.'),
      status: described(z.optional(text()), 'Only payouts with this status.'),
      sort: described(
        z._default(z.enum(['createdAt', 'updatedAt', 'amount', 'fee', 'status', 'currency']), 'createdAt'),
        'Field to sort by. Defaults to createdAt.',
      ),
      isAscending: described(
        z._default(boolean, false),
        'Set to true for ascending order: smallest or oldest first. Defaults to false.',
      ),
      minAmount: described(z.optional(decimal), 'Only payouts of at least this amount.'),
      maxAmount: described(z.optional(decimal), 'Only payouts of at most this amount.'),
      bankAccount: described(z.optional(id), 'Only payouts to the bank account with this id.'),
      address: described(z.optional(id), 'Only payouts to the saved wallet address with this id.'),
    }),
    data: z.array(payout),
    paginated: true,
    sample: {
      query: { currency: 'USDT', minAmount: '1', sort: 'amount', isAscending: 'true' },
      message: 'Payouts fetched',
      data: [samplePayout],
    },
  }),
  retrieve: endpoint({
    method: 'GET',
    path: '/v1/payouts/{payout_id}',
    key: 'secret',
    description: 'Returns one payout.',
    params: z.object({ payout_id: described(id, 'Id of the payout.') }),
    data: payout,
    sample: { params: { payout_id: samplePayout.id }, message: 'Payout fetched', data: samplePayout },
  }),
};
