/** The deliveries that a merchant can look up and repeat over the API, on both engines. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { sql } from 'kysely';
import { enginesOfTurn } from '../support/engines.js';
import { expectPages, idsOf } from '../support/lists.js';
import { startReceiver, type Receiver } from './receiver.js';
import { markDelivered } from '../../src/core/webhooks/store.js';
import { openWebhookShop, type WebhookShop } from './webhook-shop.js';

interface Delivery {
  readonly id: string;
  readonly status: string;
  readonly dueAt: string | null;
  readonly tries: readonly { readonly responseStatus: number | null; readonly error: string | null }[];
}

describe.each(enginesOfTurn)('the deliveries of webhooks, on $name', (engine) => {
  let shop: WebhookShop;
  let receiver: Receiver;
  let other: string;
  beforeAll(async () => {
    [shop, receiver] = await Promise.all([openWebhookShop({ engine }), startReceiver()]);
    await shop.setEndpoint(receiver);
    other = await shop.server.foreignKey('secret', 'test');
  });
  afterAll(async () => {
    await shop.server.stop();
    await receiver.stop();
  });

  const get = (query: string, key?: string) =>
    shop.server.api('GET', `/v1/webhooks${query}`, key === undefined ? {} : { key });
  const post = (path: string, body: object = {}, key?: string) =>
    shop.server.api('POST', `/v1/webhooks/${path}`, { body, ...(key !== undefined && { key }) });
  const fail = (id: string) =>
    shop.server.database.write((transaction) =>
      transaction
        .updateTable('outbox')
        .set({ status: 'failed', due_at: null, claim: null, claimed_until: null })
        .where('id', '=', id)
        .execute(),
    );

  it('a delivery shows its request, answers and next attempt, and is sent again with the same id', async () => {
    receiver.answer = { status: 500, body: 'Out of stock' };
    const [subjectId = ''] = await shop.publish(1);
    const find = async () => (await get(`?subjectId=${subjectId}`)).body.data as unknown as Delivery[];
    await expect.poll(async () => (await find())[0]?.tries.length).toBe(1);
    const [listed] = await find();
    expect(listed).toMatchObject({
      mode: 'test',
      type: 'transfer.success',
      subjectId,
      status: 'pending',
      dueAt: expect.stringMatching(/Z$/) as string,
      tries: [{ responseStatus: 500, responseExcerpt: 'Out of stock', error: 'Returned HTTP 500' }],
    });
    expect(idsOf(await get('?status=failing'))).toEqual([listed?.id]);
    const id = listed?.id ?? '';
    const shown = (await get(`/${id}`)).body.data;
    expect(shown).toEqual({ ...listed, url: receiver.url, body: receiver.received.at(-1)?.body });
    expect(JSON.stringify(shown)).not.toContain('whsec_');

    await fail(id);
    receiver.answer = { status: 204 };
    expect((await post(`${id}/retry`)).body.data).toMatchObject({ id, status: 'pending' });
    await expect.poll(async () => (await find())[0]?.status).toBe('delivered');
    expect(receiver.received.map((one) => one.id)).toEqual([id, id]);
    for (const [path, method] of [
      [`/${id}`, 'GET'],
      [`/${id}/retry`, 'POST'],
    ] as const) {
      const theirs = await shop.server.api(method, `/v1/webhooks${path}`, { key: other });
      expect([theirs.status, theirs.body.data.code], path).toEqual([404, 'not_found']);
    }
    expect(idsOf(await get(`?subjectId=${subjectId}`, other))).toEqual([]);
  });

  it('deliveries are found by type and status, page by page, and one call retries all that failed', async () => {
    receiver.answer = { status: 204 };
    await shop.publish(3);
    const all = (await shop.settled()).map(({ id }) => id);
    await expectPages((query) => get(query), all);
    await expectPages((query) => get(`?type=transfer.success${query.replace('?', '&')}`), all);
    expect(idsOf(await get('?type=payment.success'))).toEqual([]);
    expect(idsOf(await get('?status=delivered'))).toEqual(all);
    expect(idsOf(await get('?status=failing'))).toEqual([]);
    for (const wrong of ['status=lost', 'type=payment.lost', 'subjectId=', 'state=failed']) {
      expect((await get(`?${wrong}`)).body.data, wrong).toMatchObject({ param: wrong.split('=')[0] });
    }
    await fail(all[0] ?? '');
    await fail(all[1] ?? '');
    expect(idsOf(await get('?status=failed'))).toEqual(all.slice(0, 2));
    expect((await post('retry-failed', {}, other)).body.data.code).toBe('webhook_not_configured');
    expect((await post('retry-failed')).body.data).toEqual({ retried: 2, remaining: 0 });
    await shop.settled();
    expect(idsOf(await get('?status=failed'))).toEqual([]);
  });

  it('a list of more than 10,000 deliveries counts 10,000, and has no page after them', async () => {
    const many = 10_050;
    const { merchantId } = shop.server.bootstrapped;
    await shop.server.database.write((transaction) =>
      sql`insert into outbox
        select id || ${'-'} || n, merchant_id, ${'live'}, type, subject_id || ${'-'} || n, sequence, data, ${'failed'}, tries,
          null, null, null, created_at + n
        from (select * from outbox where merchant_id = ${merchantId} limit 1) as one, (
          with recursive counted (n) as (select 1 union all select n + 1 from counted where n < cast(${many} as integer))
          select n from counted) as numbers`.execute(transaction),
    );
    const { key } = await shop.server.database.write((transaction) =>
      shop.server.app.keys.create(transaction, { merchantId, kind: 'secret', mode: 'live' }),
    );
    for (const query of ['?skip=100', '?skip=100&status=failed', '?skip=100&type=transfer.success']) {
      const { body } = await get(query, key);
      expect(body.meta).toEqual({ pagination: { total: 10_000, count: 100, from: 1, to: 100 } });
      expect((await get(`${query}&page=101`, key)).body.data).toEqual([]);
    }
  });

  it('a sample shows the answer, and leaves nothing behind', async () => {
    receiver.answer = { status: 410, body: 'Gone' };
    const before = (await shop.events()).length;
    expect((await post('samples', { type: 'payment.late' })).body.data).toMatchObject({
      type: 'payment.late',
      responseStatus: 410,
      responseExcerpt: 'Gone',
      error: 'Returned HTTP 410',
    });
    expect(receiver.received.at(-1)?.event.data).toMatchObject({ isSample: true, mode: 'test' });
    expect((await shop.events()).length).toBe(before);
    expect((await post('samples', {}, other)).body.data.code).toBe('webhook_not_configured');
  });

  /** A merchant whose receiver answers nothing on its own. */
  async function holdDeliveries() {
    const held: ServerResponse[] = [];
    const server = createServer((_, response) => void held.push(response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const merchantId = await shop.merchant(receiver);
    await shop.setEndpoint({ url: `http://127.0.0.1:${port}/`, secret: '' }, merchantId);
    return { merchantId, held };
  }

  it('each delivery is recorded, also if one that ends at the same time belongs to a deleted event', async () => {
    const { merchantId, held } = await holdDeliveries();
    await shop.publish(5, { merchantId });
    await expect.poll(() => held).toHaveLength(5);
    const [, , deleted] = await shop.events({ merchantId });
    await shop.server.database.write((transaction) =>
      transaction
        .deleteFrom('outbox')
        .where('id', '=', deleted?.id ?? '')
        .execute(),
    );
    for (const response of held) response.writeHead(204).end();
    const left = await shop.settled(merchantId);
    expect(left.map(({ tries }) => tries.map(({ responseStatus }) => responseStatus))).toEqual(
      Array.from({ length: 4 }, () => [204]),
    );
    expect(held).toHaveLength(5);
  });

  // opsmill/infrahub#9754 refuses to send an event again while an attempt is running
  it('a delivery sent again before the old URL has answered goes to the new one, whatever the old one answers', async () => {
    const { merchantId, held } = await holdDeliveries();
    await shop.publish(1, { merchantId });
    await expect.poll(() => held).toHaveLength(1);
    receiver.answer = { status: 500 };
    const before = receiver.received.length;
    await shop.setEndpoint(receiver, merchantId);
    const find = async () => (await shop.events({ merchantId }))[0];
    const id = (await find())?.id ?? '';
    await shop.retry(id);
    await expect.poll(async () => (await find())?.tries.length).toBe(1);
    held[0]?.writeHead(204).end();
    await expect.poll(async () => (await find())?.tries.length).toBe(2);
    expect(await find()).toMatchObject({ status: 'pending' });
    receiver.answer = { status: 204 };
    await shop.retry(id);
    await shop.settled(merchantId);
    expect(receiver.received.slice(before).map((one) => one.id)).toEqual([id, id]);
  });

  it('deliveries that end together are each compared with the claim of their own attempt', async () => {
    const { merchantId, held } = await holdDeliveries();
    await shop.publish(2, { merchantId });
    await expect.poll(() => held).toHaveLength(2);
    await shop.server.database.write(async (transaction) => {
      // Both were claimed again, and the first attempt of one ends late.
      await transaction
        .updateTable('outbox')
        .set({ claim: 'again' })
        .where('merchant_id', '=', merchantId)
        .execute();
      const ids = transaction.selectFrom('outbox').select('id').where('merchant_id', '=', merchantId);
      const [late, other] = (await ids.orderBy('id').execute()).map(({ id }) => id);
      await markDelivered(transaction, [
        { id: late ?? '', claim: 'before' },
        { id: other ?? '', claim: 'again' },
      ]);
    });
    const events = await shop.events({ merchantId });
    expect(events.map(({ status }) => status).sort()).toEqual(['delivered', 'pending']);
  });

  it('several 410 responses at the same time disable the endpoint once', async () => {
    const { merchantId, held } = await holdDeliveries();
    await shop.publish(3, { merchantId });
    await expect.poll(() => held).toHaveLength(3);
    for (const response of held) response.writeHead(410).end();
    await expect
      .poll(async () =>
        (await shop.events({ merchantId })).map(({ status, tries }) => [status, tries.length]),
      )
      .toEqual(Array.from({ length: 3 }, () => ['failed', 1]));
    const disabled = await shop.server.app.auditLog.list(shop.server.database.reader, {
      merchantId,
      action: 'webhook.disabled',
    });
    expect(disabled).toHaveLength(1);
  });
});
