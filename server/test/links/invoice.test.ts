/** Invoices: links with lines, which are paid once, in one part or in several. */
import type { Link } from 'crypto-checkout/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enginesOfTurn } from '../support/engines.js';
import { openLink, press } from '../support/link-page.js';
import { openShop, type Shop } from '../support/shop.js';
import { startServer, type TestServer } from '../support/server.js';

const lines = [
  { name: 'Repair <i>', quantity: 2, amount: '45.50' },
  { name: 'Lamp', amount: 9 },
];

describe.each(enginesOfTurn)('Invoices, on $name', (engine) => {
  let server: TestServer;
  let merchant: Shop;
  beforeAll(async () => {
    server = await startServer({ engine });
    merchant = openShop(server);
  });
  afterAll(() => server.stop());

  const invoiceOf = (more: object = {}) =>
    merchant.createLink({ title: 'Invoice 2026-17', baseCurrency: 'USD', lines, ...more });
  const statusOf = async ({ id }: Link) => (await merchant.ask<Link>('GET', `/v1/links/${id}`)).invoiceStatus;

  it('The price of an invoice is the sum of its lines, its page has them, and it is paid in two parts', async () => {
    const invoice = await invoiceOf({ dueAt: '2999-12-31' });
    expect(invoice).toMatchObject({ amount: 100, uses: 'single', invoiceStatus: 'open' });
    expect(invoice.lines[1]).toEqual({ name: 'Lamp', quantity: 1, amount: 9 });
    const page = await openLink(server, invoice.slug);
    for (const text of ['Repair &lt;i&gt;', '$91', '$9', '$100', 'Due by 31 Dec 2999'])
      expect(page.text.replace('Dec 31, 2999', '31 Dec 2999')).toContain(text);
    expect(page.text).toContain(`<p class="printed">${invoice.url}</p>`);

    const { paymentId } = await press(server, invoice.slug, { amount: '1' });
    const { address } = await merchant.choose(paymentId);
    await merchant.pay(address, 40);
    expect(await statusOf(invoice)).toBe('part_paid');
    await merchant.pay(address, 60);
    expect(await statusOf(invoice)).toBe('paid');
    const paid = await openLink(server, invoice.slug);
    expect(paid.text).toContain('Paid already');
    expect(paid.text).toContain('$100');
    const found = await merchant.ask('GET', `/v1/payments/${paymentId}`);
    expect(found).toMatchObject({ baseAmount: 100, status: 'success', linkId: invoice.id });
  });

  it('The page of an invoice names the zone of the shop, in which its last day ends', async () => {
    const choose = (timeZone: string) =>
      server.database.write((transaction) =>
        server.app.merchants.update(transaction, server.bootstrapped.merchantId, { timeZone }),
      );
    await choose('Pacific/Kiritimati');
    const { slug } = await invoiceOf({ dueAt: '2999-12-31T09:59:59Z' });
    const { text } = await openLink(server, slug);
    expect(text).toMatch(/Due by [^<]*31[^<]*11:59[^<]* Pacific\/Kiritimati/);
    await choose('UTC');
  });

  it('An invoice is overdue after its due date, and can still be paid', async () => {
    const invoice = await invoiceOf({ dueAt: '2020-01-31' });
    expect(invoice.invoiceStatus).toBe('overdue');
    expect((await openLink(server, invoice.slug)).text).toContain('Was due by');
    const { paymentId } = await press(server, invoice.slug);
    await merchant.pay((await merchant.choose(paymentId)).address, 100);
    expect(await statusOf(invoice)).toBe('paid');
  });

  it('A part that came before the time was up is still shown', async () => {
    const invoice = await invoiceOf();
    const { paymentId } = await press(server, invoice.slug);
    await merchant.pay((await merchant.choose(paymentId)).address, 40);
    await merchant.advance(1801);
    await merchant.mine();
    expect(await statusOf(invoice)).toBe('part_paid');
    // The rest can be agreed on: the invoice is free again.
    expect((await press(server, invoice.slug)).status).toBe(303);
  });

  it('The lines of an invoice can change, and the price follows them', async () => {
    const invoice = await invoiceOf();
    const update = (body: object) => server.api('PATCH', `/v1/links/${invoice.id}`, { body });
    const { body } = await update({ lines: [{ name: 'Lamp', quantity: 3, amount: 9 }] });
    expect(body.data).toMatchObject({ amount: 27, invoiceStatus: 'open' });
    expect((await update({ amount: 5 })).body.data.param).toBe('amount');
    expect((await update({ uses: 'many' })).body.data.param).toBe('uses');
    expect((await update({ maxQuantity: 2 })).body.data.param).toBe('maxQuantity');
    const plain = await update({ lines: [], amount: 5, uses: 'many' });
    expect(plain.body.data).toMatchObject({ amount: 5, uses: 'many', invoiceStatus: null });
    expect((await update({ dueAt: '2999-12-31' })).body.data.param).toBe('dueAt');
  });

  it('A payment of the previous sum is refused at the lock, and the lines stay while somebody pays', async () => {
    const invoice = await invoiceOf();
    const { paymentId } = await press(server, invoice.slug);
    const update = (body: object) => server.api('PATCH', `/v1/links/${invoice.id}`, { body });
    expect((await update({ lines: [{ name: 'Lamp', quantity: 3, amount: 90 }] })).status).toBe(200);
    const step = (path: string, id: string) =>
      server.api('PATCH', `/v1/payments/checkout/${id}/currency/${path}`, { key: server.publicKey });
    await step('set/USDT/tron', paymentId);
    const refused = await step('lock', paymentId);
    expect([refused.status, refused.body.data.code]).toEqual([409, 'invalid_state']);
    const again = await press(server, invoice.slug);
    await step('set/USDT/tron', again.paymentId);
    expect((await step('lock', again.paymentId)).status).toBe(200);
    const late = await update({ lines: [{ name: 'Lamp', quantity: 1, amount: 1 }] });
    expect([late.status, late.body.data.code]).toEqual([409, 'invalid_state']);
    const same = [{ name: 'Lamp', quantity: 3, amount: 90 }];
    expect((await update({ title: 'Another title', lines: same })).status).toBe(200);
  });

  it('A command makes an invoice', async () => {
    const words = ['--title', 'Invoice', '--currency', 'USD', '--due', '2999-12-31'];
    const own = ['--merchant', server.bootstrapped.merchantId, ...words];
    const made = await merchant.command('links', 'create', ...own, '--line', 'Repair; 2; 45.50');
    expect(made).toMatchObject({ amount: 91, invoiceStatus: 'open', dueAt: '2999-12-31T23:59:59.999Z' });
    for (const line of ['Repair', ';1;2', 'Repair;0;2', 'Repair;1;x', 'Repair;1;2;3'])
      expect((await merchant.run('links', 'create', ...own, '--line', line)).stderr).toContain('--line');
  });
});
