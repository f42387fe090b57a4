/**
 * Controls the simulated networks of test mode. They work only with secret test keys and are not part of the `/v1` API,
 * so they have their own table.
 */
import * as z from 'zod/mini';
import { endpoint } from './endpoint.js';
import { boolean, described, integer, positiveDecimal, requiredText } from './fields.js';

const head = z.object({ network: z.string(), height: z.number(), hash: z.string() });

export const sandbox = {
  transfer: endpoint({
    method: 'POST',
    path: '/sandbox/transfers',
    key: 'secret',
    description:
      'Sends simulated funds to the address of one of your test payments or wallets. The transfer is visible at once and waits for a block.',
    body: z.object({
      network: described(requiredText(), 'Code of a simulated network.'),
      currency: described(requiredText(), 'Currency to send: a code from the list of currencies.'),
      address: described(requiredText(), 'Address of one of your payments or wallets.'),
      amount: described(positiveDecimal, 'Amount to send, in `currency`.'),
    }),
    data: z.object({ txHash: z.string() }),
    sample: {
      body: {
        network: 'tron',
        currency: 'USDT',
        address: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8',
        amount: 3.25,
      },
      message: 'Transfer sent',
      data: { txHash: '5f2b9c7e0d1a4b8c6e3f5a7d9b1c2e4f6a8b0c1d3e5f7a9b2c4d6e8f0a1b3c5d' },
    },
  }),
  mine: endpoint({
    method: 'POST',
    path: '/sandbox/blocks',
    key: 'secret',
    description: 'Adds blocks to a simulated network. The first block includes all waiting transfers.',
    body: z.object({
      network: described(requiredText(), 'Code of a simulated network.'),
      count: described(z._default(integer(1, 100), 1), 'Number of blocks. Defaults to 1.'),
    }),
    data: head,
    sample: {
      body: { network: 'tron', count: 2 },
      message: 'Blocks added',
      data: { network: 'tron', height: 102, hash: '0000000000000066a1' },
    },
  }),
  reorg: endpoint({
    method: 'POST',
    path: '/sandbox/reorgs',
    key: 'secret',
    description:
      'Replaces the last blocks of a simulated network. Your own transfers in them are lost, or wait for another block if `keep` is true. Transfers of other merchants stay.',
    body: z.object({
      network: described(requiredText(), 'Code of a simulated network.'),
      depth: described(integer(1, 100), 'Number of blocks to replace, counted from the newest.'),
      keep: described(
        z._default(boolean, false),
        'Set to true to make your transfers wait for another block. By default they are lost.',
      ),
      address: described(
        z.optional(requiredText()),
        'Drops only transfers to this address. Without it, all your transfers in the replaced blocks.',
      ),
    }),
    data: head,
    sample: {
      body: { network: 'tron', depth: 1, keep: true },
      message: 'Blocks replaced',
      data: { network: 'tron', height: 102, hash: '0000000000000066b2' },
    },
  }),
  advanceClock: endpoint({
    method: 'POST',
    path: '/sandbox/clock',
    key: 'secret',
    description:
      'Moves your test clock forward, up to ten years ahead of real time. Expiry, billing, webhook retries and the Date header follow it. It never goes back.',
    body: z.object({
      advanceSeconds: described(
        integer(0, 10 * 366 * 86_400),
        'The time by which to move the clock, in seconds.',
      ),
    }),
    data: z.object({ now: z.string() }),
    sample: {
      body: { advanceSeconds: 1800 },
      message: 'Clock advanced',
      data: { now: '2026-01-01T00:30:00.000Z' },
    },
  }),
};
