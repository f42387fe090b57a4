/**
 * Payments that no PSBT makes: from coins that the network has reverted, of refunds that are not due any more, and from
 * a suspended balance.
 */
import { Transaction } from '@scure/btc-signer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startNodeProxy, type NodeProxy } from '../support/core-proxy.js';
import { enginesOfTurn } from '../support/engines.js';
import { hasLitecoind, startLitecoin, type LitecoinNode } from '../support/litecoin.js';
import { openPayoutShop, type PayoutMerchant, type PayoutShop } from './fixture.js';

interface Refund {
  readonly id: string;
  readonly status: string;
  readonly amount: number;
  readonly transferId: string;
  readonly txHash: string | null;
}

const takenBack = /has reverted deposits that would have paid it: it takes .* LTC, and .* LTC is left on/;
const notDue =
  'The network reverted the coins that this refund would give back. Wait for them, or fail its transfer';

describe.skipIf(!hasLitecoind).each(enginesOfTurn)('Payouts by PSBT that must wait, on $name', (engine) => {
  let node: LitecoinNode;
  let proxy: NodeProxy;
  let shop: PayoutShop;
  beforeAll(async () => {
    node = await startLitecoin();
    proxy = await startNodeProxy(node.url);
    shop = await openPayoutShop(engine, node, { nodes: [proxy.url] });
  });
  afterAll(async () => {
    await shop.close();
    await proxy.close();
    await node.stop();
  });

  /** The last deposit waits for a block again. */
  async function takeBack(): Promise<void> {
    await node.reorg(2, 'waiting');
    await shop.scan();
  }
  const retrieve = (merchant: PayoutMerchant, { id }: Pick<Refund, 'id'>) =>
    merchant.ask<Refund>('GET', `/v1/refunds/${id}`);

  async function postings({ transferId }: Refund): Promise<number> {
    const rows = await shop.server.database.reader
      .selectFrom('ledger_postings')
      .select('key')
      .where('key', 'like', `post:${transferId}%`)
      .execute();
    return rows.length;
  }
  /** As the wallet can, without the server. */
  async function broadcast(merchant: PayoutMerchant, psbt: string): Promise<string> {
    const signed = Transaction.fromPSBT(Buffer.from(merchant.sign(psbt), 'base64'));
    signed.finalize();
    await node.rpc('sendrawtransaction', signed.hex, 0);
    return signed.id;
  }

  /** A merchant with coins of its own, and a refund of a whole payment that came later. */
  async function refundOf(...funds: string[]) {
    const merchant = await shop.merchant();
    await shop.command('merchants update', merchant.id, '--fee-basis-points', '0');
    await merchant.fund(...funds);
    const { id, address, amount } = await merchant.lock({ amount: 20 });
    await node.pay(address, amount.toFixed(8));
    await shop.confirm();
    const { id: refundId } = await merchant.ask<Refund>('POST', `/v1/payments/${id}/refunds`, {
      kind: 'full',
      networkFee: 'merchant',
      address: await node.rpc<string>('getnewaddress'),
    });
    const approve = () => merchant.ask<Refund>('POST', `/v1/refunds/${refundId}/approve`, {});
    return { merchant, approve };
  }
  async function approvedRefund(...funds: string[]) {
    const { merchant, approve } = await refundOf(...funds);
    return { merchant, refund: await approve() };
  }

  it.each([
    ['the money for it is gone', [], expect.stringMatching(takenBack) as string],
    ['its own payment is gone, although there are other coins', ['0.9'], notDue],
  ])('No PSBT pays a refund once %s, until it is there again', async (_name, funds, reason) => {
    const { merchant, refund } = await approvedRefund(...funds);
    await takeBack();
    expect(await merchant.export()).toMatchObject({ skipped: [{ id: refund.transferId, reason }] });
    await shop.confirm();
    if (funds.length === 0) await merchant.fund('0.01');
    const { transfers, psbt } = await merchant.export();
    expect(transfers).toMatchObject([{ id: refund.transferId }]);
    await shop.import(merchant.sign(psbt));
    await shop.confirm();
    expect(await retrieve(merchant, refund)).toMatchObject({ status: 'paid', amount: refund.amount });
    await shop.expectBooksInOrder();
  });

  it('No PSBT pays a refund whose coins are reverted while the export asks the node', async () => {
    const { merchant, refund } = await approvedRefund('0.9');
    // Between the choice of the payments and the transaction that reserves them.
    let isTaken = false;
    proxy.behave = async (calls) => {
      if (isTaken || !calls.some(({ method }) => method === 'estimatesmartfee')) return undefined;
      isTaken = true;
      await takeBack();
      return undefined;
    };
    await expect(merchant.export()).rejects.toThrow(
      `The transfer ${refund.transferId} must not be paid now. ${notDue}`,
    );
    proxy.behave = undefined;
    expect(await merchant.export()).toMatchObject({ skipped: [{ id: refund.transferId }] });
    expect(await shop.command('transfers psbt list', '--merchant', merchant.id)).toEqual([]);
    await shop.run('transfers fail --reason no', refund.transferId);
    await shop.expectBooksInOrder();
  });

  it('No PSBT pays a transfer that is held after a restore while the export asks the node', async () => {
    const merchant = await shop.merchant();
    await merchant.fund('0.5');
    const [row] = await merchant.transfers('0.1');
    let isHeld = false;
    proxy.behave = async (calls) => {
      if (isHeld || !row || !calls.some(({ method }) => method === 'estimatesmartfee')) return undefined;
      isHeld = true;
      const { app, database } = shop.server;
      await database.write((transaction) => app.hooks.hold(transaction, [row], 'a test'));
      return undefined;
    };
    await expect(merchant.export()).rejects.toThrow('taken some of these transfers or coins meanwhile');
    proxy.behave = undefined;
    expect(await merchant.export()).toMatchObject({ psbt: null, skipped: [] });
    await shop.run('transfers release --yes --reason Checked', row?.id ?? '');
    expect((await merchant.export()).transfers).toMatchObject([{ id: row?.id }]);
  });

  it('A signed PSBT is refused if the coins of its refund were reverted meanwhile, until they are there again', async () => {
    const { merchant, refund } = await approvedRefund('0.9');
    const signed = merchant.sign((await merchant.export()).psbt);
    await takeBack();
    await expect(shop.import(signed)).rejects.toThrow(
      `The transfer ${refund.transferId} must not be paid now. ${notDue}`,
    );
    expect(await retrieve(merchant, refund)).toMatchObject({ status: 'approved', txHash: null });
    await shop.confirm();
    await shop.import(signed);
    // It is on its way: coins that are reverted now stop neither the same file nor a higher fee.
    await shop.import(signed);
    await shop.confirm();
    expect(await retrieve(merchant, refund)).toMatchObject({ status: 'paid', amount: refund.amount });
    await shop.expectBooksInOrder();
  });

  it('A refund that the wallet broadcast on its own after its coins were reverted is booked once, and reported', async () => {
    const { merchant, refund } = await approvedRefund('0.9');
    const exported = await merchant.export();
    await takeBack();
    const hash = await broadcast(merchant, exported.psbt);
    await shop.confirm();
    expect(await retrieve(merchant, refund)).toMatchObject({ status: 'paid', txHash: hash });
    expect(await postings(refund)).toBe(1);
    await shop.expectBooksInOrder();
  });

  it('a refund that had failed: booked once if its PSBT is mined anyway, and its record says so', async () => {
    const { merchant, refund } = await approvedRefund('0.9');
    const exported = await merchant.export();
    await shop.discard(exported.id);
    await shop.run('transfers fail --reason no', refund.transferId);
    expect(await retrieve(merchant, refund)).toMatchObject({ status: 'failed', txHash: null });
    const hash = await broadcast(merchant, exported.psbt);
    await shop.confirm();
    await shop.follow();
    expect(await retrieve(merchant, refund)).toMatchObject({
      status: 'paid',
      amount: refund.amount,
      txHash: hash,
    });
    expect(await postings(refund)).toBe(1);
    await shop.expectBooksInOrder();
  });

  it('No transfer or refund is accepted while the balance is suspended; one that was accepted before is paid', async () => {
    const { merchant, approve } = await refundOf('0.9');
    const [accepted] = await merchant.transfers('0.1');
    const account = ['--merchant', merchant.id, '--currency', 'LTC', '--mode', 'test'];
    await shop.command('balances suspend', ...account);
    await expect(merchant.transfers('0.1')).rejects.toThrow('balance_suspended');
    await expect(approve()).rejects.toThrow('balance_suspended');
    const first = await merchant.export();
    expect(first.transfers.map(({ id }) => id)).toEqual([accepted?.id]);
    await shop.import(merchant.sign(first.psbt));
    await shop.confirm();
    await shop.command('balances resume', ...account);
    const refund = await approve();
    const second = await merchant.export();
    expect(second.transfers.map(({ id }) => id)).toEqual([refund.transferId]);
    await shop.import(merchant.sign(second.psbt));
    await shop.confirm();
    expect(await retrieve(merchant, refund)).toMatchObject({ status: 'paid' });
    await shop.expectBooksInOrder();
  });
});
