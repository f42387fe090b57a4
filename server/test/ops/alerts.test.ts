/** docs/alerts.yml on the metrics of a real server: silent while it is idle, and firing when it is broken. */
import { readFileSync } from 'node:fs';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { engines } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';

const token = 'scrape-me-0123456789';
const file = readFileSync(new URL('../../../docs/alerts.yml', import.meta.url), 'utf8');

const rules = [...file.matchAll(/^ {6}- alert: (\w+)\n {8}expr: (.+)\n(?: {8}for: (\w+)\n)?/gm)].map(
  ([, name = '', expr = '', duration]) => ({ name, expr, duration }),
);

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

function parse(text: string): Sample[] {
  return [...text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)].map(([, name = '', labels = '', value]) => ({
    name,
    labels: Object.fromEntries(
      [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = '', text = '']) => [key, text]),
    ),
    value: Number(value),
  }));
}

/** A metric in an expression: `name{label="a",other=~"b|c"}`, and `[5m]` for a rate. */
const selectors = (expr: string) =>
  [...expr.matchAll(/\b(up|http_\w+|checkout_\w+)(?:\{([^}]*)\})?/g)].map(([, name = '', matchers = '']) => ({
    name,
    matchers: [...matchers.matchAll(/(\w+)(=~?)"([^"]*)"/g)].map(
      ([, label = '', operator, pattern = '']) => ({
        label,
        accepts: (text: string) =>
          operator === '=' ? text === pattern : new RegExp(`^(?:${pattern})$`).test(text),
      }),
    ),
  }));

function select(
  samples: readonly Sample[],
  { name, matchers }: ReturnType<typeof selectors>[number],
): Sample[] {
  return samples.filter(
    (sample) =>
      sample.name === name && matchers.every(({ label, accepts }) => accepts(sample.labels[label] ?? '')),
  );
}

/**
 * Evaluates an expression, in the forms that the file uses, for two scrapes `seconds` apart: a threshold on the largest
 * value, on its age, on a rate, on a share of rates, and on a quantile of a histogram.
 */
function holds(expr: string, before: readonly Sample[], after: readonly Sample[], seconds: number): boolean {
  const total = (samples: readonly Sample[]) => samples.reduce((sum, { value }) => sum + value, 0);
  const found = selectors(expr);
  const [first] = found;
  if (!first) throw new Error(`No metric in ${expr}`);
  const rate = (selector: typeof first) =>
    (total(select(after, selector)) - total(select(before, selector))) / seconds;
  const threshold = Number(/[=<>] ([\d.]+)/.exec(expr)?.[1]);

  if (expr.startsWith('histogram_quantile(0.95')) {
    const count = { ...first, name: first.name.replace('_bucket', '_count') };
    const within = {
      ...first,
      matchers: [{ label: 'le', accepts: (le: string) => Number(le) === threshold }],
    };
    return rate(count) > 0 && rate(within) < 0.95 * rate(count);
  }
  const [, second] = found;
  if (second) return rate(first) > threshold * rate(second);
  if (/(rate|deriv)\(/.test(expr)) return rate(first) > threshold;
  const values = select(after, first).map(({ value }) => value);
  if (expr.startsWith('time() - ')) {
    return Math.max(...values.map((value) => Date.now() / 1000 - value)) > threshold;
  }
  if (expr.includes('== 0')) return values.some((value) => value === 0);
  return Math.max(Number.NEGATIVE_INFINITY, ...values) > threshold;
}

let server: TestServer | undefined;
afterEach(async () => {
  await server?.stop();
  server = undefined;
});

async function scrape(): Promise<Sample[]> {
  const response = await fetch(`${server?.url ?? ''}/metrics`, {
    headers: { Authorization: `Bearer ${token}` },
  });
  return parse(await response.text());
}

it('Every rule has a name, an expression and a summary', () => {
  expect(rules.length).toBe((file.match(/- alert:/g) ?? []).length);
  expect(rules.length).toBe((file.match(/summary:/g) ?? []).length);
  expect(rules.length).toBeGreaterThan(8);
});

it('docs/monitoring.md says of each rule what to do, and names no other', () => {
  const guide = readFileSync(new URL('../../../docs/monitoring.md', import.meta.url), 'utf8');
  const named = new Set([...guide.matchAll(/`(Checkout[A-Z]\w+)`/g)].map(([, name]) => name));
  expect([...named].sort()).toEqual(rules.map(({ name }) => name).sort());
});

describe.each(engines)('On $name', (engine) => {
  const others = engine.name === 'PostgreSQL' ? 'disk_used' : 'database_connections';
  const usable = rules.filter(({ expr }) => !expr.includes(others));
  const firing = (before: Sample[], after: Sample[], seconds: number) =>
    usable
      // Prometheus itself makes `up`, and how full the disk is, is not the server's doing.
      .filter(({ name }) => name !== 'CheckoutDown' && name !== 'CheckoutDiskNearlyFull')
      .filter(({ expr }) => holds(expr, before, after, seconds))
      .map(({ name }) => name);

  it('the first scrape has every metric and label of the rules, and none fires on an idle server', async () => {
    server = await startServer({ engine, env: { METRICS_TOKEN: token } });
    const { url } = server;
    await expect.poll(async () => (await fetch(`${url}/readyz`)).status, { timeout: 10_000 }).toBe(200);
    await server.api('GET', '/v1/currencies');
    const samples = await scrape();
    for (const { name, expr } of usable) {
      for (const selector of selectors(expr).filter((one) => one.name !== 'up')) {
        const ofMetric = samples.filter((sample) => sample.name === selector.name);
        expect(ofMetric.length, `${name}: ${selector.name}`).toBeGreaterThan(0);
        for (const { label } of selector.matchers) {
          expect(Object.keys(ofMetric[0]?.labels ?? {}), `${name}: ${label}`).toContain(label);
        }
      }
      const [, grouped = ''] = /by \(([^)]*)\)/.exec(expr) ?? [];
      for (const label of grouped.split(', ').filter(Boolean)) {
        const [selector] = selectors(expr);
        const [sample] = samples.filter(({ name: metric }) => metric === selector?.name);
        expect(Object.keys(sample?.labels ?? {}), `${name}: by ${label}`).toContain(label);
      }
    }
    // Every rule has a duration, because for a moment a request may well wait for a connection.
    // The first replies of a busy machine may be slow, so their time counts only since the last scrape.
    let last = samples;
    const firingNow = async () => {
      const before = last;
      last = await scrape();
      const isSlow = firing(before, last, 1).includes('CheckoutSlow');
      return firing(samples, last, 1).filter((name) => name !== 'CheckoutSlow' || isSlow);
    };
    await expect.poll(firingNow, { timeout: 5000 }).toEqual([]);
  });

  it('the rules fire on a broken server', async () => {
    let skew = 0;
    server = await startServer({
      engine,
      log: pino({ level: 'silent' }),
      env: { METRICS_TOKEN: token },
      overrides: { realNow: () => Date.now() + skew },
    });
    const { url, database } = server;
    await expect.poll(async () => (await fetch(`${url}/readyz`)).status, { timeout: 10_000 }).toBe(200);
    const before = await scrape();
    // The tables that scans, jobs and payments write are gone, and an hour passes.
    await database.write(async (transaction) => {
      for (const table of ['chain_cursors', 'payments']) {
        await sql`alter table ${sql.table(table)} rename to ${sql.table(`lost_${table}`)}`.execute(
          transaction,
        );
      }
    });
    const broken = async () => {
      await server?.api('POST', '/v1/payments/checkout', { body: { amount: 10, baseCurrency: 'USD' } });
      const fired = firing(before, await scrape(), 1);
      return ['CheckoutErrors', 'CheckoutChainFailing', 'CheckoutJobFailing'].filter(
        (name) => !fired.includes(name),
      );
    };
    await expect.poll(broken, { timeout: 10_000 }).toEqual([]);
    skew = 3_600_000;
    const later = firing(before, await scrape(), 1);
    expect(later).toEqual(expect.arrayContaining(['CheckoutNotReady', 'CheckoutChainBehind']));
  });
});

it.each([
  ['CheckoutWebhooksLate', 'checkout_webhooks_lag_seconds', {}, 601, 599],
  ['CheckoutTreasuryBehind', 'checkout_treasury_lag_seconds', {}, 301, 299],
  ['CheckoutTransfersUnclear', 'checkout_transfers_unclear', {}, 1, 0],
  ['CheckoutTransfersReversed', 'checkout_transfers_reversed', {}, 1, 0],
  ['CheckoutTreasuryOutflow', 'checkout_treasury_outflows', {}, 1, 0],
  ['CheckoutExportsOld', 'checkout_transfers_exported_age_seconds', {}, 86_401, 86_399],
  ['CheckoutPsbtsInTrouble', 'checkout_psbts_in_trouble', {}, 1, 0],
  ['CheckoutRestoreSuspected', 'checkout_restore_suspected', {}, 1, 0],
  [
    'CheckoutJobStuck',
    'checkout_job_last_success_timestamp_seconds',
    { job: 'expiry' },
    Date.now() / 1000 - 400,
    Date.now() / 1000,
  ],
  ['CheckoutDatabaseBusy', 'checkout_database_connections', { state: 'waiting' }, 1, 0],
  ['CheckoutDiskNearlyFull', 'checkout_disk_used', {}, 0.91, 0.89],
  ['CheckoutNotReady', 'checkout_ready', {}, 0, 1],
  ['CheckoutNetworkNotOffered', 'checkout_network_offered', {}, 0, 1],
  ['CheckoutDepositKeyPending', 'checkout_deposit_keys_pending', { mode: 'live' }, 1, 0],
  ['CheckoutNodesDisagree', 'checkout_chain_disagreement', { mode: 'live', network: 'base' }, 1, 0],
])('%s fires by its threshold', (rule, name, labels, bad, good) => {
  const { expr = '' } = rules.find((one) => one.name === rule) ?? {};
  const sample = (value: number): Sample[] => [{ name, labels, value }];
  expect([holds(expr, [], sample(bad), 1), holds(expr, [], sample(good), 1)]).toEqual([true, false]);
});

it('CheckoutSlow fires if fewer than 95 % of the requests take at most a second', () => {
  const { expr = '' } = rules.find((one) => one.name === 'CheckoutSlow') ?? {};
  const requests = (within: number): Sample[] => [
    { name: 'http_request_duration_seconds_bucket', labels: { le: '1' }, value: within },
    { name: 'http_request_duration_seconds_count', labels: {}, value: 100 },
  ];
  expect([holds(expr, [], requests(90), 1), holds(expr, [], requests(99), 1)]).toEqual([true, false]);
});
