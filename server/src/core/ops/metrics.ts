/** Prometheus metrics about the server's work. They never identify a merchant or a payer. */
import { hash, timingSafeEqual } from 'node:crypto';
import { paymentStatus } from 'crypto-checkout/contract';
import { Router, type RequestHandler } from 'express';
import {
  collectDefaultMetrics,
  Counter,
  Gauge,
  Histogram,
  Registry,
  type CounterConfiguration,
  type GaugeConfiguration,
} from 'prom-client';
import type { NetworkRef } from '../chains/chain.js';
import type { Figure, Sample } from '../shared/feature.js';
import { groupBy } from '../shared/group-by.js';
import type { WatchRun } from './jobs.js';
import { Problem } from '../shared/problem.js';
import { labelOf } from './request.js';

export interface MetricSources {
  /** The networks that figures of networks have values of. */
  networks(): readonly NetworkRef[];
  /** True if `/readyz` reports readiness. */
  isReady(): Promise<boolean>;
  /** The names of the background jobs. */
  readonly jobs: readonly string[];
  /** Values that are read at each scrape instead of being counted. */
  readonly figures: readonly Figure[];
}

export interface Metrics {
  /** Times requests by the pattern of their path. Must run before every other handler. */
  readonly watchRequests: RequestHandler;
  readonly watchRun: WatchRun;
  /** Counts a payment that reached a status of the API, such as `success` or `error`. */
  countPayment(status: string): void;
  /** Adds the jobs and figures of the server's parts. Once, before the first scrape. */
  addSources(sources: MetricSources): void;
  /** `GET /metrics`, protected by the token. */
  readonly router: Router;
}

/** Node reads more than thirty, and each with a path of its own would be a series. */
const methods = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'OPTIONS']);

/**
 * Created before the parts of the server, so that nothing they do goes uncounted. `addSources` then adds their figures.
 * @param token the scraper sends it as `Authorization: Bearer`
 */
export function createMetrics(token: string): Metrics {
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
    help: 'When a background job last succeeded; until then, when the server started',
    labelNames: ['job'],
    registers,
  });
  const payments = new Counter({
    name: 'checkout_payments_total',
    help: 'Payments that this process moved to a status',
    labelNames: ['status'],
    registers,
  });
  // An alert can only compare existing values.
  for (const status of paymentStatus.options) payments.inc({ status }, 0);

  // Proxies that block this path block no other spelling of it.
  const router = Router({ caseSensitive: true, strict: true });
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
        // A stream lasts as long as somebody looks at a page, which says nothing about the server.
        if (String(response.getHeader('Content-Type')).startsWith('text/event-stream')) return;
        const route = labelOf(request, response);
        const method = methods.has(request.method) ? request.method : 'other';
        // 499 as in nginx: the client disconnected before the response was complete.
        const status = response.writableFinished ? response.statusCode : 499;
        requests.observe({ method, route, status }, (performance.now() - startedAt) / 1000);
      });
      next();
    },
    watchRun({ job, seconds, isFailed }) {
      runs.observe({ job, outcome: isFailed ? 'failure' : 'success' }, seconds);
      if (!isFailed) lastRun.setToCurrentTime({ job });
    },
    countPayment: (status) => payments.inc({ status }),
    addSources(sources) {
      // Without a first value, an alert would not notice a job that never succeeds.
      for (const job of sources.jobs) {
        lastRun.setToCurrentTime({ job });
        for (const outcome of ['success', 'failure']) runs.zero({ job, outcome });
      }
      showFigures(sources, registers);
    },
    router,
  };
}

/** Shows each figure, and those of the same name as one: two modules can know of different networks. */
function showFigures({ figures, networks, isReady }: MetricSources, registers: Registry[]): void {
  const ready: Figure = {
    name: 'checkout_ready',
    help: '1 if the server is ready, as /readyz says, otherwise 0',
    labels: [],
    read: async () => [[{}, Number(await isReady())]],
  };
  for (const [name, [first, ...others]] of groupBy([...figures, ready], (one) => one.name)) {
    if (!first) continue;
    const { help, labels, isCounter, zeroFor } = first;
    const read = async (): Promise<readonly Sample[]> => {
      const found = await Promise.all([first, ...others].map(async (one) => one.read()));
      // An alert can only compare existing values.
      const zeros = zeroFor ? networks().flatMap((of) => zerosOf(of, zeroFor)) : [];
      return [...zeros, ...found.flat()];
    };
    const options = { name, help, labelNames: labels, registers };
    if (isCounter) showCounter(options, read);
    else showGauge(options, read);
  }
}

/**
 * A value that cannot be read is left out. The others, which show the reason, must still be served. Each figure reads its own value:
 * a value that another figure sets would be one scrape behind.
 */
const orNone = (read: () => Promise<readonly Sample[]>) => read().catch((): readonly Sample[] => []);

function showCounter(options: CounterConfiguration<string>, read: () => Promise<readonly Sample[]>): void {
  new Counter({
    ...options,
    async collect() {
      const samples = await orNone(read);
      // After the wait: two scrapes at a time would count twice.
      this.reset();
      for (const [labels, value] of samples) if (value !== undefined) this.inc(labels, value);
    },
  });
}

function showGauge(options: GaugeConfiguration<string>, read: () => Promise<readonly Sample[]>): void {
  new Gauge({
    ...options,
    async collect() {
      const samples = await orNone(read);
      this.reset();
      // Without labels, a reset gauge is 0.
      if (options.labelNames?.length === 0) this.remove();
      for (const [labels, value] of samples) if (value !== undefined) this.set(labels, value);
    },
  });
}

/** Zeros of a network, for all that its other labels can be together. */
const zerosOf = (
  { mode, network }: NetworkRef,
  by: Readonly<Record<string, readonly string[]>>,
): readonly Sample[] =>
  Object.entries(by)
    .reduce<Sample[0][]>(
      (all, [label, values]) => all.flatMap((one) => values.map((value) => ({ ...one, [label]: value }))),
      [{ mode, network }],
    )
    .map((labels) => [labels, 0]);

function isSame(given: string | undefined, expected: string): boolean {
  return timingSafeEqual(hash('sha256', given ?? '', 'buffer'), hash('sha256', expected, 'buffer'));
}
