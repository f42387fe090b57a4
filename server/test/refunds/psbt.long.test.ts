/** Refunds that a PSBT pays on a real Litecoin Core with the last coins: who bears the network's fee, and what everybody reads of it. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { toUnits } from 'crypto-checkout/contract';
import { openPayoutShop, type PayoutMerchant, type PayoutShop } from '../psbt-payouts/fixture.js';
import { enginesOfSoak } from '../support/engines.js';
import { hasLitecoind, startLitecoin, type LitecoinNode } from '../support/litecoin.js';
import { violationsOf } from '../support/violations.js';

interface RefundRecord {
  readonly id: string;
  readonly status: string;
  readonly amount: number;
  readonly fee: number;
  readonly networkFee: string;
  readonly txHash: string | null;
  readonly claimUrl: string;
}
interface PaymentRecord {
  readonly id: string;
  readonly status: string;
  readonly amount: number;
  readonly addressInformation: { readonly address: string };
  readonly refundedAmount: number;
  readonly refunds: readonly Pick<RefundRecord, 'status' | 'amount'>[];
  readonly transactionTimeLog: readonly { readonly code: string; readonly values: { amount: string } }[];
}

describe.skipIf(!hasLitecoind).each(enginesOfSoak)(
  'A refund by PSBT of the last coins, on $name',
  (engine) => {
    let node: LitecoinNode;
    let shop: PayoutShop;
    beforeAll(async () => {
      node = await startLitecoin();
      shop = await openPayoutShop(engine, node);
    });
    afterAll(async () => {
      await shop.close();
      await node.stop();
    });

    /** A paid payment without a service fee, so that nothing is left for the network, and its full refund, approved. */
    async function approvedRefund(networkFee: 'merchant' | 'payer', part?: number) {
      const merchant = await shop.merchant();
      await shop.command(
        'merchants update',
        merchant.id,
        ...['--fee-basis-points', '0', '--webhook-url', 'https://shop.example/hooks', '--mode', 'test'],
      );
      const { id, address, amount } = await merchant.lock({ amount: 20 });
      await node.pay(address, amount.toFixed(8));
      await shop.confirm();
      expect((await payment(merchant, id)).status).toBe('success');
      const refund = await merchant.ask<RefundRecord>('POST', `/v1/payments/${id}/refunds`, {
        ...(part === undefined ? { kind: 'full' } : { kind: 'partial', amount: String(part) }),
        networkFee,
        address: await node.rpc<string>('getnewaddress'),
      });
      expect(refund).toMatchObject({ amount: part ?? amount, fee: 0, networkFee });
      await merchant.ask('POST', `/v1/refunds/${refund.id}/approve`, {});
      return { merchant, paymentId: id, refund };
    }

    const payment = (merchant: PayoutMerchant, id: string) =>
      merchant.ask<PaymentRecord>('GET', `/v1/payments/${id}`);
    const retrieve = (merchant: PayoutMerchant, { id }: RefundRecord) =>
      merchant.ask<RefundRecord & { readonly address: string }>('GET', `/v1/refunds/${id}`);
    async function claimOf({ claimUrl }: RefundRecord): Promise<unknown> {
      const body = { token: new URL(claimUrl).hash.slice(1) };
      const reply = await shop.server.api('POST', '/v1/refund-claims/retrieve', { key: undefined, body });
      return reply.body.data;
    }
    async function webhooksOf({ id }: RefundRecord): Promise<RefundRecord[]> {
      const rows = await shop.server.database.reader
        .selectFrom('outbox')
        .select('data')
        .where('subject_id', '=', id)
        .where('type', '=', 'refund.paid')
        .orderBy('sequence')
        .execute();
      return rows.map(({ data }) => JSON.parse(data) as RefundRecord);
    }
    const units = (amount: number) => toUnits(amount.toFixed(8), 8);
    const hashOf = ({ versions }: { versions: readonly { readonly txHash: string }[] }, version: number) =>
      versions[version - 1]?.txHash ?? '';
    const rawOf = (hash: string) => node.rpc<string>('getrawtransaction', hash);

    it('A refund by PSBT arrives with less if the payer bears the network’s fee, and everybody reads how much', async () => {
      const { merchant, paymentId, refund } = await approvedRefund('payer');
      expect(await claimOf(refund)).toMatchObject({ amount: refund.amount, fee: 0, networkFee: 'payer' });
      const exported = await merchant.export();
      expect(exported.transfers).toMatchObject([{ bearsFee: true }]);
      await shop.import(merchant.sign(exported.psbt));
      const bumped = await shop.bump(exported.id, '20');
      const first = await rawOf(hashOf(bumped, 1));
      await shop.import(merchant.sign(bumped.psbt));
      const second = await rawOf(hashOf(bumped, 2));
      const block = async (transaction: string) =>
        node.rpc('generateblock', await node.rpc<string>('getnewaddress'), [transaction]);

      /** The record, the transfer and the event match the chain. */
      async function expectReported(hash: string): Promise<void> {
        const record = await retrieve(merchant, refund);
        const arrived = toUnits(
          (await node.rpc<number>('getreceivedbyaddress', record.address, 1)).toFixed(8),
          8,
        );
        expect(arrived).toBeLessThan(units(refund.amount));
        const reported = { status: 'paid', txHash: hash, amount: Number(arrived) / 1e8 };
        const fee = Number(units(refund.amount) - arrived) / 1e8;
        expect(record).toMatchObject({ ...reported, fee, networkFee: 'payer' });
        expect(await claimOf(refund)).toMatchObject({ ...reported, fee, networkFee: 'payer' });
        expect((await webhooksOf(refund)).at(-1)).toMatchObject({ ...reported, fee });
        const { refunds, refundedAmount, transactionTimeLog } = await payment(merchant, paymentId);
        expect(refunds).toMatchObject([reported]);
        expect(refundedAmount).toBe(reported.amount);
        const logged = transactionTimeLog.findLast(({ code }) => code === 'refund_paid');
        expect(toUnits(logged?.values.amount ?? '', 8)).toBe(arrived);
        await shop.expectBooksInOrder();
      }

      await block(first);
      await shop.confirm();
      await expectReported(hashOf(bumped, 1));
      // The chain takes the other version after all, in which more was left for the network.
      const height = await node.rpc<number>('getblockcount');
      await node.rpc('invalidateblock', await node.rpc<string>('getblockhash', height - 2));
      await block(second);
      await shop.confirm(3);
      await expectReported(hashOf(bumped, 2));
      expect(await webhooksOf(refund)).toHaveLength(2);
      const again = await shop.server.api('POST', `/v1/payments/${paymentId}/refunds`, {
        body: { kind: 'full' },
      });
      expect(again.status, 'nothing is left to refund').not.toBe(200);
    });

    // SQLite locks no rows.
    if (engine.name === 'PostgreSQL') {
      it('A refund by PSBT is settled without a deadlock while another refund of its payment is requested', async () => {
        const { merchant, paymentId, refund } = await approvedRefund('payer', 0.01);
        const { psbt } = await merchant.export();
        await shop.import(merchant.sign(psbt));
        const connect = async () => {
          const client = new pg.Client({ connectionString: shop.server.databaseUrl });
          await client.connect();
          onTestFinished(() => client.end());
          return client;
        };
        const [client, watching] = [await connect(), await connect()];
        const count = async (text: string): Promise<number> =>
          Number((await watching.query<{ count: string }>(text)).rows[0]?.count);
        // The server follows its PSBTs as well: one of the two waits for the other.
        const waiting = () =>
          count(`select count(*) from pg_stat_activity where datname = current_database()
            and wait_event_type = 'Lock' and query ~ '"(ledger_accounts|payments)"'`);
        const deadlocks = () =>
          count('select deadlocks as count from pg_stat_database where datname = current_database()');
        const before = await deadlocks();
        // Both need the merchant's balance, and get it in the order in which they asked.
        await client.query('begin');
        await client.query('select 1 from ledger_accounts where merchant_id = $1 for update', [merchant.id]);
        await node.mine(2);
        await shop.scan();
        const settling = shop.follow();
        await expect.poll(waiting, { timeout: 30_000 }).toBeGreaterThanOrEqual(1);
        const asking = merchant.ask('POST', `/v1/payments/${paymentId}/refunds`, {
          kind: 'partial',
          amount: '0.02',
          networkFee: 'payer',
        });
        await expect.poll(waiting, { timeout: 30_000 }).toBeGreaterThanOrEqual(2);
        await client.query('commit');
        await Promise.all([settling, asking]);
        expect(await retrieve(merchant, refund)).toMatchObject({ status: 'paid' });
        expect(await deadlocks()).toBe(before);
        await shop.expectBooksInOrder();
      });
    }

    it('A refund by PSBT waits for another coin if the merchant bears the fee, and then arrives whole', async () => {
      const { merchant, refund } = await approvedRefund('merchant');
      expect(await claimOf(refund)).toMatchObject({ networkFee: 'merchant' });
      await expect(merchant.export()).rejects.toThrow('never made smaller');
      await merchant.fund('0.01');
      const { psbt } = await merchant.export();
      await shop.import(merchant.sign(psbt));
      await shop.confirm();
      const record = await retrieve(merchant, refund);
      expect(record).toMatchObject({ status: 'paid', amount: refund.amount, fee: 0 });
      const received = await node.rpc<number>('getreceivedbyaddress', record.address, 1);
      expect(received.toFixed(8)).toBe(refund.amount.toFixed(8));
      expect(await webhooksOf(refund)).toMatchObject([{ amount: refund.amount, txHash: record.txHash }]);
      await shop.expectBooksInOrder();
      // A record that names another amount than was sent is found.
      const { database } = shop.server;
      await database.write((transaction) =>
        transaction.updateTable('refunds').set({ amount: '1' }).where('id', '=', refund.id).execute(),
      );
      expect(await violationsOf(database)).toEqual([`The refund ${refund.id} differs from its transfer`]);
    });
  },
);
