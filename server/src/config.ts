/** What the environment says, parsed once at the start. */
import { isIP } from 'node:net';
import * as z from 'zod/mini';
import { parseKey } from './merchants/keys.js';
import { isSubnet } from './webhooks/targets.js';

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

export interface Limits {
  readonly secretPerSecond: number;
  readonly publicPerSecond: number;
  readonly paymentsPerMinutePerIp: number;
  readonly paymentsPerMinutePerKey: number;
  /** How many times as much test keys may. */
  readonly testFactor: number;
}

export interface Config {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly databaseUrl: string;
  /** Where clients reach the server; `http://HOST:PORT` where it is not given. */
  readonly publicUrl: string | undefined;
  /** Where the hosted pages are; `{publicUrl}/pay` where it is not given. */
  readonly checkoutUrl: string | undefined;
  /** Test keys for the first account. */
  readonly bootstrapPublicKey: string | undefined;
  readonly bootstrapSecretKey: string | undefined;
  /** Between two blocks of the simulated networks; 0 adds them by the sandbox alone. */
  readonly blockIntervalMs: number;
  readonly paymentTimes: { readonly chooseSeconds: number; readonly paySeconds: number };
  /** A file of rates in place of the shipped one. */
  readonly ratesFile: string | undefined;
  /** Absent when nothing is limited. */
  readonly limits: Limits | undefined;
  /** Proxies to believe about the client's address: how many, or their addresses. */
  readonly trustProxy: number | string | undefined;
  /** Subnets that are not public and that webhooks of live mode may go to all the same. */
  readonly webhookAllowPrivate: readonly string[];
  /** Who live mode asks for the holders of bank accounts; without a key nobody. */
  readonly accountNames: { readonly url: string; readonly secretKey: string | undefined };
  readonly logLevel: LogLevel;
  /** Who has it may read `/metrics`; absent where nobody may. */
  readonly metricsToken: string | undefined;
  /** When `/readyz` says that the server does not do its work. */
  readonly readyLimits: { readonly chainLagSeconds: number; readonly webhookLagSeconds: number };
}

/** Values that cannot be used: one line for each variable, without secrets. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

interface Variable<S extends z.ZodMiniType = z.ZodMiniType> {
  readonly help: string;
  readonly allowed: string;
  /** As it would stand in the environment, for the help. */
  readonly fallback?: string;
  /** Its value is not repeated in errors. */
  readonly isSecret?: true;
  readonly schema: S;
}

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

function url(help: string) {
  const parsed = z.pipe(
    z.string().check(z.refine(isPlainUrl)),
    z.transform((text) => text.replace(/\/+$/, '')),
  );
  return { help, allowed: 'an http or https URL without query', schema: z.optional(parsed) };
}

function bootstrapKey(kind: 'secret' | 'public') {
  const isKey = (text: string) => {
    const key = parseKey(text);
    return key?.kind === kind && key.mode === 'test';
  };
  return {
    help: `A ${kind} test key of the first account; without one it is made and printed once`,
    allowed: `${kind === 'secret' ? 'sk' : 'pk'}_test_ and 43 characters of A-Z a-z 0-9 _ -`,
    isSecret: true,
    schema: z.optional(z.string().check(z.refine(isKey))),
  } as const;
}

const variables = {
  HOST: {
    help: 'Address to listen on',
    allowed: 'a host name or an IP address',
    fallback: '127.0.0.1',
    schema: z._default(z.string().check(z.regex(/^[A-Za-z0-9.:_-]+$/)), '127.0.0.1'),
  },
  PORT: integer('Port to listen on; 0 takes a free one', 8080, 0, 65_535),
  DATABASE_URL: {
    help: 'The database; a file is created where there is none',
    allowed: 'sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/NAME',
    fallback: 'sqlite:./data/checkout.db',
    isSecret: true,
    schema: z._default(
      z.string().check(z.regex(/^(sqlite:.|postgres(ql)?:\/\/.)/)),
      'sqlite:./data/checkout.db',
    ),
  },
  PUBLIC_URL: url('Where clients reach the server (default http://HOST:PORT)'),
  CHECKOUT_URL: url('Where the hosted payment pages are (default PUBLIC_URL/pay)'),
  BOOTSTRAP_PUBLIC_KEY: bootstrapKey('public'),
  BOOTSTRAP_SECRET_KEY: bootstrapKey('secret'),
  BLOCK_INTERVAL_MS: integer('Time between blocks of the simulated networks; 0: only by /sandbox', 1000, 0),
  PAYMENT_CHOOSE_SECONDS: integer('Time to choose a currency', 86_400),
  PAYMENT_PAY_SECONDS: integer('Time to pay once the currency is locked', 1800),
  RATES_FILE: {
    help: 'A JSON file of rates in place of the shipped one',
    allowed: 'a path',
    schema: z.optional(z.string()),
  },
  RATE_LIMIT: {
    help: 'Whether requests are limited',
    allowed: 'on or off',
    fallback: 'on',
    schema: z._default(z.enum(['on', 'off']), 'on'),
  },
  RATE_LIMIT_SECRET_PER_SECOND: integer('Requests with one secret key; twice as many in a burst', 100),
  RATE_LIMIT_PUBLIC_PER_SECOND: integer('Requests with public keys from one IP address', 25),
  RATE_LIMIT_PAYMENTS_PER_MINUTE_PER_IP: integer('Payments created with public keys from one IP address', 10),
  RATE_LIMIT_PAYMENTS_PER_MINUTE_PER_KEY: integer('Payments created with one public key', 600),
  RATE_LIMIT_TEST_FACTOR: integer('How many times as much test keys may', 10, 1, 1000),
  TRUST_PROXY: {
    help: "Proxies in front, believed about the client's address",
    allowed: 'how many there are, or their addresses or subnets, separated by commas',
    schema: z.optional(
      z.pipe(
        z.string().check(z.refine((text) => /^\d{1,2}$/.test(text) || isProxyList(text))),
        z.transform((text) => (/^\d+$/.test(text) ? Number(text) : text)),
      ),
    ),
  },
  WEBHOOK_ALLOW_PRIVATE: {
    help: 'Subnets that are not public and that webhooks of live mode may go to all the same',
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
    ...url("Where live mode asks for the holders of bank accounts, in Paystack's form"),
    fallback: 'https://api.paystack.co',
  },
  PAYSTACK_SECRET_KEY: {
    help: 'The secret key for ACCOUNT_NAMES_URL; without one live mode checks no names',
    allowed: 'letters, digits, _ and -',
    isSecret: true,
    schema: z.optional(z.string().check(z.regex(/^[A-Za-z0-9_-]{1,255}$/))),
  },
  LOG_LEVEL: {
    help: 'The least level that is logged',
    allowed: logLevels.join(', '),
    fallback: 'info',
    schema: z._default(z.enum(logLevels), 'info'),
  },
  METRICS_TOKEN: {
    help: 'Serves /metrics to whoever sends it as Authorization: Bearer; without one there are no metrics',
    allowed: '16 to 200 characters of A-Z a-z 0-9 . _ ~ + / = -',
    isSecret: true,
    schema: z.optional(z.string().check(z.regex(/^[A-Za-z0-9._~+/=-]{16,200}$/))),
  },
  READY_CHAIN_LAG_SECONDS: integer(
    'How far the scan of a network may be behind before /readyz says 503',
    300,
  ),
  READY_WEBHOOK_LAG_SECONDS: integer(
    'How late webhook deliveries may stand still before /readyz says 503',
    300,
  ),
} as const satisfies Record<string, Variable>;

type Schemas = { [Name in keyof typeof variables]: (typeof variables)[Name]['schema'] };

// The entries come from `variables`, so each name keeps its schema.
const schema = z.object(
  Object.fromEntries(Object.entries(variables).map(([name, variable]) => [name, variable.schema])) as Schemas,
);

type Environment = Readonly<Record<string, string | undefined>>;

/** Parses the environment; what is empty counts as not given. @throws ConfigError */
export function readConfig(environment: Environment): Config {
  const given = Object.fromEntries(
    Object.keys(variables).flatMap((name) => {
      const value = environment[name]?.trim();
      return value ? [[name, value]] : [];
    }),
  );
  const result = schema.safeParse(given);
  if (!result.success) {
    const names = new Set(result.error.issues.map((issue) => String(issue.path[0])));
    throw new ConfigError([...names].map((name) => describeInvalid(name, given[name])).join('\n'));
  }
  const { data } = result;
  return {
    host: data.HOST,
    port: data.PORT,
    databaseUrl: data.DATABASE_URL,
    publicUrl: data.PUBLIC_URL,
    checkoutUrl: data.CHECKOUT_URL,
    bootstrapPublicKey: data.BOOTSTRAP_PUBLIC_KEY,
    bootstrapSecretKey: data.BOOTSTRAP_SECRET_KEY,
    blockIntervalMs: data.BLOCK_INTERVAL_MS,
    paymentTimes: { chooseSeconds: data.PAYMENT_CHOOSE_SECONDS, paySeconds: data.PAYMENT_PAY_SECONDS },
    ratesFile: data.RATES_FILE,
    limits:
      data.RATE_LIMIT === 'off'
        ? undefined
        : {
            secretPerSecond: data.RATE_LIMIT_SECRET_PER_SECOND,
            publicPerSecond: data.RATE_LIMIT_PUBLIC_PER_SECOND,
            paymentsPerMinutePerIp: data.RATE_LIMIT_PAYMENTS_PER_MINUTE_PER_IP,
            paymentsPerMinutePerKey: data.RATE_LIMIT_PAYMENTS_PER_MINUTE_PER_KEY,
            testFactor: data.RATE_LIMIT_TEST_FACTOR,
          },
    trustProxy: data.TRUST_PROXY,
    webhookAllowPrivate: data.WEBHOOK_ALLOW_PRIVATE,
    accountNames: {
      url: data.ACCOUNT_NAMES_URL ?? 'https://api.paystack.co',
      secretKey: data.PAYSTACK_SECRET_KEY,
    },
    logLevel: data.LOG_LEVEL,
    metricsToken: data.METRICS_TOKEN,
    readyLimits: {
      chainLagSeconds: data.READY_CHAIN_LAG_SECONDS,
      webhookLagSeconds: data.READY_WEBHOOK_LAG_SECONDS,
    },
  };
}

/** Every variable in two lines: its name with what is allowed and the default, and what it is for. */
export function describeVariables(): string {
  return Object.entries<Variable>(variables)
    .map(([name, { help, allowed, fallback }]) => {
      const usual = fallback === undefined ? '' : ` (default ${fallback})`;
      return `  ${name}=${allowed}${usual}\n      ${help}`;
    })
    .join('\n');
}

function describeInvalid(name: string, given: string | undefined): string {
  const variable = Object.entries<Variable>(variables).find(([known]) => known === name)?.[1];
  const value = variable?.isSecret ? 'the value given' : `"${given ?? ''}"`;
  return `${name}: ${value} is not allowed; it must be ${variable?.allowed ?? 'something else'}`;
}

function isPlainUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === '';
}

function splitList(text: string): string[] {
  return text.split(',').map((part) => part.trim());
}

const proxyNames = ['loopback', 'linklocal', 'uniquelocal'];

/** A list that Express's trust proxy takes. */
function isProxyList(text: string): boolean {
  return text.split(',').every((part) => {
    const [address = '', length, ...more] = part.trim().split('/');
    if (proxyNames.includes(part.trim())) return true;
    const version = isIP(address);
    const isLength =
      length === undefined || (/^\d{1,3}$/.test(length) && Number(length) <= (version === 4 ? 32 : 128));
    return version !== 0 && isLength && more.length === 0;
  });
}
