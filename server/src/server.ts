/** The server: listens, serves the API and the pages, runs the jobs, and shuts down gracefully. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { createExpressApp } from './core/api/express-app.js';
import { createIpLimits, createLimits } from './core/api/limits.js';
import { createApp, type App, type Overrides } from './app.js';
import { createBudget, createSandboxHandlers } from './core/sandbox/handlers.js';
import { ensureTestSeed } from './core/addresses/test-seed.js';
import type { Config } from './core/config.js';
import { rateSourcesOf } from './core/core.js';
import { type Database } from './core/db/database.js';
import { bootstrap, type Bootstrapped } from './core/merchants/bootstrap.js';
import { ensureInFile } from './core/money/base-currencies.js';
import { openFixedRates } from './core/money/fixed-rates.js';
import { createCheckReady, healthRouter } from './core/ops/health.js';
import { createJobs } from './core/ops/jobs.js';
import { listen, type Listener } from './core/ops/listener.js';
import { createMetrics } from './core/ops/metrics.js';
import { createOutage, withoutOutages } from './core/ops/outage.js';
import type { Job } from './core/shared/feature.js';
import { inOne } from './core/shared/in-one.js';
import { StartError } from './core/shared/start-error.js';
import { product } from './modules.js';
import type { Pages } from './core/site/pages.js';
import { site } from './core/site/site.js';
import { startPage } from './core/site/start-page.js';
import { MissingDatabase } from './core/db/migrate.js';
import { openDatabase } from './database.js';
import { describeDatabase } from './core/db/open.js';
import { noteModules } from './core/db/removed-modules.js';
import { checkWritable, publicUrlSetting, writeSetting } from './core/db/settings.js';

export interface RunningServer {
  /** The address it listens on. */
  readonly url: string;
  /** The pages that people can open, by name. */
  readonly pages: Readonly<Record<string, string>>;
  readonly app: App;
  readonly database: Database;
  /** The work that runs at intervals, except for the scans and the deliveries. */
  readonly jobs: readonly Job[];
  /** The first account, and the keys that this start created for it. */
  readonly bootstrapped: Bootstrapped;
  /**
   * Stops accepting requests, gives the running ones 10 s to finish, stops all other work and closes the database.
   * @param lingerMs the time in which requests are still accepted while `/readyz` already reports the shutdown; default 0
   */
  stop(lingerMs?: number): Promise<void>;
}

const drainMs = 10_000;
/** The time that jobs, scans and deliveries have to end, before the connections to the database are closed. */
const workMs = 10_000;

/** @throws StartError */
export async function startServer(
  config: Config,
  log: Logger,
  overrides: Overrides = {},
): Promise<RunningServer> {
  // First, so that a second server on the same port fails before it changes anything.
  const listener = await openPort(config);
  let database: Database | undefined;
  try {
    database = await openShop(config, log);
    return await serve(config, log, listener, database, overrides);
  } catch (error) {
    await listener.close(0, 0, () => undefined);
    await database?.close();
    throw error;
  }
}

/** @throws StartError */
function openPort({ host, port, keepAliveSeconds }: Config): Promise<Listener> {
  return listen(host, port, { keepAliveSeconds }).catch((cause: unknown) => {
    const isTaken = cause instanceof Error && Reflect.get(cause, 'code') === 'EADDRINUSE';
    throw isTaken
      ? new StartError(
          `PORT: another program, or another start of this one, has port ${port} of ${host}. Stop it, or set another port, such as PORT=${port + 10}`,
        )
      : new StartError(`HOST, PORT: cannot listen on ${host}:${port}`, { cause });
  });
}

/**
 * Looks at everything that keeps a server from starting, and changes nothing.
 * @returns sentences about what it found
 * @throws StartError
 */
export async function checkStart(config: Config): Promise<string[]> {
  const { host, port, databaseUrl, networks, misspelt, baseCurrencies } = config;
  await (await openPort(config)).close(0, 0, () => undefined);
  if (!rateSourcesOf(config)) {
    const rates = await openFixedRates(config.ratesFile, { real: Date.now });
    ensureInFile(baseCurrencies, rates);
  }
  const place = describeDatabase(databaseUrl);
  const found = [`The port ${port} of ${host} is free.`, ...misspelt];
  try {
    const database = await openDatabase(databaseUrl, { ...config, mustExist: 'at this release' });
    await database.close();
    found.push(`The database at ${place} is there, at this release.`);
  } catch (error) {
    if (!(error instanceof MissingDatabase)) {
      throw new StartError('DATABASE_URL: the database cannot be opened', { cause: error });
    }
    if (!error.isOlder && !mayCreate(config)) throw missing(config);
    const next = error.isOlder
      ? 'comes from an older release: the start updates it'
      : 'is not there: the start makes it';
    found.push(`The database at ${place} ${next}.`);
  }
  const codes = networks.map(({ network }) => `${network.mode} ${network.code}`);
  found.push(codes.length === 0 ? 'There are no real networks.' : `Real networks: ${codes.join(', ')}.`);
  return [...found, 'The server can start. Once it runs, "doctor" looks at the rest.'];
}

/** A mistyped path must not create an empty database: the shop would take payments with all records missing. @throws StartError */
async function openShop(config: Config, log: Logger): Promise<Database> {
  try {
    return await openDatabase(config.databaseUrl, {
      ...config,
      ...(!mayCreate(config) && { mustExist: 'at any release' }),
      isServer: true,
      warn: (message) => log.warn(message),
    });
  } catch (error) {
    if (!(error instanceof MissingDatabase)) {
      throw new StartError('DATABASE_URL: the database cannot be opened', { cause: error });
    }
    throw missing(config);
  }
}

function mayCreate({ createsDatabase, networks }: Config): boolean {
  return createsDatabase ?? !networks.some(({ network }) => network.mode === 'live');
}

function missing({ databaseUrl, createsDatabase }: Config): StartError {
  const why = createsDatabase === undefined ? ', and a live network is configured' : '';
  return new StartError(
    `DATABASE_URL: there is no database of this server at ${describeDatabase(databaseUrl)}${why}. Correct the URL; or, if this is the first start, set DATABASE_CREATE=on`,
  );
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
  const outage = createOutage({ log: wholeLog, probe: () => checkWorks(database) });
  const log = withoutOutages(wholeLog, outage);
  const metrics = config.metricsToken === undefined ? undefined : createMetrics(config.metricsToken);
  await database.gatherStatistics();
  await ensureTestSeed(database);
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
  const { parts, clock, keys, merchants, auditLog, idempotency, isSandboxOn, networks } = app;
  const { scanner, webhooks, dispatcher } = app;
  // Before the first account: a server that does not start must not have made keys that nobody has read.
  for (const part of parts) await part.prepare?.(stopping.signal);
  const given = { publicKey: config.bootstrapPublicKey, secretKey: config.bootstrapSecretKey };
  const bootstrapped = await bootstrap(database, merchants, keys, auditLog, given, isSandboxOn);
  const { merchantId } = bootstrapped;
  const pages: Pages[] = [];
  for (const part of parts) {
    const shown = await part.pages?.({ merchantId });
    if (shown) pages.push(shown);
  }
  const jobList = parts.flatMap((part) => part.jobs?.() ?? []);
  const forPeople = app.forPeople();
  let isStopping = false;
  const checkReady = createCheckReady(
    {
      isStopping: () => isStopping,
      outage: () => outage.current(),
      noteOutage: (error) => outage.note(error),
      pingDatabase: () => database.ping(),
      clockSkewMs: () => app.serverTime.skewMs(),
      networks,
      stops: () => parts.flatMap((part) => part.stops?.() ?? []),
      webhookLagMs: async () => (await webhooks.backlog(database.reader)).lagMs,
      webhooksIdleMs: () => dispatcher.idleMs(),
    },
    config.readyLimits,
  );
  metrics?.addSources({
    networks,
    isReady: () =>
      checkReady().then(
        () => true,
        () => false,
      ),
    jobs: jobList.map(({ name }) => name),
    figures: parts.flatMap((part) => part.figures?.() ?? []),
  });
  const jobs = createJobs(jobList, log, metrics?.watchRun);

  listener.serve(
    createExpressApp({
      api: product.api,
      permissions: product.permissions,
      handlers: app.createApiHandlers(),
      sandbox: isSandboxOn
        ? createSandboxHandlers(app.sandbox, config.limits && createBudget(config.limits.sandboxPerSecond))
        : undefined,
      console: forPeople && {
        ...forPeople,
        api: product.console,
        handlers: app.createConsoleHandlers(),
      },
      database,
      keys,
      clock,
      auditLog,
      idempotency,
      callerLimits: config.limits && createLimits(config.limits),
      ipLimits: config.limits && createIpLimits(config.limits),
      watchRequests: metrics?.watchRequests,
      routers: [
        healthRouter(checkReady, networks, () => parts.flatMap((part) => part.notices?.() ?? [])),
        ...(metrics ? [metrics.router] : []),
        site({ ...app, database, publicUrl, checkoutUrl, described: product }),
        ...pages.map(({ router }) => router),
        startPage(publicUrl, inOne(pages.map(({ links }) => links))),
      ],
      trustProxy: config.trustProxy,
      publicUrl,
      docsUrl: app.hooks.docsUrl,
      stopping: stopping.signal,
      log,
    }),
  );
  await database.write(async (transaction) => {
    await writeSetting(transaction, publicUrlSetting, publicUrl);
    await noteModules(transaction, product.modules);
  });
  scanner.start();
  jobs.start();
  dispatcher.start();
  log.info(
    { url: listener.url, database: database.engine, isLimited: config.limits !== undefined },
    'Started',
  );

  return {
    url: listener.url,
    pages: inOne(pages.map(({ links, printed }) => ({ ...links, ...printed }))),
    app,
    database,
    jobs: jobList,
    bootstrapped,
    async stop(lingerMs = 0) {
      isStopping = true;
      log.info('Stopping');
      for (const part of parts) part.onStop?.();
      await listener.close(lingerMs, drainMs, () => {
        log.warn('Aborting requests that are still running');
        stopping.abort();
      });
      stopping.abort();
      const work = Promise.all([jobs.stop(), scanner.stop(), dispatcher.stop()]);
      // An error that comes after the time is that of a closed connection.
      work.catch(() => undefined);
      // A statement can wait for a lock that only the end of its connection releases.
      await Promise.race([work, delay(workMs, undefined, { ref: false })]);
      outage.stop();
      await database.close();
      log.info('Stopped');
    },
  };
}

/** @throws while an outage of the database continues */
async function checkWorks(database: Database): Promise<void> {
  await database.ping();
  await checkWritable(database);
}
