/** Transfers: a merchant's requests to withdraw from a balance to a wallet address. */
import * as z from 'zod/mini';
import { timestamp } from './checkout.js';
import { endpoint } from './endpoint.js';
import { described, id, listOf, positiveDecimal, requiredText, text } from './fields.js';

export const transferStatus = z.enum(['pending', 'processing', 'success', 'failed']);

const transfer = z.object({
  id: z.string(),
  status: transferStatus,
  amount: z.number(),
  fee: z.number(),
  currency: z.string(),
  // Additions: absent on other servers.
  walletAddress: z.optional(z.string()),
  walletNetwork: z.optional(z.string()),
  /** The transaction that carries it out, once it is signed. */
  txHash: z.optional(z.string()),
  /** Of a failed one. */
  failureReason: z.optional(z.string()),
  createdAt: timestamp,
  updatedAt: timestamp,
});

const transferBody = z.object({
  amount: described(positiveDecimal, 'How much arrives, in `currency`; the fee comes on top.'),
  currency: described(requiredText(20), 'What to send: a code from the list of currencies.'),
  walletAddress: described(requiredText(), 'Where to: an address, or the id of a saved one.'),
  walletNetwork: described(
    z.optional(text()),
    'On which network. It may be left out where the saved address has one.',
  ),
});

const sampleBody = {
  amount: 3,
  currency: 'USDT',
  walletAddress: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8',
  walletNetwork: 'tron',
};
const sampleTransfer = {
  id: '01J9ZQ6T0A1B2C3D4E5F6G7H8J',
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
    description:
      'Requests a withdrawal to an address, or to a saved one by its id. Amount and fee are reserved from the available balance.',
    body: transferBody,
    data: transfer,
    errors: ['unsupported_currency', 'invalid_address', 'insufficient_balance', 'balance_suspended'],
    sample: { body: sampleBody, message: 'Transfer created', data: sampleTransfer },
  }),
  quoteFee: endpoint({
    method: 'POST',
    path: '/v1/transfers/fee',
    key: 'secret',
    description: 'The fee that the same transfer would cost now.',
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
    description: 'One transfer.',
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
    description: 'The transfers of the account, newest first.',
    query: listOf({}),
    data: z.array(transfer),
    paginated: true,
    sample: { query: { page: '1', skip: '25' }, message: 'Transfers fetched', data: [sampleTransfer] },
  }),
};
