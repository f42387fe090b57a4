/** Composition root: builds everything the server is made of, starts it and stops it. */
import { sql } from 'kysely';
import type { Logger } from 'pino';
import { createAddresses } from './addresses/addresses.js';
import { createAddressSources, testExtendedPublicKeys } from './chains/addresses.js';
import { currencies as knownCurrencies, simulatedNetworks } from './chains/assets.js';
import { createScanner } from './chains/scanner.js';
import { openSimulatedChains } from './chains/simulated-chain.js';
import { openTestClock } from './chains/test-clock.js';
import type { Config } from './config.js';
import { createCurrencies } from './currencies/currencies.js';
import { openDatabase, type Database } from './db/database.js';
import { handlers, testHandlers } from './handlers.js';
import { createExpressApp } from './http/express-app.js';
import { createIdempotency } from './http/idempotency.js';
import { createLimits } from './http/limits.js';
import { listen, type Listener } from './http/listener.js';
import { site } from './http/site.js';
import { newId as randomId, type NewId } from './ids.js';
import { createJobs } from './jobs/jobs.js';
import { createKeys } from './keys/keys.js';
import { createLedger } from './ledger/ledger.js';
import { bootstrap, type Bootstrapped } from './merchants/bootstrap.js';
import { createMerchants } from './merchants/merchants.js';
import { createPayments } from './payments/payments.js';
import { readFixedRates, shippedRatesFile } from './rates/fixed-rates.js';
import type { RateSource } from './rates/rates.js';
import { reasonOf } from './reason.js';
import { createReceipts } from './receipts/receipts.js';
import { createSandbox } from './sandbox/sandbox.js';
import type { Services } from './services.js';

/** What a test replaces. */
export interface Overrides {
  /** Epoch milliseconds; the sandbox moves test mode's clock on from it. */
  readonly realNow?: () => number;
  readonly rates?: RateSource;
  readonly newId?: NewId;
}

export interface App {
  /** The address it listens on. */
  readonly url: string;
  readonly services: Services;
  readonly database: Database;
  /** The first account, and the keys that were made for it now. */
  readonly bootstrapped: Bootstrapped;
  /** Takes no more requests, finishes those under way within 10 s, stops all work and closes the database. */
  stop(): Promise<void>;
}

/** Something that the configuration names cannot be used; the message names the variable. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

/** How soon a transfer is seen that did not come from this server's own sandbox. */
const scanIntervalMilliseconds = 500;
const drainMilliseconds = 10_000;

/** @throws StartError */
export async function startApp(config: Config, log: Logger, overrides: Overrides = {}): Promise<App> {
  const { host, port, databaseUrl } = config;
  // First, so that a second server on the same port changes nothing before it fails.
  const listener = await usable(`HOST, PORT: cannot listen on ${host}:${port}`, () => listen(host, port));
  let database: Database | undefined;
  try {
    const opened = await usable('DATABASE_URL: the database cannot be opened', () =>
      openDatabase(databaseUrl),
    );
    database = opened;
    return await serve(config, log, listener, opened, overrides);
  } catch (error) {
    await listener.close(0, () => undefined);
    await database?.close();
    throw error;
  }
}

async function serve(
  config: Config,
  log: Logger,
  listener: Listener,
  database: Database,
  overrides: Overrides,
): Promise<App> {
  const publicUrl = config.publicUrl ?? listener.url;
  const checkoutUrl = config.checkoutUrl ?? `${publicUrl}/pay`;
  const stopping = new AbortController();
  const built = await build(config, log, database, checkoutUrl, stopping.signal, overrides);
  const { clock, services, scanner, idempotency, jobs } = built;
  const { keys } = services;
  const bootstrapped = await bootstrap(database, services.merchants, keys, {
    publicKey: config.bootstrapPublicKey,
    secretKey: config.bootstrapSecretKey,
  });

  let isStopping = false;
  async function checkReady(): Promise<void> {
    if (isStopping) throw new Error('The server stops');
    await sql`select 1`.execute(database.reader);
    const waiting = scanner.status().find(({ height, isFailing }) => height === undefined || isFailing);
    if (waiting) throw new Error(`The network ${waiting.network} is not scanned`);
  }

  const pages = site({
    services,
    database,
    publicUrl,
    checkoutUrl,
    demoMerchantId: bootstrapped.merchantId,
  });
  listener.serve(
    createExpressApp({
      services,
      handlers,
      testHandlers,
      database,
      keys,
      clock,
      idempotency,
      checkLimits: config.limits && createLimits(config.limits),
      checkReady,
      pages,
      trustProxy: config.trustProxy,
      stopping: stopping.signal,
      log,
    }),
  );
  scanner.start();
  jobs.start();
  log.info(
    { url: listener.url, database: database.engine, isLimited: config.limits !== undefined },
    'Started',
  );

  return {
    url: listener.url,
    services,
    database,
    bootstrapped,
    async stop() {
      isStopping = true;
      log.info('Stopping');
      await listener.close(drainMilliseconds, () => {
        log.warn('Requests were still under way and are cut off');
        stopping.abort();
      });
      stopping.abort();
      await jobs.stop();
      await scanner.stop();
      await database.close();
      log.info('Stopped');
    },
  };
}

async function build(
  config: Config,
  log: Logger,
  database: Database,
  checkoutUrl: string,
  stopping: AbortSignal,
  { realNow, rates: givenRates, newId = randomId }: Overrides,
) {
  const clock = await openTestClock(database, realNow);
  const ratesFile = config.ratesFile ?? shippedRatesFile;
  const rates =
    givenRates ??
    (await usable(`RATES_FILE: ${ratesFile} cannot be used`, () => readFixedRates(ratesFile, clock)));
  const keys = createKeys(database, clock, newId);
  const merchants = createMerchants(clock, newId);
  const currencies = createCurrencies(knownCurrencies, simulatedNetworks);
  const addressSources = createAddressSources(testExtendedPublicKeys);
  const addresses = createAddresses(addressSources, newId);
  const ledger = createLedger(newId);
  const idempotency = createIdempotency(database, clock);
  const payments = createPayments({
    database,
    clock,
    newId,
    rates,
    currencies,
    addresses,
    ledger,
    merchant: merchants.row,
    times: config.paymentTimes,
  });
  const simulatedChains = await openSimulatedChains({ database, clock, networks: simulatedNetworks });
  const scanner = createScanner({
    database,
    clock,
    newId,
    log,
    sink: createReceipts({ clock, newId, rates, currencies, addresses, ledger, payments }),
    networks: simulatedChains.chains.map((chain) => ({
      chain,
      mode: 'test',
      confirmations: currencies.network(chain.network)?.confirmations ?? 0,
      intervalMilliseconds: scanIntervalMilliseconds,
    })),
  });
  const sandbox = createSandbox({
    simulatedChains,
    scanner,
    clock,
    currencies,
    addressSources,
    afterClockChange: () => payments.expireOverdue(stopping),
  });
  const blockInterval = config.blockIntervalMilliseconds;
  const blocks = {
    name: 'simulated blocks',
    intervalMilliseconds: blockInterval,
    run: () => simulatedChains.mineDue(blockInterval),
  };
  const jobs = createJobs(
    [
      { name: 'test clock', intervalMilliseconds: 1000, run: () => clock.refresh() },
      { name: 'expiry', intervalMilliseconds: 1000, run: (signal) => payments.expireOverdue(signal) },
      { name: 'idempotency keys', intervalMilliseconds: 3_600_000, run: () => idempotency.prune() },
      ...(blockInterval > 0 ? [blocks] : []),
    ],
    log,
  );
  const services: Services = { keys, merchants, currencies, payments, sandbox, checkoutUrl };
  return { clock, services, scanner, idempotency, jobs };
}

/** Runs one step of the start, and says which setting it failed on. */
async function usable<T>(what: string, step: () => T | Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw new StartError(`${what}: ${reasonOf(error)}`, { cause: error });
  }
}
