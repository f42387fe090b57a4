/** `npm run bench -- lists`: how much longer each list and filter takes with 1,000,000 payments than with 10,000. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startApiServer } from '../scripts/api-server.mjs';
import { createDatabase } from './create-database.mjs';
import { connect, fill, makeCheckpoints } from './fill-lists.mjs';
import { explainLists } from './explain-lists.mjs';
import { listQueries } from './list-queries.mjs';
import { percentile } from './load.mjs';
import { signIn } from './sign-in.mjs';

const help = `Usage: npm run bench -- lists [options]        (after npm run build)

Fills two databases per engine with payments of 21 merchants over two years. For every 1,000 payments there are 100
customers, 20 subscribers and refunds, 5 transfers, payouts and wallets, and so on, but at least 250 of each; each payment has a
webhook event, of which one in 50 was given up, and an entry in the audit log. Requests each list and filter, and all that the
console's pages read, of the merchant that has 60 % of the records, alternating between the databases (A B A B …). Prints the lower
quartile of the times, which other work on the machine affects least, the ratio, and the indexes that the larger database
uses.

  --database sqlite|postgres   one engine (default: both)
  --rows N                     payments in the larger database (default 1000000)
  --base N                     payments in the smaller database (default 10000)
  --requests N                 requests per list and size (default 60, after 10 that are not counted)
  --only PATTERN               only lists whose name matches this regular expression
  --json FILE                  also write all measurements as JSON
  --help                       show this help`;

const aim = 2;
const optionTypes = /** @type {const} */ ({
  database: { type: 'string' },
  rows: { type: 'string', default: '1000000' },
  base: { type: 'string', default: '10000' },
  requests: { type: 'string', default: '60' },
  only: { type: 'string', default: '' },
  json: { type: 'string' },
  help: { type: 'boolean', default: false },
});
const { values: options } = parseArgs({ options: optionTypes, args: process.argv.slice(3) });
if (options.help) console.log(help);
else await main();

async function main() {
  const engines = options.database === undefined ? ['sqlite', 'postgres'] : [options.database];
  const report = [];
  for (const engine of engines) report.push({ engine, results: await measureEngine(engine) });
  if (options.json) writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`);
  const over = report.flatMap(({ engine, results }) =>
    results
      .filter(({ ratio }) => ratio > aim)
      .map(({ name, ratio }) => `${engine} ${name}: ${ratio.toFixed(1)}`),
  );
  console.log(
    over.length === 0 ? `All ratios are at most ${aim}.` : `Ratios above ${aim}: ${over.join(' · ')}`,
  );
}

/** @param {string} engine */
async function measureEngine(engine) {
  // In the project, because the system's temporary directory may be in memory.
  const base = fileURLToPath(new URL('../.tmp/', import.meta.url));
  mkdirSync(base, { recursive: true });
  const directory = mkdtempSync(join(base, 'lists-'));
  /** @type {(() => Promise<void>)[]} */
  const stops = [];
  try {
    const [small, large] = [
      await prepare(engine, Number(options.base), directory, stops),
      await prepare(engine, Number(options.rows), directory, stops),
    ];
    const servers = [];
    for (const { databaseUrl, secretKey, merchant } of [small, large]) {
      const server = await startApiServer({ databaseUrl, env: { BOOTSTRAP_SECRET_KEY: secretKey } });
      stops.push(server.stop);
      servers.push({ url: server.url, secretKey, cookie: await signIn(server.url, databaseUrl, merchant) });
    }
    const results = [];
    for (const query of listQueries.filter(({ name }) => new RegExp(options.only).test(name))) {
      const [ofSmall = Number.NaN, ofLarge = Number.NaN] = await measureTurns(servers, query);
      results.push({
        name: query.name,
        small: ofSmall,
        large: ofLarge,
        ratio: ofLarge / ofSmall,
        path: query.path,
      });
    }
    for (const stop of stops.splice(-2)) await stop();
    const plans = await explainLists({ ...large, queries: results });
    console.log(
      `\n${engine}: ${options.rows} payments compared with ${options.base}, lower quartiles in milliseconds`,
    );
    console.table(
      Object.fromEntries(
        results.map(({ name, small: before, large: after, ratio }, index) => [
          name,
          {
            [options.base]: before.toFixed(2),
            [options.rows]: after.toFixed(2),
            ratio: ratio.toFixed(2) + (ratio > aim ? ' too high' : ''),
            indexes: plans[index]?.join(' '),
          },
        ]),
      ),
    );
    return results.map((result, index) => ({ ...result, indexes: plans[index] }));
  } finally {
    for (const stop of stops.reverse()) await stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/**
 * @param {string} engine
 * @param {number} payments
 * @param {string} directory
 * @param {(() => Promise<void>)[]} stops
 */
async function prepare(engine, payments, directory, stops) {
  const started = performance.now();
  const databaseUrl = await createDatabase(engine, directory, stops);
  const secretKey = `sk_test_${randomBytes(32).toString('base64url')}`;
  const server = await startApiServer({ databaseUrl, env: { BOOTSTRAP_SECRET_KEY: secretKey } });
  const sql = await connect(databaseUrl);
  const templates = await makeTemplates(server.url, secretKey, sql).finally(server.stop);
  try {
    await fill(sql, payments, templates);
  } finally {
    await sql.close();
  }
  await makeCheckpoints(databaseUrl);
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  process.stderr.write(`${engine}: ${payments} payments in ${seconds} s\n`);
  return { databaseUrl, secretKey, merchant: templates.merchant };
}

/**
 * Creates one record of each kind through the API.
 * @param {string} url
 * @param {string} key
 * @param {import('./fill-lists.mjs').Sql} sql
 * @returns {Promise<import('./fill-lists.mjs').Templates>}
 */
async function makeTemplates(url, key, sql) {
  /** @type {(method: string, path: string, body?: unknown) => Promise<any>} */
  const call = async (method, path, body) => {
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
    const response = await fetch(url + path, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: HTTP ${response.status} ${text}`);
    return JSON.parse(text).data;
  };
  const customer = { email: 'ada@example.com', fullName: 'Ada Example' };
  const pay = async (isLocked = true) => {
    const { payment } = await call('POST', '/v1/payments/checkout', {
      amount: 5000,
      baseCurrency: 'NGN',
      customer: { email: customer.email, name: customer.fullName },
    });
    await call('PATCH', `/v1/payments/${payment.id}/currency/set/USDT/tron`);
    return isLocked ? call('PATCH', `/v1/payments/${payment.id}/currency/lock`) : payment;
  };
  const paid = await pay();
  const { address } = paid.addressInformation;
  await call('POST', '/sandbox/transfers', { network: 'tron', currency: 'USDT', address, amount: '100' });
  await call('POST', '/sandbox/blocks', { network: 'tron', count: 3 });
  const refund = await call('POST', `/v1/payments/${paid.id}/refunds`, { kind: 'partial', amount: '1' });
  const cancelled = await pay(false);
  await call('PATCH', `/v1/payments/${cancelled.id}/cancel`);
  const expired = await pay();

  // The first payment created the customer.
  const [ofCustomer] = await call('GET', `/v1/customers?email=${customer.email}`);
  const plan = await call('POST', '/v1/payment-plans', {
    planName: 'Monthly',
    frequency: 'monthly',
    amount: 5000,
    currency: 'NGN',
    currencies: ['USDT'],
    numberOfTimesToCharge: 12,
  });
  await call('POST', `/v1/payment-plan-subscribers/${plan.id}`, { email: customer.email });
  const [subscriber] = await call('GET', '/v1/payment-plan-subscribers');
  const destination = { currency: 'USDT', address: 'TLa2f6VPqDgRE67v1736s7bJ8Ray5wYjU7', network: 'tron' };
  const walletAddress = await call('POST', '/v1/wallet-addresses', { ...destination, label: 'Savings' });
  const bankAccount = await call('POST', '/v1/bank-accounts', {
    accountNumber: '0123456785',
    accountBank: '058',
    country: 'NG',
    currency: 'NGN',
    accountName: 'Ada Example',
  });
  const transfer = await call('POST', '/v1/transfers', {
    amount: 1,
    currency: 'USDT',
    walletAddress: walletAddress.id,
    walletNetwork: 'tron',
  });
  const wallet = await call('POST', '/v1/wallets', { currency: 'USDT', label: 'Donations' });
  await call('POST', '/sandbox/clock', { advanceSeconds: 3600 });
  let payouts = await call('GET', '/v1/payouts');
  while (
    payouts[0]?.status !== 'success' ||
    (await call('GET', `/v1/payments/${expired.id}`)).status !== 'error'
  ) {
    await call('POST', '/sandbox/blocks', { network: 'tron', count: 3 });
    payouts = await call('GET', '/v1/payouts');
  }
  const [row] = await sql.run(`select merchant_id from payments where id = '${paid.id}'`);
  return {
    merchant: String(row?.['merchant_id']),
    paid: paid.id,
    expired: expired.id,
    cancelled: cancelled.id,
    customer: ofCustomer.id,
    refund: refund.id,
    plan: plan.id,
    subscriber: subscriber.id,
    walletAddress: walletAddress.id,
    bankAccount: bankAccount.id,
    transfer: transfer.id,
    payout: payouts[0].id,
    wallet: wallet.id,
  };
}

/**
 * @typedef {{ url: string, secretKey: string, cookie: string }} Target
 * @param {readonly Target[]} servers
 * @param {import('./list-queries.mjs').ListQuery} query
 * @returns {Promise<number[]>} the lower quartile of the times, per server
 */
async function measureTurns(servers, query) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const targets = [];
  for (const server of servers) {
    const { url } = server;
    const first = JSON.parse((await get(agent, url + query.path, server)).text);
    const path = query.page
      ? `${query.path}${query.path.includes('?') ? '&' : '?'}page=${query.page(first.meta.pagination)}`
      : query.path;
    targets.push({ url: url + path, server, times: /** @type {number[]} */ ([]) });
  }
  const warmUp = 10;
  for (let turn = -warmUp; turn < Number(options.requests); turn += 1) {
    for (const { url, server, times } of targets) {
      const { milliseconds } = await get(agent, url, server);
      if (turn >= 0) times.push(milliseconds);
    }
  }
  agent.destroy();
  return targets.map(({ times }) => percentile(times, 0.25));
}

/**
 * @param {Agent} agent
 * @param {string} url
 * @param {Target} server
 * @returns {Promise<{ text: string, milliseconds: number }>}
 */
function get(agent, url, { secretKey, cookie }) {
  const headers = url.includes('/console/api/')
    ? { Cookie: cookie, 'Sec-Fetch-Site': 'same-origin', 'X-Checkout-Mode': 'test' }
    : { Authorization: `Bearer ${secretKey}` };
  return new Promise((resolve, reject) => {
    const started = performance.now();
    request(url, { agent, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part) => (text += part));
      response.on('end', () => {
        if (response.statusCode === 200) resolve({ text, milliseconds: performance.now() - started });
        else reject(new Error(`${url}: HTTP ${response.statusCode} ${text}`));
      });
    })
      .on('error', reject)
      .end();
  });
}
