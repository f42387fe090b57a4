/**
 * The controls of test mode's simulated networks. Not part of the `/v1` API: they exist for test keys
 * alone, so they have a table of their own.
 */
import * as z from 'zod/mini';
import { endpoint } from './endpoint.js';
import { boolean, described, integer, positiveDecimal, requiredText } from './fields.js';

const head = z.object({ network: z.string(), height: z.number(), hash: z.string() });

export const sandbox = {
  transfer: endpoint({
    method: 'POST',
    path: '/sandbox/transfers',
    key: 'public',
    description: 'Sends simulated funds to an address. The transfer is seen at once and waits for a block.',
    body: z.object({
      network: described(requiredText(), 'Code of a simulated network.'),
      currency: described(requiredText(), 'What to send: a code from the list of currencies.'),
      address: described(requiredText(), 'Where to, such as the address of a payment.'),
      amount: described(positiveDecimal, 'How much, in `currency`.'),
    }),
    data: z.object({ txHash: z.string() }),
    sample: {
      body: {
        network: 'tron',
        currency: 'USDT',
        address: 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8',
        amount: 3.246754,
      },
      message: 'Transfer sent',
      data: { txHash: '5f2b9c7e0d1a4b8c6e3f5a7d9b1c2e4f6a8b0c1d3e5f7a9b2c4d6e8f0a1b3c5d' },
    },
  }),
  mine: endpoint({
    method: 'POST',
    path: '/sandbox/blocks',
    key: 'public',
    description: 'Adds blocks to a simulated network; the first one takes every waiting transfer.',
    body: z.object({
      network: described(requiredText(), 'Code of a simulated network.'),
      count: described(z._default(integer(1, 1000), 1), 'How many blocks; 1 if absent.'),
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
    key: 'public',
    description:
      'Replaces the last blocks of a simulated network by empty ones. Their transfers wait for a block again (keep) or are gone.',
    body: z.object({
      network: described(requiredText(), 'Code of a simulated network.'),
      depth: described(integer(1, 100), 'How many blocks are replaced, counted from the newest.'),
      keep: described(
        z._default(boolean, false),
        'Whether their transfers wait for a block again; false, the default, drops them.',
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
    key: 'public',
    description: "Moves test mode's clock forward: expiry, billing and the Date header follow it.",
    body: z.object({
      advanceSeconds: described(integer(0, 10 * 366 * 86_400), 'How far to move the clock, in seconds.'),
    }),
    data: z.object({ now: z.string() }),
    sample: {
      body: { advanceSeconds: 1800 },
      message: 'Clock advanced',
      data: { now: '2026-01-01T00:30:00.000Z' },
    },
  }),
};
