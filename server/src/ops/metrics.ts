/** Prometheus metrics about the server's work. They never identify a merchant or a payer. */
import { hash, timingSafeEqual } from 'node:crypto';
import { Router, type RequestHandler } from 'express';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Connections } from '../db/database.js';
import type { Mode } from '../shared/scope.js';
import type { WatchRun } from './jobs.js';
import { Problem } from '../shared/problem.js';
import { pagePattern, routeOf } from './request.js';

/** Values that are read at each scrape instead of being counted. */
export interface MetricSources {
  chains(): readonly {
    readonly mode: Mode;
    readonly network: string;
    readonly height: number | undefined;
    readonly lagMs: number | undefined;
    readonly isFailing: boolean;
  }[];
  /** What scans have set aside, by network. */
  setAside(): Promise<readonly { readonly mode: Mode; readonly network: string; readonly count: number }[]>;
  webhooks(): Promise<{ readonly pending: number; readonly lagMs: number }>;
  /** Undefined if the database has no connection pool. */
  connections(): Connections | undefined;
}

export interface Metrics {
  /** Times requests by the pattern of their path. Must run before every other handler. */
  readonly watchRequests: RequestHandler;
  readonly watchRun: WatchRun;
  /** Counts a payment that reached a status of the API, such as `success` or `error`. */
  countPayment(status: string): void;
  /** `GET /metrics`, protected by the token. */
  readonly router: Router;
}

/** @param token the scraper sends it as `Authorization: Bearer` */
export function createMetrics(token: string, sources: MetricSources): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the arrival of a request to the end of its response',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  const runs = new Histogram({
    name: 'checkout_job_duration_seconds',
    help: 'Duration of background job runs',
    labelNames: ['job', 'outcome'],
    buckets: [0.001, 0.01, 0.1, 1, 10, 60],
    registers,
  });
  const lastRun = new Gauge({
    name: 'checkout_job_last_success_timestamp_seconds',
    help: 'When a background job last succeeded',
    labelNames: ['job'],
    registers,
  });
  const payments = new Counter({
    name: 'checkout_payments_total',
    help: 'Payments that this process moved to a status',
    labelNames: ['status'],
    registers,
  });
  watchSources(sources, registers);

  const router = Router();
  router.get('/metrics', async (request, response) => {
    if (!isSame(request.headers.authorization, `Bearer ${token}`)) {
      throw new Problem(
        'invalid_api_key',
        'Send the value of METRICS_TOKEN as Authorization: Bearer <TOKEN>',
      );
    }
    response.setHeader('Cache-Control', 'no-store');
    response.type(registry.contentType).send(await registry.metrics());
  });

  return {
    watchRequests(request, response, next) {
      const startedAt = performance.now();
      response.once('close', () => {
        const route = routeOf(response)?.pattern ?? pagePattern(request.route) ?? 'other';
        // 499 as in nginx: the client disconnected before the response was complete.
        const status = response.writableFinished ? response.statusCode : 499;
        requests.observe({ method: request.method, route, status }, (performance.now() - startedAt) / 1000);
      });
      next();
    },
    watchRun({ job, seconds, isFailed }) {
      runs.observe({ job, outcome: isFailed ? 'failure' : 'success' }, seconds);
      if (!isFailed) lastRun.setToCurrentTime({ job });
    },
    countPayment: (status) => payments.inc({ status }),
    router,
  };
}

function watchSources(sources: MetricSources, registers: Registry[]): void {
  const byNetwork = { labelNames: ['mode', 'network'], registers } as const;
  const height = new Gauge({
    ...byNetwork,
    name: 'checkout_chain_height',
    help: 'The latest scanned block of a network',
  });
  const lag = new Gauge({
    ...byNetwork,
    name: 'checkout_chain_lag_seconds',
    help: 'How far the scan of a network is behind, in seconds',
  });
  new Gauge({
    ...byNetwork,
    name: 'checkout_chain_failing',
    help: "1 if this process's last scan of a network failed, otherwise 0",
    collect() {
      for (const status of sources.chains()) {
        const label = { mode: status.mode, network: status.network };
        this.set(label, Number(status.isFailing));
        if (status.height !== undefined) height.set(label, status.height);
        if (status.lagMs !== undefined) lag.set(label, status.lagMs / 1000);
      }
    },
  });
  new Gauge({
    ...byNetwork,
    name: 'checkout_payments_set_aside',
    help: 'Payments and transfers that a scan could not process; see the command `chains status`',
    async collect() {
      const counts = await sources.setAside();
      this.reset();
      for (const { mode, network } of sources.chains()) this.set({ mode, network }, 0);
      for (const { mode, network, count } of counts) this.set({ mode, network }, count);
    },
  });
  const pending = new Gauge({
    name: 'checkout_webhooks_pending',
    help: 'Webhook deliveries that are not finished, including those that wait for another attempt',
    registers,
  });
  new Gauge({
    name: 'checkout_webhooks_lag_seconds',
    help: 'How overdue the oldest webhook delivery is, in seconds',
    registers,
    async collect() {
      const status = await sources.webhooks();
      pending.set(status.pending);
      this.set(status.lagMs / 1000);
    },
  });
  if (sources.connections() === undefined) return;
  new Gauge({
    name: 'checkout_database_connections',
    help: "This process's database connections, and the requests waiting for one",
    labelNames: ['state'],
    registers,
    collect() {
      const connections: Readonly<Record<string, number>> = { ...sources.connections() };
      for (const [state, count] of Object.entries(connections)) this.set({ state }, count);
    },
  });
}

function isSame(given: string | undefined, expected: string): boolean {
  return timingSafeEqual(hash('sha256', given ?? '', 'buffer'), hash('sha256', expected, 'buffer'));
}
