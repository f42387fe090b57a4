/** Sends marked secrets and personal data through the whole API, and checks that none of them is ever logged. */
import { randomBytes } from 'node:crypto';
import { api } from 'crypto-checkout/contract';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '../../src/core/log.js';
import { call } from '../support/call.js';
import { enginesOfQuick } from '../support/engines.js';
import { fillPath, mainRoutesOf, type Route } from '../support/routes.js';
import { startServer } from '../support/server.js';

const random = (length: number) =>
  randomBytes(64).toString('base64url').replace(/[-_]/g, 'x').slice(0, length);
const routes = mainRoutesOf(api);

/** Marked values that must never be in the log. */
const canaries = {
  unknownKey: random(43),
  email: `ada-${random(8)}`.toLowerCase(),
  name: `Lovelace${random(8)}`,
  phone: '+2348031234567',
  account: '9087654321',
  urlToken: random(20),
  urlPassword: random(20),
  databasePassword: random(20),
  idempotencyKey: random(30),
  path: `private${random(10)}`,
};
const email = `${canaries.email}@example.com`;
const fields: Readonly<Record<string, unknown>> = {
  email,
  fullName: canaries.name,
  name: canaries.name,
  customerFullName: canaries.name,
  phoneNumber: canaries.phone,
  customerphoneNumber: canaries.phone,
  accountNumber: canaries.account,
  accountName: canaries.name,
  label: canaries.name,
  planName: canaries.name,
  customer: { email, name: canaries.name, phoneNumber: canaries.phone },
  redirectUrl: `https://shop.example/thanks?token=${canaries.urlToken}`,
};

/** The sample's body with canaries for personal data and a new reference. */
function withCanaries(body: unknown): unknown {
  if (typeof body !== 'object' || body === null) return body;
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [
      name,
      name === 'txRef' ? random(20) : (fields[name] ?? value),
    ]),
  );
}

/** A body in which every value is an invalid canary. */
function invalid(body: unknown): unknown {
  if (typeof body !== 'object' || body === null) return undefined;
  return Object.fromEntries(Object.keys(body).map((name) => [name, `${email} ${canaries.name}`]));
}

/** @param value in the place of each placeholder, and with an email in the query */
function urlOf({ url, endpoint: { sample } }: Route, value?: string): string {
  const filled = url(() => value);
  return sample.query
    ? `${filled}?${new URLSearchParams({ ...sample.query, ...(value !== undefined && { email, customer: email }) })}`
    : filled;
}

describe.each(enginesOfQuick)('at log level trace, on $name', (engine) => {
  const lines: string[] = [];
  const statuses = new Set<number>();
  const codes = new Map<string, number>();
  const secrets: string[] = [];

  beforeAll(async () => {
    let isBroken = false;
    const log = createLog('trace', { write: (line) => void lines.push(line) });
    const made = await engine.create();
    const databaseUrl =
      engine.name === 'PostgreSQL'
        ? Object.assign(new URL(made.url), { password: canaries.databasePassword }).href
        : made.url;
    const server = await startServer({
      engine,
      databaseUrl,
      log,
      env: { LOG_LEVEL: 'trace', METRICS_TOKEN: `metrics-${canaries.urlToken}` },
      overrides: {
        realNow() {
          if (isBroken)
            throw Object.assign(new Error('A clock broke'), { email, customer: fields['customer'] });
          return Date.now();
        },
      },
    });
    const { url, database, secretKey, publicKey } = server;
    const secret = await database.write(async (transaction) => {
      const [merchant] = await transaction.selectFrom('merchants').select('id').execute();
      return server.app.endpoints.set(
        transaction,
        { merchantId: merchant?.id ?? '', mode: 'test' },
        `http://127.0.0.1:9/in?token=${canaries.urlToken}`,
      );
    });
    secrets.push(secretKey, publicKey, String(secret));

    async function request(route: Route, key: string | undefined, body: unknown, value?: string) {
      const { method, endpoint } = route;
      const { status, body: answer } = await call(url, method, urlOf(route, value), {
        key,
        ...(method !== 'GET' && endpoint.body && { body }),
        headers: { 'Idempotency-Key': `${canaries.idempotencyKey}${random(10)}` },
      });
      statuses.add(status);
      if (answer.status === 'error') codes.set(answer.data.code ?? '', status);
    }
    async function walk() {
      for (const route of routes) {
        const { body } = route;
        for (const key of [undefined, `sk_test_${canaries.unknownKey}`, publicKey, secretKey])
          await request(route, key, withCanaries(body));
        await request(route, secretKey, invalid(body));
        await request(route, secretKey, `{"email":"${email}",`);
        await request(route, secretKey, withCanaries(body), `${canaries.path} ${email}`);
      }
    }
    await walk();
    const { method, path, sample } = api.payments.create;
    await call(url, method, path, {
      key: secretKey,
      body: {
        ...(withCanaries(sample.body) as object),
        redirectUrl: `https://ada:${canaries.urlPassword}@shop.example/thanks`,
      },
    });
    await call(url, 'GET', `/${email}/${canaries.path}`);
    await call(url, 'GET', `/metrics?${email}`, { key: canaries.unknownKey });

    // From here on the database refuses every insert. PostgreSQL's error quotes the refused row.
    for (const table of ['payments', 'customers', 'bank_accounts', 'wallet_addresses', 'wallets', 'outbox']) {
      const statement =
        engine.name === 'PostgreSQL'
          ? sql`alter table ${sql.table(table)} add constraint refuse check (id = '') not valid`
          : sql`create trigger ${sql.table(`refuse_${table}`)} before insert on ${sql.table(table)}
            begin select raise(abort, 'refused'); end`;
      await database.write((transaction) => statement.execute(transaction));
    }
    await walk();
    // Now an error carries personal data in its properties.
    isBroken = true;
    await walk();
    isBroken = false;
    await made.dispose();
    await walk();
    await server.stop();
  }, 120_000);

  it('the walk logs many lines and causes all kinds of errors', () => {
    expect(lines.length).toBeGreaterThan(500);
    expect([...statuses]).toEqual(
      expect.arrayContaining([200, 400, 401, 403, 404, 500, ...(engine.name === 'PostgreSQL' ? [503] : [])]),
    );
    for (const code of [
      'invalid_json',
      'invalid_api_key',
      'validation_error',
      'not_found',
      'internal_error',
    ]) {
      expect(codes.has(code)).toBe(true);
    }
    const failures = lines.filter((line) => line.includes('"msg":"internal_error"'));
    expect(failures.length).toBeGreaterThan(20);
    const refusal = engine.name === 'PostgreSQL' ? 'violates check constraint' : 'refused';
    expect(failures.some((line) => line.includes(refusal))).toBe(true);
  });

  it.each(Object.keys(canaries) as (keyof typeof canaries)[])('%s is never logged', (name) => {
    const value = canaries[name];
    const forms = [value, encodeURIComponent(value), Buffer.from(value).toString('base64')];
    const found = lines.filter((line) =>
      forms.some((form) => line.toLowerCase().includes(form.toLowerCase())),
    );
    expect(found).toEqual([]);
  });

  it('keys and webhook secrets are never logged', () => {
    expect(secrets.filter(Boolean)).toHaveLength(3);
    for (const secret of secrets) {
      expect(lines.filter((line) => line.includes(secret.replace(/^(whsec|[ps]k_test)_/, '')))).toEqual([]);
    }
  });

  it('every request is logged with its id, method, path pattern and status', () => {
    const requests = lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ msg }) => msg === 'Request');
    const paths = new Set(requests.map(({ path }) => path));
    for (const { path } of routes) {
      const pattern = `^${fillPath(path, () => '(…|[0-9A-HJKMNP-TV-Z]{26})')}$`;
      expect([...paths]).toContainEqual(expect.stringMatching(new RegExp(pattern)));
    }
    for (const { requestId, method, status } of requests) {
      expect([typeof requestId, typeof method, typeof status]).toEqual(['string', 'string', 'number']);
    }
  });
});
