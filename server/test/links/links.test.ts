/** Payment links over real HTTP, on both engines: made, opened, pressed and paid; and what a stranger cannot change. */
import type { Link } from 'crypto-checkout/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enginesOfTurn } from '../support/engines.js';
import { formOf, openLink, press, sendForm } from '../support/link-page.js';
import { openShop, type Shop } from '../support/shop.js';
import { startServer, type TestServer } from '../support/server.js';

interface Payment {
  readonly id: string;
  readonly status: string;
  readonly txRef: string;
  readonly baseAmount: number;
  readonly linkId?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly redirectUrl: string;
  readonly customerDetails: object;
}

const lamp = { title: 'Lamp', amount: 10, baseCurrency: 'USD' };

describe.each(enginesOfTurn)('Payment links, on $name', (engine) => {
  let server: TestServer;
  let merchant: Shop;
  beforeAll(async () => {
    server = await startServer({ engine });
    merchant = openShop(server);
    await merchant.command(
      ...['merchants', 'update', server.bootstrapped.merchantId],
      ...['--webhook-url', 'https://shop.example/hooks', '--mode', 'test'],
    );
  });
  afterAll(async () => {
    await merchant.expectBooksInOrder();
    await server.stop();
  });

  const update = (id: string, body: object): Promise<Link> =>
    merchant.ask('PATCH', `/v1/links/${id}`, { body });
  const retrieve = (id: string): Promise<Link> => merchant.ask('GET', `/v1/links/${id}`);
  const payment = (id: string, key?: string) =>
    merchant.ask<Payment>('GET', `/v1/payments/${id}`, key === undefined ? {} : { key });

  it('A link is made, opened, pressed and paid, and everything says which link it was', async () => {
    const link = await merchant.createLink({
      ...lamp,
      text: 'With a green shade',
      metadata: { campaign: 'spring' },
    });
    expect(link).toMatchObject({ amount: 10, sold: 0, payments: 0, isActive: true, uses: 'many' });
    expect(link.url).toBe(`${server.url}/l/${link.slug}`);
    const page = await openLink(server, link.slug);
    expect(page.status).toBe(200);
    expect(page.text).toContain('<h1>Lamp</h1>');
    expect(page.text).toContain('With a green shade');
    expect(page.text).toContain('$10');

    const pressed = await sendForm(server, link.slug, formOf(page));
    expect(pressed.status).toBe(303);
    const checkout = await fetch(server.url + pressed.location);
    expect(await checkout.text()).toContain(`payment-id="${pressed.paymentId}"`);
    const started = await payment(pressed.paymentId);
    expect(started).toMatchObject({
      txRef: `link_${link.id}_1`,
      baseAmount: 10,
      linkId: link.id,
      status: 'in progress',
      metadata: { campaign: 'spring' },
    });

    // As a page does, with the public key.
    const { address } = await merchant.choose(pressed.paymentId, {}, server.publicKey);
    await merchant.pay(address, 10);
    expect(await payment(pressed.paymentId)).toMatchObject({ status: 'success', linkId: link.id });
    expect(await payment(pressed.paymentId, server.publicKey)).not.toHaveProperty('linkId');
    expect(await retrieve(link.id)).toMatchObject({ sold: 1, reserved: 0, payments: 1 });
    const sent = await merchant.eventsOf(pressed.paymentId);
    expect(sent.map(({ type, data }) => [type, data['linkId']])).toEqual([['payment.success', link.id]]);
    const listed = await merchant.ask<Payment[]>('GET', `/v1/transactions?txRef=link_${link.id}_1`);
    expect(listed.map(({ linkId }) => linkId)).toEqual([link.id]);
    // Other payments have none.
    const other = await merchant.lock();
    expect(await payment(other.id)).not.toHaveProperty('linkId');
  });

  it('The server sets the amount, whatever the form says', async () => {
    const link = await merchant.createLink({ ...lamp, maxQuantity: 3 });
    const form = formOf(await openLink(server, link.slug), { quantity: '3', amount: '0.01', preset: '0.01' });
    const { paymentId } = await sendForm(server, link.slug, form);
    expect(await payment(paymentId)).toMatchObject({ baseAmount: 30 });
  });

  it('An odd quantity is one, and too many are refused', async () => {
    const link = await merchant.createLink({ ...lamp, maxQuantity: 3 });
    expect((await press(server, link.slug, { quantity: '4' })).status).toBe(400);
    const { paymentId } = await press(server, link.slug, { quantity: 'x' });
    expect(await payment(paymentId)).toMatchObject({ baseAmount: 10 });
  });

  it('A chosen amount stays within its bounds', async () => {
    const bounds = { minAmount: 5, maxAmount: 50, presets: [5, 20] };
    const link = await merchant.createLink({ title: 'Donation', baseCurrency: 'USD', ...bounds });
    const amountOf = async (values: Record<string, string>) => {
      const { paymentId, text, status } = await press(server, link.slug, values);
      if (paymentId === '') {
        expect([status, text]).toEqual([400, expect.stringContaining('Enter an amount within the limits')]);
        return undefined;
      }
      return (await payment(paymentId)).baseAmount;
    };
    expect(await amountOf({ preset: '20' })).toBe(20);
    expect(await amountOf({ preset: '20', amount: '7.5' })).toBe(7.5);
    expect(await amountOf({ amount: '7,25' })).toBe(7.25);
    for (const amount of ['4.99', '50.01', '-7', '0', '7.123', '1e1', 'ten', '', ' '])
      expect([amount, await amountOf({ amount })]).toEqual([amount, undefined]);
    const free = await merchant.createLink({ title: 'Tip', baseCurrency: 'NGN' });
    const tiny = await press(server, free.slug, { amount: '0.01' });
    expect(tiny.text).toContain('too small for any coin');
  });

  it('A form that is sent twice makes one payment, and one with another quantity a new one', async () => {
    const link = await merchant.createLink({ ...lamp, maxQuantity: 2 });
    const form = formOf(await openLink(server, link.slug));
    const all = await Promise.all([form, form, form].map((one) => sendForm(server, link.slug, one)));
    const ids = new Set(all.map(({ paymentId }) => paymentId));
    expect(ids.size).toBe(1);
    const more = await sendForm(server, link.slug, { ...form, quantity: '2' });
    expect(ids).not.toContain(more.paymentId);
    // One that has ended is not paid again.
    const [first = ''] = ids;
    await merchant.ask('PATCH', `/v1/payments/${first}/cancel`);
    expect(ids).not.toContain((await sendForm(server, link.slug, form)).paymentId);
    expect((await retrieve(link.id)).payments).toBe(3);
  });

  it('Required fields are asked, and the answers are with the payment', async () => {
    const fields = [
      { name: 'email', isRequired: true },
      { name: 'name' },
      { name: 'note' },
      { name: 'size', label: 'Size <b>', isRequired: true },
    ];
    const link = await merchant.createLink({ ...lamp, fields, metadata: { campaign: 'spring' } });
    const empty = await press(server, link.slug);
    expect(empty.status).toBe(400);
    expect(empty.text.match(/Fill in this field/g)).toHaveLength(2);
    expect(empty.text).toContain('Size &lt;b&gt;');
    const wrong = await press(server, link.slug, { field_email: 'ada@example', field_size: '"><script>' });
    expect(wrong.text).toContain('such as ada@example.com');
    expect(wrong.text).toContain('value="&quot;&gt;&lt;script&gt;"');
    const { paymentId } = await press(server, link.slug, {
      field_email: 'ada@example.com',
      field_name: 'Ada Example',
      field_size: 'M',
      field_note: '',
      field_other: 'is not asked',
    });
    expect(await payment(paymentId)).toMatchObject({
      customerDetails: { email: 'ada@example.com', fullName: 'Ada Example' },
      metadata: { campaign: 'spring', size: 'M' },
    });
  });

  it('A price that changed while the page was open is shown before it is paid', async () => {
    const link = await merchant.createLink(lamp);
    const page = await openLink(server, link.slug);
    const started = await sendForm(server, link.slug, formOf(page));
    await update(link.id, { amount: 12 });
    const refused = await sendForm(server, link.slug, { ...formOf(page), token: 'another-form-of-a-payer' });
    expect([refused.status, refused.paymentId]).toEqual([409, '']);
    expect(refused.text).toContain('The price has changed');
    const { paymentId } = await sendForm(server, link.slug, formOf(refused));
    expect(await payment(paymentId)).toMatchObject({ baseAmount: 12 });
    // The payment that was started keeps its price.
    expect(await payment(started.paymentId)).toMatchObject({ baseAmount: 10 });
  });

  it('A link that is off or over sells nothing, not even what was started', async () => {
    const link = await merchant.createLink({ ...lamp, expiresAt: '2999-01-01' });
    const { paymentId } = await press(server, link.slug);
    const form = formOf(await openLink(server, link.slug), { token: 'pressed-when-it-is-over' });
    await update(link.id, { isActive: false });
    expect((await openLink(server, link.slug)).text).toContain('Not for sale any more');
    expect((await sendForm(server, link.slug, form)).paymentId).toBe('');
    const path = `/v1/payments/${paymentId}/currency`;
    await merchant.ask('PATCH', `${path}/set/USDT/tron`);
    const refused = await server.api('PATCH', `${path}/lock`);
    expect([refused.status, refused.body.data.code]).toEqual([409, 'invalid_state']);
    await update(link.id, { isActive: true, expiresAt: '2020-01-01' });
    expect((await openLink(server, link.slug)).text).toContain('Not for sale any more');
    await update(link.id, { expiresAt: null });
    expect((await server.api('PATCH', `${path}/lock`)).status).toBe(200);
  });

  it('Only the page of a link leads to its payments, and only within its link', async () => {
    const [one, other] = [await merchant.createLink(lamp), await merchant.createLink(lamp)];
    const { paymentId } = await press(server, one.slug);
    const statusOf = async (path: string) => (await fetch(server.url + path)).status;
    expect(await statusOf(`/l/${one.slug}/${paymentId}`)).toBe(200);
    expect(await statusOf(`/l/${other.slug}/${paymentId}`)).toBe(404);
    expect(await statusOf(`/l/${one.slug}/${(await merchant.lock()).id}`)).toBe(404);
    expect(await statusOf('/l/unknown')).toBe(404);
    expect(await statusOf(`/l/${one.slug.toUpperCase()}`)).toBe(404);
    const foreign = await server.foreignKey('secret', 'test');
    for (const [method, body] of [['GET'], ['PATCH', { isActive: false }]] as const) {
      const answer = await server.api(method, `/v1/links/${one.id}`, { key: foreign, body });
      expect(answer.status).toBe(404);
    }
  });

  it('Nobody takes the references of a link: only the same order again, at the same price', async () => {
    const link = await merchant.createLink(lamp);
    const { paymentId } = await press(server, link.slug);
    const { txRef } = await payment(paymentId);
    const { secretKey, publicKey } = server;
    for (const [key, body] of [
      [secretKey, { txRef: `link_${link.id}_2` }],
      [secretKey, { txRef: `${txRef}:2` }],
      [publicKey, { txRef }],
      [publicKey, { txRef: `link_${link.id}_2:2` }],
      [publicKey, { txRef: `${txRef}:0` }],
      [publicKey, { txRef: `${txRef}:2`, amount: 9.99 }],
      [publicKey, { txRef: `${txRef}:2`, baseCurrency: 'NGN' }],
    ] as const) {
      const { status, body: reply } = await merchant.checkout({ key, ...body });
      expect([body, status, reply.data.param]).toEqual([body, 400, 'txRef']);
    }
    const again = await merchant.checkout({ key: publicKey, txRef: `${txRef}:2` });
    expect(again.status).toBe(200);
    const { id } = again.body.data['payment'] as { id: string };
    expect(await payment(id)).toMatchObject({ linkId: link.id });
    expect((await press(server, link.slug)).status).toBe(303);

    await server.api('PATCH', `/v1/links/${link.id}`, { body: { amount: 100 } });
    const cheap = await merchant.checkout({ key: publicKey, txRef: `${txRef}:3` });
    expect([cheap.status, cheap.body.data.param]).toEqual([400, 'txRef']);
    await server.api('PATCH', `/v1/links/${link.id}`, { body: { amount: 10 } });
    await server.database.write((transaction) =>
      transaction
        .updateTable('link_payments')
        .set((e) => ({ pressed_at: e('pressed_at', '-', 86_500_000) }))
        .where('payment_id', '=', paymentId)
        .execute(),
    );
    const old = await merchant.checkout({ key: publicKey, txRef: `${txRef}:4` });
    expect([old.status, old.body.data.param]).toEqual([400, 'txRef']);
  });

  it.each([
    ['bounds of a fixed price', { ...lamp, minAmount: 5 }, 'minAmount'],
    [
      'bounds in the wrong order',
      { title: 'Tip', baseCurrency: 'USD', minAmount: 5, maxAmount: 4 },
      'maxAmount',
    ],
    [
      'a preset outside of the bounds',
      { title: 'Tip', baseCurrency: 'USD', minAmount: 5, presets: [4] },
      'presets.0',
    ],
    ['a quantity of a chosen amount', { title: 'Tip', baseCurrency: 'USD', maxQuantity: 2 }, 'maxQuantity'],
    ['too many decimals', { ...lamp, amount: '1.999' }, 'amount'],
    ['a field without a label', { ...lamp, fields: [{ name: 'size' }] }, 'fields.0.label'],
    [
      'a field that is there twice',
      { ...lamp, fields: [{ name: 'note' }, { name: 'note', label: 'N' }] },
      'fields.1.name',
    ],
    [
      'a key of the metadata that is a field',
      { ...lamp, fields: [{ name: 'note' }], metadata: { note: '' } },
      'fields.0.name',
    ],
    ['a redirect that is no web address', { ...lamp, redirectUrl: 'javascript:alert(1)' }, 'redirectUrl'],
  ])('A link is refused for %s', async (_what, body, param) => {
    const answer = await server.api('POST', '/v1/links', { body });
    expect([answer.status, answer.body.data.param]).toEqual([400, param]);
  });

  it('Success text and redirect are the link’s', async () => {
    const link = await merchant.createLink({
      ...lamp,
      successText: 'Thank you!',
      redirectUrl: 'https://shop.example/thanks',
    });
    const { paymentId, location } = await press(server, link.slug);
    expect(await payment(paymentId)).toMatchObject({ redirectUrl: 'https://shop.example/thanks' });
    expect(await (await fetch(server.url + location)).text()).toContain('<p slot="success" class="success">');
  });
});
