/** `books export` and `GET /v1/books`: days of a zone, what is kept of months, and what postings an older release has left. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { books as booksModule } from '../../src/modules/books/module.js';
import { inBooks } from '../../src/modules/books/kinds.js';
import { linesOf } from '../../src/modules/books/lines.js';
import { kindOfPosting, postingKinds } from '../../src/core/ledger/posting-kinds.js';
import type { Scope } from '../../src/core/shared/scope.js';
import { bookingsOf, exportBooks } from '../support/books.js';
import { enginesOfSoak } from '../support/engines.js';
import { startServer, type TestServer } from '../support/server.js';
import { openLedgerShop, type LedgerShop } from './ledger-shop.js';

const minute = 60_000;
const oneUsdt = 1_000_000n;

describe.each(enginesOfSoak)('The days of a zone, on $name', (engine) => {
  let books: LedgerShop;
  beforeAll(async () => {
    books = await openLedgerShop(engine);
  });
  afterAll(() => books.shop.close());

  const timesOf = async (options: string) =>
    (await bookingsOf(books.shop, books.live, options)).map(({ time }) => time);

  it('the days of a zone follow its clocks, also when these are put forward and back', async () => {
    const times = [
      // Berlin is at +01:00 until 2026-03-29, then at +02:00 until 2026-10-25.
      ...['2026-03-28T22:59:59.999Z', '2026-03-28T23:00:00.000Z', '2026-03-29T21:59:59.999Z'],
      ...['2026-03-29T22:00:00.000Z', '2026-10-24T21:59:59.999Z', '2026-10-24T22:00:00.000Z'],
      ...['2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z', '2026-10-25T22:59:59.999Z'],
      '2026-10-25T23:00:00.000Z',
    ];
    for (const time of times) await books.receive(Date.parse(time), oneUsdt);
    books.shop.time.now = Date.parse('2026-11-30T00:00:00Z');
    const berlin = (from: string, to = from) => timesOf(`--from ${from} --to ${to} --zone Europe/Berlin`);
    expect(await berlin('2026-03-29'), '23 hours').toEqual([times[1], times[2]]);
    expect(await berlin('2026-10-25'), '25 hours').toEqual([times[5], times[6], times[7], times[8]]);
    expect(await timesOf('--month 2026-03 --zone Europe/Berlin')).toEqual(times.slice(0, 4));
    expect(await timesOf('--from 2026-10-25 --to 2026-10-25')).toEqual(times.slice(6));
    const local = (await bookingsOf(books.shop, books.live, '--month 2026-10 --zone Europe/Berlin')).map(
      ({ localTime }) => localTime,
    );
    // The hour that comes twice is told apart by its offset.
    expect(local).toContain('2026-10-25T02:30:00.000+02:00');
    expect(local).toContain('2026-10-25T02:30:00.000+01:00');
    expect(await timesOf('--month 2026-02 --zone Asia/Kolkata')).toEqual([]);
  });

  it('a day that a zone has skipped has no bookings', async () => {
    // Samoa went from December 29th to the 31st in 2011.
    await books.receive(Date.parse('2011-12-30T09:59:59.999Z'), oneUsdt);
    await books.receive(Date.parse('2011-12-30T10:00:00.000Z'), oneUsdt);
    books.shop.time.now = Date.parse('2026-11-30T00:00:00Z');
    const apia = (day: string) => timesOf(`--from ${day} --to ${day} --zone Pacific/Apia`);
    expect(await apia('2011-12-29')).toEqual(['2011-12-30T09:59:59.999Z']);
    expect(await apia('2011-12-30')).toEqual([]);
    expect(await apia('2011-12-31')).toEqual(['2011-12-30T10:00:00.000Z']);
  });

  it.each([
    ['--month 2026-13', 'Must be a month: 2026-12'],
    ['--from 2026-02-30 --to 2026-03-01', '"2026-02-30" is not a day: write it as 2026-12-31'],
    ['--from 2026-03-02 --to 2026-03-01', 'Must not be after "to"'],
    ['--from 2026-03-02', 'Give from and to'],
    ['--month 2026-03 --from 2026-03-01', 'Give a month, or from and to, not both'],
    ['--month 2026-03 --zone Europe/Berln', '"Europe/Berln" is not a time zone: use an IANA name'],
    ['--month 2026-03 --zone +01:00', '"+01:00" is not a time zone'],
    ['--month 2026-03 --profile xero --format json', '--profile writes CSV'],
    ['--month 2026-03 --account 1234', 'Options for DATEV need --profile datev'],
    ['--month 2026-03 --profile datev', '--profile datev needs --consultant, --client'],
  ])('%s is refused in words', async (options, words) => {
    await expect(exportBooks(books.shop, books.live, options)).rejects.toThrow(words);
  });
});

describe.each(enginesOfSoak)('Days that are over, on $name', (engine) => {
  let books: LedgerShop;
  beforeAll(async () => {
    books = await openLedgerShop(engine);
    for (let month = 0; month < 6; month += 1) await books.receive(Date.UTC(2026, month, 10), oneUsdt);
    books.shop.time.now = Date.UTC(2026, 5, 20);
  });
  afterAll(() => books.shop.close());

  it('days that are over have kept balances, which make no difference to the export', async () => {
    const all = async () => {
      const found = [];
      for (const month of ['2026-01', '2026-04', '2026-06']) {
        found.push(await exportBooks(books.shop, books.live, `--month ${month} --zone Asia/Tokyo`));
      }
      return found;
    };
    const before = await all();
    await books.keepDays();
    await books.keepDays();
    const kept = await books.shop.database.reader
      .selectFrom('book_balances')
      .selectAll()
      .orderBy('at')
      .execute();
    expect(kept.map(({ at, total }) => [new Date(at).toISOString().slice(0, 10), total])).toEqual([
      ...[1, 2, 3, 4, 5, 6].map((count) => [`2026-0${count}-11`, String(count * 1_000_000)]),
    ]);
    expect(await all()).toEqual(before);
  });

  it('the balance of a day is kept only when nothing is added to the day any more', async () => {
    const count = async () =>
      (await books.shop.database.reader.selectFrom('book_balances').select('at').execute()).length;
    await books.receive(Date.UTC(2026, 5, 30, 12), oneUsdt);
    books.shop.time.now = Date.UTC(2026, 6, 1, 0, 14, 59);
    await books.keepDays();
    expect(await count()).toBe(6);
    books.shop.time.now = Date.UTC(2026, 6, 1, 0, 15);
    await books.keepDays();
    expect(await count()).toBe(7);
  });

  it('days that are over take nothing that is posted late: the ledger sets the time, no matter who posts', async () => {
    books.shop.time.now = Date.UTC(2026, 6, 1, 9);
    const before = await exportBooks(books.shop, books.live, '--month 2026-06');
    await books.receive(books.shop.time.now, oneUsdt);
    expect((await exportBooks(books.shop, books.live, '--month 2026-06')).text).toBe(before.text);
    expect(await bookingsOf(books.shop, books.live, '--month 2026-07')).toHaveLength(1);
  });

  it('days are whole after an upgrade: postings of an older release are assigned to their merchant', async () => {
    const before = await exportBooks(books.shop, books.live, '--month 2026-05');
    const forget = () =>
      books.shop.database.write((transaction) =>
        sql`update ledger_postings set merchant_id = null`.execute(transaction),
      );
    await forget();
    await expect(
      booksModule.rules(books.shop.app).list(books.live, { month: '2026-05', zone: 'UTC', limit: 10 }),
    ).rejects.toThrow('being prepared after an upgrade');
    await books.nameMerchants();
    expect(
      (await booksModule.rules(books.shop.app).list(books.live, { month: '2026-05', zone: 'UTC', limit: 10 }))
        .bookings,
    ).toHaveLength(1);
    await forget();
    expect((await exportBooks(books.shop, books.live, '--month 2026-05')).text).toBe(before.text);
  });
});

describe.each(enginesOfSoak)('Days after an upgrade, on $name', (engine) => {
  it('days after an upgrade are kept with all of their postings, although the merchants of some are not named yet', async () => {
    const books = await openLedgerShop(engine);
    onTestFinished(() => books.shop.close());
    const { database } = books.shop;
    for (let time = 0; time < 6; time += 1) await books.receive(Date.UTC(2026, 0, 10), oneUsdt);
    books.shop.time.now = Date.UTC(2026, 0, 20);
    await database.write(async (transaction) => {
      await sql`update ledger_postings set merchant_id = null`.execute(transaction);
      await books.ledger.nameMerchants(transaction, 3);
    });
    await books.keepDays();
    const kept = await database.reader.selectFrom('book_balances').select('total').execute();
    expect(kept).toEqual([{ total: String(6n * oneUsdt) }]);
    expect((await exportBooks(books.shop, books.live, '--month 2026-02')).hasFailed).toBe(false);
  });
});

describe.each(enginesOfSoak)('Days of the sandbox, on $name', (engine) => {
  it('days of the sandbox are kept until they are wiped, but not within 15 minutes after the test clock was moved', async () => {
    const books = await openLedgerShop(engine);
    onTestFinished(() => books.shop.close());
    const { app, database, time } = books.shop;
    const of: Scope = { ...books.live, mode: 'test' };
    const kept = async () => {
      await books.keepDays();
      const rows = await database.reader.selectFrom('book_balances').select(['mode', 'total']).execute();
      return rows.filter(({ mode }) => mode === 'test').map(({ total }) => total);
    };
    const begin = async (month: string) =>
      (await booksModule.rules(app).list(of, { month, zone: 'UTC', limit: 10 })).begin.map(
        ({ total }) => total,
      );
    await books.receive(Date.UTC(2026, 0, 10), oneUsdt, { of });
    await books.receive(Date.UTC(2026, 0, 11), oneUsdt);
    expect(await kept()).toEqual([]);
    await database.write((transaction) => app.clock.advance(transaction, of.merchantId, 28 * 86_400));
    await app.clock.refresh();
    expect(app.clock.now(of)).toBe(Date.UTC(2026, 1, 8));
    expect(await kept(), 'just moved').toEqual([]);
    time.now += 15 * minute;
    expect(await kept()).toEqual([String(oneUsdt)]);
    expect(await begin('2026-02')).toEqual(['1']);
    expect(await begin('2026-03')).toEqual(['1']);
    await app.sandboxReset(of.merchantId, 'server');
    expect(await kept()).toEqual([]);
    expect(await begin('2026-03')).toEqual([]);
    time.now = Date.UTC(2026, 2, 2);
    const live = await booksModule.rules(app).list(books.live, { month: '2026-02', zone: 'UTC', limit: 10 });
    expect(live.begin, 'what is real stays').toEqual([{ asset: 'USDT', total: '1' }]);
  });
});

describe.each(enginesOfSoak)('The books over HTTP, on $name', (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ engine });
  });
  afterAll(() => server.stop());

  const get = (query: string, key = server.secretKey) => server.api('GET', `/v1/books?${query}`, { key });

  it('the books are for secret keys only', async () => {
    expect((await get('month=2026-11')).body.data).toMatchObject({
      bookings: [],
      zone: 'UTC',
      currency: 'USD',
    });
    expect((await get('month=2026-11', server.publicKey)).status).toBe(403);
  });

  it.each([
    ['month=2026-11&cursor=x', 'cursor'],
    [
      `month=2026-11&cursor=${Buffer.from('{"period":[1,2],"place":[0,0,""],"totals":{}}').toString('base64url')}`,
      'cursor',
    ],
    ['month=2026-11&zone=Mars/Base', 'zone'],
    ['month=2026-13', 'month'],
    ['from=2026-11-01', 'from'],
    ['from=2026-01-01&to=9999-12-31', 'to'],
    ['from=0000-12-31&to=2026-01-01', 'from'],
    ['month=9999-12', 'month'],
    ['month=2026-11&limit=1001', 'limit'],
  ])('the query %s is refused', async (query, param) => {
    const { status, body } = await get(query);
    expect([status, body.data.code, body.data.param]).toEqual([400, 'validation_error', param]);
  });

  it('a cursor that names a currency which the server does not know is refused', async () => {
    const { data } = (await get('month=2026-11')).body;
    const period = [Date.parse(String(data['from'])), Date.parse(String(data['to']))];
    const cursor = { period, place: [period[0], 0, ''], totals: { NOPE: '1' } };
    const text = Buffer.from(JSON.stringify(cursor)).toString('base64url');
    expect((await get(`month=2026-11&cursor=${text}`)).status).toBe(400);
  });
});

describe('Kinds of postings', () => {
  it('each kind of posting has a row in the books, and an unknown kind is refused by name', () => {
    expect(Object.keys(inBooks).sort()).toEqual([...postingKinds].sort());
    expect(postingKinds.map((kind) => kindOfPosting(`${kind}:1:2`))).toEqual(postingKinds);
    expect(() => kindOfPosting('surprise:1')).toThrow('The posting surprise:1 has an unknown kind');
  });

  it('the lines of a posting show the fee apart from the amount that it was charged for', () => {
    const entry = (
      kind: 'custody' | 'available' | 'unallocated' | 'fee_income' | 'reserved',
      debit: number,
      credit: number,
    ) => ({
      kind,
      network: null,
      debit: BigInt(debit),
      credit: BigInt(credit),
    });
    const none = { available: 0n, reserved: 0n, unallocated: 0n };
    const settlement = [entry('unallocated', 100, 0), entry('available', 0, 99), entry('fee_income', 0, 1)];
    expect(linesOf('settlement:1', settlement, false)).toEqual([
      { ...none, unallocated: -100n, available: 100n, kind: 'credit', note: 'Credited', isFee: false },
      { ...none, available: -1n, kind: 'fee', note: 'Service fee', isFee: true },
    ]);
    const paid = [entry('reserved', 50, 0), entry('custody', 0, 47), entry('fee_income', 0, 3)];
    expect(linesOf('post:1', paid, true)).toMatchObject([
      { reserved: -47n, kind: 'refund' },
      { reserved: -3n, kind: 'network_fee' },
    ]);
    expect(linesOf('sweep:1', [entry('custody', 5, 0), entry('custody', 0, 5)], false)).toEqual([]);
  });
});

describe('Files', () => {
  it('a DATEV export needs a file, writes it in Windows-1252, and stays within a fiscal year', async () => {
    const [engine] = enginesOfSoak;
    if (!engine) throw new Error('There is no engine');
    const books = await openLedgerShop(engine);
    const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-books-'));
    onTestFinished(async () => {
      await books.shop.close();
      await rm(directory, { recursive: true });
    });
    await books.setCurrency('EUR');
    await books.receive(Date.UTC(2026, 10, 3), oneUsdt);
    await books.keepRates();
    books.shop.time.now = Date.UTC(2026, 11, 2);
    const file = join(directory, 'EXTF_November.csv');
    const datev =
      '--month 2026-11 --profile datev --consultant 1001 --client 1 --account 1370 --contra-account 1590';
    await expect(exportBooks(books.shop, books.live, datev)).rejects.toThrow('needs --output');
    await exportBooks(books.shop, books.live, `${datev} --output ${file}`);
    const bytes = await readFile(file);
    expect(bytes.includes(Buffer.from('BU-Schl\u00fcssel', 'latin1'))).toBe(true);
    expect(bytes.includes(0xc3)).toBe(false);
    const twoYears = datev.replace('--month 2026-11', '--from 2026-06-01 --to 2027-01-01');
    await expect(exportBooks(books.shop, books.live, `${twoYears} --output ${file}2`)).rejects.toThrow(
      'must be within the fiscal year that begins on 2026-01-01',
    );
  });
});
