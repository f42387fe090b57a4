/** The form of `NETWORKS_FILE`, with an error for each of its keys. */
import { countDecimals, parseDecimal } from 'crypto-checkout/contract';
import * as z from 'zod/mini';
import type { Worth } from '../../core/chains/networks.js';
import { currencies } from '../../core/money/currency-list.js';

const decimalText = (error: string, most = Infinity) =>
  z.pipe(
    z.union([z.string(), z.number()], { error }),
    z.pipe(
      z.transform((value: string | number) => parseDecimal(value) ?? ''),
      z.string().check(
        z.minLength(1, { error }),
        z.refine((text) => countDecimals(text) <= most, { error: `must have at most ${most} decimals` }),
      ),
    ),
  );

const count = (minimum: number, maximum: number) => {
  const error = `must be an integer from ${minimum} to ${maximum}`;
  return z.int({ error }).check(z.minimum(minimum, { error }), z.maximum(maximum, { error }));
};

const page = (placeholder: string) => {
  const error = `must be an http or https URL with ${placeholder}`;
  return z
    .string({ error })
    .check(z.refine((text) => text.includes(placeholder) && /^https?:\/\/[^\s]+$/.test(text), { error }));
};

export const nodeForm = 'must be a URL, such as "https://polygon.example.com/v2/{env:POLYGON_KEY}"';

const publicUrlForm = 'must be false, or an https URL without credentials: it is shown to payers';

/** Wallets take http only for the payer's own computer. */
function isPublicUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  const isLocal = protocol === 'http:' && /^(localhost|127\.0\.0\.1)$/.test(hostname);
  return (protocol === 'https:' || isLocal) && username === '' && password === '';
}

const assetForms = 'must be false, or an object with contract, decimals, minAmount and withdrawalFee';

const asset = z.union(
  [
    z.literal(false),
    z.strictObject({
      contract: z.optional(z.string()),
      decimals: z.optional(count(0, 36)),
      minAmount: z.optional(decimalText('must be a decimal')),
      withdrawalFee: z.optional(decimalText('must be a decimal')),
    }),
  ],
  { error: assetForms },
);

const worthForm = 'an amount and a currency, such as "1000 USD"';
/** An amount of a currency that has a rate. */
const worth = z.pipe(
  z.string({ error: `must be ${worthForm}` }),
  z.transform((text: string, { issues }): Worth => {
    const [, number = '', code] = /^(\S+) ([A-Z]+)$/.exec(text) ?? [];
    const currency = currencies.find((one) => one.code === code);
    const amount = parseDecimal(number);
    if (currency && amount !== undefined && countDecimals(amount) <= currency.decimals) {
      return { amount, currency: currency.code };
    }
    issues.push({ code: 'custom', input: text, message: `must be ${worthForm}`, continue: true });
    return z.NEVER;
  }),
);

const depthForms =
  'must be an integer from 1 to 10000, or a list such as [{"upTo":"1000 USD","confirmations":12},{"require":"finalized"}]';

const networkSettings = z.strictObject({
  nodes: z
    .array(z.string({ error: nodeForm }), {
      error: ({ input }) =>
        typeof input === 'string' ? 'must be a list: put the node in [ ]' : 'is required: a list of nodes',
    })
    .check(z.minLength(1, { error: 'must have at least one node' })),
  headers: z.optional(
    z.record(z.string(), z.string({ error: 'must be text' }), { error: 'must be an object, by name' }),
  ),
  requestsPerMinute: z.optional(count(30, 1_000_000)),
  batchSize: z.optional(count(1, 1000)),
  name: z.optional(z.string({ error: 'must be text' }).check(z.minLength(1, { error: 'must not be empty' }))),
  confirmations: z.optional(
    z.union(
      [
        count(1, 10_000),
        z
          .array(
            z.strictObject({
              upTo: z.optional(worth),
              confirmations: z.optional(count(1, 10_000)),
              require: z.optional(z.literal('finalized')),
            }),
          )
          .check(z.minLength(1)),
      ],
      { error: depthForms },
    ),
  ),
  crossCheckAbove: z.optional(
    z.union([z.literal(false), worth], { error: `must be false, or ${worthForm}` }),
  ),
  inclusionHours: z.optional(count(1, 336)),
  blockSeconds: z.optional(
    z.number({ error: 'must be a number above 0' }).check(z.positive({ error: 'must be a number above 0' })),
  ),
  chainId: z.optional(count(1, Number.MAX_SAFE_INTEGER)),
  genesisHash: z.optional(
    z
      .string({ error: 'must be 64 lower-case hexadecimal digits' })
      .check(z.regex(/^[0-9a-f]{64}$/, { error: 'must be 64 lower-case hexadecimal digits' })),
  ),
  explorer: z.optional(
    z.union(
      [
        z.literal(false),
        z.strictObject({
          tx: page('{txHash}'),
          address: page('{address}'),
          block: z.optional(page('{height}')),
        }),
      ],
      {
        error:
          'must be false, or an object with the URLs tx (with {txHash}) and address (with {address}), and maybe block (with {height})',
      },
    ),
  ),
  walletRpcUrl: z.optional(
    z.union([z.literal(false), z.string().check(z.refine(isPublicUrl, { error: publicUrlForm }))], {
      error: publicUrlForm,
    }),
  ),
  sweeps: z.optional(
    z.strictObject(
      {
        /** A treasury's forwarders are swept when they hold more than this. */
        minValue: decimalText('must be a decimal, in US dollars', 2),
        /** Above this price of gas, nothing is swept. */
        maxGasPriceGwei: decimalText('must be a decimal, in gwei', 9),
        /** The most that may be spent in 24 hours. */
        dailyBudget: decimalText("must be a decimal, in the network's own coin", 18),
      },
      { error: 'must be an object with minValue, maxGasPriceGwei and dailyBudget' },
    ),
  ),
  assets: z.optional(z.record(z.string(), asset, { error: 'must be an object, by currency code' })),
});

export type NetworkSettings = z.output<typeof networkSettings>;

export const networksFile = z.strictObject({
  networks: z.record(z.string(), networkSettings, { error: 'is required: an object, by network code' }),
});
