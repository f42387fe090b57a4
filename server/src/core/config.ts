/** The configuration: environment variables, parsed once at startup. */
import { isIP } from 'node:net';
import * as z from 'zod/mini';
import type { ConfiguredNetwork } from './chains/connected.js';
import { parseKey } from './merchants/keys.js';
import { fiatCurrency } from './money/currency-list.js';
import { parseSources, plainUrl, sourceNames } from './money/sources/sources.js';
import { readOperatorFile } from './operator-file.js';
import { refuseExposedFile } from './private-file.js';
import { changesBetween } from './shared/edit-distance.js';
import { noDataKeys, parseDataKeys, type DataKeys } from './shared/data-keys.js';
import { errorMessage } from './shared/error-message.js';
import { isSubnet } from './webhooks/targets.js';

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];
const logFormats = ['json', 'text'] as const;
export type LogFormat = (typeof logFormats)[number];

/** The help of each variable explains its value. Undefined means the default that the help names. */
export type Config = ReturnType<typeof readConfig>;

export type Limits = NonNullable<Config['limits']>;

/** Invalid values. The message has one line per variable and never contains a secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

export interface Variable<S extends z.ZodMiniType = z.ZodMiniType> {
  readonly help: string;
  readonly allowed: string;
  /** The default as it would be written in the environment, for the help. */
  readonly fallback?: string;
  /** Keeps the value out of error messages. */
  readonly isSecret?: true;
  readonly schema: S;
  /** Reads the networks in the file that it names. @throws ConfigError with one line per error, and no value */
  readonly networks?: (path: string, environment: Environment) => readonly ConfiguredNetwork[];
}

export type Variables = Readonly<Record<string, Variable>>;
export type ValuesOf<V extends Variables> = { readonly [Name in keyof V]: z.output<V[Name]['schema']> };

function integer(help: string, fallback: number, minimum = 1, maximum = 1_000_000_000) {
  const parsed = z.pipe(
    z.string().check(z.regex(/^\d{1,10}$/)),
    z.pipe(z.transform(Number), z.number().check(z.minimum(minimum), z.maximum(maximum))),
  );
  return {
    help,
    allowed: `an integer from ${minimum} to ${maximum}`,
    fallback: String(fallback),
    schema: z._default(parsed, fallback),
  };
}

const onOrOff = z.pipe(
  z.enum(['on', 'off']),
  z.transform((text) => text === 'on'),
);

export function onOff(help: string) {
  return { help, allowed: 'on or off', schema: z.optional(onOrOff) };
}

export function onUnlessOff(help: string) {
  return { ...onOff(help), fallback: 'on', schema: z._default(onOrOff, true) };
}

export function path(help: string) {
  return { help, allowed: 'a path', schema: z.optional(z.string()) };
}

function url(help: string) {
  const parsed = z.pipe(
    z.string().check(z.refine((text) => plainUrl(text) !== undefined)),
    z.transform((text) => plainUrl(text) ?? text),
  );
  return { help, allowed: 'an http or https URL without a query', schema: z.optional(parsed) };
}

function bootstrapKey(kind: 'secret' | 'public') {
  const isKey = (text: string) => {
    const key = parseKey(text);
    return key?.kind === kind && key.mode === 'test';
  };
  return {
    help: `The ${kind} test key of the first account. Without it, the first start with the sandbox creates one and prints it once`,
    allowed: `${kind === 'secret' ? 'sk' : 'pk'}_test_ followed by 43 characters of A-Z a-z 0-9 _ -`,
    isSecret: true,
    schema: z.optional(z.string().check(z.refine(isKey))),
  } as const;
}

const paystackUrl = 'https://api.paystack.co';

const variables = {
  HOST: {
    help: 'Address to listen on',
    allowed: 'a host name or an IP address',
    fallback: '127.0.0.1',
    schema: z._default(z.string().check(z.regex(/^[A-Za-z0-9.:_-]+$/)), '127.0.0.1'),
  },
  PORT: integer('Port to listen on; 0 picks a free one', 8080, 0, 65_535),
  KEEP_ALIVE_SECONDS: integer(
    'The time that a connection stays open without a request. Longer than proxies in front keep theirs, or some requests get no reply',
    75,
    1,
    3600,
  ),
  DATABASE_URL: {
    help: 'The database. A SQLite file, and tables in an empty database, are created as DATABASE_CREATE says',
    allowed: 'sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/NAME, with each part percent-encoded',
    fallback: 'sqlite:./data/checkout.db',
    isSecret: true,
    schema: z._default(
      z.string().check(z.regex(/^(sqlite:.|postgres(ql)?:\/\/.)/)),
      'sqlite:./data/checkout.db',
    ),
  },
  DATABASE_CREATE: onOff(
    'Creation of a SQLite file that does not exist, or of the tables in an empty PostgreSQL database (default: on, and off while a live network is configured: a mistyped path must not create an empty database)',
  ),
  DATABASE_PREPARED_STATEMENTS: onUnlessOff(
    'Prepared statements on PostgreSQL. Turn them off behind a pooler that does not keep track of them, such as PgBouncer before 1.21',
  ),
  PUBLIC_URL: url('URL where clients reach the server (default http://HOST:PORT)'),
  CHECKOUT_URL: url('URL of the hosted payment pages (default PUBLIC_URL/pay)'),
  BOOTSTRAP_PUBLIC_KEY: bootstrapKey('public'),
  BOOTSTRAP_SECRET_KEY: bootstrapKey('secret'),
  BLOCK_INTERVAL_MS: integer(
    'Time between blocks of the simulated networks; 0 adds blocks only through /sandbox',
    1000,
    0,
  ),
  SANDBOX: onOff(
    '/sandbox, where secret test keys control the simulated networks and their test clock (default: on while no live network is configured)',
  ),
  DATA_KEY_FILE: path(
    'File with the keys that encrypt webhook secrets in the database, in base64, one a line: the first encrypts, all decrypt; see docs/operations.md',
  ),
  PAYMENT_CHOOSE_SECONDS: integer('Time that the customer has to choose a currency', 86_400),
  PAYMENT_PAY_SECONDS: integer('Time that the customer has to pay, once the currency is locked', 1800),
  RATES_FILE: path('JSON file of exchange rates, instead of the bundled one'),
  RATES: {
    help: 'Sources of exchange rates (default: all of them if a live network is configured, otherwise RATES_FILE)',
    allowed: `some of ${sourceNames.join(', ')}, separated by commas, each with or without =URL of another server with its API; at least two of them must price coins in dollars, which binance and er-api do not`,
    // A URL may have a key in its path.
    isSecret: true,
    schema: z.optional(
      z.pipe(
        z.string().check(z.refine((text) => parseSources(text) !== undefined)),
        z.transform((text) => parseSources(text)),
      ),
    ),
  },
  BASE_CURRENCIES: {
    help: 'Currencies of prices, in addition to those of GET /v1/currencies. Two sources of exchange rates must quote each, or RATES_FILE has it',
    allowed: 'ISO 4217 codes such as CHF,SEK, separated by commas',
    schema: z._default(
      z.pipe(
        z.string().check(z.refine((text) => codesOf(text).every((code) => fiatCurrency(code) !== undefined))),
        z.transform((text) => [...new Set(codesOf(text))]),
      ),
      [],
    ),
  },
  RATE_LIMIT: onUnlessOff('Rate limits. Each server counts for itself'),
  RATE_LIMIT_REQUESTS_PER_SECOND_PER_IP: integer(
    'Requests from one IP address, before the key is checked',
    300,
  ),
  RATE_LIMIT_FAILED_KEYS_PER_SECOND_PER_IP: integer('Requests with unknown keys from one IP address', 10),
  RATE_LIMIT_PAGES_PER_SECOND_PER_IP: integer(
    'Requests for pages, files and /readyz from one IP address',
    50,
  ),
  RATE_LIMIT_SECRET_PER_SECOND: integer('Requests with one secret key; bursts may be twice as large', 100),
  RATE_LIMIT_PUBLIC_PER_SECOND: integer('Requests with public keys from one IP address', 25),
  RATE_LIMIT_PAYMENTS_PER_MINUTE_PER_IP: integer('Payments created with public keys from one IP address', 10),
  RATE_LIMIT_PAYMENTS_PER_MINUTE_PER_KEY: integer('Payments created with one public key', 600),
  RATE_LIMIT_TOKENS_PER_MINUTE_PER_IP: integer(
    'Failed requests with the token of a link instead of a key from one IP address, counted for each kind of request; twelve times as many may succeed',
    10,
  ),
  RATE_LIMIT_PAYMENT_CHANGES_PER_HOUR: integer('Changes of one payment with public keys, in all', 60),
  RATE_LIMIT_STORED_MEGABYTES_PER_DAY: integer(
    'Megabytes that one merchant’s payments and changes with public keys take in the database in a day, about',
    5000,
  ),
  RATE_LIMIT_TEST_FACTOR: integer(
    'Limits of requests are this many times as high for test keys',
    10,
    1,
    1000,
  ),
  RATE_LIMIT_SANDBOX_PER_SECOND: integer(
    'Calls of /sandbox by one merchant; bursts may be ten times as large',
    20,
  ),
  TRUST_PROXY: {
    help: "Proxies in front of the server that are trusted to report the client's address",
    allowed: 'the number of proxies, or their addresses or subnets, separated by commas',
    schema: z.optional(
      z.pipe(
        z.string().check(z.refine((text) => /^\d{1,2}$/.test(text) || isProxyList(text))),
        z.transform((text) => (/^\d+$/.test(text) ? Number(text) : text)),
      ),
    ),
  },
  WEBHOOK_ALLOW_PRIVATE: {
    help: 'Private subnets that webhooks may be sent to. While SANDBOX is on and PUBLIC_URL is not https, test mode may reach private addresses too',
    allowed: 'subnets such as 10.1.0.0/16, separated by commas',
    schema: z._default(
      z.pipe(
        z.string().check(z.refine((text) => splitList(text).every(isSubnet))),
        z.transform((text) => splitList(text)),
      ),
      [],
    ),
  },
  ACCOUNT_NAMES_URL: {
    ...url("Provider that looks up bank account holders in live mode, with Paystack's API"),
    fallback: paystackUrl,
  },
  PAYSTACK_SECRET_KEY: {
    help: 'Secret key for ACCOUNT_NAMES_URL. Without it, live mode cannot look up account holders',
    allowed: 'letters, digits, _ and -',
    isSecret: true,
    schema: z.optional(z.string().check(z.regex(/^[A-Za-z0-9_-]{1,255}$/))),
  },
  LOG_LEVEL: {
    help: 'Lowest level that is logged',
    allowed: logLevels.join(', '),
    fallback: 'info',
    schema: z._default(z.enum(logLevels), 'info'),
  },
  LOG_FORMAT: {
    help: 'Form of the lines of the log: JSON, or text for a person who reads along',
    allowed: logFormats.join(', '),
    fallback: 'text on a terminal, json elsewhere',
    schema: z.optional(z.enum(logFormats)),
  },
  METRICS_TOKEN: {
    help: 'Turns on /metrics for scrapers that send this token as Authorization: Bearer <TOKEN>',
    allowed: '16 to 200 characters of A-Z a-z 0-9 . _ ~ + / = -',
    isSecret: true,
    schema: z.optional(z.string().check(z.regex(/^[A-Za-z0-9._~+/=-]{16,200}$/))),
  },
  READY_CHAIN_LAG_SECONDS: integer('The longest delay of a network’s scan before /readyz reports 503', 300),
  READY_WEBHOOK_LAG_SECONDS: integer(
    'The longest delay of stalled webhook deliveries before /readyz reports 503',
    300,
  ),
} as const satisfies Variables;

type Values = ValuesOf<typeof variables>;

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Parses the environment. Empty variables count as not set. @param ofModules the variables of modules, whose values are in `ofModules`
 * @throws ConfigError
 */
export function readConfig(environment: Environment, ofModules: Variables = {}) {
  const problems: string[] = [];
  const known: Variables = { ...variables, ...ofModules };
  const values = Object.entries(known).map(([name, { allowed, isSecret, schema }]) => {
    const given = environment[name]?.trim() || undefined;
    const { success, data: value } = schema.safeParse(given);
    const shown = isSecret ? 'the value given' : `"${given ?? ''}"`;
    if (!success) problems.push(`${name}: ${shown} is not allowed; it must be ${allowed}`);
    return [name, value] as const;
  });
  if (problems.length > 0) throw new ConfigError(problems.join('\n'));
  const all: Readonly<Record<string, unknown>> = Object.fromEntries(values);
  // The cast is safe: each value is its schema's.
  const data = all as Values;
  const read = new Set<string>();
  const networks = Object.entries(known).flatMap(([name, variable]) =>
    readNetworks(name, variable, all[name], noting(environment, read)),
  );
  const misspelt = findMisspelt(environment, known, read);
  refuseMisspelt(misspelt, networks);
  if (data.RATES && data.RATES_FILE !== undefined) {
    throw new ConfigError('RATES, RATES_FILE: only one of them can be set');
  }
  return {
    ofModules: Object.fromEntries(Object.keys(ofModules).map((name) => [name, all[name]])),
    host: data.HOST,
    port: data.PORT,
    keepAliveSeconds: data.KEEP_ALIVE_SECONDS,
    databaseUrl: data.DATABASE_URL,
    /** Undefined leaves it to the networks. */
    createsDatabase: data.DATABASE_CREATE,
    hasPreparedStatements: data.DATABASE_PREPARED_STATEMENTS,
    publicUrl: data.PUBLIC_URL,
    checkoutUrl: data.CHECKOUT_URL,
    bootstrapPublicKey: data.BOOTSTRAP_PUBLIC_KEY,
    bootstrapSecretKey: data.BOOTSTRAP_SECRET_KEY,
    blockIntervalMs: data.BLOCK_INTERVAL_MS,
    sandbox: data.SANDBOX,
    // The networks of both modes, in addition to the simulated ones.
    networks,
    /** A sentence about each variable that is not ours, but is spelled almost like one of ours. */
    misspelt: misspelt.map(({ given, meant }) => `${given} is not a setting. Did you mean ${meant}?`),
    dataKeys: data.DATA_KEY_FILE === undefined ? noDataKeys : readDataKeys(data.DATA_KEY_FILE),
    paymentTimes: { chooseSeconds: data.PAYMENT_CHOOSE_SECONDS, paySeconds: data.PAYMENT_PAY_SECONDS },
    ratesFile: data.RATES_FILE,
    rateSources: data.RATES,
    baseCurrencies: data.BASE_CURRENCIES,
    // Undefined turns them off.
    limits: data.RATE_LIMIT
      ? {
          requestsPerSecondPerIp: data.RATE_LIMIT_REQUESTS_PER_SECOND_PER_IP,
          failedKeysPerSecondPerIp: data.RATE_LIMIT_FAILED_KEYS_PER_SECOND_PER_IP,
          pagesPerSecondPerIp: data.RATE_LIMIT_PAGES_PER_SECOND_PER_IP,
          secretPerSecond: data.RATE_LIMIT_SECRET_PER_SECOND,
          publicPerSecond: data.RATE_LIMIT_PUBLIC_PER_SECOND,
          paymentsPerMinutePerIp: data.RATE_LIMIT_PAYMENTS_PER_MINUTE_PER_IP,
          paymentsPerMinutePerKey: data.RATE_LIMIT_PAYMENTS_PER_MINUTE_PER_KEY,
          tokensPerMinutePerIp: data.RATE_LIMIT_TOKENS_PER_MINUTE_PER_IP,
          paymentChangesPerHour: data.RATE_LIMIT_PAYMENT_CHANGES_PER_HOUR,
          storedMegabytesPerDay: data.RATE_LIMIT_STORED_MEGABYTES_PER_DAY,
          testFactor: data.RATE_LIMIT_TEST_FACTOR,
          sandboxPerSecond: data.RATE_LIMIT_SANDBOX_PER_SECOND,
        }
      : undefined,
    trustProxy: data.TRUST_PROXY,
    webhookAllowPrivate: data.WEBHOOK_ALLOW_PRIVATE,
    accountNames: {
      url: data.ACCOUNT_NAMES_URL ?? paystackUrl,
      secretKey: data.PAYSTACK_SECRET_KEY,
    },
    logLevel: data.LOG_LEVEL,
    logFormat: data.LOG_FORMAT,
    metricsToken: data.METRICS_TOKEN,
    readyLimits: {
      chainLagSeconds: data.READY_CHAIN_LAG_SECONDS,
      webhookLagSeconds: data.READY_WEBHOOK_LAG_SECONDS,
    },
  };
}

/** The values of a module's own variables. */
export function settingsOf<V extends Variables>(config: Pick<Config, 'ofModules'>, own: V): ValuesOf<V> {
  const values = Object.keys(own).map((name) => [name, config.ofModules[name]]);
  // The cast is safe: `readConfig` has parsed each with its schema.
  return Object.fromEntries(values) as ValuesOf<V>;
}

/** A variable that is set, and is spelled almost like one of ours. */
interface Misspelt {
  readonly given: string;
  readonly meant: string;
  /** True if the variable that was meant is set too, so that nothing is missing. */
  readonly isSet: boolean;
  /** True if it names a file of networks. */
  readonly hasNetworks: boolean;
}

/** Shorter names resemble other programs' variables too closely: HOME and HOST. */
const shortestName = 7;
/** From this length on, a name with two typing mistakes is still recognizable. */
const longName = 10;

/** @param read names that the networks file uses */
function findMisspelt(environment: Environment, known: Variables, read: ReadonlySet<string>): Misspelt[] {
  const names = Object.keys(known);
  const isSet = (name: string) => (environment[name]?.trim() ?? '') !== '';
  return Object.keys(environment).flatMap((given) => {
    if (names.includes(given) || read.has(given) || !isSet(given)) return [];
    const upper = given.toUpperCase();
    const meant = names.find((name) => {
      if (name.length < shortestName || Math.abs(name.length - upper.length) > 2) return false;
      return changesBetween(upper, name) <= (name.length < longName ? 1 : 2);
    });
    if (meant === undefined) return [];
    return { given, meant, isSet: isSet(meant), hasNetworks: known[meant]?.networks !== undefined };
  });
}

/**
 * With real money, a misspelt setting is an error rather than ignored: without its database or its networks file, the server would start another shop.
 * @throws ConfigError
 */
function refuseMisspelt(misspelt: readonly Misspelt[], networks: readonly ConfiguredNetwork[]): void {
  const missing = misspelt.filter(({ meant, isSet }) => !isSet && meant.length >= longName);
  const isLive = networks.some(({ network }) => network.mode === 'live');
  // The contents of the file under the wrong name are unknown.
  if (!isLive && !missing.some(({ hasNetworks }) => hasNetworks)) return;
  if (missing.length === 0) return;
  const lines = missing.map(
    ({ given, meant }) =>
      `${given} is not a setting. If ${meant} was meant, correct its name; if it belongs to another program, take it out of this one's environment`,
  );
  throw new ConfigError(lines.join('\n'));
}

/** The environment, which records the names that are read from it. */
function noting(environment: Environment, read: Set<string>): Environment {
  return new Proxy(environment, {
    get(target, name) {
      read.add(String(name));
      return target[String(name)];
    },
  });
}

function readNetworks(
  name: string,
  variable: Variable,
  path: unknown,
  environment: Environment,
): readonly ConfiguredNetwork[] {
  if (!variable.networks || typeof path !== 'string') return [];
  try {
    return variable.networks(path, environment);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const lines = error.message.split('\n').map((line) => `${name}: ${line}`);
    throw new ConfigError(lines.join('\n'), { cause: error });
  }
}

function readDataKeys(path: string): DataKeys {
  try {
    refuseExposedFile(path);
    return parseDataKeys(readOperatorFile(path));
  } catch (error) {
    throw new ConfigError(`DATA_KEY_FILE: ${errorMessage(error)}`, { cause: error });
  }
}

/** The help: two lines per variable, with its name, allowed values, default and purpose. */
export function describeVariables(ofModules: Variables = {}): string {
  return Object.entries<Variable>({ ...variables, ...ofModules })
    .map(([name, { help, allowed, fallback }]) => {
      const defaultNote = fallback === undefined ? '' : ` (default ${fallback})`;
      return `  ${name}=${allowed}${defaultNote}\n      ${help}`;
    })
    .join('\n');
}

const codesOf = (text: string) => splitList(text.toUpperCase());

function splitList(text: string): string[] {
  return text.split(',').map((part) => part.trim());
}

const proxyNames = ['loopback', 'linklocal', 'uniquelocal'];

/** True if Express accepts the list as `trust proxy`. */
function isProxyList(text: string): boolean {
  // Express refuses a shortened address in a subnet, and reads octal parts as a different address.
  const isWhole = (part: string) => isIP(part.split('/')[0] ?? '') !== 0;
  return splitList(text).every(
    (part) => proxyNames.includes(part) || (isWhole(part) && (isIP(part) !== 0 || isSubnet(part))),
  );
}
