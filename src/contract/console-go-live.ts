/** The steps before a shop goes live, for the console's first page. */
import * as z from 'zod/mini';
import { endpoint } from './endpoint.js';
import { mode } from './fields.js';

export const goLiveSteps = [
  'webhook',
  'redirect_origins',
  'support_url',
  'fee',
  'public_key',
  'deposit_keys',
  'treasury',
  'live_network',
  'second_node',
  'marker',
] as const;
export type GoLiveStep = (typeof goLiveSteps)[number];

export const goLive = {
  retrieve: endpoint({
    method: 'GET',
    path: '/console/api/go-live',
    key: 'session',
    description:
      'Returns the steps to go live in the mode, and which of them are done. Modules add their own.',
    data: z.object({ mode, steps: z.array(z.object({ code: z.enum(goLiveSteps), isDone: z.boolean() })) }),
    sample: {
      message: 'Steps fetched',
      data: { mode: 'live', steps: [{ code: 'webhook', isDone: true }] },
    },
  }),
};
