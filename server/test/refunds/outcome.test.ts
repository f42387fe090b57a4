/** Refunds and the outcome of a payment are one sum: no coin is both given back and paid with, on both engines. */
import { verifyPayment } from 'crypto-checkout/client';
import type { PaymentRecord } from 'crypto-checkout/contract';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { claimTokenOf, openClaimBrowser } from '../support/claim-browser.js';
import { enginesOfTurn } from '../support/engines.js';
import { externalAddresses, openShop, type Shop } from '../support/shop.js';
import { startServer, type TestServer } from '../support/server.js';
import { refunds as refundsModule } from '../../src/modules/refunds/module.js';

describe.each(enginesOfTurn)('Refunds and the outcome, on $name', (engine) => {
  let server: TestServer;
  let merchant: Shop;
  const price = { dollars: 1n };
  beforeAll(async () => {
    server = await startServer({
      engine,
      overrides: {
        paidByOperator: ['ethereum'],
        rates: {
          latest: (code) => ({
            numerator: code === 'USDT' ? price.dollars : 1n,
            denominator: 1n,
            source: 'test',
            at: Date.now(),
          }),
        },
      },
    });
    merchant = openShop(server);
    for (const network of ['tron', 'ethereum']) await merchant.fund({ network, amount: 200 });
  });
  afterAll(async () => {
    await merchant.expectBooksInOrder();
    await server.stop();
  });

  const show = (id: string) => merchant.ask<PaymentRecord>('GET', `/v1/payments/${id}`);
  const change = (id: string, way: 'approve' | 'cancel') =>
    server.api('POST', `/v1/refunds/${id}/${way}`, { body: {} });
  const isVerified = (payment: PaymentRecord) =>
    verifyPayment(payment, {
      txRef: payment.txRef ?? '',
      baseAmount: 10,
      baseCurrency: 'USD',
      mode: 'test',
    }).verified;
  /** A payment of 10 that got less, and is over. */
  async function short(amount: number): Promise<{ id: string; address: string }> {
    const locked = await merchant.lock();
    await merchant.pay(locked.address, amount);
    await merchant.advance(86_400);
    await merchant.untilState(locked.id, 'expired_partial');
    return locked;
  }

  it('Goods are not had for one percent: refunded money does not pay for later goods', async () => {
    const { id, address } = await short(9.9);
    const refund = await merchant.refund(id, { kind: 'unaccepted', refundFee: true });
    expect(refund.amount).toBe(9.9);
    await openClaimBrowser(server).claim(claimTokenOf(refund), externalAddresses.tron);
    expect(await show(id), 'held from the address on').toMatchObject({ amountReceived: 0 });
    const { transferId } = (await change(refund.id, 'approve')).body.data;
    await merchant.until(String(transferId), 'success');
    await merchant.pay(address, 0.1);
    const payment = await merchant.untilState(id, 'expired_late');
    expect(payment).toMatchObject({ status: 'error', amountReceived: 0.1, refundedAmount: 9.9 });
    expect(isVerified(payment)).toBe(false);
    // A payer who pays the whole price after all has paid it.
    await merchant.pay(address, 9.9);
    const paid = await merchant.untilState(id, 'settled_late');
    expect(paid).toMatchObject({ status: 'success', amountReceived: 10, refundedAmount: 9.9 });
    expect(isVerified(paid)).toBe(true);
  });

  it('A refund that waits for an address yields to the money that completes its payment, and the claim says so', async () => {
    const { id, address } = await short(9.9);
    const before = await merchant.balance();
    const refund = await merchant.refund(id, { kind: 'unaccepted' });
    const browser = openClaimBrowser(server);
    await merchant.pay(address, 0.1);
    const payment = await merchant.untilState(id, 'settled_late');
    expect(await merchant.retrieveRefund(refund.id)).toMatchObject({
      status: 'cancelled',
      cancelReason: 'payment_completed',
    });
    expect((await browser.claim(claimTokenOf(refund))).body.data).toMatchObject({
      status: 'cancelled',
      cancelReason: 'payment_completed',
      canSetAddress: false,
    });
    expect((await browser.claim(claimTokenOf(refund), externalAddresses.tron)).status).toBe(409);
    expect(payment).toMatchObject({ amountReceived: 10 });
    expect(payment.transactionTimeLog.at(-1)?.event).toMatch(
      /cancelled.* because the payment was completed/i,
    );
    expect(isVerified(payment)).toBe(true);
    expect((await merchant.balance()).availableBalance).toBeCloseTo(before.availableBalance + 0.1);
  });

  it('A refund that was cancelled or failed gives its coins back to the payment, which may be complete then', async () => {
    const { id, address } = await short(6);
    const refund = await merchant.refund(id, { kind: 'unaccepted' });
    await openClaimBrowser(server).claim(claimTokenOf(refund), externalAddresses.tron);
    await merchant.pay(address, 4);
    expect(await merchant.untilState(id, 'expired_late')).toMatchObject({ amountReceived: 4 });
    await change(refund.id, 'cancel');
    expect(await show(id)).toMatchObject({ status: 'success', state: 'settled_late', amountReceived: 10 });
  });

  it('A success stays one when it is refunded, and is no longer verified', async () => {
    const { id } = await merchant.fund({ amount: 10 });
    const refund = await merchant.refund(id, { kind: 'full' });
    expect(refund).toMatchObject({ amount: 9.9, feeKept: 0.1 });
    await openClaimBrowser(server).claim(claimTokenOf(refund), externalAddresses.tron);
    const payment = await show(id);
    expect(payment).toMatchObject({ status: 'success', amountReceived: 0, amountDue: 0 });
    expect(isVerified(payment)).toBe(false);
  });

  it('An excess that went back leaves a payment that is verified, and no fee on it', async () => {
    const fees = async () => (await merchant.balance()).availableBalance;
    const { id } = await merchant.fund({ network: 'ethereum', amount: 16.12 });
    const before = await fees();
    const refund = await merchant.refund(id, { kind: 'excess', address: externalAddresses.evm });
    expect(refund).toMatchObject({ amount: 6.12, feeKept: 0 });
    // The fee of 0.0612 on it has come back, and the network's is the shop's.
    expect(await fees()).toBeCloseTo(before - 6.12 + 0.0612 - networkFee, 6);
    await merchant.expectBooksInOrder();
    const { transferId } = (await change(refund.id, 'approve')).body.data;
    await merchant.command('transfers', 'fail', String(transferId), '--reason', 'The wallet was empty');
    expect(await fees()).toBeCloseTo(before, 6);
    await merchant.expectBooksInOrder();
    const again = await merchant.refund(id, { kind: 'excess', address: externalAddresses.evm });
    const approved = (await change(again.id, 'approve')).body.data;
    await merchant.command(
      ...['transfers', 'settle', String(approved['transferId']), '--tx-hash', 'c'.repeat(64), '--unverified'],
    );
    const payment = await show(id);
    expect(payment).toMatchObject({ state: 'settled_over', amountReceived: 10, refundedAmount: 6.12 });
    expect(isVerified(payment)).toBe(true);
    await merchant.expectBooksInOrder();
  });
  const networkFee = 0.5;

  it.each(['before its address', 'before its approval', 'before it is paid'] as const)(
    'An excess whose transaction a reorganisation took is not refunded out of the price: %s',
    async (when) => {
      const { id, address } = await merchant.lock({ network: 'ethereum' });
      await merchant.pay(address, 10, { network: 'ethereum' });
      await merchant.untilState(id, 'settled', 'ethereum');
      await merchant.pay(address, 5, { network: 'ethereum' });
      await merchant.untilState(id, 'settled_over', 'ethereum');
      const refund = await merchant.refund(id, { kind: 'excess' });
      const browser = openClaimBrowser(server);
      const claim = () => browser.claim(claimTokenOf(refund), externalAddresses.evm);
      if (when !== 'before its address') await claim();
      const { transferId } =
        when === 'before it is paid' ? (await change(refund.id, 'approve')).body.data : {};
      await merchant.sandbox('reorgs', { network: 'ethereum', depth: 3, keep: false });
      await merchant.untilState(id, 'settled', 'ethereum');
      if (when === 'before its address') {
        const answer = await claim();
        expect([answer.status, answer.body.message]).toEqual([
          409,
          expect.stringContaining('reverted') as string,
        ]);
      } else if (when === 'before its approval') {
        expect((await change(refund.id, 'approve')).status).toBe(409);
      } else {
        const reason = await refundsModule
          .rules(server.app)
          .whyNotDue(server.database.reader, { refund_id: refund.id });
        expect(reason).toMatch(/reverted/);
        await merchant.command('transfers', 'fail', String(transferId), '--reason', 'Not due');
      }
      if (when !== 'before it is paid') await change(refund.id, 'cancel');
      await merchant.expectBooksInOrder();
    },
  );

  it('An excess is cancelled also while the merchant owes more than it gives back, and the fee becomes a debt too', async () => {
    const coin = { network: 'ethereum', currency: 'USDC' };
    const { id } = await merchant.fund({ ...coin, amount: 15 });
    await merchant.untilState(id, 'settled_over', 'ethereum');
    const refund = await merchant.refund(id, { kind: 'excess' });
    const { availableBalance } = await merchant.balance('USDC');
    const withdrawal = { currency: 'USDC', walletNetwork: 'ethereum', walletAddress: externalAddresses.evm };
    await merchant.withdraw({ ...withdrawal, amount: availableBalance - networkFee });
    await merchant.sandbox('reorgs', { network: 'ethereum', depth: 5, keep: false });
    await vi.waitFor(async () => expect((await show(id)).state).not.toBe('settled_over'), {
      timeout: 20_000,
    });
    const before = await merchant.balance('USDC');
    expect(before).toMatchObject({ availableBalance: 0, unsettledBalance: -14.85 });
    const { status, body } = await change(refund.id, 'cancel');
    expect([status, body.data]).toMatchObject([200, { status: 'cancelled' }]);
    const after = await merchant.balance('USDC');
    expect(after.availableBalance).toBe(0);
    expect(after.totalBalance).toBeCloseTo(before.totalBalance - 0.05, 6);
    await merchant.expectBooksInOrder();
  });

  it('A refund at today’s value uses up the coins that it was valued from', async () => {
    const { id } = await merchant.fund({ network: 'ethereum', amount: 10 });
    price.dollars = 2n;
    try {
      const first = await merchant.refund(id, { kind: 'full', by: 'today', refundFee: true });
      expect(first.amount).toBe(5);
      const second = await server.api('POST', `/v1/payments/${id}/refunds`, {
        body: { kind: 'full', by: 'today', refundFee: true },
      });
      expect([second.status, second.body.data.code]).toEqual([409, 'invalid_state']);
      await change(first.id, 'cancel');
      const half = await merchant.refund(id, { kind: 'partial', amount: 5, by: 'today', refundFee: true });
      const rest = await merchant.refund(id, { kind: 'full', by: 'today', refundFee: true });
      expect([half.amount, rest.amount]).toEqual([2.5, 2.5]);
      for (const one of [half, rest]) await change(one.id, 'cancel');
    } finally {
      price.dollars = 1n;
    }
  });
});

describe.each(enginesOfTurn)('A clock that is set back behind a deadline, on $name', (engine) => {
  const dayMs = 86_400_000;
  let ahead = 0;
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ engine, overrides: { realNow: () => Date.now() + ahead } });
  });
  afterAll(() => server.stop());

  it('A payment counts no money that a refund holds after a clock is set back, however many transfers follow', async () => {
    const shop = openShop(server);
    await shop.fund({ amount: 100 });
    const { id, address } = await shop.lock();
    await shop.pay(address, 6);
    ahead = dayMs;
    await shop.mine(1);
    await shop.untilState(id, 'expired_partial');
    const refund = await shop.refund(id, { kind: 'unaccepted' });
    await openClaimBrowser(server).claim(claimTokenOf(refund), externalAddresses.tron);
    ahead = 0;
    const accept = (amount: number) =>
      server.api('POST', `/v1/transactions/${id}/accept`, { body: { amount, note: 'Close enough' } });
    for (const received of [1, 2, 3, 4]) {
      await shop.pay(address, 1);
      const payment = await shop.untilState(id, 'expired_partial');
      expect(payment).toMatchObject({ status: 'error', amountReceived: received });
      expect((await accept(received + 6)).status).toBe(409);
    }
    // The whole price in addition to what goes back is a success.
    await shop.pay(address, 6);
    const paid = await shop.untilState(id, 'settled');
    expect(paid).toMatchObject({ status: 'success', amountReceived: 10 });
    await shop.expectBooksInOrder();
  });
});
