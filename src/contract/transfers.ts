/** Transfers: a merchant's withdrawals from a balance to a wallet address. */
import * as z from 'zod/mini';
import { endpoint } from './endpoint.js';
import {
  addressText,
  described,
  id,
  listQuery,
  mode,
  positiveDecimal,
  requiredText,
  text,
  timestamp,
} from './fields.js';

export const transferStatus = z.enum(['pending', 'processing', 'success', 'failed']);

export const transfer = z.object({
  id: z.string(),
  mode,
  status: transferStatus,
  amount: z.number(),
  fee: z.number(),
  currency: z.string(),
  // Our additions to the specification; other servers do not send them.
  walletAddress: z.optional(z.string()),
  walletNetwork: z.optional(z.string()),
  /** Hash of the blockchain transaction; absent until it is signed. */
  txHash: z.optional(z.string()),
  /** Only if `status` is `failed`. */
  failureReason: z.optional(z.string()),
  /** The refund that it pays, if it pays one. */
  refundId: z.optional(z.string()),
  createdAt: timestamp,
  updatedAt: timestamp,
});

const transferBody = z.object({
  amount: described(positiveDecimal, 'Amount to be received, in `currency`. The fee is charged on top.'),
  currency: described(requiredText(20), 'Currency to send: a code from the list of currencies.'),
  walletAddress: described(addressText(), 'Destination: an address, or the id of a saved wallet address.'),
  walletNetwork: described(
    z.optional(text()),
    'Network to send on. Optional if the saved wallet address has one.',
  ),
});

const sampleBody = {
  amount: 3,
  currency: 'USDT',
  walletAddress: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8',
  walletNetwork: 'tron',
};
export const sampleTransfer = {
  id: '01J9ZQ6T0A1B2C3D4E5F6G7H8J',
  mode: 'live' as const,
  status: 'pending',
  amount: 3,
  fee: 0.2,
  currency: 'USDT',
  walletAddress: sampleBody.walletAddress,
  walletNetwork: sampleBody.walletNetwork,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
} as const;

export const transfers = {
  create: endpoint({
    method: 'POST',
    path: '/v1/transfers',
    key: 'secret',
    stepUp: true,
    description:
      'Requests a withdrawal to an address or a saved wallet address. Amount and fee are reserved from the available balance.',
    body: transferBody,
    data: transfer,
    errors: ['unsupported_currency', 'invalid_address', 'insufficient_balance', 'balance_suspended'],
    sample: { body: sampleBody, message: 'Transfer created', data: sampleTransfer },
  }),
  quoteFee: endpoint({
    method: 'POST',
    path: '/v1/transfers/fee',
    key: 'secret',
    description: 'Returns the current fee for a transfer, without creating one.',
    body: transferBody,
    data: z.object({ currency: z.string(), amount: z.number() }),
    errors: ['unsupported_currency', 'invalid_address'],
    sample: {
      body: sampleBody,
      message: 'Transfer fee fetched',
      data: { currency: 'USDT', amount: 0.2 },
    },
  }),
  retrieve: endpoint({
    method: 'GET',
    path: '/v1/transfers/{transfer_id}',
    key: 'secret',
    description: 'Returns one transfer.',
    params: z.object({ transfer_id: described(id, 'Id of the transfer.') }),
    data: transfer,
    sample: {
      params: { transfer_id: sampleTransfer.id },
      message: 'Transfer fetched',
      data: sampleTransfer,
    },
  }),
  list: endpoint({
    method: 'GET',
    path: '/v1/transfers',
    key: 'secret',
    description: 'Lists your transfers, newest first.',
    query: listQuery({ status: described(z.optional(transferStatus), 'Only transfers with this status.') }),
    data: z.array(transfer),
    paginated: true,
    sample: { query: { page: '1', skip: '25' }, message: 'Transfers fetched', data: [sampleTransfer] },
  }),
};
