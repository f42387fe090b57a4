/** One month as each file that `books export` writes, compared with the files in `golden/`. */
import { beforeAll, afterAll, describe, expect, it } from 'vitest';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { moved } from '../../src/core/ledger/ledger.js';
import { refunds as refundsModule } from '../../src/modules/refunds/module.js';
import { exportBooks } from '../support/books.js';
import { enginesOfQuick } from '../support/engines.js';
import { externalAddresses } from '../support/shop.js';
import { openLedgerShop, type LedgerShop } from './ledger-shop.js';

const usdt = (amount: number) => BigInt(Math.round(amount * 1e6));
const month = '--month 2026-12 --zone Europe/Berlin';

/** Chains make their hashes at random. */
function withNamedHashes(text: string): string {
  const names = new Map<string, string>();
  return text.replaceAll(/\b[0-9a-f]{64}\b/g, (hash) => {
    const name = names.get(hash) ?? String(names.size + 1).padStart(64, '0');
    names.set(hash, name);
    return name;
  });
}

describe.each(enginesOfQuick)('A month as a file, on $name', (engine) => {
  let books: LedgerShop;
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-golden-'));
    books = await openLedgerShop(engine);
    const { shop, merchantId } = books;
    const scope = { merchantId, mode: 'test', kind: 'secret' } as const;
    await books.setCurrency('EUR');
    shop.cents.set('EUR', 115n);
    shop.time.now = Date.UTC(2026, 11, 1, 8);
    await shop.mine('tron');
    const sell = async (txRef: string, amount: string, sent: number) => {
      shop.time.now += 3_600_000;
      const { id } = await shop.database.write(async (transaction) => {
        const created = await shop.app.payments.create(transaction, scope, {
          ...shop.app.payments.parseBase(scope, amount, 'EUR'),
          txRef,
          email: 'ada@example.com',
        });
        await shop.app.payments.setCurrency(transaction, scope, created.id, 'USDT', 'tron');
        await shop.app.payments.lockCurrency(transaction, scope, created.id);
        return created;
      });
      const { address } = await shop.payment(id);
      await shop.send('tron', 'USDT', address ?? '', usdt(sent));
      await shop.mine('tron', 2);
      await books.keepRates();
      return id;
    };
    const sendOut = async () => {
      for (let round = 0; round < 4; round += 1) {
        await shop.advance();
        await shop.mine('tron', 2);
      }
      await books.keepRates();
    };
    await sell('order-1', '20', 23);
    const over = await sell('=HYPERLINK("https://evil.example","order 2")', '10', 15);
    shop.time.now += 86_400_000;
    await shop.withdraw(scope, '5', externalAddresses.tron, 'tron');
    await sendOut();
    const refund = await shop.database.write((transaction) =>
      refundsModule.rules(shop.app).create(
        transaction,
        scope,
        {
          paymentId: over,
          kind: 'excess',
          address: externalAddresses.tron,
          by: 'coins',
          networkFee: 'merchant',
          refundFee: false,
        },
        'a test',
      ),
    );
    await shop.database.write((transaction) =>
      refundsModule.rules(shop.app).approve(transaction, scope, refund.id, 'a test'),
    );
    await sendOut();
    // A payout to a bank, whose rate nobody knows.
    shop.time.now += 86_400_000;
    const payout = books.newId();
    await shop.database.write((transaction) =>
      transaction
        .insertInto('payouts')
        .values({
          id: payout,
          merchant_id: merchantId,
          mode: 'test',
          status: 'success',
          currency: 'USDT',
          amount: '4000000',
          fee: '0',
          amount_order: '4',
          fee_order: '0',
          bank_account_id: 'a bank',
          wallet_address_id: null,
          destination: '06…032',
          transfer_id: null,
          reference: 'Auszahlung Müller',
          tx_hash: null,
          failure_reason: null,
          created_at: shop.time.now,
          updated_at: shop.time.now,
        })
        .execute(),
    );
    await books.post({
      key: `bank:${payout}`,
      mode: 'test',
      currency: 'USDT',
      entries: moved({ kind: 'available', merchantId }, { kind: 'bank_clearing' }, usdt(4)),
    });
    // Dust, worth less than a cent.
    shop.time.now = Date.UTC(2026, 11, 31, 22, 59, 59, 999);
    await books.receive(shop.time.now, 3000n, { of: scope, key: 'receipt:dust' });
    await books.keepRates();
    shop.time.now = Date.UTC(2027, 0, 2);
  });
  afterAll(async () => {
    await books.shop.close();
    await rm(directory, { recursive: true });
  });

  const testBooks = (options: string) =>
    exportBooks(books.shop, { merchantId: books.merchantId, mode: 'test' }, `${month} ${options}`);

  it.each([
    ['every column', '--format csv', 'whole.csv'],
    ['JSON', '--format json', 'whole.json'],
    ['Xero', '--profile xero', 'xero.csv'],
    ['QuickBooks', '--profile quickbooks', 'quickbooks.csv'],
    ['Koinly', '--profile koinly', 'koinly.csv'],
  ])('The export of a month equals its golden file: %s', async (_name, options, golden) => {
    const { text, hasFailed } = await testBooks(options);
    expect(hasFailed).toBe(false);
    if (golden.endsWith('.csv')) expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
    await expect(withNamedHashes(text)).toMatchFileSnapshot(`golden/${golden}`);
  });

  it('The export for DATEV equals its golden file, in Windows-1252', async () => {
    const file = join(directory, 'EXTF_Buchungsstapel.csv');
    const numbers = '--consultant 29098 --client 55003 --account 1370 --contra-account 1590';
    await testBooks(`--profile datev ${numbers} --output ${file}`);
    const text = (await readFile(file)).toString('latin1');
    await expect(text).toMatchFileSnapshot('golden/datev.csv');
    const [head = '', columns = '', ...lines] = text.split('\r\n');
    expect(head.split(';')).toHaveLength(31);
    expect(columns.split(';')).toHaveLength(125);
    for (const line of lines.slice(0, -1)) expect(line.split(';')).toHaveLength(125);
  });

  it('The rules for hledger in docs/accounting.md name all columns of the export', async () => {
    const docs = await readFile(new URL('../../../docs/accounting.md', import.meta.url), 'utf8');
    // hledger has an amount and a balance of its own.
    const named = (/^fields (.+)$/m.exec(docs)?.[1] ?? '').replace(',units,', ',amount,');
    const { text } = await testBooks('--format csv');
    expect(named.replace(',running,', ',balance,')).toBe(text.slice(0, text.indexOf('\r\n')));
  });

  it('An export reports the bookings that its profile leaves out, and why', async () => {
    expect((await testBooks('--profile xero')).logged.split('\n').slice(-2)).toEqual([
      'Left out: 1 booking worth less than the smallest amount of EUR',
      'Left out: 1 booking without a value in EUR, as no rate is known within 10 minutes of them',
    ]);
    // Koinly knows rates of its own.
    const koinly = await testBooks('--profile koinly');
    expect(koinly.logged).toContain('Without a value in EUR: 1 booking');
    expect(koinly.text).toContain(',4,USDT,');
  });

  it('No CSV file runs a formula that a payer chose', async () => {
    for (const options of ['--format csv', '--profile xero', '--profile quickbooks', '--profile koinly']) {
      const { text } = await testBooks(options);
      expect(text).toContain('HYPERLINK');
      expect(text).not.toMatch(/(^|[,\n]|")=HYPERLINK/);
    }
  });
});
