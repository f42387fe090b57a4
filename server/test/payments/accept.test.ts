/** A shop accepts a short payment: by a person of the right role or by a key, once, and for the sum that was seen, on both engines. */
import { verifyPayment } from 'crypto-checkout/client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openBrowser, signIn } from '../support/browser.js';
import { claimTokenOf, openClaimBrowser } from '../support/claim-browser.js';
import { enginesOfTurn } from '../support/engines.js';
import { externalAddresses, openShop, type Shop } from '../support/shop.js';
import { startServer, type TestServer } from '../support/server.js';

type Shown = Parameters<typeof verifyPayment>[0] & {
  readonly status: string;
  readonly state: string;
  readonly amountDue: number;
  readonly findings?: readonly string[];
  readonly accepted?: { readonly amount: number };
  readonly transactionTimeLog: readonly { readonly code: string; readonly event: string }[];
  readonly credited?: readonly { readonly amount: number; readonly net: number }[];
};

describe.each(enginesOfTurn)('Accepting a short payment, on $name', (engine) => {
  let server: TestServer;
  let merchant: Shop;
  beforeAll(async () => {
    server = await startServer({ engine });
    merchant = openShop(server);
    await merchant.command(
      ...['merchants', 'update', server.bootstrapped.merchantId, '--mode', 'test'],
      ...['--webhook-url', 'http://127.0.0.1:9/hooks'],
    );
  });
  afterAll(async () => {
    await merchant.expectBooksInOrder();
    await server.stop();
  });

  const show = (id: string) => merchant.ask<Shown>('GET', `/v1/transactions/${id}`);
  const path = (id: string) => `/v1/transactions/${id}/accept`;
  const accept = (id: string, amount: number, note = 'A regular customer') =>
    server.api('POST', path(id), { body: { amount, note } });
  const events = async (id: string) => (await merchant.eventsOf(id)).map(({ type }) => type);
  const isVerified = (payment: Shown) =>
    verifyPayment(payment, {
      txRef: payment.txRef ?? '',
      baseAmount: 10,
      baseCurrency: 'USD',
      mode: 'test',
    }).verified;
  const codes = ({ transactionTimeLog: log }: Shown) => log.map(({ code }) => code);

  /** A payment of 10 that got less. */
  async function part(amount: number): Promise<{ id: string; address: string }> {
    const locked = await merchant.lock();
    await merchant.pay(locked.address, amount);
    return locked;
  }
  async function short(amount: number): Promise<{ id: string; address: string }> {
    const locked = await part(amount);
    await merchant.advance(86_400);
    await merchant.untilState(locked.id, 'expired_partial');
    return locked;
  }

  it('Accepting an expired payment makes it a success, notifies the shop, and posts nothing twice', async () => {
    const { id } = await short(9.5);
    const balance = await merchant.balance();
    const { status, body } = await accept(id, 9.5);
    expect([status, body.data]).toMatchObject([
      200,
      { status: 'success', state: 'settled', amountReceived: 9.5, amountDue: 0, accepted: { amount: 9.5 } },
    ]);
    const payment = await show(id);
    expect(payment.findings).toBeUndefined();
    expect(codes(payment).at(-1)).toBe('accepted');
    expect(payment.transactionTimeLog.at(-1)?.event).toBe('Accepted by the shop: 9.5 of 10 USDT received');
    expect(await events(id)).toEqual([
      'payment.partial',
      'payment.error',
      'payment.accepted',
      'payment.success',
    ]);
    expect(isVerified(payment)).toBe(true);
    expect(isVerified({ ...payment, amountReceived: 9.4 }), 'less than was accepted').toBe(false);
    expect(await merchant.balance(), 'it was credited when the time ran out').toEqual(balance);
    await merchant.expectBooksInOrder();
    const home = await merchant.ask<{ attention: { code: string }[] }>('GET', '/v1/home');
    expect(home.attention.map(({ code }) => code)).not.toContain('payments_short');

    expect((await accept(id, 9.5)).status, 'again').toBe(200);
    expect(codes(await show(id)).filter((code) => code === 'accepted')).toHaveLength(1);
    const entries = (await merchant.command('audit', 'list')) as { action: string; subjectId: string }[];
    expect(entries.filter(({ subjectId }) => subjectId === id)).toMatchObject([
      {
        action: 'payment.accepted',
        after: { amount: '9.5', due: '10', currency: 'USDT', note: 'A regular customer' },
      },
    ]);
  });

  it('Accepting a payment in progress settles it for the sum that has arrived, and a later sum counts as more', async () => {
    const { id, address } = await part(9);
    await merchant.untilState(id, 'partially_paid');
    const { body } = await accept(id, 9);
    expect(body.data).toMatchObject({
      status: 'success',
      state: 'settled',
      credited: [{ amount: 9, net: 8.91 }],
    });
    await merchant.expectBooksInOrder();
    await merchant.send(address, 2);
    await merchant.untilState(id, 'settled_over');
    expect(await events(id)).toEqual([
      ...['payment.partial', 'payment.accepted', 'payment.success', 'payment.overpaid'],
    ]);
  });

  it('A payment that came late and is too little can be accepted', async () => {
    const locked = await merchant.lock();
    await merchant.advance(86_400);
    await merchant.untilState(locked.id, 'expired');
    await merchant.send(locked.address, 6);
    await merchant.untilState(locked.id, 'expired_late');
    expect((await accept(locked.id, 6)).body.data).toMatchObject({ status: 'success', findings: ['late'] });
    expect(isVerified(await show(locked.id))).toBe(true);
  });

  it('Only the sum that was seen can be accepted, and only where something came and more was due', async () => {
    const { id } = await short(5);
    const other = await accept(id, 6);
    expect([other.status, other.body.message]).toEqual([
      409,
      '5 USDT were received, not 6. Look at the payment again',
    ]);
    const paid = await merchant.fund({ amount: 10 });
    const open = await merchant.lock();
    const cancelled = await merchant.lock();
    await merchant.ask('PATCH', `/v1/payments/${cancelled.id}/cancel`);
    for (const one of [paid, open, cancelled]) {
      const { status, body } = await accept(one.id, 10);
      expect([status, body.data.code]).toEqual([409, 'invalid_state']);
    }
    expect((await accept('nobody', 5)).status).toBe(404);
    const foreign = await server.foreignKey('secret', 'test');
    const body = { amount: 5, note: '' };
    expect((await server.api('POST', path(id), { body, key: foreign })).status).toBe(404);
    expect((await show(id)).state).toBe('expired_partial');
  });

  it('A refund with an address keeps a payment from being accepted, and one that waits for an address is cancelled', async () => {
    const held = await short(5);
    const refund = await merchant.refund(held.id, { kind: 'unaccepted' });
    await openClaimBrowser(server).claim(claimTokenOf(refund), externalAddresses.tron);
    expect((await accept(held.id, 5)).body.data).toMatchObject({ code: 'invalid_state' });

    const waiting = await short(5);
    const { id } = await merchant.refund(waiting.id, { kind: 'unaccepted' });
    expect((await accept(waiting.id, 5)).status).toBe(200);
    expect(await merchant.retrieveRefund(id)).toMatchObject({
      status: 'cancelled',
      cancelReason: 'payment_completed',
    });
    await merchant.expectBooksInOrder();
  });

  it('An accepted payment is no success while the network has reverted its money, and one again when it returns', async () => {
    const { id } = await part(9.5);
    await merchant.untilState(id, 'partially_paid');
    expect((await accept(id, 9.5)).status).toBe(200);
    await merchant.sandbox('reorgs', { network: 'tron', depth: 50, keep: true });
    await vi.waitFor(async () => expect((await show(id)).state).toBe('reversed'), { timeout: 20_000 });
    const returned = await merchant.untilState(id, 'settled');
    expect(returned).toMatchObject({ amountReceived: 9.5, accepted: { amount: 9.5 } });
  });

  it('A payment can be accepted by a manager, but not by support, an accountant or a key of narrower scope', async () => {
    const { id } = await short(5);
    const body = { amount: 5, note: 'On the phone' };
    for (const role of ['support', 'accountant'] as const) {
      const browser = await signIn(server, role);
      expect((await browser.send('POST', path(id), { body })).body.data.code).toBe('role_not_allowed');
    }
    expect((await openBrowser(server.url).send('POST', path(id), { body })).status).toBe(401);
    for (const scope of ['verify', 'refunds', 'read'] as const) {
      const { key } = (await merchant.command(
        ...['keys', 'create', '--merchant', server.bootstrapped.merchantId],
        ...['--kind', 'secret', '--mode', 'test', '--scope', scope],
      )) as { key: string };
      expect((await server.api('POST', path(id), { body, key })).body.data.code, scope).toBe(
        'secret_key_required',
      );
    }
    const manager = await signIn(server, 'manager');
    expect((await manager.send('POST', path(id), { body })).body.data).toMatchObject({ status: 'success' });
    const entries = (await merchant.command('audit', 'list')) as { subjectId: string; actor: string }[];
    expect(entries.find(({ subjectId }) => subjectId === id)?.actor).toContain('manager@shop.example');
  });
});
