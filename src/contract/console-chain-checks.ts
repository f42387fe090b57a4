/** Comparing what a shop's addresses hold with its books, in the console. */
import * as z from 'zod/mini';
import { endpoint } from './endpoint.js';
import { described, id, integer, requiredText, timestamp } from './fields.js';

const sampleTime = '2026-01-01T00:00:00.000Z';

const place = {
  network: z.string(),
  address: z.string(),
  currency: z.string(),
  /** Balance less books, a decimal with every digit: negative if the address holds less than the books say. */
  amount: z.string(),
  /** The payment or the wallet that the address was given to. */
  paymentId: z.nullable(z.string()),
  walletId: z.nullable(z.string()),
};
const samplePlace = {
  network: 'polygon',
  address: '0x14dC79964da2C08b23698B3D3cc7Ca32193d9955',
  currency: 'USDT',
  amount: '0.01',
  paymentId: '01J9ZQ3C0D1E2F3G4H5J6K7M8N',
  walletId: null,
};

const difference = z.object({
  ...place,
  /** `seen`: once, another block must confirm it; `dust`: too much, but less than the smallest payment; `shortage`: too little. */
  state: z.enum(['seen', 'dust', 'shortage']),
  foundAt: timestamp,
});
const finding = z.object({
  ...place,
  /** `none`: seen for the first time, and not noted; `credited`: booked now. */
  outcome: z.enum(['none', 'seen', 'dust', 'shortage', 'credited']),
});

const params = z.object({ network: described(requiredText(40), 'Code of the network.') });
const sampleParams = { network: 'polygon' };

export const chainChecks = {
  list: endpoint({
    method: 'GET',
    path: '/console/api/chain-checks',
    key: 'session',
    description:
      'Lists the networks whose nodes report balances, how far the server has compared them with the books, and where they differ: 200 differences at most. No node is asked.',
    data: z.object({
      networks: z.array(
        z.object({
          network: z.string(),
          name: z.string(),
          /** When all addresses had been compared; null before the first time. */
          comparedAt: z.nullable(timestamp),
          /** The progress of the current round, from 0 to 1. */
          progress: z.number(),
        }),
      ),
      differences: z.array(difference),
    }),
    sample: {
      message: 'Comparisons fetched',
      data: {
        networks: [{ network: 'polygon', name: 'Polygon', comparedAt: sampleTime, progress: 0.5 }],
        differences: [{ ...samplePlace, state: 'dust', foundAt: sampleTime }],
      },
    },
  }),
  compare: endpoint({
    method: 'GET',
    path: '/console/api/chain-checks/{network}',
    key: 'session',
    description:
      'Asks the nodes of a network for the balances of a part of the shop’s addresses, and compares them with the books. Changes nothing. Call it with `next` until that is null.',
    params,
    query: z.object({
      after: described(
        z._default(integer(0), 0),
        'The `next` of the previous part. Defaults to 0, the beginning.',
      ),
    }),
    data: z.object({
      /** The block whose balances were read. */
      height: z.int(),
      /** The number of the shop's addresses in this part. */
      checked: z.int(),
      progress: z.number(),
      next: z.nullable(z.int()),
      findings: z.array(finding),
    }),
    errors: ['chain_unavailable'],
    sample: {
      params: sampleParams,
      query: { after: '0' },
      message: 'Balances compared',
      data: { height: 84_000_000, checked: 1, progress: 1, next: null, findings: [] },
    },
  }),
  book: endpoint({
    method: 'POST',
    path: '/console/api/chain-checks/{network}/book',
    key: 'session',
    stepUp: true,
    description:
      'Checks one address again, and credits a surplus, even dust, once two blocks agree on it. The audit log records it.',
    params,
    body: z.object({ address: described(id, 'An address of the shop.') }),
    data: z.array(finding),
    errors: ['chain_unavailable'],
    sample: {
      params: sampleParams,
      body: { address: samplePlace.address },
      message: 'Address compared',
      data: [{ ...samplePlace, outcome: 'credited' }],
    },
  }),
};
