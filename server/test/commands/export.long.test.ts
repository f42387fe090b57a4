/** `payments export` and `customers erase`: what the accountant gets, and what stays of a person. */
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { csvLine } from 'crypto-checkout/contract';
import { enginesOfSoak } from '../support/engines.js';
import { openShop, type Shop } from '../support/shop.js';
import { createRecords, type Records } from '../support/records.js';
import { startServer, type TestServer } from '../support/server.js';

interface Exported {
  readonly id: string;
  readonly status: string;
  readonly txRef: string;
  readonly createdAt: string;
  readonly receipts: { currency: string; amount: string; txHash: string; status: string }[];
  readonly credited: { currency: string; amount: string; fee: string; net: string }[];
}

/** Parses CSV by RFC 4180. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g)) {
    row.push(quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'));
    if (end === ',') continue;
    rows.push(row);
    row = [];
    if (end === '') break;
  }
  return rows.slice(0, -1);
}

describe.each(enginesOfSoak)('on $name', (engine) => {
  let server: TestServer;
  let merchant: Shop;
  let records: Records;
  let merchantId: string;
  beforeAll(async () => {
    server = await startServer({ engine });
    merchant = openShop(server);
    records = createRecords(server);
    ({ merchantId } = server.bootstrapped);
    await merchant.setWebhookUrl('http://localhost:9/hooks');
  });
  afterAll(() => server.stop());

  const exportAll = async (...options: string[]) => {
    const args = ['payments', 'export', '--merchant', merchantId, '--mode', 'test', ...options];
    const { exitCode, stdout, stderr } = await merchant.run(...args);
    expect(exitCode, stderr).toBe(0);
    return stdout;
  };

  it('the export has every payment with its transfers, and its credits add up to the balance', async () => {
    await merchant.fund({ amount: 12.5 });
    await merchant.fund({ amount: 10, currency: 'USDC', network: 'base' });
    await records.payment();
    const payments = JSON.parse(await exportAll('--format', 'json')) as Exported[];
    expect(payments).toHaveLength(3);
    expect(payments[0]).toMatchObject({
      status: 'success',
      receipts: [{ currency: 'USDT', amount: '12.5', status: 'confirmed' }],
      credited: [{ currency: 'USDT', amount: '12.5', fee: '0.125', net: '12.375' }],
    });
    expect(payments[2]).toMatchObject({ status: 'in progress', receipts: [], credited: [] });
    for (const currency of ['USDT', 'USDC']) {
      const nets = payments.flatMap(({ credited }) =>
        credited.filter((credit) => credit.currency === currency),
      );
      const sum = nets.reduce((total, { net }) => total + Number(net), 0);
      expect((await merchant.balance(currency)).availableBalance).toBeCloseTo(sum, 8);
    }
  });

  it('the CSV has one line for each payment, receipt and credit, and runs no formula', async () => {
    const name = '=HYPERLINK("https://evil.example","a, b")';
    await merchant.create({ txRef: 'csv-1', customer: { email: records.email(), name } });
    const text = await exportAll('--format', 'csv');
    expect(text).toMatch(/\r\n$/);
    expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
    const [header = [], ...rows] = parseCsv(text);
    for (const row of rows) expect(row).toHaveLength(header.length);
    const record = (row: string[]) => Object.fromEntries(header.map((column, index) => [column, row[index]]));
    const lines = rows.map(record);
    expect(lines.find(({ tx_ref: txRef }) => txRef === 'csv-1')?.['description']).toContain(name);
    expect(lines.filter(({ record: kind }) => kind === 'credit')).toMatchObject([
      { currency: 'USDT', amount: '12.5', fee: '0.125', net: '12.375' },
      { currency: 'USDC', amount: '10', fee: '0.1', net: '9.9' },
    ]);
    for (const row of rows) for (const field of row) expect(field).not.toMatch(/^[=+@\t\r]/);
  });

  it('no name of a payer controls the terminal that shows it', async () => {
    const name = '\u001b]0;owned\u0007\u009b31mAda\u007f\rRoot';
    const customer = { email: records.email(), name };
    await merchant.create({ txRef: 'escape-1', customer });
    const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-export-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const texts = [];
    for (const format of ['csv', 'json']) {
      const file = join(directory, format);
      texts.push(await exportAll('--format', format));
      await exportAll('--format', format, '--output', file);
      texts.push(await readFile(file, 'utf8'));
    }
    for (const text of texts) {
      expect(text).toContain('\\u001b]0;owned\\u0007\\u009b31mAda\\u007f');
      // eslint-disable-next-line no-control-regex -- it is what this is about
      expect(text).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]|\r(?!\n)/);
    }
    const [, asJson = ''] = texts.slice(1);
    const found = (JSON.parse(asJson) as { txRef: string; description: string }[]).find(
      ({ txRef }) => txRef === 'escape-1',
    );
    expect(found?.description).toBe(`Payment from ${name}`);
  });

  it('the export goes to a new file that only its owner can read, and is limited to a range', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-export-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const file = join(directory, 'payments.csv');
    expect(await exportAll('--format', 'csv', '--output', file)).toMatch(/^Wrote \d+ payments to /);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readFile(file, 'utf8')).toBe(await exportAll('--format', 'csv'));
    const args = ['payments', 'export', '--merchant', merchantId, '--mode', 'test', '--format', 'csv'];
    const before = await readFile(file, 'utf8');
    const again = await merchant.run(...args, '--output', file);
    expect([again.exitCode, again.stdout]).toEqual([1, '']);
    expect(again.stderr).toContain(`\n${file} exists already. Nothing was overwritten;`);
    expect(await readFile(file, 'utf8')).toBe(before);
    // The export is a file here, so what is printed is a summary.
    const summary = await merchant.run(...args, '--output', join(directory, 'second.csv'), '--json');
    expect(JSON.parse(summary.stdout)).toMatchObject({ payments: expect.any(Number) as number });
    expect(JSON.parse(await exportAll('--format', 'json', '--to', '2020-01-01'))).toEqual([]);
    const all = JSON.parse(await exportAll('--format', 'json')) as Exported[];
    expect(all.length).toBeGreaterThan(2);
    // Two days, if the tests began before midnight.
    const [from = '', to = ''] = [all[0], all.at(-1)].map((payment) => payment?.createdAt.slice(0, 10));
    expect(JSON.parse(await exportAll('--format', 'json', '--from', from, '--to', to))).toEqual(all);
  });

  it('the export reads each payment once, page by page, also where many have the same time', async () => {
    const other = await server.database.write((transaction) =>
      server.app.merchants.create(transaction, { name: 'Many' }),
    );
    await server.database.write(async (transaction) => {
      const template = await transaction
        .selectFrom('payments')
        .selectAll()
        .limit(1)
        .executeTakeFirstOrThrow();
      for (let index = 0; index < 1201; index += 1) {
        const id = `MANY${String(index).padStart(22, '0')}`;
        const created = {
          state: 'expired' as const,
          settled_at: null,
          id,
          tx_ref: id,
          merchant_id: other.id,
          created_at: 1000 + Math.floor(index / 700),
        };
        await transaction
          .insertInto('payments')
          .values({ ...template, ...created })
          .execute();
      }
    });
    const ids: string[] = [];
    for await (const { id } of server.app.paymentExport.read({ merchantId: other.id, mode: 'test' }, {}))
      ids.push(id);
    expect(ids).toHaveLength(1201);
    expect(new Set(ids).size).toBe(1201);
  });

  it('erasing a customer leaves no trace of the person, and does not change the books', async () => {
    const email = 'Grace.Hopper+1@example.com';
    const body = {
      amount: 10,
      baseCurrency: 'USD',
      customer: { email, fullName: 'Grace Hopper', phoneNumber: '+15550199' },
    };
    const headers = { 'Idempotency-Key': `erase-${engine.name}` };
    await merchant.ask('POST', '/v1/customers', {
      body: { email: email.toLowerCase(), fullName: 'Grace Hopper', phoneNumber: '+15550199' },
    });
    const { payment } = await merchant.ask<{ payment: { id: string } }>('POST', '/v1/payments/checkout', {
      body,
      headers,
    });
    await merchant.ask('PATCH', `/v1/payments/${payment.id}/cancel`);
    const before = await exportAll('--format', 'json');
    const erased = await merchant.command('customers', 'erase', '--merchant', merchantId, email);
    expect(erased).toMatchObject({ customers: 1, payments: 1, webhooks: 1, storedReplies: 1 });

    for (const { name } of await server.database.reader.introspection.getTables()) {
      const { rows } = await sql`select * from ${sql.table(name)}`.execute(server.database.reader);
      expect(JSON.stringify(rows), name).not.toMatch(/hopper|15550199/i);
    }
    const record = await merchant.ask<{ customer: string; description: string }>(
      'GET',
      `/v1/transactions/${payment.id}`,
    );
    expect(record.customer).toMatch(/^erased-\w+@erased\.invalid$/);
    expect(record.description).toBe('Payment from an erased customer');
    const money = (text: string) =>
      (JSON.parse(text) as Exported[]).map(({ id, receipts, credited, status }) => ({
        id,
        receipts,
        credited,
        status,
      }));
    expect(money(await exportAll('--format', 'json'))).toEqual(money(before));
    await merchant.expectBooksInOrder();
    expect(await merchant.refusal('customers', 'erase', '--merchant', merchantId, email)).toBe(
      'No such customer',
    );
    const log = JSON.stringify(await merchant.command('audit', 'list', '--merchant', merchantId));
    expect(log).toContain('customer.erased');
  });

  it('a customer with an active subscription is not erased', async () => {
    const { email } = await records.subscriber();
    const reason = await merchant.refusal('customers', 'erase', '--merchant', merchantId, email);
    expect(reason).toContain('active subscription');
    expect(await merchant.ask('GET', `/v1/customers?email=${email}`)).toHaveLength(1);
  });

  it('another merchant’s customer of the same email stays', async () => {
    const email = records.email();
    const key = await server.foreignKey('secret', 'test');
    for (const one of [key, server.secretKey]) {
      await merchant.ask('POST', '/v1/customers', { key: one, body: { email } });
    }
    await merchant.command('customers', 'erase', '--merchant', merchantId, email);
    expect(await merchant.ask('GET', `/v1/customers?email=${email}`, { key })).toHaveLength(1);
    expect(await merchant.ask('GET', `/v1/customers?email=${email}`)).toHaveLength(0);
  });
});

it.each([
  [['a', 'b'], 'a,b\r\n'],
  [['a,b', 'say "hi"', 'two\nlines'], '"a,b","say ""hi""","two\nlines"\r\n'],
  [['=1+1', '+1', '-x', '@a', '\tx'], "'=1+1,'+1,'-x,'@a,'\tx\r\n"],
  [['-1.5', '0.1'], '-1.5,0.1\r\n'],
  [[' =1', '=A1,"x"'], '\' =1,"\'=A1,""x"""\r\n'],
])('the fields %j become the CSV line %j', (fields, line) => {
  expect(csvLine(fields)).toBe(line);
});
