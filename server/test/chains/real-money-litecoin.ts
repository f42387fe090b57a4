/** Payments on Litecoin Core, through the whole server: replaced, reorganised, and while the node fails or dies. */
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { fromUnits } from 'crypto-checkout/contract';
import { networkHealth, publicProblems } from '../../src/core/scanning/network-health.js';
import { commandContext, runWith } from '../support/command-context.js';
import { startNodeProxy, type Behaviour, type NodeProxy } from '../support/core-proxy.js';
import type { TestEngine } from '../support/engines.js';
import { hasLitecoind, startLitecoin, type LitecoinNode } from '../support/litecoin.js';
import { startRealServer, type LockedPayment, type Outcome, type RealServer } from '../support/real-money.js';

const confirmations = 2;
const network = 'litecoin-regtest';
const { signal } = new AbortController();

export const testRealLitecoin = (chosen: TestEngine): unknown =>
  describe.skipIf(!hasLitecoind)('real money on Litecoin', () => {
    let node: LitecoinNode;
    let proxy: NodeProxy;

    beforeAll(async () => {
      node = await startLitecoin();
      proxy = await startNodeProxy(node.url);
    });
    afterAll(async () => {
      await proxy.close();
      await node.stop();
    });

    describe.each([chosen])('on $name', (engine) => {
      let server: RealServer;

      beforeAll(async () => {
        server = await startRealServer({
          engine,
          networks: { [network]: { nodes: [proxy.url], confirmations } },
        });
      });
      afterAll(() => server.stop());
      afterEach(() => server.expectBooksInOrder());

      const scan = () => server.scan(network);
      const lock = () => server.lock('LTC', network);
      const payFromNode = ({ address }: LockedPayment, units: bigint, isReplaceable = false) =>
        node.pay(address, fromUnits(units, 8), isReplaceable);
      const elsewhere = () => node.rpc<string>('getnewaddress');
      async function settle(): Promise<void> {
        await node.mine(confirmations);
        await scan();
      }
      const receipt = (amount: bigint, changes: Partial<Outcome['receipts'][number]> = {}) => ({
        currency: 'LTC',
        network,
        amount,
        status: 'confirmed',
        counts: true,
        ...changes,
      });

      it('exact: seen in the mempool, then per confirmation, then settled', async () => {
        const payment = await lock();
        expect(payment.address).toMatch(/^rltc1q/);
        await payFromNode(payment, payment.amount);
        await scan();
        expect(await server.look(payment)).toEqual({
          state: 'confirming',
          received: 0n,
          receipts: [receipt(payment.amount, { status: 'seen' })],
          log: ['transfer_seen', 'confirming'],
          events: [],
        });
        await node.mine();
        await scan();
        expect((await server.look(payment)).state).toBe('confirming');
        await node.mine();
        await scan();
        expect(await server.look(payment)).toEqual({
          state: 'settled',
          received: payment.amount,
          receipts: [receipt(payment.amount)],
          log: ['transfer_seen', 'confirming', 'transfer_confirmed', 'completed'],
          events: ['payment.success'],
        });
        expect(await server.credited(payment)).toEqual({ LTC: payment.amount });
      });

      it('under, topped up, and over; two payments in one transaction, and one paid twice', async () => {
        const [topped, over, twice] = [await lock(), await lock(), await lock()];
        const part = topped.amount / 4n;
        await node.rpc('sendmany', '', {
          [topped.address]: fromUnits(part, 8),
          [over.address]: fromUnits(over.amount + part, 8),
        });
        await payFromNode(twice, twice.amount);
        await payFromNode(twice, twice.amount);
        await scan();
        await settle();
        expect(await server.look(topped)).toMatchObject({
          state: 'partially_paid',
          received: part,
          events: ['payment.partial'],
        });
        expect(await server.credited(topped)).toEqual({});
        for (const [payment, amount] of [
          [over, over.amount + part],
          [twice, 2n * twice.amount],
        ] as const) {
          expect(await server.look(payment)).toMatchObject({
            state: 'settled_over',
            received: amount,
            events: ['payment.overpaid', 'payment.success'],
          });
          expect(await server.credited(payment)).toEqual({ LTC: amount });
        }
        await payFromNode(topped, topped.amount - part);
        await scan();
        await settle();
        expect(await server.look(topped)).toEqual({
          state: 'settled',
          received: topped.amount,
          receipts: [receipt(part), receipt(topped.amount - part)],
          log: [
            ...['transfer_seen', 'underpaid', 'transfer_confirmed'],
            ...['transfer_seen', 'confirming', 'transfer_confirmed', 'completed'],
          ],
          events: ['payment.partial', 'payment.success'],
        });
      });

      it('late: under stays an error, full is accepted, what waited in time is in time, and all is credited', async () => {
        const [under, full, waiting] = [await lock(), await lock(), await lock()];
        await payFromNode(under, under.amount / 2n);
        await settle();
        await payFromNode(waiting, waiting.amount);
        await scan();
        await server.expire(async () => node.rpc('generateblock', await elsewhere(), []));
        await scan();
        expect(await server.look(under)).toMatchObject({
          state: 'expired_partial',
          events: ['payment.partial', 'payment.error'],
        });
        expect(await server.look(full)).toMatchObject({ state: 'expired', events: ['payment.error'] });
        expect(await server.look(waiting)).toMatchObject({ state: 'confirming', events: [] });
        await payFromNode(full, full.amount);
        await scan();
        await settle();
        expect(await server.look(full)).toEqual({
          state: 'settled_late',
          received: full.amount,
          receipts: [receipt(full.amount)],
          log: ['expired', 'transfer_seen', 'transfer_confirmed', 'completed_late'],
          events: ['payment.error', 'payment.late', 'payment.success'],
        });
        expect(await server.look(waiting)).toMatchObject({ state: 'settled', events: ['payment.success'] });
        expect(await server.credited(under)).toEqual({ LTC: under.amount / 2n });
        expect(await server.credited(full)).toEqual({ LTC: full.amount });
      });

      it('replaced by a payment to somebody else: lost at once', async () => {
        const payment = await lock();
        const txid = await payFromNode(payment, payment.amount, true);
        await scan();
        expect((await server.look(payment)).state).toBe('confirming');
        await node.replace(txid, await elsewhere());
        await scan();
        const lost: Outcome = {
          state: 'awaiting_funds',
          received: 0n,
          receipts: [{ ...receipt(payment.amount), status: 'lost' }],
          log: ['transfer_seen', 'confirming', 'transfer_dropped'],
          events: [],
        };
        expect(await server.look(payment)).toEqual(lost);
        await settle();
        expect(await server.look(payment)).toEqual(lost);
      });

      it('replaced by the same payment with a higher fee: counted once', async () => {
        const payment = await lock();
        const txid = await payFromNode(payment, payment.amount, true);
        await scan();
        await node.rpc('bumpfee', txid);
        await scan();
        expect(await server.look(payment)).toMatchObject({
          state: 'confirming',
          receipts: [
            receipt(payment.amount, { status: 'lost' }),
            receipt(payment.amount, { status: 'seen' }),
          ],
        });
        await settle();
        expect(await server.look(payment)).toMatchObject({ state: 'settled', received: payment.amount });
        expect(await server.credited(payment)).toEqual({ LTC: payment.amount });
      });

      describe.each(Array.from({ length: confirmations + 1 }, (_, index) => index + 1))(
        'a reorg of depth %i',
        (depth) => {
          const wasSettled = depth >= confirmations;

          async function settledAt(isReplaceable = false) {
            const payment = await lock();
            const txid = await payFromNode(payment, payment.amount, isReplaceable);
            await scan();
            await node.mine(depth);
            await scan();
            expect((await server.look(payment)).state).toBe(wasSettled ? 'settled' : 'confirming');
            return { payment, txid };
          }

          it('A reorg reverts exactly the credit of a payment that it drops, which is credited again with its next block', async () => {
            const { payment } = await settledAt();
            await node.reorg(depth, 'waiting');
            await scan();
            expect(await server.look(payment)).toMatchObject({
              received: 0n,
              receipts: [receipt(payment.amount, { status: 'seen' })],
              events: wasSettled ? ['payment.success', 'payment.reversed'] : [],
            });
            expect(await server.credited(payment)).toEqual({});
            await server.expectBooksInOrder();
            await settle();
            expect(await server.look(payment)).toMatchObject({ state: 'settled', received: payment.amount });
            expect(await server.credited(payment)).toEqual({ LTC: payment.amount });
          });

          it('A reorg that moves a payment to another block credits it once', async () => {
            const { payment } = await settledAt();
            await node.reorg(depth, 'mined again');
            await scan();
            await settle();
            const outcome = await server.look(payment);
            expect(outcome).toMatchObject({ state: 'settled', received: payment.amount });
            expect(outcome.receipts).toEqual([receipt(payment.amount)]);
            expect(await server.credited(payment)).toEqual({ LTC: payment.amount });
          });

          it('A reorg reverts a payment for good if a double spend follows', async () => {
            const { payment, txid } = await settledAt(true);
            await node.reorg(depth, 'waiting');
            await node.replace(txid, await elsewhere());
            await scan();
            const state = wasSettled ? 'reversed' : 'awaiting_funds';
            const lost = { state, received: 0n, receipts: [receipt(payment.amount, { status: 'lost' })] };
            expect(await server.look(payment)).toMatchObject(lost);
            await settle();
            expect(await server.look(payment)).toMatchObject(lost);
            expect(await server.credited(payment)).toEqual({});
          });
        },
      );

      describe('the node', () => {
        afterEach(async () => {
          proxy.behave = undefined;
          server.time.skewMs += 61_000;
          await scan();
        });
        const result = (method: string, change: (answer: unknown) => unknown): Behaviour => ({
          results: (call, answer) => (call.method === method ? change(answer) : answer),
        });
        async function isAtOlderBlock(): Promise<Behaviour> {
          const height = (await node.rpc<number>('getblockcount')) - 5;
          const bestblockhash = await node.rpc<string>('getblockhash', height);
          return result('getblockchaininfo', (answer) => ({
            ...(answer as object),
            blocks: height,
            headers: height,
            bestblockhash,
          }));
        }

        it.each<{
          readonly name: string;
          readonly behaviour: () => Promise<Behaviour>;
          readonly message: RegExp;
        }>([
          {
            name: 'hangs up',
            behaviour: () => Promise.resolve('hang up'),
            message: /node 1 cannot be reached/,
          },
          {
            name: 'answers 429',
            behaviour: () => Promise.resolve({ status: 429, body: '', headers: { 'retry-after': '30' } }),
            message: /node 1 takes no more requests for (30|2\d) s/,
          },
          {
            name: 'answers with a page',
            behaviour: () => Promise.resolve({ status: 200, body: '<html>' }),
            message: /not JSON/,
          },
          {
            name: 'is at an older block',
            behaviour: isAtOlderBlock,
            message: /is at block \d+, behind block \d+ that was read before/,
          },
          {
            name: 'is on another chain since it was interrupted',
            async behaviour() {
              proxy.behave = () => 'hang up';
              await scan().catch(() => {});
              return result('getblockhash', () => 'ab'.repeat(32));
            },
            message: /node 1 is on another network/,
          },
        ])(
          '$name: nothing is lost, nothing is reverted, nothing expires unread',
          async ({ behaviour, message }) => {
            const [before, during] = [await lock(), await lock()];
            await payFromNode(before, before.amount);
            await scan();
            await settle();
            const behaves = await behaviour();
            proxy.behave = () => behaves;
            await payFromNode(during, during.amount);
            await node.mine(confirmations);
            await expect(scan()).rejects.toThrow(message);
            server.time.skewMs += 31 * 60_000;
            await server.app.payments.expireOverdue(signal);
            expect((await server.look(before)).state).toBe('settled');
            expect(await server.look(during)).toMatchObject({
              state: 'awaiting_funds',
              receipts: [],
              log: [],
            });
            const id = await server.create();
            const set = await server.api('PATCH', `/v1/payments/${id}/currency/set/LTC/${network}`);
            const refused = await server.api('PATCH', `/v1/payments/${id}/currency/lock`);
            expect([set.status, refused.status]).not.toEqual([200, 200]);

            proxy.behave = undefined;
            // An answer that was still on its way then may fail once more.
            await vi.waitFor(
              async () => {
                server.time.skewMs += 61_000;
                await scan();
              },
              { timeout: 20_000 },
            );
            expect(await server.look(during)).toMatchObject({
              state: 'settled',
              receipts: [receipt(during.amount)],
              log: ['transfer_seen', 'transfer_confirmed', 'completed'],
              events: ['payment.success'],
            });
          },
        );

        it('A node that stays at an older block is reported by /readyz, and after five minutes chains status says what to do', async () => {
          await scan();
          const behaves = await isAtOlderBlock();
          proxy.behave = () => behaves;
          const reported = async () => {
            await expect(scan()).rejects.toThrow(/is at block \d+, behind block/);
            const health = networkHealth(server.app.scanner.status(), server.app.connected);
            const ready = health.filter((one) => one.network === network).flatMap(publicProblems);
            const status = await runWith(commandContext(server), 'chains status');
            return [
              ready.includes('The scan fails: "chains status" says why'),
              status.text.includes(`chains rescan --network ${network} --from 1 --accept-reorg`),
            ];
          };
          expect(await reported()).toEqual([true, false]);
          server.time.skewMs += 5 * 60_000;
          expect(await reported()).toEqual([true, true]);
        });

        it('A payment in a block and one that waits are each settled once after the node is killed and starts again', async () => {
          const [mined, waiting] = [await lock(), await lock()];
          await payFromNode(mined, mined.amount);
          await node.mine();
          await payFromNode(waiting, waiting.amount);
          await scan();
          await node.kill();
          await expect(scan()).rejects.toThrow('No node of litecoin-regtest can be used');
          for (const payment of [mined, waiting]) {
            expect((await server.look(payment)).state).toBe('confirming');
          }
          await node.start();
          await settle();
          for (const payment of [mined, waiting]) {
            expect(await server.look(payment)).toMatchObject({ state: 'settled', received: payment.amount });
            expect((await server.look(payment)).receipts).toHaveLength(1);
          }
        });
      });
    });
  });
