/**
 * The fate of refunds: limits, automatic approval, expiry, failed and lost transfers, other coins, erasure and export.
 */
import { addr, eip191Signer } from 'micro-eth-signer';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { claimTokenOf, openClaimBrowser } from '../support/claim-browser.js';
import type { TestEngine } from '../support/engines.js';
import { externalAddresses, openShop, type RefundRecord, type Shop } from '../support/shop.js';
import { startServer, type TestServer } from '../support/server.js';

const walletKey = `0x${'7'.repeat(64)}`;
const wallet = addr.fromPrivateKey(walletKey);
const hash = (digit: string) => digit.repeat(64);

export const testRefundPolicy = (engine: TestEngine): unknown =>
  describe(`Refunds, on ${engine.name}`, () => {
    let server: TestServer;
    let merchant: Shop;
    let merchantId: string;
    beforeAll(async () => {
      // Operators send on Ethereum, so that a test decides what becomes of a transfer.
      server = await startServer({ engine, overrides: { paidByOperator: ['ethereum'] } });
      merchant = openShop(server);
      ({ merchantId } = server.bootstrapped);
      await merchant.fund({ amount: 100 });
      await merchant.fund({ network: 'ethereum', amount: 100 });
    });
    afterAll(async () => {
      await merchant.expectBooksInOrder();
      await server.stop();
    });

    const update = (...args: string[]) => merchant.command('merchants', 'update', merchantId, ...args);
    const post = (path: string, body: object = {}) => server.api('POST', path, { body });
    const approve = (id: string) =>
      merchant.ask<RefundRecord>('POST', `/v1/refunds/${id}/approve`, { body: {} });
    const claim = (token: string, address?: string, signature?: string) =>
      openClaimBrowser(server).claim(token, address, signature);
    /** Gives an address on Ethereum that the wallet which paid has signed for. */
    async function claimSigned(refund: RefundRecord & { readonly paymentId: string }): Promise<unknown> {
      await paidBy(refund.paymentId, wallet);
      const token = claimTokenOf(refund);
      const { signatureText } = (await claim(token)).body.data as { signatureText: string };
      const text = signatureText.replace('{address}', externalAddresses.evm);
      return (await claim(token, externalAddresses.evm, eip191Signer.sign(text, walletKey))).body.data[
        'status'
      ];
    }
    /** The simulated network has senders without keys. */
    const paidBy = (paymentId: string, sender: string) =>
      server.database.write((transaction) =>
        transaction
          .updateTable('receipts')
          .set({ senders: JSON.stringify([sender]) })
          .where('payment_id', '=', paymentId)
          .execute(),
      );

    it('refunds have a daily limit of their own, separate from that of transfers and the saved addresses', async () => {
      await update('--daily-refunds', 'USDT=6', '--daily-limit', 'USDT=1', '--transfers', 'saved');
      const { id: paymentId } = await merchant.fund({ amount: 15 });
      const give = async (amount: number) =>
        merchant.refund(paymentId, { kind: 'partial', amount, address: externalAddresses.tron });
      const { id } = await give(5);
      expect((await approve(id)).status).toBe('approved');
      const { id: more } = await give(2);
      const refused = await post(`/v1/refunds/${more}/approve`);
      expect([refused.status, refused.body.message]).toEqual([
        400,
        expect.stringContaining('1 of it is left. Refunds count for 24 hours') as string,
      ]);
      expect((await merchant.retrieveRefund(more)).status).toBe('awaiting_approval');
      await update('--daily-refunds', 'USDT=none', '--daily-limit', 'USDT=none', '--transfers', 'any');
      expect((await approve(more)).status).toBe('approved');
    });

    it('an excess refund is approved automatically up to a value, if the wallet that paid has signed for it', async () => {
      await update('--auto-refund', 'USD=5', '--daily-refunds', 'USDT=1000');
      const make = async (amount: number, body: object) => {
        const { id } = await merchant.fund({ network: 'ethereum', amount });
        return { ...(await merchant.refund(id, body)), paymentId: id };
      };
      const excess = await make(14, { kind: 'excess' });
      expect(await claimSigned(excess)).toBe('approved');
      expect(await claimSigned(await make(14, { kind: 'partial', amount: 1 }))).toBe('awaiting_approval');
      expect(await claimSigned(await make(26, { kind: 'excess' }))).toBe('awaiting_approval');
      // A limit in the coin itself, and the daily limit, which leaves it to the merchant.
      await update('--auto-refund', 'USDT=10', '--auto-refund', 'USD=none', '--daily-refunds', 'USDT=1');
      expect(await claimSigned(await make(12, { kind: 'excess' }))).toBe('awaiting_approval');
      await update('--auto-refund', 'USDT=none', '--daily-refunds', 'USDT=none');
      const audit = (await merchant.command('audit', 'list', '--merchant', merchantId)) as {
        actor: string;
        subjectId: string;
        after: { madeBy?: string };
      }[];
      const automatic = audit.filter(({ actor }) => actor.includes('--auto-refund'));
      expect(automatic).toMatchObject([
        {
          subjectId: excess.id,
          after: { madeBy: expect.stringMatching(/^secret key sk_test_…/) as string },
        },
      ]);
    });

    it('refunds are never approved automatically for the holder of a link: support would pay itself', async () => {
      await update('--auto-refund', 'USD=50');
      for (const network of ['tron', 'ethereum'] as const) {
        const { id } = await merchant.fund({ network, amount: 15 });
        const refund = await merchant.refund(id, { kind: 'excess' });
        const address = network === 'tron' ? externalAddresses.tron : externalAddresses.evm;
        expect((await claim(claimTokenOf(refund), address)).body.data['status']).toBe('awaiting_approval');
        await post(`/v1/refunds/${refund.id}/cancel`);
      }
      await update('--auto-refund', 'USD=none');
    });

    if (engine.name === 'SQLite')
      it('automatic approval of refunds ends for the day at ten times its limit for one refund', async () => {
        await merchant.advance(86_400 + 60);
        await update('--auto-refund', 'USDT=2');
        const statuses: unknown[] = [];
        for (let count = 0; count < 12; count += 1) {
          const { id } = await merchant.fund({ network: 'ethereum', amount: 12 });
          const refund = await merchant.refund(id, { kind: 'excess' });
          statuses.push(await claimSigned({ ...refund, paymentId: id }));
        }
        expect(statuses.filter((status) => status === 'approved')).toHaveLength(10);
        expect(statuses.at(-1)).toBe('awaiting_approval');
        await update('--auto-refund', 'USDT=none');
      });

    it('a daily limit of refunds in money holds for all coins together, by their value', async () => {
      await merchant.advance(86_400 + 60);
      await update('--daily-refunds', 'USD=6');
      const { id: paymentId } = await merchant.fund({ amount: 15 });
      const { id: other } = await merchant.fund({ network: 'ethereum', currency: 'USDC', amount: 15 });
      const give = (id: string, address: string) =>
        merchant.refund(id, { kind: 'partial', amount: 4, address });
      expect((await approve((await give(paymentId, externalAddresses.tron)).id)).status).toBe('approved');
      const { id } = await give(other, externalAddresses.evm);
      const refused = await post(`/v1/refunds/${id}/approve`);
      expect([refused.status, refused.body.message]).toEqual([
        400,
        expect.stringContaining('is 6 USD, and with this one it would be') as string,
      ]);
      await update('--daily-refunds', 'USD=none');
      await post(`/v1/refunds/${id}/cancel`);
    });

    it('Refunds that are approved at once, in two coins, do not both pass a daily limit in money', async () => {
      await update('--daily-refunds', 'USD=6');
      const { id: paymentId } = await merchant.fund({ amount: 30 });
      const { id: other } = await merchant.fund({ network: 'ethereum', currency: 'USDC', amount: 30 });
      const give = (id: string, address: string) =>
        merchant.refund(id, { kind: 'partial', amount: 4, address });
      for (let round = 0; round < 4; round += 1) {
        await merchant.advance(86_400 + 60);
        const refunds = [
          await give(paymentId, externalAddresses.tron),
          await give(other, externalAddresses.evm),
        ];
        const replies = await Promise.all(refunds.map(({ id }) => post(`/v1/refunds/${id}/approve`)));
        expect(replies.map(({ status }) => status).sort()).toEqual([200, 400]);
        for (const { id } of refunds) await post(`/v1/refunds/${id}/cancel`);
      }
      await update('--daily-refunds', 'USD=none');
    });

    it('a refund without an address expires 30 days after its latest link was made', async () => {
      const { id: paymentId } = await merchant.fund({ amount: 15 });
      const before = await merchant.balance();
      const forgotten = await merchant.refund(paymentId, { kind: 'partial', amount: 1 });
      const renewed = await merchant.refund(paymentId, { kind: 'partial', amount: 1 });
      const answered = await merchant.refund(paymentId, { kind: 'partial', amount: 1 });
      await claim(claimTokenOf(answered), externalAddresses.tron);
      await merchant.advance(20 * 86_400);
      const link = await merchant.ask<RefundRecord>('POST', `/v1/refunds/${renewed.id}/link`, { body: {} });
      expect((await claim(claimTokenOf(renewed))).status).toBe(404);
      await merchant.advance(11 * 86_400);
      await vi.waitFor(
        async () => expect((await merchant.retrieveRefund(forgotten.id)).status).toBe('expired'),
        {
          timeout: 20_000,
        },
      );
      expect((await claim(claimTokenOf(forgotten))).status).toBe(404);
      expect((await claim(claimTokenOf(link))).status).toBe(200);
      expect((await claim(claimTokenOf(answered))).body.data['status']).toBe('awaiting_approval');
      expect((await post(`/v1/refunds/${forgotten.id}/link`)).status).toBe(409);
      for (const { id } of [renewed, answered]) await post(`/v1/refunds/${id}/cancel`);
      expect((await merchant.balance()).availableBalance).toBe(before.availableBalance);
    });

    it('refunds follow their transfer: failed, paid after all, reverted by a reorganisation, and paid again', async () => {
      const { id: paymentId } = await merchant.fund({ network: 'ethereum', amount: 15 });
      const before = await merchant.balance();
      const lost = await merchant.refund(paymentId, { kind: 'excess', address: externalAddresses.evm });
      await approve(lost.id);
      const failing = (await merchant.retrieveRefund(lost.id)).transferId ?? '';
      await merchant.command('transfers', 'fail', failing, '--reason', 'The wallet was empty');
      expect(await merchant.retrieveRefund(lost.id)).toMatchObject({ status: 'failed', txHash: null });
      expect((await merchant.balance()).availableBalance).toBe(before.availableBalance);

      // After a failed refund, the money can be given back again.
      const refund = await merchant.refund(paymentId, { kind: 'excess', address: externalAddresses.evm });
      const transferId = (await approve(refund.id)).transferId ?? '';
      const settle = (txHash: string) =>
        merchant.command('transfers', 'settle', transferId, '--tx-hash', txHash, '--unverified');
      await settle(hash('a'));
      expect(await merchant.retrieveRefund(refund.id)).toMatchObject({ status: 'paid', txHash: hash('a') });
      await server.database.write((transaction) =>
        server.app.transfers.unsettle(transaction, transferId, hash('a')),
      );
      expect(await merchant.retrieveRefund(refund.id)).toMatchObject({ status: 'processing', txHash: null });
      await merchant.expectBooksInOrder();
      const shown = await merchant.ask<Record<string, unknown>>('GET', `/v1/payments/${paymentId}`);
      expect(shown['refundedAmount']).toBe(0);
      await settle(hash('b'));
      expect(await merchant.retrieveRefund(refund.id)).toMatchObject({ status: 'paid', txHash: hash('b') });
      const again = await merchant.ask<Record<string, unknown>>('GET', `/v1/payments/${paymentId}`);
      expect(again['refundedAmount']).toBe(5);
    });

    it('money that came short or in another coin can be refunded after expiry, one refund for each coin', async () => {
      const { id: paymentId, address } = await merchant.lock();
      await merchant.send(address, 20, { currency: 'TRX' });
      await merchant.pay(address, 4);
      expect((await post(`/v1/payments/${paymentId}/refunds`, { kind: 'excess' })).status).toBe(409);
      await merchant.advance(2 * 86_400);
      await merchant.mine();
      await vi.waitFor(
        async () => {
          const { state } = await merchant.ask<{ state: string }>('GET', `/v1/payments/${paymentId}`);
          expect(state).toBe('expired_partial');
        },
        { timeout: 20_000 },
      );
      const unclear = await post(`/v1/payments/${paymentId}/refunds`, { kind: 'unaccepted' });
      expect([unclear.status, unclear.body.data.param]).toEqual([400, 'currency']);
      const usdt = await merchant.refund(paymentId, { kind: 'unaccepted', currency: 'usdt' });
      expect([usdt.amount, usdt.currency]).toEqual([3.96, 'USDT']);
      const trx = await merchant.refund(paymentId, {
        kind: 'unaccepted',
        currency: 'TRX',
        networkFee: 'payer',
      });
      expect([trx.amount, trx.currency]).toEqual([19.5, 'TRX']);
    });

    it('refunds are refused once the chain has reverted the coins that they would give back', async () => {
      const { id: paymentId } = await merchant.fund({ network: 'bsc', amount: 15 });
      await merchant.fund({ network: 'bsc', amount: 50 });
      const refund = await merchant.refund(paymentId, { kind: 'full', address: externalAddresses.evm });
      await server.database.write((transaction) =>
        transaction
          .updateTable('receipts')
          .set({ is_credited: 0 })
          .where('payment_id', '=', paymentId)
          .execute(),
      );
      const refused = await post(`/v1/refunds/${refund.id}/approve`);
      expect([refused.status, refused.body.message]).toEqual([
        409,
        expect.stringContaining('reverted') as string,
      ]);
      await server.database.write((transaction) =>
        transaction
          .updateTable('receipts')
          .set({ is_credited: 1 })
          .where('payment_id', '=', paymentId)
          .execute(),
      );
      await post(`/v1/refunds/${refund.id}/cancel`);
    });

    it('go through the commands, into the export, and an erasure clears what was not paid', async () => {
      const payment = await merchant.lock({ customer: { email: 'ada@example.com' } });
      await merchant.pay(payment.address, 15);

      const run = (...args: string[]) => merchant.command('refunds', ...args) as Promise<RefundRecord>;
      const wanted = ['create', '--payment', payment.id, '--kind'];
      const made = await run(...wanted, 'partial', '--amount', '1', '--to', externalAddresses.tron);
      expect(made.claimUrl).toMatch(/#[\w-]{43}$/);
      expect(await run('link', made.id)).toMatchObject({
        id: made.id,
        claimUrl: expect.any(String) as string,
      });
      expect(await run('cancel', made.id)).toMatchObject({ status: 'cancelled' });
      const paid = await run(...wanted, 'excess', '--reason', 'Too much', '--to', externalAddresses.tron);
      const { transferId } = await run('approve', paid.id, '--address', externalAddresses.tron);
      const erase = ['customers', 'erase', '--merchant', merchantId, 'ada@example.com'];
      const open = await run(...wanted, 'partial', '--amount', '1');
      expect(await merchant.refusal(...erase)).toMatch(/A refund of the customer is open/);
      await run('cancel', open.id);
      await merchant.until(transferId ?? '', 'success');
      expect(await run('show', paid.id)).toMatchObject({ status: 'paid' });
      const list = (await merchant.command('refunds', 'list', '--status', 'paid')) as RefundRecord[];
      expect(list.map(({ id }) => id)).toContain(paid.id);

      await merchant.command(...erase);
      expect([
        (await merchant.retrieveRefund(made.id)).address,
        (await merchant.retrieveRefund(paid.id)).address,
      ]).toEqual([null, externalAddresses.tron]);

      const { stdout } = await merchant.run(
        ...['payments', 'export', '--merchant', merchantId, '--format', 'csv'],
      );
      const lines = stdout.split('\r\n').filter((line) => line.startsWith(`refund,${payment.id},`));
      expect(lines).toHaveLength(3);
      expect(lines.find((line) => line.includes(',paid,'))).toContain(',excess,,USD,5,USDT,tron,5,0.2,-5.2,');
    });

    it('an erasure is refused while an approved refund is open, and later clears the address of a failed transfer', async () => {
      const payment = await merchant.lock({ customer: { email: 'zoe@example.com' }, network: 'ethereum' });
      await merchant.pay(payment.address, 15, { network: 'ethereum' });
      const given = { kind: 'partial', amount: 1, address: externalAddresses.evm };
      const approved = async () =>
        (await approve((await merchant.refund(payment.id, given)).id)).transferId ?? '';
      const [paid, failed] = [await approved(), await approved()];
      const erase = ['customers', 'erase', '--merchant', merchantId, 'zoe@example.com'];
      expect(await merchant.refusal(...erase)).toMatch(/A refund of the customer is open/);
      await merchant.command('transfers', 'settle', paid, '--tx-hash', `0x${hash('e')}`);
      expect(await merchant.refusal(...erase)).toMatch(/A refund of the customer is open/);
      await merchant.command('transfers', 'fail', failed, '--reason', 'The wallet refused');
      await merchant.command(...erase);
      const rows = await server.database.reader
        .selectFrom('transfers')
        .leftJoin('refunds', 'refunds.id', 'transfers.refund_id')
        .select(['transfers.id', 'transfers.address', 'refunds.address as given'])
        .where('transfers.id', 'in', [paid, failed])
        .execute();
      const { evm } = externalAddresses;
      expect(new Set(rows)).toEqual(
        new Set([
          { id: paid, address: evm, given: evm },
          { id: failed, address: '', given: null },
        ]),
      );
      const { status } = await server.api('GET', `/v1/transfers/${failed}`);
      expect(status).toBe(200);
    });
  });
