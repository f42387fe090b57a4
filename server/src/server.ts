/** The server: listens, serves the API and the pages, runs the jobs, and shuts down gracefully. */
import { createHmac } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { sandbox as sandboxTable } from 'crypto-checkout/contract';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import { createExpressApp } from './api/express-app.js';
import { createIdempotency } from './api/idempotency.js';
import { createIpLimits, createLimits } from './api/limits.js';
import { createFindEndpoints } from './api/path-tree.js';
import { createApp, type App, type Overrides } from './app.js';
import { createFirstContact } from './chains/connect.js';
import { networkHealth } from './chains/network-health.js';
import { createBudget } from './sandbox/budget.js';
import { createSandboxHandlers } from './sandbox/handlers.js';
import { ensureTestSeed } from './chains/addresses/test-seed.js';
import type { Config } from './config.js';
import { type Database } from './db/database.js';
import { extendCheckpoints } from './db/list-checkpoints.js';
import { bootstrap, type Bootstrapped } from './merchants/bootstrap.js';
import { createCheckReady, healthRouter } from './ops/health.js';
import { createJobs, type Job } from './ops/jobs.js';
import { listen, type Listener } from './ops/listener.js';
import { createMetrics, type Metrics } from './ops/metrics.js';
import { createOutage, withoutOutages } from './ops/outage.js';
import { prune } from './ops/prune.js';
import { countSetAside } from './payments/receipts/quarantine.js';
import { orStartError, StartError } from './shared/start-error.js';
import { site } from './site/site.js';
import { readGasKey } from './treasury/key-file.js';
import { openDatabase } from './db/open.js';
import { checkWritable } from './db/check-writable.js';

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
const firstCheckMs = 3000;

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
      openDatabase(databaseUrl, { ...config, warn: (message) => log.warn(message) }),
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
  wholeLog: Logger,
  listener: Listener,
  database: Database,
  overrides: Overrides,
): Promise<RunningServer> {
  const publicUrl = config.publicUrl ?? listener.url;
  const checkoutUrl = config.checkoutUrl ?? `${publicUrl}/pay`;
  const stopping = new AbortController();
  const outage = createOutage({ log: wholeLog, probe: () => checkWritable(database) });
  const log = withoutOutages(wholeLog, outage);
  let metrics: Metrics | undefined;
  const testSeed = await ensureTestSeed(database);
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
  if (config.demo === true && !app.isSandboxOn) {
    throw new StartError('DEMO', { cause: 'the demo shop needs the sandbox. Set SANDBOX=on, or DEMO=off' });
  }
  await app.simulatedChains.prepare();
  const bootstrapped = await bootstrap(database, merchants, keys, app.auditLog, {
    publicKey: config.bootstrapPublicKey,
    secretKey: config.bootstrapSecretKey,
  });
  const idempotency = createIdempotency({
    database,
    now: () => clock.real(),
    readPayment: (caller, id) => payments.retrieve(caller, id),
  });
  const jobList = createJobList(app, config, database, idempotency);
  const networks = () => networkHealth(scanner.status(), app.connected);
  if (config.gasKey) jobList.push(await createSweepJob(app, config.gasKey, log));
  let isStopping = false;
  const checkReady = createCheckReady(
    {
      isStopping: () => isStopping,
      outage: () => outage.current(),
      async pingDatabase() {
        await sql`select 1`.execute(database.reader);
      },
      clockSkewMs: () => app.serverTime.skewMs(),
      networks,
      webhookLagMs: async () => (await webhooks.backlog(database.reader)).lagMs,
      webhooksIdleMs: () => dispatcher.idleMs(),
    },
    config.readyLimits,
  );
  if (config.metricsToken !== undefined) {
    metrics = createMetrics(config.metricsToken, {
      chains: networks,
      setAside: () => countSetAside(database.reader),
      webhooks: () => webhooks.backlog(database.reader),
      connections: () => database.connections(),
      isReady: () =>
        checkReady().then(
          () => true,
          () => false,
        ),
      jobs: jobList.map(({ name }) => name),
    });
  }
  const jobs = createJobs(jobList, log, metrics?.watchRun);
  const isSweeping = app.connected.some(({ sweeps }) => sweeps);
  if (isSweeping && !config.gasKey)
    log.warn('NETWORKS_FILE has sweeps, but GAS_KEY_FILE is not set: nothing is swept');
  if (config.gasKey && !isSweeping)
    log.warn('GAS_KEY_FILE is set, but no network in NETWORKS_FILE has sweeps');
  // So that networks of treasuries are offered from the first request on. A node that hangs must not delay the start.
  await Promise.race([
    app.forwarderChecks.refresh(stopping.signal),
    delay(firstCheckMs, undefined, { ref: false }),
  ]);

  listener.serve(
    createExpressApp({
      handlers: app.createHandlers(createFindEndpoints()),
      sandbox: app.isSandboxOn
        ? {
            table: sandboxTable,
            handlers: createSandboxHandlers(
              app.sandbox,
              config.limits && createBudget(config.limits.sandboxPerSecond),
            ),
          }
        : undefined,
      database,
      keys,
      clock,
      idempotency,
      checkLimits: config.limits && createLimits(config.limits),
      ipLimits: config.limits && createIpLimits(config.limits),
      watchRequests: metrics?.watchRequests,
      routers: [
        healthRouter(checkReady, networks, () =>
          app.forwarderChecks
            .problems()
            .map(
              (one) =>
                `${one.network} (${one.mode}) is not offered to merchants with a treasury: ${one.problem}`,
            ),
        ),
        ...(metrics ? [metrics.router] : []),
        site({
          keys,
          merchants,
          payments,
          database,
          publicUrl,
          checkoutUrl,
          demo:
            (config.demo ?? app.isSandboxOn)
              ? {
                  merchantId: bootstrapped.merchantId,
                  orderKey: createHmac('sha256', testSeed).update('demo shop orders').digest(),
                  isLimited: config.limits !== undefined,
                }
              : undefined,
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
      outage.stop();
      await database.close();
      log.info('Stopped');
    },
  };
}

/** Opens the gas key, which takes about a second. */
async function createSweepJob(app: App, gasKey: NonNullable<Config['gasKey']>, log: Logger): Promise<Job> {
  const key = await orStartError('GAS_KEY_FILE, GAS_KEY_PASSWORD_FILE: the key cannot be opened', () =>
    readGasKey(gasKey),
  );
  const sweeper = app.createGasSweeper(key);
  log.info({ address: sweeper.address }, 'Sweeps are paid by the gas key');
  return { name: 'sweeps', intervalMs: 2000, run: (signal) => sweeper.advance(signal) };
}

/** The jobs that run at intervals rather than on request. */
function createJobList(
  app: App,
  { blockIntervalMs }: Config,
  database: Database,
  idempotency: Parameters<typeof prune>[0]['idempotency'],
): Job[] {
  const { clock, serverTime, payments, execution, psbts, billing, endpoints, webhooks, simulatedChains } =
    app;
  const { depositKeys, forwarderChecks, treasuryWatcher, worldRates, connected } = app;
  const jobs: Job[] = [
    { name: 'test clocks', intervalMs: 1000, run: () => clock.refresh() },
    { name: 'server time', intervalMs: 5000, run: () => serverTime.measure() },
    { name: 'deposit keys', intervalMs: 1000, run: () => depositKeys.refresh() },
    { name: 'expiry', intervalMs: 1000, run: (signal) => payments.expireOverdue(signal) },
    { name: 'transfers', intervalMs: 500, run: (signal) => execution.advance(signal) },
    { name: 'lost transfers', intervalMs: 60_000, run: (signal) => execution.restoreLost(signal) },
    { name: 'billing', intervalMs: 1000, run: (signal) => billing.run(signal) },
    { name: 'list checkpoints', intervalMs: 60_000, run: (signal) => extendCheckpoints(database, signal) },
    {
      name: 'retention',
      intervalMs: 3_600_000,
      run: (signal) => prune({ database, clock, idempotency, endpoints, webhooks }, signal),
    },
  ];
  if (worldRates) {
    jobs.push({ name: 'rates', intervalMs: 1000, run: (signal) => worldRates.refresh(signal) });
  }
  if (connected.some(({ utxoNode }) => utxoNode)) {
    jobs.push({ name: 'psbts', intervalMs: 5000, run: (signal) => psbts.follow(signal) });
  }
  if (connected.some(({ evm }) => evm)) {
    jobs.push({ name: 'forwarders', intervalMs: 1000, run: (signal) => forwarderChecks.refresh(signal) });
    jobs.push({ name: 'treasuries', intervalMs: 2000, run: (signal) => treasuryWatcher.advance(signal) });
  }
  if (connected.length > 0) {
    jobs.push({ name: 'first contact', intervalMs: 2000, run: createFirstContact(connected) });
  }
  if (blockIntervalMs > 0) {
    jobs.push({
      name: 'simulated blocks',
      intervalMs: blockIntervalMs,
      run: () => simulatedChains.mineDue(),
    });
  }
  return jobs;
}
