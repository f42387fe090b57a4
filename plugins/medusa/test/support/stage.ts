/** One shop with two regions, from an empty database to a cart that can be paid. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createMerchantClient, type MerchantClient } from 'crypto-checkout/client';
import { z } from 'zod';
import { startPostgres } from '../../../../scripts/find-postgres.mjs';
import {
  apiProcess,
  command,
  freePort,
  medusaProcess,
  plugin,
  runMedusa,
  type Env,
  type Running,
} from './processes.js';
import { startRelay, type Relay } from './relay.js';

const execute = promisify(execFile);

/** No test stops PostgreSQL, so nothing has to reach a disk. */
const settingsOfTests = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'jit=off'];

const madeSchema = z.object({
  id: z.string(),
  publicKey: z.string(),
  secretKey: z.string(),
  webhookSecret: z.string(),
});

export interface Region {
  readonly id: string;
  readonly provider: string;
  readonly currency: string;
  readonly keys: z.output<typeof madeSchema>;
  readonly client: MerchantClient;
}

export interface Stage {
  readonly api: Running;
  /** The payment server's. */
  readonly database: string;
  readonly medusa: Running;
  readonly relay: Relay;
  readonly eu: Region;
  readonly us: Region;
  readonly variant: string;
  readonly publishableKey: string;
  readonly folder: string;
  /** Everything that the storefront was answered. */
  readonly storefrontReplies: string[];
  store(path: string, body?: unknown, method?: string): Promise<Reply>;
  admin(path: string, body?: unknown, method?: string): Promise<Reply>;
  close(): Promise<void>;
}

/** A reply of Medusa, of any status. Each test parses what it needs. */
export interface Reply {
  readonly status: number;
  readonly body: unknown;
}

const idOf = (name: string) => (body: unknown) =>
  z.object({ [name]: z.object({ id: z.string() }) }).parse(body)[name]?.id ?? '';

export async function startStage(storeCors: string, more: Env = {}): Promise<Stage> {
  const ends: (() => unknown)[] = [];
  const close = async () => {
    for (const end of ends.toReversed()) await end();
  };
  try {
    return await build(storeCors, more, ends, close);
  } catch (error) {
    await close();
    throw error;
  }
}

/** @param ends the functions that end each part; the last part ends first */
async function build(
  storeCors: string,
  more: Env,
  ends: (() => unknown)[],
  close: Stage['close'],
): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'medusa-test-'));
  ends.push(() => rm(folder, { recursive: true, force: true }));
  await installPlugin(folder);
  const postgres = await startPostgres(settingsOfTests);
  if (!('url' in postgres)) throw new Error(`There is no PostgreSQL: ${postgres.reason}`);
  ends.push(() => postgres.stop());
  const medusaPort = await freePort();
  const relay = await startRelay(`http://127.0.0.1:${medusaPort}`);
  ends.push(() => relay.close());
  const database = `sqlite:${join(folder, 'checkout.db')}`;
  const api = apiProcess(await freePort(), database, folder);
  ends.push(() => api.kill());
  await api.start({ BLOCK_INTERVAL_MS: '0' });
  const make = async (region: string) => {
    const args = [
      'init',
      '--name',
      `Shop ${region}`,
      '--webhook-url',
      `${relay.url}/hooks/payment/crypto-checkout_${region}`,
      '--json',
    ];
    return madeSchema.parse(JSON.parse(await command(database, args)));
  };
  const [eu, us] = [await make('eu'), await make('us')];
  const settings = {
    DATABASE_URL: postgres.url,
    CHECKOUT_URL: api.url,
    STORE_CORS: storeCors,
    ...Object.fromEntries(
      Object.entries({ EU: eu, US: us }).flatMap(([region, { secretKey, publicKey, webhookSecret }]) => [
        [`CHECKOUT_SECRET_KEY_${region}`, secretKey],
        [`CHECKOUT_PUBLIC_KEY_${region}`, publicKey],
        [`CHECKOUT_WEBHOOK_SECRET_${region}`, webhookSecret],
      ]),
    ),
    ...more,
  };
  const login = { email: 'admin@shop.example', password: 'a password of tests' };
  await runMedusa(['db:migrate'], settings);
  await runMedusa(['user', '-e', login.email, '-p', login.password], settings);
  const medusa = medusaProcess(medusaPort, settings, folder);
  ends.push(() => medusa.kill());
  await medusa.start(notNow);

  const storefrontReplies: string[] = [];
  const call = async (path: string, body: unknown, method: string, headers: Env): Promise<Reply> => {
    const init = { method, headers: { 'content-type': 'application/json', ...headers } };
    const reply = await fetch(
      medusa.url + path,
      body === undefined ? init : { ...init, body: JSON.stringify(body) },
    );
    const text = await reply.text();
    if (path.startsWith('/store')) storefrontReplies.push(text);
    return { status: reply.status, body: text.startsWith('{') ? JSON.parse(text) : text };
  };
  const { token } = z
    .object({ token: z.string() })
    .parse((await call('/auth/user/emailpass', login, 'POST', {})).body);
  const admin: Stage['admin'] = (path, body, method = body === undefined ? 'GET' : 'POST') =>
    call(`/admin${path}`, body, method, { authorization: `Bearer ${token}` });
  const made = async (path: string, body: unknown, name: string) =>
    idOf(name)((await admin(path, body)).body);

  const channels = z
    .object({ sales_channels: z.array(z.object({ id: z.string() })) })
    .parse((await admin('/sales-channels')).body).sales_channels;
  const publishable = z
    .object({ api_key: z.object({ id: z.string(), token: z.string() }) })
    .parse((await admin('/api-keys', { title: 'Storefront', type: 'publishable' })).body).api_key;
  await admin(`/api-keys/${publishable.id}/sales-channels`, { add: channels.map(({ id }) => id) });
  const regionOf = async (
    name: string,
    currency: string,
    country: string,
    keys: Region['keys'],
    others: string[] = [],
  ): Promise<Region> => {
    const provider = `pp_crypto-checkout_${name}`;
    const region = {
      name,
      currency_code: currency,
      countries: [country],
      payment_providers: [provider, ...others],
    };
    const client = createMerchantClient({ apiUrl: api.url, secretKey: keys.secretKey });
    return { id: await made('/regions', region, 'region'), provider, currency, keys, client };
  };
  const product = {
    title: 'Lantern',
    status: 'published',
    sales_channels: channels.map(({ id }) => ({ id })),
    options: [{ title: 'Size', values: ['One'] }],
    variants: [
      {
        title: 'One',
        options: { Size: 'One' },
        manage_inventory: false,
        prices: ['eur', 'usd', 'xpf'].map((currency_code) => ({ amount: 50, currency_code })),
      },
    ],
  };
  const { body } = await admin('/products', product);
  const { product: lantern } = z
    .object({ product: z.object({ variants: z.array(z.object({ id: z.string() })) }) })
    .parse(body);
  return {
    api,
    database,
    medusa,
    relay,
    folder,
    storefrontReplies,
    admin,
    eu: await regionOf(
      'eu',
      'eur',
      'de',
      eu,
      ['paid-first', 'generous', 'mailed'].map((name) => `pp_crypto-checkout_eu-${name}`),
    ),
    us: await regionOf('us', 'usd', 'us', us),
    variant: lantern.variants[0]?.id ?? '',
    publishableKey: publishable.token,
    store: (path, body, method = body === undefined ? 'GET' : 'POST') =>
      call(`/store${path}`, body, method, { 'x-publishable-api-key': publishable.token }),
    close,
  };
}

/** Only tests of the job start it. Medusa runs a job without pause that is due in more than 24 days. */
export const notNow: Env = { CRYPTO_CHECKOUT_SCHEDULE: `0 ${(new Date().getHours() + 12) % 24} * * *` };
export const eachSecond: Env = { CRYPTO_CHECKOUT_SCHEDULE: '* * * * * *' };

/** Packs the plug-in and unpacks it where npm would put it. */
async function installPlugin(folder: string): Promise<void> {
  await execute('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], {
    cwd: plugin,
  });
  const file = (await readdir(folder)).find((name) => name.endsWith('.tgz'));
  if (file === undefined) throw new Error('npm packed nothing');
  const target = join(plugin, 'node_modules/crypto-checkout-medusa');
  await rm(target, { recursive: true, force: true });
  await mkdir(target, { recursive: true });
  await execute('tar', ['-xzf', join(folder, file), '-C', target, '--strip-components=1']);
}
