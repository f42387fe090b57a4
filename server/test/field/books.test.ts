/** Public reports about exports for accountants, tried on the books of this server. */
import { bookFile, wholeBookFile, type Booking } from 'crypto-checkout/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bookingsOf, exportBooks } from '../support/books.js';
import { engines } from '../support/engines.js';
import { openLedgerShop, type LedgerShop } from '../books/ledger-shop.js';

const [engine] = engines;
if (!engine) throw new Error('There is no engine');

const oneUsdt = 1_000_000n;

const booking: Booking = {
  id: '01J9ZQ2A0B1C2D3E4F5G6H7J8K',
  time: '2026-12-31T22:43:05.000Z',
  kind: 'receipt',
  asset: 'USDT',
  localDate: '2026-12-31',
  localTime: '2026-12-31T22:43:05.000+00:00',
  amount: '25',
  available: '0',
  reserved: '0',
  unallocated: '25',
  balance: '25',
  unitValue: '0.92',
  value: '23.00',
  currency: 'EUR',
  reference: 'order-42',
  note: 'Received',
};
const period = { firstDay: '2026-12-01', lastDay: '2026-12-31', currency: 'EUR' };
const datev = bookFile('datev', period, {
  consultant: 1001,
  client: 1,
  account: '1370',
  contraAccount: '1590',
  fiscalYear: '2026-01-01',
});
const textOf = (file: typeof wholeBookFile, one: Booking) => {
  const line = file.line(one);
  return 'text' in line ? line.text : line.leftOut;
};

describe('Exports for accountants', () => {
  let books: LedgerShop;
  beforeAll(async () => {
    books = await openLedgerShop(engine);
    // 22:43 in UTC on New Year's Eve is next year in Berlin, and 2026 in New York.
    await books.receive(Date.parse('2026-12-31T22:43:00Z'), oneUsdt);
    await books.receive(Date.parse('2026-12-31T23:43:00Z'), oneUsdt);
    await books.receive(Date.parse('2027-01-05T13:30:00Z'), oneUsdt);
    await books.receive(Date.parse('2027-01-05T01:30:00Z'), oneUsdt);
    books.shop.time.now = Date.parse('2027-02-01T12:00:00Z');
  });
  afterAll(() => books.shop.close());

  it('soramitsu/adar#295: a month has what is within it in the zone that was asked for, and only there', async () => {
    const times = async (options: string) =>
      (await bookingsOf(books.shop, books.live, options)).map(({ localTime }) => localTime);
    expect(await times('--from 2027-01-01 --to 2027-01-04 --zone Europe/Berlin')).toEqual([
      '2027-01-01T00:43:00.000+01:00',
    ]);
    expect(await times('--month 2026-12 --zone Europe/Berlin')).toEqual(['2026-12-31T23:43:00.000+01:00']);
    expect(await times('--from 2027-01-01 --to 2027-01-03 --zone America/New_York')).toEqual([]);
    expect(await times('--month 2026-12 --zone America/New_York')).toHaveLength(2);
  });

  it('woocommerce-payments#8522, electrum#2081: times say their zone, and so does the command', async () => {
    const { text, logged } = await exportBooks(
      books.shop,
      books.live,
      '--month 2026-12 --zone Europe/Berlin',
    );
    expect(text).toContain('2026-12-31T22:43:00.000Z,2026-12-31,2026-12-31T23:43:00.000+01:00,');
    expect(logged).toContain('from 2026-12-01 to 2026-12-31, Europe/Berlin');
  });

  it('btcpayserver#5915: half past one in the afternoon is not half past one', async () => {
    const found = await bookingsOf(books.shop, books.live, '--from 2027-01-05 --to 2027-01-05');
    expect(found.map(({ localTime }) => localTime.slice(11, 16))).toEqual(['01:30', '13:30']);
  });

  it('btcpayserver#6364: a booking without a rate has no value, and never 0.00', async () => {
    const { text, logged } = await exportBooks(books.shop, books.live, '--month 2027-01');
    expect(text).not.toMatch(/,0\.00,/);
    expect(logged).toContain(
      'Without a value in USD: 2 bookings, as no rate is known within 10 minutes of them',
    );
    const { value, unitValue, ...unvalued } = booking;
    expect([value, unitValue]).toEqual(['23.00', '0.92']);
    const columns = wholeBookFile.head.trim().split(',');
    const cells = textOf(wholeBookFile, unvalued).trim().split(',');
    expect([cells[columns.indexOf('unit_value')], cells[columns.indexOf('value')]]).toEqual(['', '']);
  });

  it('btcpayserver#5409, trezor-suite#5904: each cell is one number or one text, and amounts are numbers', async () => {
    const { text } = await exportBooks(books.shop, books.live, '--month 2027-01');
    const [head = '', ...lines] = text.trim().split('\r\n');
    const columns = head.split(',');
    expect(lines).toHaveLength(2);
    for (const line of lines) {
      const cells = line.split(',');
      expect(cells).toHaveLength(columns.length);
      for (const column of ['amount', 'available_change', 'unallocated_change', 'balance']) {
        expect(cells[columns.indexOf(column)], column).toMatch(/^-?\d+(\.\d+)?$/);
      }
    }
    expect(text).not.toMatch(/\[object|undefined|null|NaN/);
  });

  it('portfolio#865: a fee is exported too, as a line that says so', async () => {
    const merchantId = books.merchantId;
    await books.post({
      key: 'settlement:field',
      mode: 'live',
      currency: 'USDT',
      entries: [
        { account: { kind: 'unallocated', merchantId }, debit: oneUsdt },
        { account: { kind: 'available', merchantId }, credit: 990_000n },
        { account: { kind: 'fee_income' }, credit: 10_000n },
      ],
    });
    const found = await bookingsOf(books.shop, books.live, '--month 2027-02');
    expect(found).toMatchObject([
      { kind: 'credit', amount: '0', available: '1', unallocated: '-1' },
      { kind: 'fee', amount: '-0.01', available: '-0.01' },
    ]);
  });

  it('RechnungsFee#167: a line that a profile leaves out is counted, and the command says why', async () => {
    const { text, logged } = await exportBooks(books.shop, books.live, '--month 2027-01 --profile xero');
    expect(text.trim().split('\r\n')).toHaveLength(1);
    expect(logged).toContain('2 bookings from');
    expect(logged).toContain('Left out: 2 bookings without a value in USD');
  });

  it('erpnext_datev#28: no text of DATEV is longer than it takes, and the reference has the letters that it takes', () => {
    const long = { ...booking, note: 'x'.repeat(200), reference: `Bestellung Nr. ${'9'.repeat(80)}` };
    const cells = textOf(datev, long).split(';');
    expect(cells[10]).toMatch(/^"[A-Za-z0-9$&%*+\-/]{36}"$/);
    expect(cells[13]?.length).toBe(62);
  });

  it('portfolio#865: umlauts and other letters are in the characters that DATEV reads, or are question marks', () => {
    const line = textOf(datev, { ...booking, note: 'Müller “Ł” 支払い' });
    expect(line).toContain('Müller ??? ???');
    // A letter that Latin-1 lacks would become another letter.
    expect([...line].filter((letter) => letter.charCodeAt(0) > 255)).toEqual([]);
  });

  it('Koinly takes times in UTC, whatever the zone of the books', () => {
    const koinly = bookFile('koinly', period);
    const line = textOf(koinly, {
      ...booking,
      localDate: '2027-01-01',
      localTime: '2027-01-01T00:43:05.000+02:00',
    });
    expect(line).toMatch(/^2026-12-31 22:43:05 UTC,,,25,USDT,,,23.00,EUR,,/);
  });
});
