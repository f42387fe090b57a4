/** Payments on an Ethereum node, through the whole server: whatever payers, contracts, blocks and nodes do, the books agree. */
import { reconciliation as reconciliationModule } from '../../src/modules/reconciliation/module.js';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Hex } from 'viem';
import { startAnvil, type Anvil } from '../support/anvil.js';
import { commandContext, runWith } from '../support/command-context.js';
import type { TestEngine } from '../support/engines.js';
import { startProviderProxy, type ProviderProxy } from '../support/provider-proxy.js';
import { startRealServer, type LockedPayment, type Outcome, type RealServer } from '../support/real-money.js';

const confirmations = 3;
const network = 'evm-dev';
const { signal } = new AbortController();
const stranger = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

/** Ways to pay each currency, and how many units of the chain are one unit of the books. */
const assets = {
  ETH: { what: 'the native coin', scale: 1n, contract: undefined, name: undefined },
  USDT: { what: 'a token that returns nothing', scale: 1n, name: 'SilentToken', args: [] },
  USDC: { what: 'a token with 18 decimals', scale: 10n ** 12n, name: 'PlainToken', args: [18] },
  TRX: { what: 'a token that keeps a fee', scale: 1n, name: 'FeeToken', args: [] },
} as const;
type Currency = keyof typeof assets;
const currencies = Object.keys(assets) as Currency[];

let anvil: Anvil;
let other: Anvil;
let proxy: ProviderProxy;
let splitter: Hex;
/** A token with 6 decimals. */
let wrong: Hex;
const contracts = new Map<Currency, Hex>();

const contractOf = (currency: Currency): Hex => {
  const contract = contracts.get(currency);
  if (!contract) throw new Error(`${currency} has no contract`);
  return contract;
};

/** Sends units of the books from the payer's wallet. */
function sendUnits(currency: Currency, address: string, units: bigint): Promise<Hex> {
  const { name, scale } = assets[currency];
  if (name === undefined) return anvil.send(address, units);
  return anvil.call(name, contractOf(currency), 'transfer', [address, units * scale]);
}

/** The amount to send so that this many units arrive: more, if the token keeps a fee. */
function gross(currency: Currency, units: bigint): bigint {
  if (assets[currency].name !== 'FeeToken') return units;
  let sent = (units * 100n) / 99n;
  while (sent - sent / 100n < units) sent += 1n;
  return sent;
}

/** A part of an amount that needs no more decimals than payers type. */
const partOf = (amount: bigint, share: bigint) => {
  const part = amount / share;
  return part > 10n ** 12n ? part - (part % 10n ** 10n) : part;
};

/**
 * Without transfers that were seen while they waited for a block and came to nothing: of a token that keeps a fee, the
 * transaction says more than arrives. The moment decides if they are seen.
 */
function lasting({ receipts, log, ...rest }: Outcome): Outcome {
  const dropped = receipts.filter(({ status }) => status === 'lost').length;
  let [seen, gone] = [dropped, dropped];
  return {
    ...rest,
    receipts: receipts.filter(({ status }) => status !== 'lost'),
    log: log.filter((code) => {
      if (code === 'transfer_seen' && seen > 0) return (seen -= 1) < 0;
      if (code === 'transfer_dropped' && gone > 0) return (gone -= 1) < 0;
      return true;
    }),
  };
}

export function testRealMoney(engine: TestEngine): void {
  describe(`real money on an EVM network, on ${engine.name}`, () => {
    beforeAll(async () => {
      [anvil, other] = await Promise.all([startAnvil(), startAnvil()]);
      for (const currency of currencies) {
        const asset = assets[currency];
        if (asset.name !== undefined) contracts.set(currency, await anvil.deploy(asset.name, asset.args));
      }
      splitter = await anvil.deploy('Splitter');
      wrong = await anvil.deploy('PlainToken', [6]);
      await anvil.mine(5);
      proxy = await startProviderProxy(anvil.url);
    });
    afterAll(async () => {
      await proxy.close();
      await Promise.all([anvil.stop(), other.stop()]);
    });

    let server: RealServer;

    beforeAll(async () => {
      server = await startRealServer({
        engine,
        networks: {
          [network]: {
            nodes: [proxy.url],
            confirmations,
            assets: {
              USDT: { contract: contractOf('USDT'), decimals: 6 },
              USDC: { contract: contractOf('USDC'), decimals: 18 },
              TRX: { contract: contractOf('TRX'), decimals: 6 },
              // Wrong: the contract has 6.
              BNB: { contract: wrong, decimals: 18 },
            },
          },
          sepolia: {
            nodes: [other.url],
            chainId: 31_337,
            blockSeconds: 3600,
            confirmations,
            assets: { USDC: false },
          },
        },
      });
    });
    afterAll(() => server.stop());
    afterEach(async () => {
      await anvil.automine(true);
      await server.expectBooksInOrder();
    });

    const scan = () => server.scan(network);
    const lock = (currency: Currency = 'ETH') => server.lock(currency, network);
    async function settle(): Promise<void> {
      await anvil.mine(confirmations);
      await scan();
    }
    /** Until a payment that only the balance shows is settled. */
    const settleByBalance = (payment: LockedPayment) =>
      vi.waitFor(
        async () => {
          await settle();
          await reconciliationModule.rules(server.app).advance(signal);
          expect((await server.look(payment)).state).toBe('settled');
        },
        { timeout: 60_000, interval: 20 },
      );
    const receipt = (
      currency: string,
      amount: bigint,
      changes: Partial<Outcome['receipts'][number]> = {},
    ) => ({
      currency,
      network,
      amount,
      status: 'confirmed',
      counts: true,
      ...changes,
    });

    describe.each(currencies.map((currency) => ({ currency, what: assets[currency].what })))(
      '$what',
      ({ currency }) => {
        const arrive = (address: string, units: bigint) =>
          sendUnits(currency, address, gross(currency, units));

        it('exact: seen, then settled with its confirmations', async () => {
          const payment = await lock(currency);
          await arrive(payment.address, payment.amount);
          await scan();
          const seen = await server.look(payment);
          expect(seen).toMatchObject({ state: 'confirming', received: 0n, events: [] });
          await anvil.mine(confirmations - 2);
          await scan();
          expect((await server.look(payment)).state).toBe('confirming');
          await anvil.mine(1);
          await scan();
          const { log, ...outcome } = lasting(await server.look(payment));
          // The announced transfer of a token with a fee was seen first, and "confirming" came with it.
          expect([...log].sort()).toEqual(['completed', 'confirming', 'transfer_confirmed', 'transfer_seen']);
          expect(outcome).toEqual({
            state: 'settled',
            received: payment.amount,
            receipts: [receipt(currency, payment.amount)],
            events: ['payment.success'],
          });
          expect(await server.credited(payment)).toEqual({ [currency]: payment.amount });
        });

        it('under, topped up, and over', async () => {
          const [topped, over] = [await lock(currency), await lock(currency)];
          const part = partOf(topped.amount, 4n);
          await arrive(topped.address, part);
          await arrive(over.address, over.amount + part);
          await scan();
          await settle();
          expect(await server.look(topped)).toMatchObject({
            state: 'partially_paid',
            received: part,
            events: ['payment.partial'],
          });
          expect(await server.credited(topped)).toEqual({});
          expect(await server.look(over)).toMatchObject({
            state: 'settled_over',
            received: over.amount + part,
            events: ['payment.overpaid', 'payment.success'],
          });
          await arrive(topped.address, topped.amount - part);
          await scan();
          await settle();
          const { log, ...outcome } = lasting(await server.look(topped));
          // The announced transfer of a token with a fee was seen first, and "confirming" came with it.
          expect([...log].sort()).toEqual([
            ...['completed', 'confirming', 'transfer_confirmed', 'transfer_confirmed'],
            ...['transfer_seen', 'transfer_seen', 'underpaid'],
          ]);
          expect(outcome).toEqual({
            state: 'settled',
            received: topped.amount,
            receipts: [receipt(currency, part), receipt(currency, topped.amount - part)],
            events: ['payment.partial', 'payment.success'],
          });
        });

        it('two at once, in one block', async () => {
          const payment = await lock(currency);
          await scan();
          await anvil.automine(false);
          await arrive(payment.address, payment.amount);
          await arrive(payment.address, payment.amount);
          await scan();
          await anvil.automine(true);
          await settle();
          const outcome = lasting(await server.look(payment));
          expect(outcome).toMatchObject({ state: 'settled_over', received: 2n * payment.amount });
          expect(outcome.receipts).toEqual([
            receipt(currency, payment.amount),
            receipt(currency, payment.amount),
          ]);
          expect(await server.credited(payment)).toEqual({ [currency]: 2n * payment.amount });
        });
      },
    );

    it('two parts of an exact sum are exact, where the token has more decimals than the books', async () => {
      const payment = await lock('USDC');
      const whole = payment.amount * assets.USDC.scale;
      const part = whole / 3n + 1n;
      for (const sent of [part, whole - part]) {
        await anvil.call('PlainToken', contractOf('USDC'), 'transfer', [payment.address, sent]);
      }
      await scan();
      await settle();
      expect(await server.look(payment)).toMatchObject({ state: 'settled', received: payment.amount });
    });

    it('a token that keeps a fee counts with the amount that arrives, so a payer who forgets the fee pays too little', async () => {
      const payment = await lock('TRX');
      await sendUnits('TRX', payment.address, payment.amount);
      await settle();
      const arrived = payment.amount - payment.amount / 100n;
      expect(lasting(await server.look(payment))).toMatchObject({
        state: 'partially_paid',
        receipts: [receipt('TRX', arrived)],
      });
    });

    it('late: under stays an error, full is accepted, and all of it is credited', async () => {
      const payments = await Promise.all(
        currencies.map(async (currency) => [currency, await lock(currency)] as const),
      );
      const under = await lock();
      await sendUnits('ETH', under.address, under.amount / 2n);
      await settle();
      await server.expire(() => anvil.mine());
      await scan();
      expect(await server.look(under)).toMatchObject({
        state: 'expired_partial',
        events: ['payment.partial', 'payment.error'],
      });
      expect(await server.credited(under)).toEqual({ ETH: under.amount / 2n });
      for (const [currency, payment] of payments) {
        expect(await server.look(payment)).toMatchObject({ state: 'expired', events: ['payment.error'] });
        await sendUnits(currency, payment.address, gross(currency, payment.amount));
        await scan();
      }
      await settle();
      for (const [currency, payment] of payments) {
        expect(lasting(await server.look(payment))).toEqual({
          state: 'settled_late',
          received: payment.amount,
          receipts: [receipt(currency, payment.amount)],
          log: ['expired', 'transfer_seen', 'transfer_confirmed', 'completed_late'],
          events: ['payment.error', 'payment.late', 'payment.success'],
        });
        expect(await server.credited(payment)).toEqual({ [currency]: payment.amount });
      }
    });

    it('a wrong token is credited and said in the record, and does not pay', async () => {
      const payment = await lock('USDT');
      await sendUnits('USDC', payment.address, payment.amount);
      await scan();
      await sendUnits('ETH', payment.address, 5n);
      await scan();
      await settle();
      const wrong = { counts: false } as const;
      expect(await server.look(payment)).toEqual({
        state: 'awaiting_funds',
        received: 0n,
        // Dust is credited, and not listed.
        receipts: [receipt('USDC', payment.amount, wrong)],
        log: ['other_transfer_seen', 'transfer_confirmed', 'unaccepted'],
        events: ['payment.unaccepted'],
      });
      expect(await server.credited(payment)).toEqual({ USDC: payment.amount, ETH: 5n });
      await server.expire(() => anvil.mine());
      await scan();
      expect(await server.look(payment)).toMatchObject({
        state: 'invalid',
        events: ['payment.unaccepted', 'payment.error'],
      });
    });

    it('a token that is not configured is nothing, whatever it is called', async () => {
      const payment = await lock('USDT');
      const fake = await anvil.deploy('PlainToken', [6]);
      await anvil.call('PlainToken', fake, 'transfer', [payment.address, payment.amount]);
      await settle();
      expect(await server.look(payment)).toMatchObject({ state: 'awaiting_funds', receipts: [], log: [] });
    });

    it('the same address on another network of the key: credited there, and does not pay', async () => {
      const payment = await lock('ETH');
      await other.send(payment.address, payment.amount);
      await server.scan('sepolia');
      await other.mine(confirmations);
      await server.scan('sepolia');
      expect(await server.look(payment)).toEqual({
        state: 'awaiting_funds',
        received: 0n,
        receipts: [receipt('ETH', payment.amount, { network: 'sepolia', counts: false })],
        log: ['other_transfer_seen', 'transfer_confirmed', 'unaccepted'],
        events: ['payment.unaccepted'],
      });
      await sendUnits('ETH', payment.address, payment.amount);
      await settle();
      expect(await server.look(payment)).toMatchObject({ state: 'settled', received: payment.amount });
      expect(await server.credited(payment)).toEqual({ ETH: 2n * payment.amount });
    });

    it('a transfer inside a contract pays, and its receipt names the block', async () => {
      const [native, token] = [await lock('ETH'), await lock('USDC')];
      await anvil.call('Splitter', splitter, 'pay', [[native.address]], native.amount);
      const scaled = token.amount * assets.USDC.scale;
      await anvil.call('PlainToken', contractOf('USDC'), 'transferToBoth', [stranger, token.address, scaled]);
      await settleByBalance(native);
      expect(await server.look(native)).toMatchObject({ state: 'settled', received: native.amount });
      expect(await server.look(token)).toMatchObject({ state: 'settled', received: token.amount });
      const [inBlock] = (await server.read(native.id)).receipts;
      expect(inBlock?.hashOf).toBe('block');
      const block = await anvil.rpc<{ hash: string } | null>('eth_getBlockByHash', [inBlock?.txHash, false]);
      expect(block?.hash).toBe(inBlock?.txHash);
      expect((await server.read(token.id)).receipts).toMatchObject([{ hashOf: 'transaction' }]);
    });

    it("a contract's transfer and a transaction's in one block count once each", async () => {
      const payment = await lock('ETH');
      const half = payment.amount / 2n;
      await anvil.automine(false);
      await sendUnits('ETH', payment.address, half);
      await anvil.call('Splitter', splitter, 'pay', [[payment.address]], payment.amount - half);
      await anvil.mine();
      await anvil.automine(true);
      await settleByBalance(payment);
      expect(await server.look(payment)).toMatchObject({ state: 'settled', received: payment.amount });
      await settle();
      expect((await server.look(payment)).receipts).toHaveLength(2);
    });

    it('a transfer that fails, and a contract that reverts it, pay nothing', async () => {
      const payment = await lock('ETH');
      await anvil.call('Splitter', splitter, 'fail', [payment.address], payment.amount);
      await settle();
      expect(await server.look(payment)).toMatchObject({ state: 'awaiting_funds', receipts: [] });
    });

    describe.each(Array.from({ length: confirmations + 1 }, (_, index) => index + 1))(
      'a reorg of depth %i',
      (depth) => {
        const wasSettled = depth >= confirmations;

        /** Pays an ether and a token payment in the block at this depth, and reads it. */
        async function payInBothAssets() {
          const [native, token] = [await lock('ETH'), await lock('USDT')];
          await anvil.automine(false);
          const nonce = Number(await anvil.rpc('eth_getTransactionCount', [anvil.sender, 'latest']));
          const transactions = [
            await anvil.sign(native.address, native.amount, nonce),
            await anvil.signCall(
              'SilentToken',
              contractOf('USDT'),
              'transfer',
              [token.address, token.amount],
              nonce + 1,
            ),
          ];
          for (const transaction of transactions) await anvil.publish(transaction);
          await anvil.mine(depth);
          await anvil.automine(true);
          await scan();
          const paid = [native, token] as const;
          for (const payment of paid) {
            expect((await server.look(payment)).state).toBe(wasSettled ? 'settled' : 'confirming');
          }
          return { paid, transactions, nonce };
        }

        async function expectLost(paid: readonly LockedPayment[]): Promise<void> {
          for (const payment of paid) {
            const { state, received, receipts, log, events } = await server.look(payment);
            expect([state, received, receipts.map(({ status }) => status)]).toEqual([
              wasSettled ? 'reversed' : 'awaiting_funds',
              0n,
              ['lost'],
            ]);
            expect(log).toContain('transfer_dropped');
            expect(log.includes('transfer_unconfirmed')).toBe(wasSettled);
            expect(events).toEqual(wasSettled ? ['payment.success', 'payment.reversed'] : []);
            expect(await server.credited(payment)).toEqual({});
          }
        }

        it('A reorg reverts exactly the credit of a payment that it drops, which can be paid again', async () => {
          const { paid } = await payInBothAssets();
          await anvil.reorg(depth);
          await anvil.mine();
          await scan();
          await expectLost(paid);
          await server.expectBooksInOrder();
          const [native, token] = paid;
          await sendUnits('ETH', native.address, native.amount);
          await sendUnits('USDT', token.address, token.amount);
          await settle();
          for (const payment of paid) {
            expect(await server.look(payment)).toMatchObject({ state: 'settled', received: payment.amount });
          }
        });

        it('A reorg that moves a payment to another block credits it once', async () => {
          const { paid, transactions } = await payInBothAssets();
          await anvil.reorg(
            depth,
            transactions.map((raw) => [raw, depth - 1] as const),
          );
          await scan();
          for (const payment of paid) {
            const { receipts } = await server.look(payment);
            expect(receipts.map(({ status }) => status)).not.toContain('lost');
          }
          await settle();
          for (const payment of paid) {
            const outcome = await server.look(payment);
            expect(outcome).toMatchObject({ state: 'settled', received: payment.amount });
            expect(outcome.receipts).toHaveLength(1);
            expect(Object.values(await server.credited(payment))).toEqual([payment.amount]);
          }
        });

        it('A reorg reverts a payment that it replaces with another of the same sender', async () => {
          const { paid, nonce } = await payInBothAssets();
          const replacements = [
            await anvil.sign(stranger, 1n, nonce),
            await anvil.sign(stranger, 2n, nonce + 1),
          ];
          await anvil.reorg(
            depth,
            replacements.map((raw) => [raw, 0] as const),
          );
          await anvil.mine();
          await scan();
          await expectLost(paid);
          await settle();
          await expectLost(paid);
        });
      },
    );

    it('a token whose contract has other decimals than configured is not offered: /readyz says that it is off, and networks check why', async () => {
      const why = /BNB on evm-dev is off: the contract 0x[0-9a-fA-F]{40} has 6 decimals, not 18/;
      const id = await server.create();
      const { currencyOptions = [] } = await server.read(id);
      const offered = currencyOptions.filter((option) => option.network === network);
      expect(offered.map(({ currency }) => currency).sort()).toEqual(['ETH', 'TRX', 'USDC', 'USDT']);
      await server.ask('PATCH', `/v1/payments/${id}/currency/set/BNB/${network}`);
      const refused = await server.api('PATCH', `/v1/payments/${id}/currency/lock`);
      expect([refused.status, refused.body.data.code]).toEqual([503, 'chain_unavailable']);
      await expect
        .poll(async () => (await fetch(`${server.url}/readyz`)).text(), { timeout: 15_000 })
        .toContain('BNB is off');
      const output = await runWith(commandContext(server), 'networks check --network', network);
      expect(output).toMatchObject({ hasFailed: true, text: expect.stringMatching(why) as string });
      const { networks } = output.json as { networks: { offers: { currency: string }[]; off: string[] }[] };
      expect(networks[0]?.offers.map((offer) => offer.currency).sort()).toEqual([
        'ETH',
        'TRX',
        'USDC',
        'USDT',
      ]);
      expect(networks[0]?.off).toEqual(['BNB']);
      expect(output.text).toMatch(/10 USD would be .*, not in BNB: see above/);
    });

    describe('the node', () => {
      afterEach(async () => {
        proxy.respond = undefined;
        proxy.change = undefined;
        server.time.skewMs += 61_000;
        await scan();
      });

      const answerWith =
        (
          status: number,
          body: string,
          headers: Readonly<Record<string, string>> = {},
        ): ProviderProxy['respond'] =>
        (response) => {
          response.writeHead(status, headers).end(body);
          return true;
        };
      const hangUp: ProviderProxy['respond'] = (response) => {
        response.destroy();
        return true;
      };
      const offered = async () => {
        const { currencyOptions = [] } = await server.read(await server.create());
        return currencyOptions.some((option) => option.network === network);
      };

      interface Failure {
        readonly name: string;
        readonly message: RegExp;
        readonly fail: () => Promise<void>;
      }
      const failures: readonly Failure[] = [
        {
          name: 'is killed',
          message: /node 1 cannot be reached/,
          fail: () => Promise.resolve(void (proxy.respond = hangUp)),
        },
        {
          name: 'answers 429',
          message: /node 1 takes no more requests for (30|2\d) s/,
          fail: () => Promise.resolve(void (proxy.respond = answerWith(429, '', { 'retry-after': '30' }))),
        },
        {
          name: 'answers with a page',
          message: /node 1 answered with something that is not JSON/,
          fail: () => Promise.resolve(void (proxy.respond = answerWith(200, '<html>Maintenance</html>'))),
        },
        {
          name: 'answers with another form',
          message: /A node answered with/,
          fail: () => Promise.resolve(void (proxy.change = () => ({ surprise: true }))),
        },
        {
          name: 'is at an older block',
          message: /is at block|is behind/,
          async fail() {
            const head = BigInt(await anvil.rpc<string>('eth_blockNumber'));
            const older = `0x${(head - 6n).toString(16)}`;
            const block = await anvil.rpc('eth_getBlockByNumber', [older, false]);
            proxy.change = ({ method, params }) => {
              if (method !== 'eth_getBlockByNumber') return undefined;
              if (params[0] === 'latest') return block;
              const tag = String(params[0]);
              if (tag === 'finalized') return undefined;
              return tag === 'pending' || BigInt(tag) > BigInt(older) ? null : undefined;
            };
          },
        },
        {
          name: 'is on another chain since it was interrupted',
          message: /node 1 is on another network: evm-dev has the chain id 31337, the node has 1/,
          async fail() {
            proxy.respond = hangUp;
            await scan().catch(() => {});
            proxy.respond = undefined;
            proxy.change = ({ method }) => (method === 'eth_chainId' ? '0x1' : undefined);
          },
        },
      ];

      it.each(failures)(
        '$name: nothing is lost, nothing is reverted, and no price is locked',
        async ({ message, fail }) => {
          const [before, during] = [await lock('ETH'), await lock('USDT')];
          await sendUnits('ETH', before.address, before.amount);
          await settle();
          await fail();
          await sendUnits('USDT', during.address, during.amount);
          await anvil.mine(confirmations);
          await expect(scan()).rejects.toThrow(message);
          expect((await server.look(before)).state).toBe('settled');
          expect(await server.look(during)).toMatchObject({ state: 'awaiting_funds', receipts: [], log: [] });

          // Three blocks and a minute: the network is not offered, nothing is locked on it, and a deadline does not pass.
          const id = await server.create();
          await server.ask('PATCH', `/v1/payments/${id}/currency/set/ETH/${network}`);
          server.time.skewMs += 31 * 60_000;
          await expect.poll(offered, { timeout: 15_000 }).toBe(false);
          const refused = await server.api('PATCH', `/v1/payments/${id}/currency/lock`);
          expect([refused.status, refused.body.data]).toMatchObject([503, { code: 'chain_unavailable' }]);
          // The simulated networks, which the same jump of the clock has left behind, come back at once.
          const ready = async () => {
            await scan().catch(() => {});
            const reply = await fetch(`${server.url}/readyz`);
            return `${reply.status} ${await reply.text()}`;
          };
          await expect
            .poll(ready, { timeout: 15_000 })
            .toMatch(
              new RegExp(
                `^503 .*${network}.* behind.*(node 1 fails \\([a-z-]+\\)|The scan fails: .*chains status.* says why)`,
              ),
            );
          await server.app.payments.expireOverdue(signal);
          expect((await server.look(during)).state).toBe('awaiting_funds');

          proxy.respond = undefined;
          proxy.change = undefined;
          // Past every pause that the node asked for.
          server.time.skewMs += 61_000;
          await scan();
          expect(await server.look(during)).toEqual({
            state: 'settled',
            received: during.amount,
            receipts: [receipt('USDT', during.amount)],
            log: ['transfer_seen', 'transfer_confirmed', 'completed'],
            events: ['payment.success'],
          });
          await expect.poll(offered, { timeout: 15_000 }).toBe(true);
          await server.ask('PATCH', `/v1/payments/${id}/currency/lock`);
        },
      );

      it('a node that stalls: the network is not offered, and the payment is found when the node works again', async () => {
        const payment = await lock('ETH');
        const stalled: { destroy(): void }[] = [];
        proxy.respond = (response) => {
          stalled.push(response);
          return true;
        };
        await sendUnits('ETH', payment.address, payment.amount);
        await anvil.mine(confirmations);
        const scanning = scan();
        const ended = expect(scanning).rejects.toThrow('node 1 cannot be reached');
        await expect.poll(() => stalled.length).toBeGreaterThan(0);
        server.time.skewMs += 70_000;
        await expect.poll(offered, { timeout: 15_000 }).toBe(false);
        proxy.respond = hangUp;
        for (const response of stalled) response.destroy();
        await ended;
        proxy.respond = undefined;
        await scan();
        expect(await server.look(payment)).toMatchObject({ state: 'settled', received: payment.amount });
      });
    });
  });
}
