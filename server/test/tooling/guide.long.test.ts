/** The guide of CONTRIBUTING.md, followed in a copy of the repository: a coin, a network, a source of rates and an event, each in as few files as it says. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Payment } from 'crypto-checkout/contract';
import type { startApiServer } from '../../../scripts/api-server.mjs';
import { openExchanges } from '../money/exchanges.js';
import { startAnvil } from '../support/anvil.js';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../', import.meta.url));
const scrollChainId = 534_352;

let copy: string;
/** The files that each addition changed. */
const changed: Record<string, string[]> = {};
let guide: string;

const at = (...path: string[]) => join(copy, ...path);
const load = (path: string) => import(pathToFileURL(at(path)).href) as Promise<Record<string, unknown>>;

async function filesOf(directory: string): Promise<string[]> {
  // A linked folder of packages is no folder for .gitignore.
  const args = ['ls-files', '-co', '--exclude-standard', '-x', 'node_modules'];
  const { stdout } = await run('git', args, { cwd: directory, maxBuffer: 2 ** 26 });
  return stdout.trim().split('\n');
}

/** Packages are shared, but for the project's own two, which must be the copy's. */
async function linkPackages(): Promise<void> {
  await mkdir(at('node_modules'));
  for (const name of await readdir(join(root, 'node_modules'))) {
    if (name === 'crypto-checkout' || name === 'crypto-checkout-server') continue;
    await symlink(join(root, 'node_modules', name), at('node_modules', name));
  }
  await symlink('..', at('node_modules/crypto-checkout'));
  await symlink('../server', at('node_modules/crypto-checkout-server'));
  await symlink(join(root, 'server/node_modules'), at('server/node_modules'));
}

async function hashes(): Promise<Map<string, string>> {
  const entries = (await filesOf(copy)).map(async (path): Promise<[string, string]> => {
    return [
      path,
      createHash('sha256')
        .update(await readFile(at(path)))
        .digest('hex'),
    ];
  });
  return new Map(await Promise.all(entries));
}

/** Starts the server of the copy. */
const startCopy: typeof startApiServer = async (options) => {
  const script = (await load('scripts/api-server.mjs')) as { startApiServer: typeof startApiServer };
  return script.startApiServer(options);
};

/** Makes one addition and notes which files it changed. */
async function add(what: string, edit: () => Promise<void>): Promise<void> {
  const before = await hashes();
  await edit();
  const after = await hashes();
  changed[what] = [...after].flatMap(([path, hash]) => (before.get(path) === hash ? [] : path)).sort();
}

/** Puts text before or after the first place that has another one. */
async function insert(path: string, where: 'before' | 'after', place: string, text: string): Promise<void> {
  const source = await readFile(at(path), 'utf8');
  const index = source.indexOf(place);
  if (index < 0) throw new Error(`${path} has no ${JSON.stringify(place)}`);
  const cut = where === 'before' ? index : index + place.length;
  await writeFile(at(path), source.slice(0, cut) + text + source.slice(cut));
}

/** The guide's row about an addition. */
const rowOf = (task: string): string => {
  const row = guide.split('\n').find((line) => line.startsWith(`| ${task} `));
  if (row === undefined) throw new Error(`The guide has no row "${task}"`);
  return row;
};

/** Names of files in the guide are short: the last part is enough. */
const isNamed = (row: string, path: string) => row.includes(path.split('/').at(-1) ?? path);

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

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'crypto-checkout-guide-'));
  await Promise.all(
    (await filesOf(root)).map((path) =>
      cp(join(root, path), at(path)).catch((error: unknown) => {
        // A file that was deleted but is still in the index.
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      }),
    ),
  );
  // With the results of an earlier build, only changes are compiled again.
  for (const built of ['dist', 'server/dist']) await cp(join(root, built), at(built), { recursive: true });
  await run('git', ['init', '-q'], { cwd: copy });
  await linkPackages();
  guide = await readFile(at('CONTRIBUTING.md'), 'utf8');

  await add('coin', async () => {
    await insert(
      'server/src/core/money/currency-list.ts',
      'before',
      "  crypto('BNB',",
      "  crypto('EURC', 'Euro Coin', 6, 2),\n",
    );
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
    await insert('server/data/rates.json', 'before', '"USDC":', '"EURC": "1.25",\n    ');
    await insert(
      'src/views/icons.ts',
      'after',
      "['TRX', tron],\n",
      "  ['EURC', { colour: '#0a2f8c', line: 'M20 11a6 6 0 1 0 0 10M9 14h8m-8 4h8' }],\n",
    );
  });
  await add('network', () =>
    insert(
      'server/data/networks.json',
      'before',
      '    "base": {\n',
      `    "scroll": {
      "name": "Scroll",
      "mode": "live",
      "family": "evm",
      "addressNet": "main",
      "identity": { "chainId": ${scrollChainId} },
      "confirmations": 64,
      "blockSeconds": 3,
      "explorer": "https://scrollscan.com",
      "assets": { "ETH": { "decimals": 18, "minAmount": "0.0001" } }
    },
`,
    ),
  );
  await add('rates', async () => {
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
  });
  await add('event', async () => {
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
  });
  await add('generated', async () => {
    await run('npm', ['run', 'manifest'], { cwd: copy });
  });
  // Compiles only if the types of the React component have the new handler.
  await writeFile(
    at('src/new-handler.ts'),
    `import type { CheckoutCamelCaseHandlers } from './element-types.js';
export const handlers: CheckoutCamelCaseHandlers = { onCheckoutChoosing: () => undefined };
`,
  );
  // The compiler writes its errors to standard output.
  const compiler = at('node_modules/typescript-native/bin/tsc');
  const { stdout } = await run(execPath, [compiler, '-b', 'src', 'server'], { cwd: copy }).catch(
    (error: unknown) => error as { stdout: string },
  );
  expect(stdout).toBe('');
}, 600_000);

afterAll(() => rm(copy, { recursive: true, force: true }));

describe('The guide in CONTRIBUTING.md', () => {
  test.each([
    ['coin', 'add a coin', 4],
    ['network', 'add a network with a real node', 2],
    ['rates', 'add a source of exchange rates', 2],
    ['event', 'add an event of the element', 2],
  ])('a new %s takes only files that the guide names, and no more than it should', (what, task, most) => {
    const files = changed[what] ?? [];
    expect(files.length).toBeGreaterThan(0);
    expect(files.length).toBeLessThanOrEqual(most);
    const row = rowOf(task);
    // A new file has a name of its own: the guide names its folder.
    const unnamed = files.filter(
      (path) => !isNamed(row, path) && path !== 'server/src/core/money/sources/example.ts',
    );
    expect(unnamed).toEqual([]);
  });

  test('a coin can be paid with in test mode, at its rate and with its decimals', async () => {
    const server = await startCopy();
    try {
      const headers = { authorization: `Bearer ${server.publicKey}`, 'content-type': 'application/json' };
      const call = async (method: string, path: string, body?: unknown) => {
        const init = body === undefined ? {} : { body: JSON.stringify(body) };
        const response = await fetch(`${server.url}/v1/payments/checkout${path}`, {
          method,
          headers,
          ...init,
        });
        expect(response.status).toBe(200);
        return ((await response.json()) as { data: Record<string, unknown> }).data;
      };
      const { payment } = await call('POST', '', { amount: 10, baseCurrency: 'USD' });
      const { id } = payment as Payment;
      await call('PATCH', `/${id}/currency/set/EURC/ethereum`);
      const locked = await call('PATCH', `/${id}/currency/lock`);
      expect(locked).toMatchObject({ currency: 'EURC', currencyNetwork: 'ethereum', amount: 8 });
    } finally {
      await server.stop();
    }
  });

  test('a network is known by its name, and its node is checked', async () => {
    const anvil = await startAnvil();
    const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-guide-network-'));
    const networksFile = join(directory, 'networks.json');
    await writeFile(networksFile, JSON.stringify({ networks: { scroll: { nodes: [anvil.url] } } }));
    await anvil.rpc('anvil_setChainId', [scrollChainId]);
    await anvil.mine(3);
    const databaseUrl = `sqlite:${join(directory, 'data.sqlite')}`;
    const env = { NETWORKS_FILE: networksFile, RATES_FILE: at('server/data/rates.json') };
    const server = await startCopy({ databaseUrl, env });
    try {
      const { stdout } = await run(
        execPath,
        [at('server/dist/cli.js'), 'networks', 'check', '--network', 'scroll'],
        { env: { ...process.env, ...env, DATABASE_URL: databaseUrl }, cwd: directory },
        // It ends with 1 because of features that this node lacks.
      ).catch((error: unknown) => error as { stdout: string });
      expect(stdout).toMatch(new RegExp(`scroll[^]*ok +node 1: Chain id ${scrollChainId}`));
    } finally {
      await server.stop();
      await anvil.stop();
      await rm(directory, { recursive: true, force: true });
    }
  });

  test('a source of rates is asked and counts', async () => {
    const server = createServer((_request, response) => response.end('{"BTC":"92000"}')).listen(
      0,
      '127.0.0.1',
    );
    const exchanges = await openExchanges();
    try {
      const sources = (await load(
        'server/dist/core/money/sources/sources.js',
      )) as unknown as typeof import('../../src/core/money/sources/sources.js');
      const { createWorldRates } = (await load(
        'server/dist/core/money/world-rates.js',
      )) as unknown as typeof import('../../src/core/money/world-rates.js');
      const { currencies } = (await load(
        'server/dist/core/money/currency-list.js',
      )) as unknown as typeof import('../../src/core/money/currency-list.js');
      const { port } = server.address() as AddressInfo;
      const setting = `example=http://127.0.0.1:${port},${exchanges.setting('kraken')}`;
      const adapters = sources.parseSources(setting) ?? [];
      const log = { warn: () => undefined, info: () => undefined } as never;
      const rates = createWorldRates({ adapters, currencies, now: Date.now, log });
      await rates.refresh(AbortSignal.timeout(10_000));
      expect(rates.latest('BTC')?.source).toBe('median of example, kraken');
    } finally {
      server.close();
      await exchanges.close();
    }
  });

  test('an event fires, is documented, and has a handler in the React component', async () => {
    const { eventsOf } = (await load('dist/checkout/state-events.js')) as {
      eventsOf: (from: unknown, to: unknown) => readonly Event[];
    };
    const payment = { id: 'example', currencies: [] };
    const events = eventsOf({ name: 'creating' }, { name: 'choosing-currency', payment });
    expect(events.map(({ type }) => type)).toEqual(['checkout-created', 'checkout-choosing']);
    // The handler's type was compiled with the copy.
    expect(changed['generated']).toEqual(['custom-elements.json', 'docs/element.md']);
    expect(await readFile(at('custom-elements.json'), 'utf8')).toContain('checkout-choosing');
    expect(await readFile(at('docs/element.md'), 'utf8')).toContain('checkout-choosing');
  });
});
