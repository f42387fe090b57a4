/** Moving payers' money to the shop's treasury: people see the amounts worth a sweep, and any account can send it. */
import * as z from 'zod/mini';
import { endpoint } from './endpoint.js';
import { described, requiredText, timestamp } from './fields.js';

const sampleFactory = '0x8aB1cbBDb5Af1C7DB49ce0dB5Ce0D4fC2B6f6D12';
const sampleTreasury = '0x14dC79964da2C08b23698B3D3cc7Ca32193d9955';
const sampleHash = `0x${'5c504ed432cb51138bcf09aa5e8a410d'.repeat(2)}`;

const network = described(requiredText(40), 'Code of the network.');

const sweptNetwork = z.object({
  network: z.string(),
  name: z.string(),
  /** Network parameters for a wallet that does not know the network. Without a URL, somebody adds it by hand. */
  chainId: z.int(),
  coin: z.string(),
  rpcUrl: z.nullable(z.string()),
});
const sampleNetwork = { network: 'polygon', name: 'Polygon', chainId: 137, coin: 'POL', rpcUrl: null };

const sweepPlan = z.object({
  ...sweptNetwork.shape,
  /** The currency of worth and cost. */
  baseCurrency: z.string(),
  /** Total of all that is swept; null without a rate. */
  cost: z.nullable(z.string()),
  /** Amounts are decimals with every digit, as text. Worth and cost are null without a rate. */
  groups: z.array(
    z.object({
      treasury: z.string(),
      currency: z.string(),
      addresses: z.int(),
      amount: z.string(),
      worth: z.nullable(z.string()),
      cost: z.nullable(z.string()),
      /**
       * The reason that it is not swept: worth less than its gas; a payment that still waits for money; refused. Null
       * if it is swept.
       */
      skipped: z.nullable(z.enum(['small', 'open', 'fails'])),
    }),
  ),
  transactions: z.array(z.object({ to: z.string(), value: z.string(), data: z.string(), balances: z.int() })),
  /** A file for Safe's transaction builder. */
  safe: z.record(z.string(), z.unknown()),
});

export const sweeps = {
  list: endpoint({
    method: 'GET',
    path: '/console/api/sweeps',
    key: 'session',
    description:
      'Lists the networks on which the shop has a treasury, and what was sent from browsers in the last week, newest first. No node is asked.',
    data: z.object({
      networks: z.array(sweptNetwork),
      sent: z.array(
        z.object({
          network: z.string(),
          /** Hash of the transaction, or the id that the wallet gave to a batch, until it reports the hash. */
          answer: z.string(),
          sentAt: timestamp,
          sentBy: z.string(),
          /** True once the books have it. */
          isBooked: z.boolean(),
        }),
      ),
    }),
    sample: {
      message: 'Sweeps fetched',
      data: {
        networks: [sampleNetwork],
        sent: [
          {
            network: 'polygon',
            answer: sampleHash,
            sentAt: '2026-01-01T00:00:00.000Z',
            sentBy: 'ada@shop.example',
            isBooked: false,
          },
        ],
      },
    },
  }),
  plan: endpoint({
    method: 'POST',
    path: '/console/api/sweeps/plan',
    key: 'session',
    stepUp: true,
    description:
      "Reads the balances of the shop's addresses on a network and the cost of sweeping them, and prepares the transactions. They pay the treasury, no matter who sends them; nothing is reserved.",
    body: z.object({ network }),
    data: sweepPlan,
    errors: ['chain_unavailable'],
    sample: {
      body: { network: 'polygon' },
      message: 'Sweep planned',
      data: {
        ...sampleNetwork,
        baseCurrency: 'USD',
        cost: '0.01',
        groups: [
          {
            treasury: sampleTreasury,
            currency: 'USDT',
            addresses: 1,
            amount: '20',
            worth: '20.01',
            cost: '0.01',
            skipped: null,
          },
        ],
        transactions: [{ to: sampleFactory, value: '0', data: '0x', balances: 1 }],
        safe: { version: '1.0', chainId: '137', transactions: [] },
      },
    },
  }),
  keepAnswer: endpoint({
    method: 'POST',
    path: '/console/api/sweeps/answers',
    key: 'session',
    description:
      'Records in the audit log a browser wallet’s answer to a request to sweep, and its later reports about a batch.',
    body: z.object({
      network,
      answer: described(
        requiredText(),
        'The hash of the transaction, or the id of the batch of calls (EIP-5792).',
      ),
      hashes: z.optional(
        described(
          z.array(z.string().check(z.regex(/^0x[0-9a-fA-F]{64}$/))).check(z.maxLength(100)),
          'Hashes of the transactions of this batch, once the wallet reports them; empty if it reports that it sent nothing.',
        ),
      ),
    }),
    sample: { body: { network: 'polygon', answer: sampleHash }, message: 'Answer kept' },
  }),
};
