/**
 * Columns declare the form of their values. Text that this or an earlier release wrote is read, and an error about a value
 * that does not fit does not show it.
 */
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../src/core/db/database.js';
import { openDatabase } from '../../src/database.js';
import { createPersonalData, sealedJson } from '../../src/core/db/personal-data.js';
import { tables as coreTables } from '../../src/core/db/schema.js';
import { ensureSetting, jsonSetting, writeSetting } from '../../src/core/db/settings.js';
import type { Column, Table } from '../../src/core/db/table.js';
import { strings } from '../../src/core/db/codecs.js';
import { parseDataKeys } from '../../src/core/shared/data-keys.js';
import { valuesOf } from '../../src/core/db/values.js';
import { peopleTables } from '../../src/modules/console/tables.js';
import { refundTables } from '../../src/modules/refunds/tables.js';
import { engines, type TestDatabase } from '../support/engines.js';

const tables = { ...coreTables, ...peopleTables };

interface Json {
  /** The richest value. */
  readonly value: unknown;
  /** As a release without codecs wrote it. */
  readonly stored: string;
}

const json = (value: unknown, stored = JSON.stringify(value)): Json => ({ value, stored });
const origins = json(['https://shop.example', 'http://localhost:8080']);
const limits = json({ USDT: '1000.50', BTC: '0.00000001' });
const fields = json({
  name: 'Ünï “cödé” \u2028',
  limits: { BTC: null },
  list: [1, { deep: true }],
  none: null,
});
const senders = json(['0xAbC0000000000000000000000000000000000001', 'bc1qexample', '']);
const rate = { dollars: '123456789012345678901234567890/7', source: 'a, b and c', at: 1_700_000_000_000 };
const block = { height: 9, hash: '0xb', time: 1_700_000_000_000 };
const huge = 123_456_789_012_345_678_901_234_567_890n;
const transfer = {
  txHash: '0xa',
  outputIndex: 2_000_001,
  currency: 'USDT',
  senders: ['0x1'],
  address: '0x2',
};

const columns: Readonly<Record<string, Json>> = {
  'merchants.redirect_origins': origins,
  'merchants.daily_limits': limits,
  'merchants.daily_refunds': limits,
  'merchants.auto_refund': limits,
  'audit_log.before': fields,
  'audit_log.after': fields,
  'passkeys.transports': json(['usb', 'internal', 'one that came later']),
  'payments.accepted_currencies': json(['USDT', 'BTC']),
  'payments.quote': json({ asset: rate, base: { ...rate, dollars: '1/1' } }),
  'log_entries.entry_values': json({ currency: 'USDT', network: 'polygon', amount: '10', seen: '2' }),
  'receipts.senders': senders,
  'quarantine.transfer': json(
    { transfer: { ...transfer, amount: huge, chainAmount: huge * 10n, foundAbove: 8 }, block, seenAt: 1 },
    JSON.stringify({
      transfer: { ...transfer, amount: String(huge), chainAmount: String(huge * 10n), foundAbove: 8 },
      block,
      seenAt: 1,
    }),
  ),
  'chain_cursors.gaps': json([
    { currency: 'USDT', from: 1, to: 9, since: 1_700_000_000_000 },
    { currency: 'USDC', from: 4, since: 1_700_000_000_000 },
  ]),
  'payment_plans.currencies': json(['USDT', 'ETH']),
};

const payer = {
  description: 'Payment from Ada',
  email: 'Ada@Shop.example',
  fullName: 'Ada',
  phoneNumber: '+49 1',
};
const sealed = {
  payer: json(payer),
  person: json({ email: 'Ada@Shop.example', fullName: 'Ada', phoneNumber: '+49 1' }),
  paymentMetadata: limits,
  event: fields,
  responseExcerpt: json('<html>“no”'),
  reply: json({ status: 'success', message: 'Done', data: { payment: { transactionTimeLog: 3 } }, meta: {} }),
  previousSecrets: json([{ secret: 'whsec_a', until: 1_700_000_000_000 }]),
} satisfies Record<keyof typeof sealedJson, Json>;
const sealedTexts: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(sealed).map(([name, { stored }]) => [name, stored]),
);

const all = Object.entries<Table>(tables).flatMap(([name, { columns: declared }]) =>
  Object.entries<Column<unknown>>(declared).map(([column, one]) => [name, column, one] as const),
);

function columnAt(place: string): Column<unknown> {
  const [, , column] = all.find(([name, one]) => `${name}.${one}` === place) ?? [];
  if (!column) throw new Error(`There is no column ${place}`);
  return column;
}

function tableAt(name: string): Table {
  const found = Object.entries<Table>(tables).find(([one]) => one === name);
  if (!found) throw new Error(`There is no table ${name}`);
  return found[1];
}

const messageOf = (work: () => unknown): string => {
  try {
    work();
    return 'none';
  } catch (error) {
    return String(error);
  }
};

it('each column that is JSON is here', () => {
  const isJson = (column: Column<unknown>) =>
    column.facts.type === 'text' && messageOf(() => column.read('1')) !== 'none';
  const found = all.filter(([, , column]) => isJson(column)).map(([name, column]) => `${name}.${column}`);
  expect(found.sort()).toEqual(Object.keys(columns).sort());
});

it.each(Object.entries(columns))(
  '%s is read as it was written, also in the text of earlier releases',
  (place, { value, stored }) => {
    const column = columnAt(place);
    expect(column.read(column.write(value))).toEqual(value);
    expect(column.read(stored)).toEqual(value);
    // An older release of the same database reads what this one writes.
    expect(column.write(value)).toBe(stored);
  },
);

it('the content of encrypted columns is read, also in the text of earlier releases', () => {
  const read = Object.entries(sealedJson).map(([name, codec]) => [name, codec.read(sealedTexts[name] ?? '')]);
  expect(Object.fromEntries(read)).toEqual(
    Object.fromEntries(Object.entries(sealed).map(([name, { value }]) => [name, value])),
  );
});

const secret = 'somebody@private.example';
const wrong = ['1', '', `"${secret}`, JSON.stringify({ [secret]: { [secret]: secret } }), '[[1]]'];

it.each(Object.keys(columns))('%s names a value that does not fit only by its column', (place) => {
  const column = columnAt(place);
  const messages = wrong.map((stored) => messageOf(() => column.read(stored)));
  const [first] = messages;
  expect(first).toContain(place);
  // A JSON object of anything can have a value of any name.
  expect(messages.every((message) => message === first || message === 'none')).toBe(true);
  expect(messages.slice(0, 3)).toEqual([first, first, first]);
  expect(messages.join()).not.toContain(secret);
  expect(messageOf(() => column.write(secret))).toContain(place);
  expect(messageOf(() => column.write(secret))).not.toContain(secret);
});

it.each(Object.keys(sealedJson))('%s, which is encrypted, is named only by its column too', (name) => {
  const read = (text: string): unknown =>
    Object.entries(sealedJson)
      .find(([one]) => one === name)?.[1]
      .read(text);
  const message = messageOf(() => read(`{"${secret}`));
  expect(message).toMatch(/^WrongForm: \w+\.\w+: a stored value is not of the form/);
  expect(message).not.toContain(secret);
});

describe.each(engines)('On $name', ({ create }) => {
  let created: TestDatabase;
  let database: Database;
  beforeAll(async () => {
    created = await create();
    database = await openDatabase(created.url);
  });
  afterAll(async () => {
    await database.close();
    await created.dispose();
  });

  /** A row with a value in one column, and as little as it can have in the others. */
  async function insert(table: string, id: string, column?: string, stored?: unknown): Promise<void> {
    const declared = Object.entries<Column<unknown>>(tableAt(table).columns);
    const values = declared.flatMap(([name, { facts }]) => {
      if (name === column) return [[name, stored] as const];
      if (facts.type === 'counter') return [];
      if (facts.isNullable) return [[name, null] as const];
      if (facts.references) return [[name, 'parent'] as const];
      return [[name, facts.type === 'text' ? id : 0] as const];
    });
    await sql`insert into ${sql.table(table)} (${sql.join(values.map(([name]) => sql.ref(name)))})
      values (${sql.join(values.map(([, value]) => value))})`.execute(database.reader);
  }

  it('the richest value of each column comes back, also from the text of earlier releases', async () => {
    for (const parent of ['merchants', 'people', 'payments']) await insert(parent, 'parent');
    for (const [place, { value, stored }] of Object.entries(columns)) {
      const [table = '', name = ''] = place.split('.');
      const column = columnAt(place);
      await insert(table, `${place} of now`, name, column.write(value));
      await insert(table, `${place} of an earlier release`, name, stored);
      const { rows } = await sql<{ found: unknown }>`
        select ${sql.ref(name)} as found from ${sql.table(table)} where ${sql.ref(name)} = ${stored}`.execute(
        database.reader,
      );
      expect(rows.map(({ found }) => column.read(found))).toEqual([value, value]);
    }
  });

  it('amounts of any size and flags come back, also from parts of rows and from joins', async () => {
    const { decode, encode } = valuesOf(refundTables.refunds);
    const row = { used: huge, refund_fee: true, of_success: false, same_wallet: null, currency: 'USDT' };
    const stored = encode(row);
    expect(stored).toEqual({ ...row, used: String(huge), refund_fee: 1, of_success: 0 });
    const { rows } = await sql<typeof stored>`
      select cast(${stored.used} as text) as used, cast(${stored.refund_fee} as integer) as refund_fee,
        cast(${stored.of_success} as integer) as of_success, cast(null as integer) as same_wallet,
        cast(${stored.currency} as text) as currency`.execute(database.reader);
    expect(rows.map(decode)).toEqual([row]);
    expect(decode(undefined)).toBeUndefined();
    expect(decode({ amount: null, tx_ref: '1' })).toEqual({ amount: null, tx_ref: '1' });
    expect(messageOf(() => decode({ amount: secret }))).toBe(
      'WrongForm: refunds.amount: a stored value is not of the form that is declared for it',
    );
  });

  it('a setting is read as earlier releases wrote it', async () => {
    const setting = jsonSetting('a list', strings);
    expect(await setting.read(database.reader)).toBeUndefined();
    await database.write((transaction) => setting.write(transaction, ['a']));
    expect(await setting.read(database.reader)).toEqual(['a']);
    await database.write((transaction) => writeSetting(transaction, 'a list', '["former"]'));
    expect(await database.write((transaction) => setting.lock(transaction))).toEqual(['former']);
    await database.write((transaction) => setting.write(transaction, undefined));
    expect(await database.write((transaction) => ensureSetting(transaction, 'a list', 'x'))).toBe('');
    await database.write((transaction) => writeSetting(transaction, 'a list', `{"${secret}":1}`));
    const message = await setting.read(database.reader).catch(String);
    expect(message).toBe(
      'WrongForm: the setting "a list": a stored value is not of the form that is declared for it',
    );
  });
});

it('an encrypted value is read as it was written', () => {
  const personalData = createPersonalData(parseDataKeys(randomBytes(32).toString('base64')));
  const owned = { id: 'p', merchant_id: 'm' };
  expect(personalData.payer({ id: 'p', payer: personalData.payerColumns(owned, payer).payer })).toEqual(
    payer,
  );
  const { description: _description, ...person } = payer;
  expect(personalData.person({ id: 'p', person: personalData.personColumns(owned, person).person })).toEqual(
    person,
  );
  expect(personalData.openResponse('e', personalData.sealResponse('e', '<html>'))).toBe('<html>');
});
