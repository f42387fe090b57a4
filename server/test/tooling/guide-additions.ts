/** One of each addition that the guide of CONTRIBUTING.md describes, made in a copy of the repository. */
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The chain id of the added network. */
export const scrollChainId = 534_352;

const example = `/** An example. */
import * as z from 'zod/mini';
import { priceOf, type RateSourceAdapter } from './source.js';

const prices = z.record(z.string(), z.string());

export const example: RateSourceAdapter = {
  name: 'example',
  dollarPrices: 'crypto',
  url: 'https://rates.example.com',
  markets: [],
  path: () => '/dollars',
  intervalMs: 15_000,
  read: (reply) => ({
    readings: Object.entries(prices.parse(reply)).map(([currency, text]) => {
      return { ...priceOf(text), market: currency, currency, quotedIn: 'USD' };
    }),
  }),
};
`;

/** A coin with everything that one can have: the symbols of exchanges, a rate, an icon. */
const coin = `"EURC": {
      "name": "Euro Coin",
      "decimals": 6,
      "payableDecimals": 2,
      "symbols": { "kraken": "EURC", "binance": "EUR", "coingecko": "euro-coin" },
      "exampleDollars": "1.25",
      "icon": { "colour": "#0a2f8c", "line": "M20 11a6 6 0 1 0 0 10M9 14h8m-8 4h8" }
    },
    `;

const networkRow = (code: string, name: string, family: string, chainId: number) => `    "${code}": {
      "name": "${name}",
      "mode": "live",
      "family": "${family}",
      "addressNet": "main",
      "identity": { "chainId": ${chainId} },
      "confirmations": 64,
      "blockSeconds": 3,
      "explorer": "https://explorer.example.com",
      "assets": { "ETH": { "decimals": 18, "minAmount": "0.0001" } }
    },
`;

/** In their order. @param copy the root of the copy */
export function additionsTo(copy: string): Readonly<Record<string, () => Promise<void>>> {
  const at = (...path: string[]) => join(copy, ...path);

  /** Puts text before or after the first place that has another one. */
  async function insert(path: string, where: 'before' | 'after', place: string, text: string): Promise<void> {
    const source = await readFile(at(path), 'utf8');
    const index = source.indexOf(place);
    if (index < 0) throw new Error(`${path} has no ${JSON.stringify(place)}`);
    const cut = where === 'before' ? index : index + place.length;
    await writeFile(at(path), source.slice(0, cut) + text + source.slice(cut));
  }

  return {
    coin: async () => {
      await insert('server/data/currencies.json', 'before', '"BNB": {', coin);
      await insert(
        'server/data/networks.json',
        'before',
        '"USDC": { "contract": "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"',
        '"EURC": { "contract": "0x1aBaEA1f7C830bD89Acc67eC4af516284b1bC33c", "decimals": 6, "minAmount": "1" },\n        ',
      );
      await insert(
        'server/data/networks.json',
        'before',
        '"USDC": { "minAmount": "0.01", "withdrawalFee": "0.5" }',
        '"EURC": { "minAmount": "0.01", "withdrawalFee": "0.5" },\n        ',
      );
    },
    network: () =>
      insert(
        'server/data/networks.json',
        'before',
        '    "base": {\n',
        networkRow('scroll', 'Scroll', 'evm', scrollChainId),
      ),
    family: async () => {
      const folder = 'server/src/core/families/example/';
      await mkdir(at(folder));
      await writeFile(
        at(folder, 'addresses.ts'),
        `/** The addresses of an example. */
import { addresses as evm } from '../evm/addresses.js';
import type { FamilyAddresses } from '../family.js';

export const addresses: FamilyAddresses = { ...evm, coinType: 9_999, testAccount: "m/44'/9999'/0'" };
`,
      );
    },
    'network of the family': () =>
      insert(
        'server/data/networks.json',
        'before',
        '    "base": {\n',
        networkRow('example', 'Example', 'example', 9_999_999),
      ),
    // The texts are French: only the place matters.
    language: async () => {
      await mkdir(at('src/messages/de'));
      for (const part of ['', '-after-qr', '-transfer'])
        await cp(at(`src/messages/fr/fr${part}.ts`), at(`src/messages/de/de${part}.ts`));
      await cp(at('src/messages/fr/mail.json'), at('src/messages/de/mail.json'));
      const pages = await readFile(at('src/messages/fr/pages.json'), 'utf8');
      const german = pages.replace('"French"', '"German"').replace('"Français"', '"Deutsch"');
      await writeFile(at('src/messages/de/pages.json'), german);
    },
    rates: async () => {
      await writeFile(at('server/src/core/money/sources/example.ts'), example);
      await insert(
        'server/src/core/money/sources/sources.ts',
        'before',
        'import { kraken }',
        "import { example } from './example.js';\n",
      );
      await insert(
        'server/src/core/money/sources/sources.ts',
        'after',
        'adapters: readonly RateSourceAdapter[] = [',
        'example, ',
      );
    },
    event: async () => {
      await insert(
        'src/events.ts',
        'before',
        '  /** The payer chose a currency and network. */',
        "  /** The payer can choose a currency. */\n  'checkout-choosing': CheckoutEvent,\n",
      );
      await insert(
        'src/checkout/state-events.ts',
        'before',
        "  'partially-paid': 'checkout-partial',",
        "  'choosing-currency': 'checkout-choosing',\n",
      );
    },
    endpoint: async () => {
      await insert(
        'src/contract/currencies.ts',
        'after',
        'export const currencies = {\n',
        `  codes: endpoint({
    method: 'GET',
    path: '/v1/currencies/codes',
    key: 'secret',
    description: 'Lists the codes of the currencies.',
    data: z.array(z.string()),
    sample: { message: 'Codes fetched', data: ['USDT', 'NGN'] },
  }),
`,
      );
      await insert(
        'server/src/core/money/handlers.ts',
        'after',
        '  return {\n',
        '    codes: () => Promise.resolve({ data: currencies.all().map(({ code }) => code) }),\n',
      );
      await insert(
        'server/test/support/valid-calls.ts',
        'after',
        'currencies: { list: () => ({})',
        ', codes: () => ({})',
      );
    },
    'webhook event': async () => {
      await insert(
        'src/contract/webhooks.ts',
        'before',
        "  'subscription.ended',\n",
        "  'subscription.paused',\n",
      );
      await insert(
        'server/src/core/webhooks/event-types.ts',
        'before',
        "  'subscription.ended': {",
        "  'subscription.paused': { summary: 'A subscription pauses', sample: () => subscriber },\n",
      );
    },
    'console page': () =>
      writeFile(
        at('console/pages/codes.ts'),
        `/**
 * The codes of the currencies.
 *
 * @place {"order": 185, "label": "Codes", "permission": "currencies.codes"}
 */
import { html } from 'lit';
import { currencies } from '../../src/contract/currencies.js';
import { pick } from '../messages/pick.js';
import { page } from '../page.js';

const texts = pick({ en: { codes: 'Codes' } });

export default page<readonly string[]>({
  title: () => texts.codes,
  load: async ({ api, signal }) => (await api(currencies.codes, {}, signal)).data,
  render: (codes) => html\`<p>\${codes.join(', ')}</p>\`,
});
`,
      ),
    command: () =>
      insert(
        'server/src/core/commands/rates.ts',
        'before',
        '    show: command({',
        `    codes: command({
      summary: 'Lists the currencies.',
      run: ({ currencies }) => Promise.resolve({ json: currencies.all().map(({ code }) => code), text: '' }),
    }),
`,
      ),
    wrapper: async () => {
      await writeFile(
        at('src/vue.ts'),
        `/** The element as a component of Vue. */
import type { CheckoutProperties } from './element-types.js';

type CreateNode<Node> = (tag: string, props: CheckoutProperties, slots: unknown) => Node;

export const createCryptoCheckout =
  <Node>(h: CreateNode<Node>) =>
  (props: CheckoutProperties, { slots }: { readonly slots: unknown }): Node =>
    h('crypto-checkout', props, slots);
`,
      );
      await insert(
        'package.json',
        'before',
        '    "./client": {',
        '    "./vue": { "types": "./dist/vue.d.ts", "default": "./dist/vue.js" },\n',
      );
    },
  };
}
