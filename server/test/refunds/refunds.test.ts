/**
 * Refunds over real HTTP, on both engines: the amount given back, the amount reserved for it, who may choose the
 * address, and who is notified.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { engines } from '../support/engines.js';
import { externalAddresses, openShop, type RefundRecord, type Shop } from '../support/shop.js';
import { claimTokenOf, openClaimBrowser } from '../support/claim-browser.js';
import { startServer, type TestServer } from '../support/server.js';

const other = 'TMuA6YqfCeX8EhbfYEg5y7S4DqzSJireY9';

describe.each(engines)('Refunds, on $name', (engine) => {
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

  const post = (path: string, body: object = {}, key?: string) =>
    server.api('POST', path, { body, ...(key !== undefined && { key }) });
  const payment = (id: string, key?: string) =>
    merchant.ask<Record<string, unknown>>('GET', `/v1/payments/${id}`, key === undefined ? {} : { key });
  const browser = () => openClaimBrowser(server);
  const announced = async (id: string) => (await merchant.eventsOf(id)).map(({ type }) => type);

  it('An excess goes back: link, address, approval, transfer, and everybody is notified', async () => {
    const { id: paymentId } = await merchant.fund({ amount: 15 });
    const before = await merchant.balance();
    const created = await merchant.refund(paymentId, {
      kind: 'excess',
      reason: 'You sent more than the price',
    });
    // All of the excess of 5; sending costs the merchant 0.2.
    expect(created).toMatchObject({
      status: 'awaiting_address',
      amount: 5,
      feeKept: 0,
      fee: 0.2,
      address: null,
    });
    expect(created.claimUrl).toMatch(/\/refund#[\w-]{43}$/);
    expect((await merchant.balance()).availableBalance).toBeCloseTo(before.availableBalance - 5.15);

    const { claim } = browser();
    const token = claimTokenOf(created);
    const shown = await claim(token);
    expect(shown.body.data).toMatchObject({
      status: 'awaiting_address',
      amount: 5,
      feeKept: 0,
      currency: 'USDT',
      network: 'tron',
      reason: 'You sent more than the price',
      canSetAddress: true,
      addressKind: 'tron',
    });
    expect(JSON.stringify(shown.body)).not.toMatch(new RegExp(`${created.id}|customer|transfer`));

    expect((await claim(token, other)).body.data).toMatchObject({ status: 'awaiting_approval' });
    expect((await claim(token, externalAddresses.tron)).body.data).toMatchObject({
      status: 'awaiting_approval',
      address: 'TJRabP…RTv8',
    });
    const approved = await merchant.ask<RefundRecord>('POST', `/v1/refunds/${created.id}/approve`, {
      body: { address: externalAddresses.tron },
    });
    expect(approved.status).toBe('approved');
    const { txHash } = await merchant.until(approved.transferId ?? '', 'success');

    expect(await merchant.retrieveRefund(created.id)).toMatchObject({ status: 'paid', txHash });
    expect((await claim(token)).body.data).toMatchObject({ status: 'paid', txHash, canSetAddress: false });
    expect(await announced(created.id)).toEqual([
      'refund.created',
      'refund.address_set',
      'refund.address_set',
      'refund.approved',
      'refund.paid',
    ]);
    const record = await payment(paymentId);
    expect(record).toMatchObject({
      status: 'success',
      refundedAmount: 5,
      amountReceived: 10,
      refunds: [{ id: created.id, status: 'paid', amount: 5, feeKept: 0, currency: 'USDT', txHash }],
    });
    const log = record['transactionTimeLog'] as { code: string }[];
    expect(log.slice(-3).map(({ code }) => code)).toEqual([
      'refund_created',
      'refund_sending',
      'refund_paid',
    ]);
    const seen = await payment(paymentId, server.publicKey);
    expect(seen['refunds']).toEqual([
      { status: 'paid', amount: 5, feeKept: 0, currency: 'USDT', network: 'tron', txHash, explorerUrl: '' },
    ]);
    expect(JSON.stringify(seen)).not.toContain(externalAddresses.tron);
  });

  it('A cancelled refund gives back what it reserved, and its link is as dead as an unknown one', async () => {
    const { id: paymentId } = await merchant.fund({ amount: 10 });
    const before = await merchant.balance();
    const created = await merchant.refund(paymentId, { kind: 'full', refundFee: true });
    expect(created.amount).toBe(10);
    const { claim } = browser();
    await claim(claimTokenOf(created), externalAddresses.tron);
    for (let times = 0; times < 2; times += 1) {
      expect((await post(`/v1/refunds/${created.id}/cancel`)).body.data).toMatchObject({
        status: 'cancelled',
      });
    }
    expect((await merchant.balance()).availableBalance).toBe(before.availableBalance);
    const dead = await claim(claimTokenOf(created));
    const unknown = await claim('A'.repeat(43));
    expect([dead.status, dead.body.message]).toEqual([unknown.status, unknown.body.message]);
    expect(dead.status).toBe(404);
    expect((await claim(claimTokenOf(created), other)).status).toBe(404);
    expect((await post(`/v1/refunds/${created.id}/link`)).status).toBe(409);
    expect((await post(`/v1/refunds/${created.id}/approve`)).status).toBe(409);
  });
});
