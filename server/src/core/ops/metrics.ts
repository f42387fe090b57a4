/** Prometheus metrics about the server's work. They never identify a merchant or a payer. */
import { hash, timingSafeEqual } from 'node:crypto';
import { paymentStatus } from 'crypto-checkout/contract';
import { Router, type RequestHandler } from 'express';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { NetworkHealth } from '../scanning/network-health.js';
import type { ConnectionStatus } from '../chains/connected.js';
import type { Connections } from '../db/database.js';
import type { DatabaseSize } from '../db/size.js';
import type { countQuarantine } from '../payments/receipts/quarantine.js';
import type { WorldRates } from '../money/world-rates.js';
import type { Figure } from '../shared/feature.js';
import type { Mode } from '../shared/scope.js';
import type { WatchRun } from './jobs.js';
import { Problem } from '../shared/problem.js';
import { labelOf } from './request.js';

/** Values that are read at each scrape instead of being counted. */
export interface MetricSources {
  chains(): readonly NetworkHealth[];
  /** Payments and transfers that scans have quarantined, by network. */
  quarantined(): ReturnType<typeof countQuarantine>;
  webhooks(): Promise<{ readonly pending: number; readonly lagMs: number }>;
  /** All deposit keys. */
  depositKeys(): Promise<readonly { readonly mode: Mode; readonly state: string }[]>;
  size(): Promise<DatabaseSize>;
  /** Undefined if the rates come from a file. */
  readonly rates: Pick<WorldRates, 'sources' | 'marketsOut'> | undefined;
  /** Undefined if the database has no connection pool. */
  connections(): Connections | undefined;
  /** True if `/readyz` reports readiness. */
  isReady(): Promise<boolean>;
  /** The names of the background jobs. */
  readonly jobs: readonly string[];
  /** The figures of the feature rooms. */
  readonly figures: readonly Figure[];
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

/** Node reads more than thirty, and each with a path of its own would be a series. */
const methods = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'OPTIONS']);

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
  // An alert can only compare what is there: without a first value, a job that never succeeds would go unnoticed.
  for (const status of paymentStatus.options) payments.inc({ status }, 0);
  for (const job of sources.jobs) {
    lastRun.setToCurrentTime({ job });
    for (const outcome of ['success', 'failure']) runs.zero({ job, outcome });
  }
  watchSources(sources, registers);
  for (const { name, help, by = {} } of new Map(sources.figures.map((one) => [one.name, one])).values()) {
    // An alert can only compare what is there. Two rooms can know of different networks.
    gaugesOf(registers)(name, [...byNetwork, ...Object.keys(by)], help, async () => {
      const known = sources.figures.filter((one) => one.name === name).map(({ read }) => read());
      const none = sources
        .chains()
        .flatMap(({ mode, network }): Sample[] =>
          combinationsOf(by).map((more) => [{ mode, network, ...more }, 0]),
        );
      const found = (await Promise.all(known))
        .flat()
        .map(([{ mode, network }, value, more]): Sample => [{ mode, network, ...more }, value]);
      return [...none, ...found];
    });
  }
  watchNodes(sources, registers);

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
    router,
  };
}

type Labels = Readonly<Record<string, string>>;
type Sample = readonly [labels: Labels, value: number | undefined];
type Read = () => readonly Sample[] | Promise<readonly Sample[]>;

/**
 * Makes gauges that read their own values: one that another gauge sets would be a scrape behind. A value that is
 * undefined, or cannot be read, is left out. The others, which show the reason, must still be served.
 */
const gaugesOf =
  (registers: Registry[]) => (name: string, labelNames: readonly string[], help: string, read: Read) =>
    new Gauge({
      ...{ name, labelNames, help, registers },
      async collect() {
        this.reset();
        // Without labels, a reset gauge is 0.
        if (labelNames.length === 0) this.remove();
        const samples = await new Promise<readonly Sample[]>((resolve) => resolve(read())).catch(() => []);
        for (const [labels, value] of samples) if (value !== undefined) this.set(labels, value);
      },
    });

const byNetwork = ['mode', 'network'];

/** All that labels can be together. */
const combinationsOf = (by: Readonly<Record<string, readonly string[]>>): Labels[] =>
  Object.entries(by).reduce<Labels[]>(
    (all, [label, values]) => all.flatMap((one) => values.map((value) => ({ ...one, [label]: value }))),
    [{}],
  );
const modes = ['live', 'test'] as const satisfies readonly Mode[];

function watchChains({ chains, quarantined }: MetricSources, registers: Registry[]): void {
  const gauge = gaugesOf(registers);
  const samples = (valueOf: (chain: NetworkHealth) => number | undefined) =>
    chains().map((chain): Sample => [{ mode: chain.mode, network: chain.network }, valueOf(chain)]);
  const ofChains = (name: string, help: string, valueOf: (chain: NetworkHealth) => number | undefined) =>
    gauge(name, byNetwork, help, () => samples(valueOf));
  ofChains('checkout_chain_height', 'The latest scanned block of a network', ({ height }) => height);
  ofChains(
    'checkout_chain_head_height',
    'The newest block of a network at the last scan',
    ({ headHeight }) => headHeight,
  );
  ofChains(
    'checkout_chain_lag_seconds',
    'How far the scan of a network is behind, in seconds',
    ({ lagMs }) => lagMs && lagMs / 1000,
  );
  ofChains(
    'checkout_chain_failing',
    "1 if this process's last scan of a network failed, otherwise 0",
    ({ isFailing }) => Number(isFailing),
  );
  ofChains(
    'checkout_network_offered',
    '1 if payers are sent to a network, 0 while it is not read up to now',
    ({ isOffered }) => Number(isOffered),
  );
  ofChains(
    'checkout_chain_disagreement',
    '1 if the nodes of a network contradict each other about receipts, which are not credited meanwhile, otherwise 0',
    ({ disagreement }) => Number(disagreement !== undefined),
  );
  ofChains(
    'checkout_network_requests_left',
    'How many requests the budget of a network (requestsPerMinute) leaves now',
    ({ connection }) => connection?.requestsLeft,
  );
  ofChains(
    'checkout_asset_gap_blocks',
    'Blocks that were read without a token, and will be read again when it is back',
    ({ height = 0, gaps }) => gaps.reduce((sum, { from, to = height }) => sum + to - from + 1, 0),
  );
  gauge(
    'checkout_asset_off',
    [...byNetwork, 'currency'],
    '1 for a token that is not offered, because its contract is not what NETWORKS_FILE says',
    () =>
      chains().flatMap(({ mode, network, connection }) =>
        (connection?.assetProblems ?? []).map(({ currency }): Sample => [{ mode, network, currency }, 1]),
      ),
  );
  gauge(
    'checkout_payments_quarantined',
    byNetwork,
    'Payments and transfers that a scan could not process; see the command `chains status`',
    async () => {
      const counts = await quarantined();
      return [...samples(() => 0), ...counts.map(({ count, ...of }): Sample => [of, count])];
    },
  );
}

function watchSources(sources: MetricSources, registers: Registry[]): void {
  const gauge = gaugesOf(registers);
  const single = (name: string, help: string, read: () => Promise<number | undefined>) =>
    gauge(name, [], help, async () => [[{}, await read()]]);
  // First, so that it does not count the queries of the scrape itself, which the gauges below start.
  if (sources.connections() !== undefined) {
    gauge(
      'checkout_database_connections',
      ['state'],
      "This process's database connections, and the requests waiting for one",
      () => Object.entries({ ...sources.connections() }).map(([state, count]) => [{ state }, count]),
    );
  }
  single('checkout_database_bytes', 'How large the database is', async () => (await sources.size()).bytes);
  single(
    'checkout_disk_used',
    'Which part of the disk with the SQLite file is used, 0 to 1',
    async () => (await sources.size()).diskUsed,
  );
  watchChains(sources, registers);
  single(
    'checkout_webhooks_pending',
    'Webhook deliveries that are not finished, including those that wait for another attempt',
    async () => (await sources.webhooks()).pending,
  );
  single(
    'checkout_webhooks_lag_seconds',
    'How overdue the oldest webhook delivery is, in seconds',
    async () => (await sources.webhooks()).lagMs / 1000,
  );
  gauge(
    'checkout_deposit_keys_pending',
    ['mode'],
    'Deposit keys and treasuries that were set in place of others, and take effect within a day',
    async () => {
      const pending = (await sources.depositKeys()).filter(({ state }) => state === 'pending');
      return modes.map((mode): Sample => [{ mode }, pending.filter((key) => key.mode === mode).length]);
    },
  );
  watchRates(sources, registers);
  single('checkout_ready', '1 if the server is ready, as /readyz says, otherwise 0', async () =>
    Number(await sources.isReady()),
  );
}

function watchRates({ rates }: MetricSources, registers: Registry[]): void {
  const gauge = gaugesOf(registers);
  gauge(
    'checkout_rate_source_failing',
    ['source'],
    '1 if the last request to a source of exchange rates failed, otherwise 0',
    () =>
      (rates?.sources() ?? []).map(({ name, problem }) => [{ source: name }, Number(problem !== undefined)]),
  );
  gauge(
    'checkout_rate_market_out',
    ['source', 'market'],
    '1 for a market of a source of exchange rates that does not count now; `chains status` says why',
    () => (rates?.marketsOut() ?? []).map(({ source, market }) => [{ source, market }, 1]),
  );
}

/** Nodes are named by their place in the configuration: their URLs can hold credentials. */
function watchNodes({ chains }: MetricSources, registers: Registry[]): void {
  const labelNames = [...byNetwork, 'node'];
  type Node = ConnectionStatus['nodes'][number];
  const samples = (valueOf: (node: Node) => number) =>
    chains().flatMap(({ mode, network, connection }) =>
      (connection?.nodes ?? []).map((node) => [{ mode, network, node: node.name }, valueOf(node)] as const),
    );
  const counter = (name: string, help: string, valueOf: (node: Node) => number) =>
    new Counter({
      ...{ name, labelNames, help, registers },
      collect() {
        this.reset();
        for (const [labels, value] of samples(valueOf)) this.inc(labels, value);
      },
    });
  const gauge = (name: string, help: string, valueOf: (node: Node) => number) =>
    gaugesOf(registers)(name, labelNames, help, () => samples(valueOf));
  counter('checkout_node_requests_total', 'HTTP requests to a node', ({ requests }) => requests);
  counter(
    'checkout_node_calls_total',
    'JSON-RPC calls to a node, each call of a batch counted; most providers charge for these',
    ({ calls }) => calls,
  );
  counter(
    'checkout_node_failures_total',
    'Requests to a node that failed, those included that it refused as too many',
    ({ failures }) => failures,
  );
  counter(
    'checkout_node_limited_total',
    'Requests that a node refused as too many',
    ({ limited }) => limited,
  );
  counter(
    'checkout_node_request_seconds_total',
    'How long the requests to a node took together; divided by the requests, its latency',
    ({ durationMs }) => durationMs / 1000,
  );
  gauge('checkout_node_in_use', '1 if a node did the last work on its network', ({ isInUse }) =>
    Number(isInUse),
  );
  gauge('checkout_node_failing', '1 if a node failed when it was used last', ({ problem }) =>
    Number(problem !== undefined),
  );
}

function isSame(given: string | undefined, expected: string): boolean {
  return timingSafeEqual(hash('sha256', given ?? '', 'buffer'), hash('sha256', expected, 'buffer'));
}
