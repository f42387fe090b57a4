/** The receipt says what the server knows of a payment now, and nothing of who paid, on both engines. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { languages, pickLocale, type PageTexts } from '../../src/core/site/page-texts.js';
import { enginesOfQuick } from '../support/engines.js';
import { externalAddresses, type LockedPayment } from '../support/shop.js';
import { createRecords, type Records } from '../support/records.js';
import { startServer, type TestServer } from '../support/server.js';

const receiptIn = (language: string) => pickLocale([language]).texts.receipt;

describe.each(enginesOfQuick)('a receipt, on $name', (engine) => {
  let server: TestServer;
  let records: Records;

  beforeAll(async () => {
    server = await startServer({ engine });
    records = createRecords(server);
  });
  afterAll(() => server.stop());

  async function openReceipt(id: string, language = 'en') {
    const reply = await fetch(`${server.url}/receipt/${id}`, { headers: { 'Accept-Language': language } });
    return { status: reply.status, headers: reply.headers, page: await reply.text() };
  }
  const stateOf = async (id: string) => /class="state">([^<]*)</.exec((await openReceipt(id)).page)?.[1];
  const mine = (count: number) => records.shop.mine(count);
  async function sendTo({ address }: LockedPayment, amount: number, currency = 'USDT') {
    await records.shop.send(address, amount, { currency });
  }

  it('A receipt is at the URL in the payment, and has the order, the sums and each transfer', async () => {
    const payment = await records.lockedPayment();
    const { id, amount, txRef = '', receiptUrl } = payment;
    expect(receiptUrl).toBe(`${server.url}/receipt/${id}`);
    await sendTo(payment, amount);
    await mine(3);
    const { receipts } = (await records.merchant.transactions.verify({ params: { transaction_id: id } }))
      .data;
    const { status, page } = await openReceipt(id);
    expect(status).toBe(200);
    for (const part of [
      txRef,
      id,
      `${amount.toFixed(2)} USDT`,
      '5,000.00 NGN',
      'Tron',
      // As the checkout shows it.
      '1 USDT ≈ 1,538.46 NGN',
      receipts[0]?.txHash ?? 'hash',
    ])
      expect(page).toContain(part);
    expect(page).toMatch(/counted · confirmed/);
    expect(page).toMatch(
      /As the server saw it at <time datetime="[^"]+Z" dir="ltr">\d{4}-\d\d-\d\d [\d:]{8} UTC</,
    );
    expect(page).toContain('no real money was paid');
    const css = await fetch(`${server.url}${/stylesheet" href="([^"]+)"/.exec(page)?.[1] ?? ''}`);
    expect(css.headers.get('content-type')).toMatch(/^text\/css/);
  });

  it('A receipt keeps the time of the payment when a refund is paid', async () => {
    const payment = await records.lockedPayment();
    await sendTo(payment, payment.amount + 5);
    await mine(3);
    const paidAt = async () =>
      /Paid at<\/dt>\s*<dd><time datetime="([^"]+)"/.exec((await openReceipt(payment.id)).page)?.[1];
    const before = await paidAt();
    expect(before).toMatch(/Z$/);
    const { data: refund } = await records.merchant.refunds.create({
      params: { payment_id: payment.id },
      body: { kind: 'excess', address: externalAddresses.tron },
    });
    await records.merchant.refunds.approve({ params: { refund_id: refund.id }, body: {} });
    await expect
      .poll(
        async () => {
          await mine(1);
          return (await records.merchant.refunds.retrieve({ params: { refund_id: refund.id } })).data.status;
        },
        { timeout: 20_000 },
      )
      .toBe('paid');
    expect((await openReceipt(payment.id)).page).toContain('sent back');
    expect(await paidAt()).toBe(before);
  });

  it('A receipt shows the state that its payment has when it is opened', async () => {
    const payment = await records.lockedPayment();
    const { id, amount } = payment;
    expect(await stateOf(id)).toBe('Waiting for payment');
    expect((await openReceipt(id)).page).toContain('Nothing has arrived.');
    await sendTo(payment, 1);
    await mine(3);
    expect(await stateOf(id)).toBe('Partly paid');
    await sendTo(payment, amount - 1);
    expect(await stateOf(id)).toBe('Seen, not confirmed yet');
    expect((await openReceipt(id)).page).toMatch(/counted · 0 of 2 confirmations/);
    await mine(3);
    expect(await stateOf(id)).toBe('Paid');
    await records.shop.sandbox('reorgs', { network: 'tron', depth: 3 });
    expect(await stateOf(id)).toBe('Reversed: the network removed a transfer');
    expect((await openReceipt(id)).page).toMatch(/not counted · no longer on the network/);

    const [over, wrong, unlocked] = [
      await records.lockedPayment(),
      await records.lockedPayment(),
      await records.payment(),
    ];
    await sendTo(over, over.amount + 1);
    await sendTo(wrong, 2, 'TRX');
    await mine(25);
    expect(await stateOf(over.id)).toBe('Paid, and more than was due');
    expect((await openReceipt(wrong.id)).page).toMatch(/2\.00 TRX[\s\S]*not counted · confirmed/);
    const choosing = await openReceipt(unlocked);
    expect(choosing.page).toContain('Waiting for payment');
    expect(choosing.page).not.toContain('Rate');
    await records.merchant.payments.cancel({ params: { payment_id: unlocked } });
    expect(await stateOf(unlocked)).toBe('Cancelled');
  });

  it('A receipt shows the holder of its link nothing about the payer', async () => {
    const payer = { email: 'ada.lovelace@example.com', name: 'Ada Lovelace', phoneNumber: '+15550100' };
    const locked = await records.shop.lock({ customer: payer, metadata: { crm: 'lovelace' } });
    await sendTo(locked, locked.amount);
    await mine(3);
    const { data: whole } = await records.merchant.transactions.verify({
      params: { transaction_id: locked.id },
    });
    const { page } = await openReceipt(locked.id);
    expect(whole.addressSentFrom).toHaveLength(1);
    for (const sender of whole.addressSentFrom) expect(page).not.toContain(sender);
    // The shortened name and email that a public key reads are not there either.
    expect(page).not.toMatch(/lovelace|ada|a…@|A\. L\.|15550100|anonymous|pk_test_|merchant/i);
  });

  it('A receipt runs only its own script, and is not cached, framed, indexed or named to an explorer', async () => {
    const { headers, page } = await openReceipt(await records.payment());
    expect(page.match(/<script[^>]*>/g)).toEqual(['<script src="/receipt/page.js" defer>']);
    expect(page).not.toMatch(/ style=| on\w+=/);
    const script = await fetch(`${server.url}/receipt/page.js`);
    expect([script.status, script.headers.get('content-type')]).toEqual([
      200,
      expect.stringMatching(/javascript/),
    ]);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-robots-tag')).toBe('noindex');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src https: data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
    );
  });

  it('A receipt escapes the name that the merchant entered', async () => {
    const other = await startServer({ engine });
    await other.database.write((transaction) =>
      other.app.merchants.update(transaction, other.bootstrapped.merchantId, {
        businessName: '<img src=x onerror=alert(1)>',
      }),
    );
    const page = await fetch(`${other.url}/receipt/${await createRecords(other).payment()}`);
    await other.stop();
    expect(await page.text()).toMatch(/<h1>Receipt · &lt;img src=x onerror=alert\(1\)&gt;/);
  });

  it('A receipt does not exist for an unknown id or a deposit to a hosted wallet', async () => {
    const { data: wallet } = await records.merchant.wallets.create({
      body: { currency: 'USDT', label: 'Donations' },
    });
    const address = wallet.addresses.find(({ network }) => network === 'tron')?.address ?? '';
    await records.shop.send(address, 1);
    const { id } = await server.database.reader
      .selectFrom('payments')
      .select('id')
      .where('wallet_id', '=', wallet.id)
      .executeTakeFirstOrThrow();
    for (const unknown of [id, '01J9ZQ4W3V8K2M6N7P5R0S1T2X', '<script>']) {
      const { status, page } = await openReceipt(encodeURIComponent(unknown), 'es');
      expect(status).toBe(404);
      expect(page).toContain('Pago no encontrado');
    }
  });

  it('A receipt is in the reader’s language, and keeps amounts in order', async () => {
    const { page } = await openReceipt((await records.lockedPayment()).id, 'ar-EG');
    expect(page).toContain('<html lang="ar-EG" dir="rtl">');
    expect(page).toContain('في انتظار الدفع');
    expect(page).toMatch(/<bdi dir="ltr">5,000\.00 NGN<\/bdi>/);
  });
});

it('a receipt counts against the limit for pages', async () => {
  const [engine] = enginesOfQuick;
  if (!engine) throw new Error('No database engine is available');
  const env = { RATE_LIMIT: 'on', RATE_LIMIT_PAGES_PER_SECOND_PER_IP: '5' };
  const limited = await startServer({ engine, env });
  const statuses = await Promise.all(
    Array.from({ length: 12 }, async () => (await fetch(`${limited.url}/receipt/none`)).status),
  );
  await limited.stop();
  expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(2);
});

it.each(languages)('%s: every text is there, translated, with the same values', (language) => {
  const texts = receiptIn(language);
  const flat = ({ states, ...rest }: PageTexts['receipt']) => Object.entries({ ...states, ...rest });
  const english = new Map(flat(receiptIn('en')));
  expect(flat(texts).map(([key]) => key)).toEqual([...english.keys()]);
  for (const [key, text] of flat(texts)) {
    expect(text.match(/\{\w+\}/g)?.sort(), key).toEqual(
      english
        .get(key)
        ?.match(/\{\w+\}/g)
        ?.sort(),
    );
    if (language !== 'en') expect(text, key).not.toBe(english.get(key));
  }
});
