/** Composition root: builds everything the server is made of, starts it and stops it. */
import { sql } from 'kysely';
import type { Logger } from 'pino';
import { createAddresses } from './addresses/addresses.js';
import { createAddressSources, testExtendedPublicKeys } from './chains/addresses.js';
import { currencies as knownCurrencies, simulatedNetworks } from './chains/assets.js';
import { createScanner } from './chains/scanner.js';
import { openSimulatedChains } from './chains/simulated-chain.js';
import { createSimulatedSigner } from './chains/simulated-signer.js';
import type { Signer } from './chains/signer.js';
import { openTestClock } from './chains/test-clock.js';
import type { Config } from './config.js';
import { createBilling } from './billing/billing.js';
import { exampleAccountNames } from './bank-accounts/account-names.js';
import { createBankAccounts } from './bank-accounts/bank-accounts.js';
import { createPaystackAccountNames } from './bank-accounts/paystack.js';
import { createBanks } from './banks/banks.js';
import { createCountries } from './countries/countries.js';
import { createCurrencies } from './currencies/currencies.js';
import { createCustomers } from './customers/customers.js';
import { afterCommit, openDatabase, type Database } from './db/database.js';
import { extendMarks } from './db/list-marks.js';
import { handlers, testHandlers } from './handlers.js';
import { createExpressApp } from './http/express-app.js';
import { createCheckReady } from './http/health.js';
import { createIdempotency } from './http/idempotency.js';
import { createLimits } from './http/limits.js';
import { listen, type Listener } from './http/listener.js';
import { createMetrics } from './http/metrics.js';
import { site } from './http/site.js';
import { newId as randomId, type NewId } from './ids.js';
import { createJobs } from './jobs/jobs.js';
import { createKeys } from './keys/keys.js';
import { createLedger } from './ledger/ledger.js';
import { bootstrap, type Bootstrapped } from './merchants/bootstrap.js';
import { createMerchants } from './merchants/merchants.js';
import { createMoneyOut } from './money-out.js';
import { createPaymentPlans } from './payment-plans/payment-plans.js';
import { createPayments } from './payments/payments.js';
import { readFixedRates, shippedRatesFile } from './rates/fixed-rates.js';
import type { RateSource } from './rates/rates.js';
import { reasonOf } from './reason.js';
import { createReceipts } from './receipts/receipts.js';
import { createSandbox } from './sandbox/sandbox.js';
import type { Services } from './services.js';
import { createCharges } from './subscribers/charges.js';
import { createOutcomes } from './subscribers/outcomes.js';
import { createSubscribers } from './subscribers/subscribers.js';
import { createWalletAddresses } from './wallet-addresses/wallet-addresses.js';
import { createWallets } from './wallets/wallets.js';
import { createDispatcher } from './webhooks/dispatcher.js';
import { createOutbox } from './webhooks/outbox.js';
import { createSender } from './webhooks/send.js';
import { createTargets, type Resolve } from './webhooks/targets.js';
import { createWebhooks } from './webhooks/webhooks.js';

/** What a test replaces. */
export interface Overrides {
  /** Epoch milliseconds; the sandbox moves test mode's clock on from it. */
  readonly realNow?: () => number;
  readonly rates?: RateSource;
  readonly newId?: NewId;
  /** What sends transfers, made from what would; networks without a signer are left to an operator. */
  readonly signers?: (signers: readonly Signer[]) => readonly Signer[];
  /** How webhooks find their way: in place of the system's resolver, and of the usual certificate authorities. */
  readonly webhooks?: { readonly resolve?: Resolve; readonly certificateAuthority?: string };
}

export interface App {
  /** The address it listens on. */
  readonly url: string;
  readonly services: Services;
  readonly database: Database;
  /** The first account, and the keys that were made for it now. */
  readonly bootstrapped: Bootstrapped;
  /**
   * Takes no more requests, finishes those under way within 10 s, stops all work and closes the database.
   * @param lingerMilliseconds how long requests are taken while `/readyz` says already that the server stops; default 0
   */
  stop(lingerMilliseconds?: number): Promise<void>;
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
    await listener.close(0, 0, () => undefined);
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
  const built = await build(config, log, database, { publicUrl, checkoutUrl }, stopping.signal, overrides);
  const { clock, services, scanner, idempotency, jobs, dispatcher, webhooks, metrics } = built;
  const { keys } = services;
  const bootstrapped = await bootstrap(database, services.merchants, keys, {
    publicKey: config.bootstrapPublicKey,
    secretKey: config.bootstrapSecretKey,
  });

  let isStopping = false;
  const checkReady = createCheckReady(
    {
      isStopping: () => isStopping,
      async askDatabase() {
        await sql`select 1`.execute(database.reader);
      },
      networks: () => scanner.status(),
      webhookLagMilliseconds: async () => (await webhooks.figures(database.reader)).lagMilliseconds,
      webhooksIdleMilliseconds: () => dispatcher.idleMilliseconds(),
    },
    config.readyLimits,
  );

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
      metrics,
      pages,
      trustProxy: config.trustProxy,
      stopping: stopping.signal,
      log,
    }),
  );
  scanner.start();
  jobs.start();
  dispatcher.start();
  log.info(
    { url: listener.url, database: database.engine, isLimited: config.limits !== undefined },
    'Started',
  );

  return {
    url: listener.url,
    services,
    database,
    bootstrapped,
    async stop(lingerMilliseconds = 0) {
      isStopping = true;
      log.info('Stopping');
      await listener.close(lingerMilliseconds, drainMilliseconds, () => {
        log.warn('Requests were still under way and are cut off');
        stopping.abort();
      });
      stopping.abort();
      await jobs.stop();
      await scanner.stop();
      await dispatcher.stop();
      await database.close();
      log.info('Stopped');
    },
  };
}

async function build(
  config: Config,
  log: Logger,
  database: Database,
  { publicUrl, checkoutUrl }: { readonly publicUrl: string; readonly checkoutUrl: string },
  stopping: AbortSignal,
  { realNow, rates: givenRates, newId = randomId, signers: changeSigners, webhooks: webhookWays }: Overrides,
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
  const wallets = createWallets({ database, clock, newId, currencies, addresses });
  const ledger = createLedger(newId);
  const idempotency = createIdempotency(database, clock);
  const dispatcher = createDispatcher({
    database,
    clock,
    newId,
    log,
    sender: createSender({
      targets: createTargets(config.webhookAllowPrivate, webhookWays?.resolve),
      certificateAuthority: webhookWays?.certificateAuthority,
    }),
  });
  const outbox = createOutbox(clock, newId, () => dispatcher.wake());
  const webhooks = createWebhooks(clock);
  const customers = createCustomers(database, clock, newId);
  const countries = createCountries(publicUrl);
  const bankAccounts = createBankAccounts({
    database,
    clock,
    newId,
    countries,
    currencies,
    banks: createBanks(),
    accountNames: { test: exampleAccountNames, live: createPaystackAccountNames(config.accountNames) },
  });
  const walletAddresses = createWalletAddresses({ database, clock, newId, currencies, addressSources });
  const tellSubscribers = createOutcomes(outbox);
  const payments = createPayments({
    database,
    clock,
    newId,
    rates,
    currencies,
    addresses,
    ledger,
    outbox,
    customers,
    merchant: merchants.row,
    wallet: (transaction, id) => wallets.target(transaction, id),
    async onStatusChange(transaction, payment) {
      afterCommit(() => metrics?.countPayment(payment.status));
      await tellSubscribers(transaction, payment);
    },
    times: config.paymentTimes,
  });
  const paymentPlans = createPaymentPlans({ database, clock, newId, currencies });
  const charges = createCharges({ database, clock, paymentPlans, payments, outbox, checkoutUrl });
  const subscribers = createSubscribers({
    database,
    clock,
    newId,
    customers,
    paymentPlans,
    charges,
    outbox,
  });
  const billing = createBilling({ database, clock, charges, log });
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
  const simulatedSigners = simulatedNetworks.map((network) =>
    createSimulatedSigner({ database, clock, network }),
  );
  const { balances, payouts, transfers, execution } = createMoneyOut({
    database,
    clock,
    newId,
    currencies,
    ledger,
    outbox,
    addressSources,
    walletAddresses,
    bankAccounts,
    signers: changeSigners?.(simulatedSigners) ?? simulatedSigners,
  });
  const sandbox = createSandbox({
    simulatedChains,
    scanner,
    clock,
    currencies,
    addressSources,
    async afterNetworkChange() {
      await execution.advance(stopping);
      await execution.restoreLost(stopping);
    },
    async afterClockChange() {
      await payments.expireOverdue(stopping);
      await billing.run(stopping);
      dispatcher.wake();
    },
  });
  const blockInterval = config.blockIntervalMilliseconds;
  const blocks = {
    name: 'simulated blocks',
    intervalMilliseconds: blockInterval,
    run: () => simulatedChains.mineDue(blockInterval),
  };
  const metrics =
    config.metricsToken === undefined
      ? undefined
      : createMetrics(config.metricsToken, {
          chains: () => scanner.status(),
          webhooks: () => webhooks.figures(database.reader),
          connections: () => database.connections(),
        });
  const jobs = createJobs(
    [
      { name: 'test clock', intervalMilliseconds: 1000, run: () => clock.refresh() },
      { name: 'expiry', intervalMilliseconds: 1000, run: (signal) => payments.expireOverdue(signal) },
      { name: 'transfers', intervalMilliseconds: 500, run: (signal) => execution.advance(signal) },
      {
        name: 'lost transfers',
        intervalMilliseconds: 60_000,
        run: (signal) => execution.restoreLost(signal),
      },
      { name: 'billing', intervalMilliseconds: 1000, run: (signal) => billing.run(signal) },
      {
        name: 'old webhooks',
        intervalMilliseconds: 3_600_000,
        run: (signal) => webhooks.prune(database, signal),
      },
      { name: 'idempotency keys', intervalMilliseconds: 3_600_000, run: () => idempotency.prune() },
      { name: 'list marks', intervalMilliseconds: 60_000, run: (signal) => extendMarks(database, signal) },
      ...(blockInterval > 0 ? [blocks] : []),
    ],
    log,
    metrics?.watchRun,
  );
  const services: Services = {
    keys,
    merchants,
    customers,
    bankAccounts,
    countries,
    walletAddresses,
    currencies,
    balances,
    transfers,
    payouts,
    payments,
    sandbox,
    wallets,
    paymentPlans,
    subscribers,
    checkoutUrl,
  };
  return { clock, services, scanner, idempotency, jobs, dispatcher, webhooks, metrics };
}

/** Runs one step of the start, and says which setting it failed on. */
async function usable<T>(what: string, step: () => T | Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw new StartError(`${what}: ${reasonOf(error)}`, { cause: error });
  }
}
