/** The server: listens, serves the API and the pages, runs the jobs, and shuts down gracefully. */
import { sandbox as sandboxTable } from 'crypto-checkout/contract';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import { createExpressApp } from './api/express-app.js';
import { createIdempotency } from './api/idempotency.js';
import { createLimits } from './api/limits.js';
import { createFindEndpoints } from './api/path-tree.js';
import { createApp, type App, type Overrides } from './app.js';
import { createFirstContact } from './chains/connect.js';
import { createSandboxHandlers } from './sandbox/handlers.js';
import type { Config } from './config.js';
import { type Database } from './db/database.js';
import { extendCheckpoints } from './db/list-checkpoints.js';
import { bootstrap, type Bootstrapped } from './merchants/bootstrap.js';
import { createCheckReady, healthRouter } from './ops/health.js';
import { createJobs, type Job } from './ops/jobs.js';
import { listen, type Listener } from './ops/listener.js';
import { createMetrics, type Metrics } from './ops/metrics.js';
import { prune } from './ops/prune.js';
import { orStartError } from './shared/start-error.js';
import { site } from './site/site.js';
import { openDatabase } from './db/open.js';

export interface RunningServer {
  /** The address it listens on. */
  readonly url: string;
  readonly app: App;
  readonly database: Database;
  /** The first account, and the keys that this start created for it. */
  readonly bootstrapped: Bootstrapped;
  /**
   * Stops accepting requests, gives the running ones 10 s to finish, stops all other work and closes the database.
   * @param lingerMs how long to keep accepting requests while `/readyz` already reports the shutdown; default 0
   */
  stop(lingerMs?: number): Promise<void>;
}

const drainMs = 10_000;

/** @throws StartError */
export async function startServer(
  config: Config,
  log: Logger,
  overrides: Overrides = {},
): Promise<RunningServer> {
  const { host, port, databaseUrl } = config;
  // First, so that a second server on the same port fails before it changes anything.
  const listener = await orStartError(`HOST, PORT: cannot listen on ${host}:${port}`, () =>
    listen(host, port),
  );
  let database: Database | undefined;
  try {
    database = await orStartError('DATABASE_URL: the database cannot be opened', () =>
      openDatabase(databaseUrl, config),
    );
    return await serve(config, log, listener, database, overrides);
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
): Promise<RunningServer> {
  const publicUrl = config.publicUrl ?? listener.url;
  const checkoutUrl = config.checkoutUrl ?? `${publicUrl}/pay`;
  const stopping = new AbortController();
  let metrics: Metrics | undefined;
  const app = await createApp({
    config,
    database,
    log,
    publicUrl,
    checkoutUrl,
    stopping: stopping.signal,
    onPaymentStatus: (status) => metrics?.countPayment(status),
    overrides,
  });
  const { clock, keys, merchants, payments, scanner, webhooks, dispatcher } = app;
  await app.simulatedChains.prepare();
  const bootstrapped = await bootstrap(database, merchants, keys, {
    publicKey: config.bootstrapPublicKey,
    secretKey: config.bootstrapSecretKey,
  });
  if (config.metricsToken !== undefined) {
    metrics = createMetrics(config.metricsToken, {
      chains: () => scanner.status(),
      webhooks: () => webhooks.backlog(database.reader),
      connections: () => database.connections(),
    });
  }
  const idempotency = createIdempotency(database, clock);
  const jobs = createJobs(createJobList(app, config, database, idempotency), log, metrics?.watchRun);

  let isStopping = false;
  const checkReady = createCheckReady(
    {
      isStopping: () => isStopping,
      async pingDatabase() {
        await sql`select 1`.execute(database.reader);
      },
      networks: () => scanner.status(),
      webhookLagMs: async () => (await webhooks.backlog(database.reader)).lagMs,
      webhooksIdleMs: () => dispatcher.idleMs(),
    },
    config.readyLimits,
  );
  listener.serve(
    createExpressApp({
      handlers: app.createHandlers(createFindEndpoints()),
      sandbox: { table: sandboxTable, handlers: createSandboxHandlers(app.sandbox) },
      database,
      keys,
      clock,
      idempotency,
      checkLimits: config.limits && createLimits(config.limits),
      watchRequests: metrics?.watchRequests,
      routers: [
        healthRouter(checkReady),
        ...(metrics ? [metrics.router] : []),
        site({
          keys,
          merchants,
          payments,
          database,
          publicUrl,
          checkoutUrl,
          demoMerchantId: bootstrapped.merchantId,
        }),
      ],
      trustProxy: config.trustProxy,
      publicUrl,
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
    app,
    database,
    bootstrapped,
    async stop(lingerMs = 0) {
      isStopping = true;
      log.info('Stopping');
      await listener.close(lingerMs, drainMs, () => {
        log.warn('Aborting requests that are still running');
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

/** The jobs that run at intervals rather than on request. */
function createJobList(
  { clock, payments, execution, billing, webhooks, simulatedChains, depositKeys, worldRates, connected }: App,
  { blockIntervalMs }: Config,
  database: Database,
  idempotency: Parameters<typeof prune>[0]['idempotency'],
): Job[] {
  const jobs: Job[] = [
    { name: 'test clock', intervalMs: 1000, run: () => clock.refresh() },
    { name: 'deposit keys', intervalMs: 1000, run: () => depositKeys.refresh() },
    { name: 'expiry', intervalMs: 1000, run: (signal) => payments.expireOverdue(signal) },
    { name: 'transfers', intervalMs: 500, run: (signal) => execution.advance(signal) },
    { name: 'lost transfers', intervalMs: 60_000, run: (signal) => execution.restoreLost(signal) },
    { name: 'billing', intervalMs: 1000, run: (signal) => billing.run(signal) },
    { name: 'list checkpoints', intervalMs: 60_000, run: (signal) => extendCheckpoints(database, signal) },
    {
      name: 'retention',
      intervalMs: 3_600_000,
      run: (signal) => prune({ database, clock, idempotency, webhooks }, signal),
    },
  ];
  if (worldRates) {
    jobs.push({ name: 'rates', intervalMs: 1000, run: (signal) => worldRates.refresh(signal) });
  }
  if (connected.length > 0) {
    jobs.push({ name: 'first contact', intervalMs: 2000, run: createFirstContact(connected) });
  }
  if (blockIntervalMs > 0) {
    jobs.push({
      name: 'simulated blocks',
      intervalMs: blockIntervalMs,
      run: () => simulatedChains.mineDue(blockIntervalMs),
    });
  }
  return jobs;
}
