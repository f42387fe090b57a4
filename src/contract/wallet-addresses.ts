/** Wallet addresses: a merchant's own addresses, saved as destinations for transfers. */
import * as z from 'zod/mini';
import { endpoint } from './endpoint.js';
import {
  addressText,
  boolean,
  described,
  id,
  listQuery,
  mode,
  requiredText,
  text,
  timestamp,
} from './fields.js';

const walletAddress = z.object({
  id: z.string(),
  mode,
  isPrimary: z.boolean(),
  /** Empty if the address was saved without a network. */
  network: z.string(),
  currency: z.string(),
  address: z.string(),
  label: z.optional(z.string()),
  createdAt: timestamp,
});

const params = z.object({ wallet_address_id: described(id, 'Id of the saved wallet address.') });

const sampleAddress = {
  id: '01J9ZQ5W0A1B2C3D4E5F6G7H8J',
  mode: 'live' as const,
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
    stepUp: true,
    description:
      "Saves an address. Its checksum must be valid on the network or, if none is given, on one of the currency's networks.",
    body: z.object({
      address: described(addressText(), 'Blockchain address.'),
      currency: described(requiredText(20), 'Currency to be sent there: a code from the list of currencies.'),
      isPrimary: described(
        z._default(boolean, false),
        'Set to true to make it the primary address of its currency and network. Defaults to false.',
      ),
      network: described(z._default(text(), ''), 'Network, if the address is meant for only one.'),
      label: described(z.optional(text(100)), 'A label of your choice, at most 100 characters.'),
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
    description: 'Lists your saved wallet addresses, newest first.',
    query: listQuery({
      isPrimary: described(z.optional(boolean), 'Only primary addresses (true) or only the others (false).'),
      network: described(z.optional(text()), 'Only addresses for this network.'),
      currency: described(z.optional(text()), 'Only addresses for this currency.'),
      address: described(z.optional(text()), 'Only this blockchain address.'),
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
    description: 'Returns one saved wallet address.',
    params,
    data: walletAddress,
    sample: { params: sampleParams, message: 'Wallet address fetched', data: sampleAddress },
  }),
  makePrimary: endpoint({
    method: 'GET',
    path: '/v1/wallet-addresses/primary/{wallet_address_id}',
    key: 'secret',
    stepUp: true,
    changesOnGet: true,
    description:
      'Makes this the primary address of its currency and network instead of the current one. Repeating the call changes nothing.',
    params,
    data: walletAddress,
    sample: {
      params: sampleParams,
      message: 'Wallet address made primary',
      data: { ...sampleAddress, isPrimary: true },
    },
  }),
};
