/** Hosted wallets: permanent deposit addresses, one per network of a currency. */
import * as z from 'zod/mini';
import { endpoint } from './endpoint.js';
import { described, id, listQuery, mode, requiredText, text, timestamp } from './fields.js';

const wallet = z.object({
  id: z.string(),
  mode,
  label: z.string(),
  currency: z.string(),
  addresses: z.array(z.object({ network: z.string(), address: z.string() })),
  createdAt: timestamp,
});

const params = z.object({ wallet_id: described(id, 'Id of the hosted wallet.') });

const sampleWallet = {
  id: '01J9ZQ8W0A1B2C3D4E5F6G7H8J',
  mode: 'live' as const,
  label: 'Donations',
  currency: 'USDT',
  addresses: [
    { network: 'tron', address: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8' },
    { network: 'ethereum', address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed' },
  ],
  createdAt: '2026-01-01T00:00:00.000Z',
};
const sampleParams = { wallet_id: sampleWallet.id };

export const wallets = {
  list: endpoint({
    method: 'GET',
    path: '/v1/wallets',
    key: 'secret',
    description: 'Lists your hosted wallets, newest first. Deleted ones are left out.',
    query: listQuery({
      currency: described(z.optional(text()), 'Only wallets for this currency.'),
      label: described(z.optional(text(100)), 'Only wallets with exactly this label.'),
    }),
    data: z.array(wallet),
    paginated: true,
    sample: { query: { currency: 'USDT' }, message: 'Wallets fetched', data: [sampleWallet] },
  }),
  retrieve: endpoint({
    method: 'GET',
    path: '/v1/wallets/{wallet_id}',
    key: 'secret',
    description: 'Returns one hosted wallet, with its deposit addresses.',
    params,
    data: wallet,
    sample: { params: sampleParams, message: 'Wallet fetched', data: sampleWallet },
  }),
  create: endpoint({
    method: 'POST',
    path: '/v1/wallets',
    key: 'secret',
    description: 'Creates a hosted wallet, with an address on every active network of the currency.',
    body: z.object({
      currency: described(requiredText(20), 'Currency of the wallet: a code from the list of currencies.'),
      label: described(z._default(text(100), ''), 'A label of your choice, at most 100 characters.'),
    }),
    data: wallet,
    errors: ['unsupported_currency'],
    sample: {
      body: { currency: 'USDT', label: 'Donations' },
      message: 'Wallet created',
      data: sampleWallet,
    },
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/v1/wallets/{wallet_id}',
    key: 'secret',
    description:
      'Deletes a hosted wallet and returns it one last time. Notifications stop, but funds that still arrive are credited.',
    params,
    data: wallet,
    sample: { params: sampleParams, message: 'Wallet deleted', data: sampleWallet },
  }),
};
