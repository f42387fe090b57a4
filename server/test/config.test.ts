/** Reading the configuration from the environment, and the messages for invalid values. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigError, describeVariables, readConfig } from '../src/core/config.js';
import { settings } from '../src/modules.js';
import { noDataKeys } from '../src/core/shared/data-keys.js';

it('The defaults are those of a server for trying out', () => {
  expect(readConfig({ PATH: '/usr/bin' })).toEqual({
    ofModules: {},
    baseCurrencies: [],
    host: '127.0.0.1',
    port: 8080,
    keepAliveSeconds: 75,
    databaseUrl: 'sqlite:./data/checkout.db',
    publicUrl: undefined,
    checkoutUrl: undefined,
    bootstrapPublicKey: undefined,
    bootstrapSecretKey: undefined,
    hasPreparedStatements: true,
    dataKeys: noDataKeys,
    blockIntervalMs: 1000,
    createsDatabase: undefined,
    misspelt: [],
    sandbox: undefined,
    paymentTimes: { chooseSeconds: 86_400, paySeconds: 1800 },
    networks: [],
    ratesFile: undefined,
    rateSources: undefined,
    limits: {
      requestsPerSecondPerIp: 300,
      failedKeysPerSecondPerIp: 10,
      pagesPerSecondPerIp: 50,
      secretPerSecond: 100,
      publicPerSecond: 25,
      paymentsPerMinutePerIp: 10,
      paymentsPerMinutePerKey: 600,
      paymentChangesPerHour: 60,
      tokensPerMinutePerIp: 10,
      storedMegabytesPerDay: 5000,
      testFactor: 10,
      sandboxPerSecond: 20,
    },
    trustProxy: undefined,
    webhookAllowPrivate: [],
    accountNames: { url: 'https://api.paystack.co', secretKey: undefined },
    logLevel: 'info',
    metricsToken: undefined,
    readyLimits: { chainLagSeconds: 300, webhookLagSeconds: 300 },
  });
});

it('An empty variable counts as not set', () => {
  expect(readConfig({ PORT: '', PUBLIC_URL: ' ' })).toEqual(readConfig({}));
});

const key = 'a'.repeat(43);

it.each([
  [{ PORT: '0' }, { port: 0 }],
  [{ HOST: '::1' }, { host: '::1' }],
  [{ DATABASE_URL: 'postgres://u:p@db/name' }, { databaseUrl: 'postgres://u:p@db/name' }],
  [{ PUBLIC_URL: 'https://pay.example.com/' }, { publicUrl: 'https://pay.example.com' }],
  [{ CHECKOUT_URL: 'https://pay.example.com/p/' }, { checkoutUrl: 'https://pay.example.com/p' }],
  [{ BOOTSTRAP_SECRET_KEY: `sk_test_${key}` }, { bootstrapSecretKey: `sk_test_${key}` }],
  [{ BLOCK_INTERVAL_MS: '0' }, { blockIntervalMs: 0 }],
  [{ SANDBOX: 'off' }, { sandbox: false }],
  [{ SANDBOX: 'on' }, { sandbox: true }],
  [{ DATABASE_PREPARED_STATEMENTS: 'off' }, { hasPreparedStatements: false }],
  [{ RATE_LIMIT: 'off' }, { limits: undefined }],
  [
    { ACCOUNT_NAMES_URL: 'https://names.example.com/', PAYSTACK_SECRET_KEY: 'sk_live_example' },
    { accountNames: { url: 'https://names.example.com', secretKey: 'sk_live_example' } },
  ],
  [{ METRICS_TOKEN: 'scrape-me-0123456' }, { metricsToken: 'scrape-me-0123456' }],
  [{ READY_CHAIN_LAG_SECONDS: '60' }, { readyLimits: { chainLagSeconds: 60, webhookLagSeconds: 300 } }],
  [
    { WEBHOOK_ALLOW_PRIVATE: '10.1.0.0/16, fd00:1::/32' },
    { webhookAllowPrivate: ['10.1.0.0/16', 'fd00:1::/32'] },
  ],
  [{ TRUST_PROXY: '1' }, { trustProxy: 1 }],
  [
    { RATES: 'kraken,coinbase=https://proxy.example.com/' },
    { rateSources: [{ name: 'kraken' }, { name: 'coinbase', url: 'https://proxy.example.com' }] },
  ],
  [{ TRUST_PROXY: 'loopback, 10.0.0.0/8, ::1' }, { trustProxy: 'loopback, 10.0.0.0/8, ::1' }],
])('%o is read as %o', (environment, expected) => {
  expect(readConfig(environment)).toMatchObject(expected);
});

it.each([
  ['PORT', 'http'],
  ['PORT', '65536'],
  ['PORT', '-1'],
  ['HOST', 'my host'],
  ['PUBLIC_URL', 'pay.example.com'],
  ['PUBLIC_URL', 'ftp://pay.example.com'],
  ['CHECKOUT_URL', 'https://pay.example.com/?a=b'],
  ['ACCOUNT_NAMES_URL', 'api.paystack.co'],
  ['BLOCK_INTERVAL_MS', '1.5'],
  ['PAYMENT_PAY_SECONDS', '0'],
  ['WEBHOOK_ALLOW_PRIVATE', '10.1.0.0'],
  ['WEBHOOK_ALLOW_PRIVATE', '10.1.0.0/16,'],
  ['WEBHOOK_ALLOW_PRIVATE', '10.1.0.0/33'],
  ['RATE_LIMIT', 'yes'],
  ['RATE_LIMIT_PUBLIC_PER_SECOND', '0'],
  ['TRUST_PROXY', 'true'],
  ['TRUST_PROXY', '10.0.0.0/33'],
  ['TRUST_PROXY', '10/8'],
  ['TRUST_PROXY', '127.1/8'],
  ['TRUST_PROXY', '010.0.0.0/8'],
  ['LOG_LEVEL', 'loud'],
])('%s=%s is refused with one line that says what is allowed', (name, value) => {
  const message = refusal({ [name]: value });
  expect(message).toMatch(new RegExp(`^${name}: ".*" is not allowed; it must be .+$`));
  expect(message).toContain(`"${value}"`);
  expect(message.split('\n')).toHaveLength(1);
});

it.each([
  ['DATABASE_URL', 'mysql://root:hunter2@db/name'],
  ['BOOTSTRAP_SECRET_KEY', `sk_live_${key}`],
  ['BOOTSTRAP_SECRET_KEY', `pk_test_${key}`],
  ['BOOTSTRAP_PUBLIC_KEY', `sk_test_${key}`],
  ['BOOTSTRAP_PUBLIC_KEY', 'pk_test_short'],
  ['METRICS_TOKEN', 'too-short'],
  ['PAYSTACK_SECRET_KEY', 'two words'],
  ['RATES', 'kraken=https://hunter2.example.com'],
])('An invalid %s is refused without repeating its value', (name, value) => {
  const message = refusal({ [name]: value });
  expect(message).toMatch(new RegExp(`^${name}: the value given is not allowed; it must be .+$`));
  expect(message).not.toContain(value);
});

it('Rates come either from sources or from a file', () => {
  expect(refusal({ RATES: 'kraken,coinbase', RATES_FILE: 'rates.json' })).toContain('RATES, RATES_FILE');
});

it('Each invalid variable has its own line', () => {
  expect(refusal({ PORT: 'x', LOG_LEVEL: 'y', RATE_LIMIT: 'z' }).split('\n')).toHaveLength(3);
});

it('The help lists every variable with its default', () => {
  const help = describeVariables(settings);
  expect(help).toContain('PORT=an integer from 0 to 65535 (default 8080)');
  expect(help.match(/^ {2}[A-Z_]+=/gm)?.length).toBeGreaterThan(20);
});

function refusal(environment: Record<string, string>): string {
  try {
    readConfig(environment, settings);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('The environment was accepted');
}

describe('A variable that is written almost like a setting', () => {
  let directory: string;
  let live: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-'));
    live = join(directory, 'networks.json');
    await writeFile(live, JSON.stringify({ networks: { ethereum: { nodes: ['{env:DATABASE_URLS}'] } } }), {
      mode: 0o600,
    });
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));
  const node = { DATABASE_URLS: 'https://node.example.com' };

  it.each([
    ['DATABSE_URL', 'DATABASE_URL'],
    ['DATABASE_ULR', 'DATABASE_URL'],
    ['DATABASE_URI', 'DATABASE_URL'],
    ['database_url', 'DATABASE_URL'],
    ['RATE_LIMIT_SECRETS_PER_SECOND', 'RATE_LIMIT_SECRET_PER_SECOND'],
  ])('%s is reported in test mode, and refused with a live network', (given, meant) => {
    const environment = { [given]: 'sqlite:/secret/path' };
    expect(readConfig(environment).misspelt).toEqual([`${given} is not a setting. Did you mean ${meant}?`]);
    const message = refusal({ ...environment, ...node, NETWORKS_FILE: live });
    expect(message).toContain(`${given} is not a setting. If ${meant} was meant, correct its name`);
    expect(message).not.toContain('/secret/path');
  });

  it('A misspelt name of the networks file is refused in every mode: nobody knows what it has', () => {
    expect(refusal({ NETWORKS_FIEL: live })).toContain('If NETWORKS_FILE was meant');
  });

  it('a misspelt variable is only reported, not refused, if the setting itself is set too', () => {
    const both = { ...node, NETWORKS_FILE: live, DATABASE_URL: 'sqlite:a.db', DATABASE_URL_2: 'x' };
    expect(readConfig(both, settings).misspelt).toEqual([
      'DATABASE_URL_2 is not a setting. Did you mean DATABASE_URL?',
    ]);
  });

  it('A variable is not misspelt if it is empty, used by the networks file, or known from other programs', () => {
    const others = {
      HOME: '/root',
      POST: '1',
      HOSTS: 'a',
      PORTS: '1',
      RATE: '5',
      DEMOS: '1',
      DATABASE_PORT: '1',
      CHECKOUT_PORT: '1',
      DATABASE_HOST: 'x',
      PUBLIC: '1',
      NODE_ENV: 'production',
      npm_config_cache: '/x',
      HOSTNAME: 'x',
      DATABSE_URL: ' ',
    };
    expect(readConfig({ ...others, ...node, NETWORKS_FILE: live }, settings).misspelt).toEqual([]);
  });
});
