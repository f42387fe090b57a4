/**
 * The guide of CONTRIBUTING.md, followed in a copy of the repository: one of each addition, in as few files as it says, on a server
 * that is built from the copy. Coins and networks take payments in live mode. The tests of all endpoints, coins, networks,
 * languages and commands run in the copy.
 */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { HDKey } from '@scure/bip32';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import type { Payment, PaymentRecord, RefundClaim } from 'crypto-checkout/contract';
import type { startApiServer } from '../../../scripts/api-server.mjs';
import { openExchanges } from '../money/exchanges.js';
import { anvilChainId, startAnvil, type Anvil } from '../support/anvil.js';
import { additionsTo, scrollChainId } from './guide-additions.js';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../', import.meta.url));

let copy: string;
let server: Awaited<ReturnType<typeof startApiServer>>;
/** The node of two networks, and one of the added network. */
let anvil: Anvil;
let scroll: Anvil;
let env: Record<string, string>;
/** Prints JSON. */
let command: <T>(line: string) => Promise<T>;
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

/** Starts the server of the copy. */
const startCopy: typeof startApiServer = async (options) => {
  const script = (await load('scripts/api-server.mjs')) as { startApiServer: typeof startApiServer };
  return script.startApiServer(options);
};

const git = async (...args: string[]) => {
  const { stdout } = await run('git', args, { cwd: copy, maxBuffer: 2 ** 26 });
  return stdout.trim().split('\n').filter(Boolean);
};

/** Makes one addition and notes which files it changed. */
async function add(what: string, edit: () => Promise<void>): Promise<void> {
  await edit();
  changed[what] = [
    ...(await git('diff', '--name-only')),
    ...(await git('ls-files', '--others', '--exclude-standard')),
  ].sort();
  await git('add', '--all');
}

/** The guide's row about an addition. */
const rowOf = (task: string): string => {
  const row = guide.split('\n').find((line) => line.startsWith(`| ${task} `));
  if (row === undefined) throw new Error(`The guide has no row "${task}"`);
  return row;
};

/** Names of files in the guide are short: the last part is enough. */
const isNamed = (row: string, path: string) => row.includes(path.split('/').at(-1) ?? path);

/** @returns the compiler's errors, which it writes to standard output */
async function compile(...args: string[]): Promise<string> {
  const compiler = at('node_modules/typescript-native/bin/tsc');
  const { stdout } = await run(execPath, [compiler, ...args], { cwd: copy }).catch(
    (error: unknown) => error as { stdout: string },
  );
  return stdout;
}

/** Runs test files of the copy. @returns the output of Vitest */
async function runTests(...args: string[]): Promise<string> {
  const vitest = at('node_modules/vitest/vitest.mjs');
  const { stdout } = await run(execPath, [vitest, 'run', '--project', 'node', ...args], {
    cwd: copy,
    // Another PostgreSQL would only take time to start.
    env: {
      ...process.env,
      NO_COLOR: '1',
      TEST_TURN: 'quick',
      TEST_DATABASE_URL: inject('postgresUrl'),
      LITECOIND_PATH: inject('litecoindPath'),
    },
    maxBuffer: 2 ** 26,
  }).catch((error: unknown) => error as { stdout: string });
  return stdout;
}

/** They compare files with the server, and `vitest -u` renews those. */
const renewing = ['server/test/commands/help.test.ts', 'server/test/console/roles.test.ts'];
/** They call all endpoints, or see all coins, networks or languages. */
const ofAll = [
  'test/contract/table.test.ts',
  'test/messages/languages.test.ts',
  'server/test/contract-walk.test.ts',
  'server/test/reference/openapi.test.ts',
  'server/test/refusals.test.ts',
  'server/test/roles.test.ts',
  'server/test/spec.test.ts',
  'server/test/commands/live.test.ts',
  'server/test/field/rates.long.test.ts',
  'server/test/money/world-rates.test.ts',
  'server/test/networks/block-times.test.ts',
  'server/test/networks/live-networks.test.ts',
  'server/test/networks/networks-file.test.ts',
  'server/test/payments/life.test.ts',
  'server/test/site/page-language.test.ts',
  'server/test/site/site.test.ts',
  'server/test/subscriptions/subscribers.test.ts',
  'server/test/withdrawals/balances.test.ts',
];

/** One server with the added coin, networks and family in live mode. */
async function startLive(): Promise<void> {
  [anvil, scroll] = await Promise.all([startAnvil(), startAnvil()]);
  await scroll.rpc('anvil_setChainId', [scrollChainId]);
  await scroll.mine(3);
  const token = await anvil.deploy('PlainToken', [6]);
  await anvil.mine(3);
  const node = { nodes: [anvil.url], chainId: anvilChainId, confirmations: 2 };
  const networks = {
    ethereum: { ...node, assets: { USDC: false, USDT: false, EURC: { contract: token, decimals: 6 } } },
    example: node,
    scroll: { nodes: [scroll.url] },
  };
  env = {
    NETWORKS_FILE: join(copy, 'live-networks.json'),
    RATES_FILE: at('server/data/rates.json'),
    DATABASE_URL: `sqlite:${join(copy, 'live.sqlite')}`,
  };
  await writeFile(env['NETWORKS_FILE'] ?? '', JSON.stringify({ networks }));
  server = await startCopy({ databaseUrl: env['DATABASE_URL'] ?? '', env });
  command = async <T>(line: string): Promise<T> => {
    const args = [at('server/dist/cli.js'), ...line.split(' '), '--json'];
    const { stdout } = await run(execPath, args, { env: { ...process.env, ...env }, cwd: copy });
    return JSON.parse(stdout) as T;
  };
  payToken = async (address, units) => {
    await anvil.call('PlainToken', token, 'transfer', [address, units]);
  };
}
let payToken: (address: string, units: bigint) => Promise<void>;
/** The payment on the network of the added family. */
let paidInExample: PaidLive;

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
  // The bundles of an earlier build, which most additions do not change.
  for (const built of ['dist', 'server/dist']) await cp(join(root, built), at(built), { recursive: true });
  await linkPackages();
  await git('init', '-q');
  // A linked folder of packages is no folder for .gitignore.
  await writeFile(at('.git/info/exclude'), 'node_modules\nlive*\n');
  await git('add', '--all');
  guide = await readFile(at('CONTRIBUTING.md'), 'utf8');

  for (const [what, edit] of Object.entries(additionsTo(copy))) await add(what, edit);
  await add('lists', async () => {
    await run('npm', ['run', 'lists'], { cwd: copy });
  });
  await add('manifest', async () => {
    await run('npm', ['run', 'manifest'], { cwd: copy });
  });
  // Compiles only if the types of the React component have the new handler.
  await writeFile(
    at('src/new-handler.ts'),
    `import type { CheckoutCamelCaseHandlers } from './element-types.js';
export const handlers: CheckoutCamelCaseHandlers = { onCheckoutChoosing: () => undefined };
`,
  );
  expect(await compile('-b', '--force', 'src', 'server')).toBe('');
  await startLive();
}, 600_000);

afterAll(async () => {
  await Promise.all([server.stop(), anvil.stop(), scroll.stop()]);
  await rm(copy, { recursive: true, force: true });
});

const openApi = async () => (await fetch(`${server.url}/openapi.json`)).json() as Promise<object>;

/** The key of an example account: nobody spends the money that is paid to it. */
const accountKey = () =>
  HDKey.fromMasterSeed(new Uint8Array(32).fill(7)).derive("m/44'/60'/0'").publicExtendedKey;

interface PaidLive {
  readonly id: string;
  /** In coins. */
  readonly amount: number;
  /** Calls the API as the shop. */
  ask<T>(method: string, path: string, body?: object): Promise<T>;
}

/** A shop's payment in live mode, from its key to the money. */
async function payLive(
  family: string,
  option: string,
  pay: (address: string, amount: number) => Promise<void>,
): Promise<PaidLive> {
  const [owner] = await command<{ id: string }[]>('merchants list');
  const merchant = `--merchant ${owner?.id}`;
  await command(`deposit-keys set ${merchant} --mode live --family ${family} --xpub ${accountKey()} --yes`);
  const { key } = await command<{ key: string }>(`keys create ${merchant} --kind secret --mode live`);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const ask = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const init = body && { body: JSON.stringify(body) };
    const response = await fetch(`${server.url}${path}`, { method, headers, ...init });
    const { data } = (await response.json()) as { data: T };
    expect(response.status, `${path}: ${JSON.stringify(data)}`).toBe(200);
    return data;
  };
  const body = { amount: 10, baseCurrency: 'USD' };
  const { payment } = await ask<{ payment: Payment }>('POST', '/v1/payments/checkout', body);
  const path = `/v1/payments/${payment.id}`;
  // A running server uses a first key within two seconds, and a network once its node has answered.
  await vi.waitFor(() => ask('PATCH', `${path}/currency/set/${option}`), { timeout: 20_000, interval: 250 });
  const { amount = 0, addressInformation } = await ask<PaymentRecord>('PATCH', `${path}/currency/lock`);
  await pay(addressInformation?.address ?? '', amount);
  await anvil.mine(3);
  await vi.waitFor(async () => expect(await ask('GET', path)).toMatchObject({ status: 'success' }), {
    timeout: 30_000,
    interval: 250,
  });
  return { id: payment.id, amount, ask };
}

/** Calls the API as the payer who has the link of a refund. */
async function claim(path: 'retrieve' | 'address', body: object) {
  const response = await fetch(`${server.url}/v1/refund-claims/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const { message, data } = (await response.json()) as { message: string; data: RefundClaim };
  return { status: response.status, message, data };
}

describe('The guide in CONTRIBUTING.md', () => {
  test.each([
    ['coin', 'add a coin', 2],
    ['network', 'add a network with a real node', 2],
    ['family', 'add a family of networks', 1],
    ['language', 'add a language', 5],
    ['rates', 'add a source of exchange rates', 2],
    ['event', 'add an event of the element', 2],
    ['endpoint', 'add an endpoint', 3],
    ['webhook event', 'add a webhook event', 2],
    ['console page', 'add a page to the console', 1],
    ['command', 'add a command', 1],
    ['wrapper', 'add a wrapper for a framework', 2],
  ])('a new %s takes only files that the guide names, and no more than it should', (what, task, most) => {
    const files = changed[what] ?? [];
    expect(files.length).toBeGreaterThan(0);
    expect(files.length).toBeLessThanOrEqual(most);
    const row = rowOf(task);
    // The guide names the folder of a new file, and of a resource's contract.
    const isNew =
      /(?:sources\/example\.ts|families\/example\/\w+\.ts|messages\/de\/[\w.-]+|contract\/\w+\.ts|pages\/codes\.ts|vue\.ts)$/;
    expect(files.filter((path) => !isNamed(row, path) && !isNew.test(path))).toEqual([]);
  });

  test('a family and a language are one folder each', () => {
    const folders = (what: string) => new Set(changed[what]?.map((path) => path.replace(/\/[^/]+$/, '')));
    expect([...folders('family')]).toEqual(['server/src/core/families/example']);
    expect([...folders('language')]).toEqual(['src/messages/de']);
  });

  test('a coin is paid in live mode, at its rate and with its decimals', async () => {
    const { amount } = await payLive('evm', 'EURC/ethereum', (address, owed) =>
      payToken(address, BigInt(Math.round(owed * 1e6))),
    );
    expect(amount).toBe(8);
  });

  test('a coin has its symbols at the exchanges, and its icon in the widget', async () => {
    const sources = (await load(
      'server/dist/core/money/sources/sources.js',
    )) as unknown as typeof import('../../src/core/money/sources/sources.js');
    const markets = Object.fromEntries(sources.defaultSources.map(({ name, markets: all }) => [name, all]));
    expect(markets['kraken']).toContain('EURCUSD');
    expect(markets['binance']).toContain('EURUSDT');
    expect(markets['coingecko']).toContain('euro-coin');
    expect(await load('dist/coins/icons.js')).toMatchObject({ coins: { EURC: { colour: '#0a2f8c' } } });
  });

  test('a network is known by its name, and its node is checked', async () => {
    const args = [at('server/dist/cli.js'), 'networks', 'check', '--network', 'scroll'];
    const { stdout } = await run(execPath, args, { env: { ...process.env, ...env }, cwd: copy })
      // It ends with 1 because of features that this node lacks.
      .catch((error: unknown) => error as { stdout: string });
    expect(stdout).toMatch(new RegExp(`scroll[^]*ok +node 1: Chain id ${scrollChainId}`));
  });

  test('a family has keys of its own, and its networks are paid on in live mode', async () => {
    paidInExample = await payLive('example', 'ETH/example', async (address, owed) => {
      await anvil.send(address, BigInt(Math.round(owed * 1e8)) * 10n ** 10n);
    });
    expect(paidInExample.amount).toBeGreaterThan(0);
  });

  test('a family of the kind evm has refunds that its wallets sign for, and none to a lost address', async () => {
    const { id, ask } = paidInExample;
    const path = `/v1/payments/${id}/refunds`;
    const { claimUrl } = await ask<{ claimUrl: string }>('POST', path, { kind: 'full' });
    const token = new URL(claimUrl).hash.slice(1);
    const lost = '0x000000000000000000000000000000000000dEaD';
    expect(await claim('address', { token, address: lost, checkOnly: true })).toMatchObject({
      status: 400,
      message: expect.stringContaining('what is sent there is lost') as string,
    });
    const { addressKind, signatureText = '' } = (await claim('retrieve', { token })).data;
    expect(addressKind).toBe('evm');
    const address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
    const signed = Buffer.from(signatureText.replace('{address}', address)).toString('hex');
    const signature = await anvil.rpc('personal_sign', [`0x${signed}`, anvil.sender]);
    expect((await claim('address', { token, address, signature })).data).toMatchObject({
      status: 'awaiting_approval',
      sameWallet: true,
    });
  });

  test('a language has its widget, the check of a transfer, its pages and the previews', async () => {
    const { loadLanguage } = (await load('dist/messages/load.js')) as {
      loadLanguage: (tag: string) => Promise<{ code: string; texts: { pay: string } }>;
    };
    const { loadTransferTexts } = (await load('dist/messages/load-transfer.js')) as {
      loadTransferTexts: (language: object) => Promise<{ transferAsk: string }>;
    };
    const language = await loadLanguage('de-AT');
    expect(language).toMatchObject({ code: 'de', texts: { pay: 'Payer' } });
    expect(await loadTransferTexts(language)).toMatchObject({ transferAsk: 'Vérifier' });
    const page = await fetch(`${server.url}/refund?locale=de`);
    expect(await page.text()).toContain('<html lang="de"');
    for (const file of ['src/messages/codes.ts', 'demo/languages.ts', 'docs/widget.md'])
      expect(changed['lists']).toContain(file);
    expect(await readFile(at('docs/widget.md'), 'utf8')).toContain('French, German, Hausa');
  });

  test('a language without a text does not compile', async () => {
    const file = at('src/messages/de/de-transfer.ts');
    const whole = await readFile(file, 'utf8');
    await writeFile(file, whole.replace(/ {2}transferAsk: .*\n/, ''));
    try {
      expect(await compile('-p', 'src', '--noEmit')).toMatch(/de-transfer\.ts.*[^]*transferAsk/);
    } finally {
      await writeFile(file, whole);
    }
  });

  test('an endpoint answers, and the API describes it', async () => {
    const headers = { authorization: `Bearer ${server.secretKey}` };
    const reply = await fetch(`${server.url}/v1/currencies/codes`, { headers });
    expect(await reply.json()).toMatchObject({ message: 'Codes fetched' });
    expect(await openApi()).toHaveProperty(['paths', '/v1/currencies/codes', 'get']);
  });

  test('no addition needs a change of the tests that see all of its kind', { timeout: 600_000 }, async () => {
    await git('add', '--all');
    await add('openapi', async () => {
      await run('npm', ['run', 'openapi'], { cwd: copy });
    });
    await add('renewed', async () => {
      await runTests(...renewing, '-u');
    });
    expect([changed['openapi'], changed['renewed']]).toEqual([
      ['openapi.json'],
      ['server/test/commands/help.txt', 'server/test/console/roles.txt'],
    ]);
    expect(rowOf('add an endpoint')).toMatch(/`openapi\.json` and `roles\.txt`/);
    expect(rowOf('add a command')).toContain('`help.txt`');
    const files = [...renewing, ...ofAll];
    expect(await runTests(...files)).toMatch(new RegExp(`Test Files +${files.length} passed`));
  });

  test('a webhook event is described, and has a sample', async () => {
    expect(await openApi()).toHaveProperty(['webhooks', 'subscription.paused']);
  });

  test('a page of the console is in its menu, and is built with it', async () => {
    const vite = at('node_modules/vite/bin/vite.js');
    await run(execPath, [vite, 'build', '--config', 'console/vite.config.ts'], { cwd: copy });
    expect((await readdir(at('server/dist/console/chunks'))).join(' ')).toMatch(/codes-[\w-]+\.js/);
    const menu = await readFile(at('console/pages.ts'), 'utf8');
    expect(menu).toMatch(/name: 'developers'[^]*name: 'codes'[^]*label: labels\.codes[^]*name: 'settings'/);
  });

  test('a command runs, and is in the help', async () => {
    expect(await command('rates codes')).toContain('EURC');
    const { stdout } = await run(execPath, [at('server/dist/cli.js'), 'help']);
    expect(stdout).toMatch(/rates\n +codes +Lists the currencies\./);
  });

  test('a wrapper is an entry of the package', async () => {
    const from = `import { createCryptoCheckout } from 'crypto-checkout/vue';
      console.log(createCryptoCheckout((tag) => tag)({}, { slots: {} }));`;
    const { stdout } = await run(execPath, ['--input-type=module', '-e', from], { cwd: copy });
    expect(stdout).toBe('crypto-checkout\n');
  });

  test('a source of rates is asked and counts', async () => {
    const source = createServer((_request, response) => response.end('{"BTC":"92000"}')).listen(
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
      const { port } = source.address() as AddressInfo;
      const setting = `example=http://127.0.0.1:${port},${exchanges.setting('kraken')}`;
      const adapters = sources.parseSources(setting) ?? [];
      const log = { warn: () => undefined, info: () => undefined } as never;
      const rates = createWorldRates({ adapters, currencies, now: Date.now, log });
      await rates.refresh(AbortSignal.timeout(10_000));
      expect(rates.latest('BTC')?.source).toBe('median of example, kraken');
    } finally {
      source.close();
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
    expect(changed['manifest']).toEqual(['custom-elements.json', 'docs/element.md']);
    expect(await readFile(at('custom-elements.json'), 'utf8')).toContain('checkout-choosing');
    expect(await readFile(at('docs/element.md'), 'utf8')).toContain('checkout-choosing');
  });
});
