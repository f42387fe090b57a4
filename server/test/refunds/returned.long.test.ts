/**
 * Approved refunds on an anvil whose coins the network reverts, or that had failed: not paid by us, and booked once if
 * they are paid anyway.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startAnvil, type Anvil } from '../support/anvil.js';
import { signIn, type TestBrowser } from '../support/browser.js';
import { enginesOfTurn } from '../support/engines.js';
import { transact } from '../support/forwarders.js';
import type { RefundRecord } from '../support/shop.js';
import { confirmations, openTreasury, treasury, type TreasuryFixture } from '../treasury/treasury-fixture.js';

const payer = '0x14dC79964da2C08b23698B3D3cc7Ca32193d9955';
const otherWallet = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65';
const network = 'evm-dev';
const path = '/console/api/payout-exports';
const five = 5_000_000n;

interface File {
  readonly export: string | null;
  readonly transfers: readonly { readonly id: string; readonly to: string; readonly data: string }[];
  readonly held: readonly { readonly id: string; readonly reason: string }[];
}
/** An approved one, which has a transfer. */
type Refund = RefundRecord & { readonly transferId: string };
interface Call {
  readonly to: string;
  readonly data: string;
}

describe.each(enginesOfTurn)('An approved refund, on $name', (engine) => {
  let anvil: Anvil;
  let fixture: TreasuryFixture;
  let owner: TestBrowser;
  let manager: TestBrowser;

  beforeAll(async () => {
    anvil = await startAnvil();
    fixture = await openTreasury(engine, { anvil });
    await fixture.command(
      `merchants update ${fixture.merchantId} --webhook-url https://shop.example/hooks --mode test`,
    );
    await fixture.setTreasury();
    owner = await signIn(fixture.server, 'owner', 'olga@shop.example');
    manager = await signIn(fixture.server, 'manager', 'max@shop.example');
  });
  afterAll(async () => {
    await fixture.stop();
    await anvil.stop();
  });

  async function fund(): Promise<void> {
    for (let time = 0; time < 3; time += 1) await fixture.pay('USDT');
    await sweep();
  }
  async function sweep(): Promise<void> {
    const { transactions } = await fixture.command<{ transactions: Call[] }>(
      `sweeps export --network ${network} --format json`,
    );
    for (const { to, data } of transactions) await transact(anvil, to, data);
    await fixture.watch();
  }
  async function confirmOver(id: string): Promise<void> {
    await anvil.mine(confirmations);
    await vi.waitFor(
      async () => {
        await fixture.scan();
        const { state } = await fixture.merchant.ask<{ state: string }>('GET', `/v1/payments/${id}`);
        expect(state).toBe('settled_over');
      },
      { timeout: 10_000, interval: 50 },
    );
  }
  /** A payment of 5 USDT too much. */
  async function overpaid() {
    const { id, address, amount } = await fixture.lock('USDT');
    const sendTooMuch = async () => {
      await fixture.sendTo(address, 'USDT', amount + five);
      await confirmOver(id);
    };
    await sendTooMuch();
    return { id, send: sendTooMuch };
  }
  async function refundOf(payment: { readonly id: string }, address = payer) {
    const { merchant } = fixture;
    const { id } = await merchant.refund(payment.id, { kind: 'excess', refundFee: true, address });
    return merchant.ask<Refund>('POST', `/v1/refunds/${id}/approve`, { body: { address } });
  }
  const post = async (where: string, body: object = {}, who = manager) => {
    const { status, body: answer } = await who.send('POST', `${path}${where}`, { body });
    return { status, message: answer.message, data: answer.data as unknown as File };
  };
  async function exported(): Promise<File> {
    const { status, message, data } = await post('', { network });
    expect(status, message).toBe(200);
    return data;
  }
  /** Exports the refund, and maybe hands it to the treasury's wallet. */
  async function handed({ transferId }: Refund, isHanded = true) {
    const { export: exportId, transfers } = await exported();
    const call = transfers.find(({ id }) => id === transferId);
    if (!call) throw new Error('The refund is not in the export');
    const handOver = () => post(`/${exportId ?? ''}/hand-over`, { transfers: [transferId], from: treasury });
    if (isHanded) expect((await handOver()).status).toBe(200);
    return { exportId: exportId ?? '', call, handOver };
  }
  const release = (exportId: string) =>
    post(`/${exportId}/release-decision`, { reason: 'The signer says that nothing was signed' }, owner);
  const fail = ({ transferId }: Refund) => fixture.command(`transfers fail ${transferId} --reason Unneeded`);
  /** Drops the last deposit. */
  async function takeBack(): Promise<void> {
    await anvil.reorg(confirmations + 1);
    await fixture.watch();
  }
  /** The wallet pays what it was given. */
  async function mine({ to, data }: Call): Promise<string> {
    const { transactionHash } = await transact(anvil, to, data, treasury);
    await fixture.watch();
    return transactionHash;
  }
  const retrieve = ({ id }: RefundRecord) => fixture.merchant.retrieveRefund(id);
  const balance = async () => {
    const { availableBalance, totalBalance } = await fixture.merchant.balance('USDT');
    return { available: availableBalance, total: totalBalance };
  };
  const eventTypesOf = async ({ id, transferId }: Refund) =>
    (
      await fixture.server.database.reader
        .selectFrom('outbox')
        .select('type')
        .where('subject_id', 'in', [id, transferId])
        .where('type', 'not in', ['refund.created', 'refund.address_set', 'refund.approved'])
        .orderBy('sequence')
        .execute()
    ).map(({ type }) => type);
  const postings = async ({ transferId }: Refund) =>
    (
      await fixture.server.database.reader
        .selectFrom('ledger_postings')
        .select('key')
        .where('key', 'like', `post:${transferId}%`)
        .execute()
    ).length;
  const refunded = async ({ id }: { readonly id: string }) =>
    (await fixture.merchant.ask<{ refundedAmount: number }>('GET', `/v1/payments/${id}`)).refundedAmount;

  it('A refund is not exported once the network has reverted all the money for it', async () => {
    const payment = await overpaid();
    const refund = await refundOf(payment);
    const rest = await fixture.merchant.transfer({
      amount: (await balance()).available,
      currency: 'USDT',
      walletAddress: payer,
      walletNetwork: network,
    });
    await takeBack();
    const { export: made, held } = await exported();
    expect(made).toBeNull();
    expect(held.find(({ id }) => id === refund.transferId)?.reason).toMatch(
      /has reverted deposits that would have paid it: it takes 5 USDT, and 0 USDT is left/,
    );
    expect(held).toHaveLength(2);
    await payment.send();
    await sweep();
    const again = await handed(refund);
    await mine(again.call);
    expect(await retrieve(refund)).toMatchObject({ status: 'paid', amount: 5 });
    await release(again.exportId);
    await fixture.command(`transfers fail ${String(rest.body.data['id'])} --reason Test`);
    await fixture.booksInOrder();
  });

  it('A refund is not exported once its own payment is gone, although there are coins of others', async () => {
    await fund();
    const payment = await overpaid();
    const refund = await refundOf(payment);
    await takeBack();
    expect(await exported()).toMatchObject({
      export: null,
      held: [
        {
          id: refund.transferId,
          reason: expect.stringMatching(/reverted the coins that this refund would give back/) as string,
        },
      ],
    });
    await payment.send();
    const { call } = await handed(refund);
    await mine(call);
    expect(await retrieve(refund)).toMatchObject({ status: 'paid', amount: 5 });
    await fixture.booksInOrder();
  });

  it('A refund that is in an export is neither handed over nor written once more', async () => {
    const payment = await overpaid();
    const refund = await refundOf(payment);
    const { exportId, handOver } = await handed(refund, false);
    await takeBack();
    expect(await handOver()).toMatchObject({
      status: 409,
      message: expect.stringMatching(/must not be paid now\. The network reverted the coins/) as string,
    });
    expect((await post(`/${exportId}/file`)).data).toMatchObject({
      transfers: [],
      held: [{ id: refund.transferId }],
    });
    await release(exportId);
    await fail(refund);
    expect(await retrieve(refund)).toMatchObject({ status: 'failed', txHash: null });
    await fixture.booksInOrder();
  });

  it('A refund that was handed over before is booked and reported if it is paid anyway', async () => {
    const payment = await overpaid();
    const refund = await refundOf(payment);
    const { call } = await handed(refund);
    await takeBack();
    const before = await balance();
    const txHash = await mine(call);
    expect(await retrieve(refund)).toMatchObject({ status: 'paid', amount: 5, txHash });
    expect(before.total - (await balance()).total).toBeCloseTo(5, 6);
    expect(await eventTypesOf(refund)).toEqual(['refund.paid', 'transfer.success']);
    expect(await postings(refund)).toBe(1);
    expect(await refunded(payment)).toBe(5);
    await fixture.booksInOrder();
  });

  it('A refund that had failed is booked once if it is paid after all, and its record says so', async () => {
    const payment = await overpaid();
    const refund = await refundOf(payment);
    const approved = await balance();
    const { exportId, call } = await handed(refund);
    await release(exportId);
    await fail(refund);
    expect(await retrieve(refund)).toMatchObject({ status: 'failed', txHash: null });
    expect(await refunded(payment)).toBe(0);
    expect((await balance()).available).toBeGreaterThan(approved.available);
    const txHash = await mine(call);
    await fixture.watch();
    expect(await retrieve(refund)).toMatchObject({ status: 'paid', amount: 5, txHash });
    // As if it had never failed, the service fee on it inside.
    expect((await balance()).available).toBe(approved.available);
    expect(await eventTypesOf(refund)).toEqual([
      ...['refund.failed', 'transfer.failed', 'refund.paid', 'transfer.success'],
    ]);
    expect(await postings(refund)).toBe(1);
    expect(await refunded(payment)).toBe(5);
    await fixture.booksInOrder();
  });

  it('A refund is not paid in addition to one that had failed and was paid after all', async () => {
    const payment = await overpaid();
    const first = await refundOf(payment);
    const { exportId, call } = await handed(first);
    await release(exportId);
    await fail(first);
    const second = await refundOf(payment, otherWallet);
    const other = await handed(second, false);
    await mine(call);
    expect(await retrieve(first)).toMatchObject({ status: 'paid' });
    const reason = 'Another refund has given back what this one would';
    expect(await other.handOver()).toMatchObject({
      status: 409,
      message: expect.stringContaining(`must not be paid now. ${reason}`) as string,
    });
    await release(other.exportId);
    expect((await exported()).held).toMatchObject([
      { id: second.transferId, reason: expect.stringContaining(reason) as string },
    ]);
    await fail(second);
    expect(await refunded(payment)).toBe(5);
    await fixture.booksInOrder();
  });

  it('A refund takes the payment of a failed one as its own if both pay the same to the same address', async () => {
    const payment = await overpaid();
    const first = await refundOf(payment);
    const { exportId, call } = await handed(first);
    await release(exportId);
    await fail(first);
    const second = await refundOf(payment);
    await mine(call);
    expect([await retrieve(first), await retrieve(second)]).toMatchObject([
      { status: 'failed', txHash: null },
      { status: 'paid' },
    ]);
    expect([await postings(first), await postings(second)]).toEqual([0, 1]);
    expect((await exported()).transfers).toEqual([]);
    expect(await refunded(payment)).toBe(5);
    await fixture.booksInOrder();
  });
});
