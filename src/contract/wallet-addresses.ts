/** Wallet addresses: the merchant's own, saved as destinations for transfers. */
import * as z from 'zod/mini';
import { timestamp } from './checkout.js';
import { endpoint } from './endpoint.js';
import { boolean, described, id, listOf, requiredText, text } from './fields.js';

const walletAddress = z.object({
  id: z.string(),
  isPrimary: z.boolean(),
  /** Empty where the address was saved without one. */
  network: z.string(),
  currency: z.string(),
  address: z.string(),
  label: z.optional(z.string()),
  createdAt: timestamp,
});

const params = z.object({ wallet_address_id: described(id, 'Id of the saved address.') });

const sampleAddress = {
  id: '01J9ZQ5W0A1B2C3D4E5F6G7H8J',
  isPrimary: false,
  network: 'tron',
  currency: 'USDT',
  address: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8',
  label: 'Treasury',
  createdAt: '2026-01-01T00:00:00.000Z',
};
const sampleParams = { wallet_address_id: sampleAddress.id };

export const walletAddresses = {
  create: endpoint({
    method: 'POST',
    path: '/v1/wallet-addresses',
    key: 'secret',
    description:
      "Saves an address after checking its checksum for the network, or for the currency's networks.",
    body: z.object({
      address: described(requiredText(), 'The address on the blockchain.'),
      currency: described(requiredText(20), 'What is sent there: a code from the list of currencies.'),
      isPrimary: described(
        z._default(boolean, false),
        'Whether it becomes the primary address of its currency and network; false if absent.',
      ),
      network: described(z._default(text(), ''), 'The network, where the address is meant for one only.'),
      label: described(z.optional(text(100)), 'A name of your own, of at most 100 characters.'),
    }),
    data: walletAddress,
    errors: ['unsupported_currency', 'invalid_address', 'address_exists'],
    sample: {
      body: {
        address: sampleAddress.address,
        currency: 'USDT',
        network: 'tron',
        label: 'Treasury',
      },
      message: 'Wallet address created',
      data: sampleAddress,
    },
  }),
  list: endpoint({
    method: 'GET',
    path: '/v1/wallet-addresses',
    key: 'secret',
    description: 'The saved addresses of the account, newest first.',
    query: listOf({
      isPrimary: described(z.optional(boolean), 'Only primary addresses, or only the others.'),
      network: described(z.optional(text()), 'Only addresses for this network.'),
      currency: described(z.optional(text()), 'Only addresses for this currency.'),
      address: described(z.optional(text()), 'Only this address on the blockchain.'),
      label: described(z.optional(text(100)), 'Only addresses with exactly this label.'),
    }),
    data: z.array(walletAddress),
    paginated: true,
    sample: { query: { currency: 'USDT' }, message: 'Wallet addresses fetched', data: [sampleAddress] },
  }),
  retrieve: endpoint({
    method: 'GET',
    path: '/v1/wallet-addresses/{wallet_address_id}',
    key: 'secret',
    description: 'One saved address.',
    params,
    data: walletAddress,
    sample: { params: sampleParams, message: 'Wallet address fetched', data: sampleAddress },
  }),
  makePrimary: endpoint({
    method: 'GET',
    path: '/v1/wallet-addresses/primary/{wallet_address_id}',
    key: 'secret',
    description:
      'Makes this the primary address of its currency and network in place of the one before. Doing it again changes nothing.',
    params,
    data: walletAddress,
    sample: {
      params: sampleParams,
      message: 'Wallet address made primary',
      data: { ...sampleAddress, isPrimary: true },
    },
  }),
};
