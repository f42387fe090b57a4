/** `/metrics`: what it reports, who may read it, and that it identifies no merchant or payer. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { HDKey } from '@scure/bip32';
import { api, endpointsOf } from 'crypto-checkout/contract';
import express from 'express';
import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../src/core/ops/metrics.js';
import { call } from '../support/call.js';
import { enginesOfTurn } from '../support/engines.js';
import { startServer } from '../support/server.js';

const token = 'scrape-me-0123456789';

/** The samples of a scrape, by name with labels. */
function samples(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.replace(/ \S+$/, ''), Number(/ (\S+)$/.exec(line)?.[1])]));
}

describe.each(enginesOfTurn)('On $name, /metrics', (engine) => {
  const scrape = async (url: string) => {
    const response = await fetch(`${url}/metrics`, { headers: { Authorization: `Bearer ${token}` } });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    return response.text();
  };

  it('/metrics does not exist without METRICS_TOKEN, and requires it', async () => {
    const closed = await startServer({ engine });
    const nothing = await call(closed.url, 'GET', '/metrics', { key: token });
    expect([nothing.status, nothing.body.data.code]).toEqual([404, 'not_found']);
    await closed.stop();

    const { url, secretKey, stop } = await startServer({ engine, env: { METRICS_TOKEN: token } });
    for (const key of [undefined, secretKey, `${token}x`, token.slice(1)]) {
      const refused = await call(url, 'GET', '/metrics', { key });
      expect([refused.status, refused.body.data.code]).toEqual([401, 'invalid_api_key']);
    }
    // A proxy that blocks /metrics blocks no other spelling of it.
    for (const path of ['/metrics/', '/METRICS', '/Metrics', '/metrics%2f', '//metrics', '/%6detrics/']) {
      expect((await call(url, 'GET', path, { key: token })).status, path).toBe(404);
    }
    await scrape(url);
    await stop();
  });

  it('/metrics counts requests by path pattern, and payments by status', async () => {
    const { url, api, stop } = await startServer({ engine, env: { METRICS_TOKEN: token } });
    const secret = 'ada@example.com';
    const made = await api('POST', '/v1/payments/checkout', {
      body: { amount: 10, baseCurrency: 'USD', customer: { email: secret } },
    });
    const { id } = made.body.data['payment'] as { id: string };
    await api('GET', `/v1/payments/${id}`);
    await api('GET', `/v1/payments/checkout/${id}`);
    await api('GET', `/v1/payments/${encodeURIComponent(secret)}`);
    await api('PATCH', `/v1/payments/${id}/cancel`);
    await api('GET', `/v1/nothing/${secret}`);
    await fetch(`${url}/pay/${id}`);
    await fetch(`${url}/${secret}`);

    const text = await scrape(url);
    const found = samples(text);
    const count = (method: string, route: string, status: number) =>
      found.get(
        `http_request_duration_seconds_count{method="${method}",route="${route}",status="${status}"}`,
      );
    expect(count('POST', '/v1/payments/checkout', 200)).toBe(1);
    expect(count('GET', '/v1/payments/{payment_id}', 200)).toBe(1);
    expect(count('GET', '/v1/payments/{payment_id}', 404)).toBe(1);
    expect(count('GET', '/v1/payments/checkout/{payment_id}', 200)).toBe(1);
    expect(count('PATCH', '/v1/payments/{payment_id}/cancel', 200)).toBe(1);
    expect(count('GET', '/pay/:id', 200)).toBe(1);
    expect(count('GET', 'other', 404)).toBe(2);
    expect(found.get('checkout_payments_total{status="cancelled"}')).toBe(1);
    expect(text).not.toContain(id);
    expect(text).not.toContain('ada@');
    await stop();
  });

  it('/metrics does not grow by the requests of strangers', async () => {
    const { url, publicKey, stop } = await startServer({ engine, env: { METRICS_TOKEN: token } });
    const series = async () =>
      (await scrape(url))
        .split('\n')
        .filter((line) => line.startsWith('http_request_duration_seconds_count'));
    const paths = endpointsOf(api).map(({ endpoint }) => endpoint.path);
    const methods = [
      'GET',
      'POST',
      'PUT',
      'DELETE',
      'PROPFIND',
      'REPORT',
      'MKCOL',
      'LOCK',
      'SEARCH',
      'PURGE',
    ];
    const ask = (method: string, key: string | undefined) =>
      Promise.all(
        paths.slice(0, 20).map(async (path) => {
          const headers = key === undefined ? undefined : { Authorization: `Bearer ${key}` };
          const { status } = await fetch(url + path, { method, ...(headers && { headers }) });
          expect(status).toBeGreaterThanOrEqual(400);
        }),
      );
    await ask('GET', undefined);
    // A scrape is counted itself.
    await scrape(url);
    const before = (await series()).length;
    for (const method of methods) await ask(method, undefined);
    // GET, POST, DELETE and all other methods, without a path.
    expect((await series()).length - before).toBeLessThanOrEqual(3);
    for (const method of methods.slice(3)) await ask(method, publicKey);
    expect((await series()).length - before).toBeLessThanOrEqual(6);
    await stop();
  });

  it('/metrics is right at the first scrape, and not one scrape behind', async () => {
    const { url, api, app, database, bootstrapped, stop } = await startServer({
      engine,
      env: { METRICS_TOKEN: token },
    });
    await expect.poll(async () => (await fetch(`${url}/readyz`)).status, { timeout: 10_000 }).toBe(200);
    const mined = await api('POST', '/sandbox/blocks', { body: { network: 'tron', count: 3 } });
    const { height } = mined.body.data as { height: number };
    await database.write((transaction) =>
      app.endpoints.set(
        transaction,
        { merchantId: bootstrapped.merchantId, mode: 'test' },
        'http://127.0.0.1:9/',
      ),
    );
    for (const seed of [1, 2]) {
      const account = HDKey.fromMasterSeed(new Uint8Array(32).fill(seed)).derive("m/44'/60'/0'");
      const key = { extendedPublicKey: account.publicExtendedKey, script: undefined };
      const by = { actor: 'a test', isAtOnce: false };
      await database.write((transaction) =>
        app.depositKeyChanges.set(
          transaction,
          { merchantId: bootstrapped.merchantId, mode: 'live' },
          'evm',
          key,
          by,
        ),
      );
    }
    await api('POST', '/v1/payments/checkout', { body: { amount: 10, baseCurrency: 'USD' } });
    const first = samples(await scrape(url));
    expect(first.get('checkout_chain_height{mode="test",network="tron"}')).toBe(height);
    expect(first.get('checkout_chain_lag_seconds{mode="test",network="tron"}')).toBeLessThan(10);
    expect(first.get('checkout_ready')).toBe(1);
    // The first key takes effect at once, the other one a day later.
    expect(first.get('checkout_deposit_keys_pending{mode="live"}')).toBe(1);
    expect(first.get('checkout_deposit_keys_pending{mode="test"}')).toBe(0);
    for (const status of ['success', 'error', 'cancelled']) {
      expect(first.get(`checkout_payments_total{status="${status}"}`)).toBe(0);
    }
    for (const outcome of ['success', 'failure']) {
      expect(first.has(`checkout_job_duration_seconds_count{job="retention",outcome="${outcome}"}`)).toBe(
        true,
      );
    }
    expect(first.get('checkout_job_last_success_timestamp_seconds{job="retention"}')).toBeGreaterThan(
      Date.now() / 1000 - 60,
    );

    const created = await api('POST', '/v1/payments/checkout', { body: { amount: 10, baseCurrency: 'USD' } });
    const { id } = created.body.data['payment'] as { id: string };
    await api('PATCH', `/v1/payments/${id}/cancel`);
    const more = await api('POST', '/sandbox/blocks', { body: { network: 'tron', count: 2 } });
    const second = samples(await scrape(url));
    expect(second.get('checkout_chain_height{mode="test",network="tron"}')).toBe(
      (more.body.data as { height: number }).height,
    );
    expect(second.get('checkout_payments_total{status="cancelled"}')).toBe(1);
    expect(second.get('checkout_webhooks_pending')).toBe(1);
    if (engine.name === 'PostgreSQL') {
      const waiting = (found: ReadonlyMap<string, number>) =>
        found.get('checkout_database_connections{state="waiting"}');
      // For a moment, a job may well wait for a connection. Queries of the scrape itself would wait at every scrape.
      await expect.poll(async () => waiting(samples(await scrape(url)))).toBe(0);
    }
    await stop();
  });

  it('/metrics reports networks, webhooks, jobs and the database', async () => {
    const { url, api, stop } = await startServer({ engine, env: { METRICS_TOKEN: token } });
    await expect.poll(async () => (await fetch(`${url}/readyz`)).status, { timeout: 10_000 }).toBe(200);
    await api('POST', '/sandbox/blocks', { body: { network: 'tron', count: 3 } });
    const job = (text: string) =>
      samples(text).get('checkout_job_duration_seconds_count{job="expiry",outcome="success"}') ?? 0;
    await expect.poll(async () => job(await scrape(url)), { timeout: 5000 }).toBeGreaterThan(0);

    const found = samples(await scrape(url));
    expect(found.get('checkout_chain_height{mode="test",network="tron"}')).toBeGreaterThanOrEqual(3);
    expect(found.get('checkout_chain_lag_seconds{mode="test",network="tron"}')).toBeLessThan(10);
    expect(found.get('checkout_chain_failing{mode="test",network="tron"}')).toBe(0);
    expect(found.get('checkout_chain_disagreement{mode="test",network="tron"}')).toBe(0);
    expect(found.get('checkout_webhooks_pending')).toBe(0);
    expect(found.get('checkout_webhooks_lag_seconds')).toBe(0);
    expect(found.get('checkout_job_last_success_timestamp_seconds{job="expiry"}')).toBeGreaterThan(
      Date.now() / 1000 - 60,
    );
    expect(found.get('process_resident_memory_bytes')).toBeGreaterThan(1e6);
    const text = await scrape(url);
    const ours = (form: RegExp) => [...text.matchAll(form)].map(([, name]) => name).sort();
    const explained = ours(/^# HELP ((?:checkout|http)_\w+) \S+ \S+/gm);
    expect(explained, 'each says what it is').toEqual(ours(/^# TYPE ((?:checkout|http)_\w+)/gm));
    const guide = await readFile(new URL('../../../docs/monitoring.md', import.meta.url), 'utf8');
    const named = [...guide.matchAll(/`((?:checkout|http)_\w+)`/g)].map(([, name]) => name);
    expect(named).toContain('checkout_payments_quarantined');
    expect(explained).toEqual(expect.arrayContaining(named));
    const open = found.get('checkout_database_connections{state="open"}');
    if (engine.name === 'PostgreSQL') expect(open).toBeGreaterThan(0);
    else expect(open).toBeUndefined();
    await stop();
  });
});

it('A payment that ends while the server is still put together is counted', async () => {
  const metrics = createMetrics(token);
  metrics.countPayment('success');
  metrics.addSources({ networks: () => [], isReady: () => Promise.resolve(true), jobs: [], figures: [] });
  const server = createServer(express().use(metrics.router)).listen(0, '127.0.0.1');
  try {
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const headers = { Authorization: `Bearer ${token}` };
    const response = await fetch(`http://127.0.0.1:${port}/metrics`, { headers });
    const found = samples(await response.text());
    expect(found.get('checkout_payments_total{status="success"}')).toBe(1);
    expect(found.get('checkout_ready')).toBe(1);
  } finally {
    server.close();
  }
});
