/**
 * The stock of payment links: held from the lock to the end of a payment, exact under two servers, and safe from strangers who press
 * and never pay.
 */
import type { Link, Payment } from 'crypto-checkout/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/call.js';
import { enginesOfTurn } from '../support/engines.js';
import { formOf, openLink, press, sendForm } from '../support/link-page.js';
import { openShop, type Shop } from '../support/shop.js';
import { startServer, type TestServer } from '../support/server.js';

const lamp = { title: 'Lamp', amount: 10, baseCurrency: 'USD' };

describe.each(enginesOfTurn)('The stock of payment links, on $name', (engine) => {
  let server: TestServer;
  /** On PostgreSQL, a second server on the same database. */
  let servers: readonly TestServer[];
  let merchant: Shop;
  beforeAll(async () => {
    // Every press in this file comes from one address, which may hold only a few.
    server = await startServer({ engine, env: { TRUST_PROXY: '1' } });
    const { databaseUrl, publicKey, secretKey } = server;
    const env = { BOOTSTRAP_PUBLIC_KEY: publicKey, BOOTSTRAP_SECRET_KEY: secretKey, TRUST_PROXY: '1' };
    servers =
      engine.name === 'PostgreSQL' ? [server, await startServer({ engine, databaseUrl, env })] : [server];
    merchant = openShop(server);
  });
  afterAll(async () => {
    await merchant.expectBooksInOrder();
    for (const one of [...servers].reverse()) await one.stop();
  });

  const retrieve = (id: string): Promise<Link> => merchant.ask('GET', `/v1/links/${id}`);
  let payers = 0;
  /** A payer with an address of their own. @returns the id of the payment */
  async function start(slug: string, values: Record<string, string> = {}, from = `198.51.${payers++}.7`) {
    const page = await openLink(server, slug);
    const response = await fetch(`${server.url}/l/${slug}`, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams(formOf(page, values)),
      headers: { 'X-Forwarded-For': from },
    });
    return response.headers.get('location')?.split('/').at(-1) ?? '';
  }
  const set = async (id: string) =>
    merchant.ask('PATCH', `/v1/payments/${id}/currency/set/USDT/tron`, { key: server.publicKey });
  const lockAt = (at: TestServer, id: string): Promise<Answer> =>
    at.api('PATCH', `/v1/payments/${id}/currency/lock`, { key: server.publicKey });
  async function lock(id: string): Promise<string> {
    await set(id);
    const { status, body } = await lockAt(server, id);
    return status === 200 ? 'locked' : `${status} ${body.data.code}`;
  }
  async function payLocked(id: string): Promise<void> {
    const { addressInformation, amount = 0 } = await merchant.ask<Payment>('GET', `/v1/payments/${id}`);
    await merchant.pay(addressInformation?.address ?? '', amount);
  }
  const cancel = (id: string) =>
    merchant.ask('PATCH', `/v1/payments/${id}/cancel`, { key: server.publicKey });
  const statusOf = async (id: string) =>
    (await merchant.ask<{ status: string }>('GET', `/v1/payments/${id}`)).status;

  it('The last one is held from the lock on, free again once that has expired, and then sold', async () => {
    const link = await merchant.createLink({ ...lamp, stock: 1 });
    const [one, other] = [await start(link.slug), await start(link.slug)];
    // Presses hold nothing.
    expect(await retrieve(link.id)).toMatchObject({ reserved: 0, payments: 2 });
    expect(await lock(one)).toBe('locked');
    expect((await lockAt(server, one)).status).toBe(200);
    expect(await retrieve(link.id)).toMatchObject({ reserved: 1 });
    expect(await lock(other)).toBe('409 sold_out');
    expect((await openLink(server, link.slug)).text).toContain('Held for others');
    expect(await start(link.slug)).toBe('');

    await merchant.advance(1801);
    await merchant.mine();
    expect(await statusOf(one)).toBe('error');
    expect(await retrieve(link.id)).toMatchObject({ reserved: 0, sold: 0 });
    expect(await lock(other)).toBe('locked');
    await payLocked(other);
    expect(await retrieve(link.id)).toMatchObject({ reserved: 0, sold: 1 });
    expect((await openLink(server, link.slug)).text).toContain('Sold out');
  });

  it('Money that comes for one that was freed and sold again counts: more can be sold than there is', async () => {
    const link = await merchant.createLink({ ...lamp, stock: 1 });
    const late = await start(link.slug);
    expect(await lock(late)).toBe('locked');
    await merchant.advance(1801);
    await merchant.mine();
    const other = await start(link.slug);
    expect(await lock(other)).toBe('locked');
    await payLocked(other);
    await payLocked(late);
    expect([await statusOf(other), await statusOf(late)]).toEqual(['success', 'success']);
    expect(await retrieve(link.id)).toMatchObject({ stock: 1, sold: 2 });
  });

  it('A cancelled payment frees what it held, and quantities are counted', async () => {
    const link = await merchant.createLink({ ...lamp, stock: 3, maxQuantity: 3 });
    const two = await start(link.slug, { quantity: '2' });
    expect(await lock(two)).toBe('locked');
    expect(await start(link.slug, { quantity: '2' })).toBe('');
    const rest = await start(link.slug);
    expect(await lock(rest)).toBe('locked');
    await cancel(two);
    expect(await retrieve(link.id)).toMatchObject({ reserved: 1 });
    const again = await start(link.slug, { quantity: '2' });
    expect(await lock(again)).toBe('locked');
  });

  /** Payments that a page starts for the order of a payment. */
  async function repeatsOf(first: string, repeats: readonly number[]): Promise<string[]> {
    const { txRef } = await merchant.ask<{ txRef: string }>('GET', `/v1/payments/${first}`);
    const ids = [];
    for (const repeat of repeats)
      ids.push((await merchant.create({ key: server.publicKey, txRef: `${txRef}:${repeat}` })).id);
    return ids;
  }

  it('An order that is started over again and again holds once, and its payer can press again', async () => {
    const link = await merchant.createLink({ ...lamp, stock: 10 });
    const payer = '203.0.113.9';
    let open = await start(link.slug, {}, payer);
    expect(await lock(open)).toBe('locked');
    for (const next of await repeatsOf(open, [2, 3, 4, 5, 6, 7])) {
      await cancel(open);
      expect(await lock(next)).toBe('locked');
      open = next;
    }
    expect(await retrieve(link.id)).toMatchObject({ reserved: 1 });
    expect(await lock(await start(link.slug, { field_note: 'another' }, payer))).toBe('locked');
    expect(await retrieve(link.id)).toMatchObject({ reserved: 2 });
  });

  it('An order whose payments are all paid in time is not sold more often than there is stock', async () => {
    const link = await merchant.createLink({ ...lamp, stock: 3 });
    const sold = await start(link.slug);
    expect(await lock(sold)).toBe('locked');
    await payLocked(sold);
    const first = await start(link.slug);
    const ids = [first, ...(await repeatsOf(first, [2, 3, 4, 5]))];
    const outcomes = [];
    for (const id of ids) outcomes.push(await lock(id));
    expect(outcomes).toEqual(['locked', 'locked', ...Array.from({ length: 3 }, () => '409 sold_out')]);
    expect(await retrieve(link.id)).toMatchObject({ reserved: 2, sold: 1 });
    for (const id of ids.slice(0, 2)) await payLocked(id);
    expect(await retrieve(link.id)).toMatchObject({ stock: 3, reserved: 0, sold: 3 });
  });

  it('A payer who could not cancel can still pay, but one order cannot hold the whole stock', async () => {
    const link = await merchant.createLink({ ...lamp, stock: 10 });
    const lost = await start(link.slug);
    expect(await lock(lost)).toBe('locked');
    const [second = '', third = ''] = await repeatsOf(lost, [2, 3]);
    expect(await lock(second)).toBe('locked');
    expect(await lock(third)).toBe('409 invalid_state');
    expect(await retrieve(link.id)).toMatchObject({ reserved: 2 });
    expect(await lock(await start(link.slug))).toBe('locked');
    await cancel(lost);
    expect(await lock(third)).toBe('locked');
    for (const id of [second, third]) await payLocked(id);
    expect(await retrieve(link.id)).toMatchObject({ reserved: 1, sold: 2 });
  });

  it('A link for one payment has one, and is closed once that is paid', async () => {
    const link = await merchant.createLink({ ...lamp, uses: 'single', maxQuantity: 2 });
    const [one, other] = [await start(link.slug, { quantity: '2' }), await start(link.slug)];
    expect(await lock(one)).toBe('locked');
    expect(await lock(other)).toBe('409 sold_out');
    await payLocked(one);
    expect((await openLink(server, link.slug)).text).toContain('Paid already');
    expect(await lock(other)).toBe('409 sold_out');
  });

  it('No more are held than there are in stock, however many payers lock at once on all servers', async () => {
    for (const stock of [1, 1, 3]) {
      const link = await merchant.createLink({ ...lamp, stock });
      const ids = [];
      for (let made = 0; made < 8; made += 1) ids.push(await start(link.slug));
      for (const id of ids) await set(id);
      const answers = await Promise.all(
        ids.map((id, index) => lockAt(servers[index % servers.length] ?? server, id)),
      );
      const codes = answers.map(({ status, body }) => (status === 200 ? 'locked' : body.data.code));
      expect(codes.filter((code) => code === 'locked')).toHaveLength(stock);
      expect(codes.filter((code) => code === 'sold_out')).toHaveLength(8 - stock);
      expect(await retrieve(link.id)).toMatchObject({ reserved: stock });
    }
  });

  it('A stranger at one address cannot hold the whole stock, nor again and again', async () => {
    const link = await merchant.createLink({ ...lamp, stock: 20 });
    const thief = '203.0.113.5';
    const outcomes = [];
    for (let tries = 0; tries < 7; tries += 1)
      outcomes.push(await lock(await start(link.slug, { field_note: String(tries) }, thief)));
    expect(outcomes).toEqual([...Array.from({ length: 5 }, () => 'locked'), ...tooMany(2)]);
    await merchant.advance(1801);
    await merchant.mine();
    expect(await retrieve(link.id)).toMatchObject({ reserved: 0 });
    expect(await lock(await start(link.slug, {}, thief))).toBe('429 rate_limited');
    expect(await lock(await start(link.slug))).toBe('locked');
  });

  const tooMany = (count: number) => Array.from({ length: count }, () => '429 rate_limited');

  it('The addresses of payers are kept as digests, and for a day', async () => {
    const link = await merchant.createLink({ ...lamp, stock: 5 });
    await start(link.slug, {}, '203.0.113.9');
    const visitors = async () =>
      (
        await server.database.reader
          .selectFrom('link_payments')
          .select('visitor')
          .where('link_id', '=', link.id)
          .execute()
      ).map(({ visitor }) => visitor);
    const [kept] = await visitors();
    expect(kept).toMatch(/^[\w-]{43}$/);
    await server.database.write((transaction) =>
      transaction
        .updateTable('link_payments')
        .set({ pressed_at: Date.now() - 86_500_000 })
        .execute(),
    );
    const job = server.jobs.find(({ name }) => name === 'links');
    await job?.run(new AbortController().signal);
    expect(await visitors()).toEqual([null]);
  });
});

describe.each(enginesOfTurn.slice(0, 1))('Strangers who press', (engine) => {
  it('An address presses only so often', async () => {
    const limited = await startServer({
      engine,
      env: { RATE_LIMIT: 'on', RATE_LIMIT_PAYMENTS_PER_MINUTE_PER_IP: '3' },
    });
    const merchant = openShop(limited);
    const link = await merchant.createLink(lamp);
    const statuses = [];
    for (let tries = 0; tries < 5; tries += 1) statuses.push((await press(limited, link.slug)).status);
    expect(statuses).toEqual([303, 303, 303, 429, 429]);
    const refused = await sendForm(limited, link.slug, formOf(await openLink(limited, link.slug)));
    expect(refused.text).toContain('Too many tries');
    await limited.stop();
  });
});
