/** Scheduled sweeps by a gas key: what is due, once, within its limits, whatever happens to its transactions. */
import { randomInt } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Hex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { GasSweeper } from '../../src/modules/treasury/gas-sweeper.js';
import { startAnvil, type Anvil } from '../support/anvil.js';
import type { TestEngine } from '../support/engines.js';
import { NodeRefusal, startProviderProxy, type ProviderProxy } from '../support/provider-proxy.js';
import { confirmations, openTreasury, treasury, type TreasuryFixture } from './treasury-fixture.js';
import { roundsOf } from '../support/rounds.js';
import { treasury as treasuryModule } from '../../src/modules/treasury/module.js';

const signal = new AbortController().signal;
const perMerchant = roundsOf({ usual: 10, soak: 20 });

export const testGasSweeper = (engine: TestEngine): unknown =>
  describe(`the gas key on ${engine.name}`, () => {
    let anvil: Anvil;
    let node: ProviderProxy;
    let fixture: TreasuryFixture;
    let sweeper: GasSweeper;
    let key: Buffer;

    beforeAll(async () => {
      anvil = await startAnvil();
      node = await startProviderProxy(anvil.url);
      fixture = await openTreasury(engine, {
        anvil,
        network: { nodes: [node.url], sweeps: { minValue: '15', maxGasPriceGwei: '50', dailyBudget: '0.5' } },
      });
      await fixture.setTreasury();
    });
    afterAll(async () => {
      await fixture.stop();
      await node.close();
      await anvil.stop();
    });
    beforeEach(async () => {
      node.change = undefined;
      // A fresh key for each test: its nonces and its budget start at zero.
      const made = generatePrivateKey();
      key = Buffer.from(made.slice(2), 'hex');
      await fixture.anvil.rpc('anvil_setBalance', [privateKeyToAccount(made).address, '0xde0b6b3a7640000']);
      sweeper = sweeperWith({});
    });
    afterEach(async () => {
      await fixture.anvil.automine(true);
      await fixture.anvil.mine(confirmations);
      await sweeper.advance(signal);
      await fixture.watch();
      await fixture.booksInOrder();
    });

    const sweeperWith = (times: { stuckMs?: number }) =>
      treasuryModule.rules(fixture.server.app).createGasSweeper(key, { planEveryMs: 0, ...times });
    const transactions = () =>
      fixture.server.database.reader
        .selectFrom('gas_transactions')
        .selectAll()
        .where('sender', '=', sweeper.address)
        .orderBy('nonce')
        .orderBy('attempt')
        .execute();
    const states = async () => (await transactions()).map(({ status }) => status);
    const gasBalance = () => fixture.balance('ETH', sweeper.address);

    /** A new address of a merchant. @param secretKey of the first merchant by default */
    async function walletAddress(secretKey: string | undefined, currency: string): Promise<Hex> {
      const { status, body } = await fixture.server.api('POST', '/v1/wallets', {
        body: { currency, label: 'sweeps' },
        ...(secretKey !== undefined && { key: secretKey }),
      });
      expect(status, JSON.stringify(body)).toBe(200);
      const { addresses } = body.data as { addresses: { network: string; address: Hex }[] };
      const found = addresses.find(({ network }) => network === 'evm-dev');
      if (!found) throw new Error('The wallet has no address on the network');
      return found.address;
    }

    /** Another merchant, with a treasury. */
    async function openMerchant(to: string): Promise<{ readonly id: string; readonly key: string }> {
      const { app, database } = fixture.server;
      const { id } = await database.write((transaction) =>
        app.merchants.create(transaction, { name: 'Other Shop' }),
      );
      await database.write((transaction) =>
        app.depositKeys.set(transaction, { merchantId: id, mode: 'test' }, 'evm', { treasury: to }),
      );
      await app.depositKeys.refresh();
      await treasuryModule.rules(app).forwarderChecks.refresh(signal);
      const { key: secret } = await database.write((transaction) =>
        app.keys.create(transaction, { merchantId: id, kind: 'secret', mode: 'test' }),
      );
      return { id, key: secret };
    }

    it('The sweeper waits for the threshold, then sweeps once, and books the cost', async () => {
      await fixture.pay('USDT');
      await sweeper.advance(signal);
      expect(await transactions()).toEqual([]);
      await fixture.pay('USDT');
      const before = [await fixture.balance('USDT', treasury), await gasBalance()] as const;
      for (let pass = 0; pass < 3; pass += 1) await sweeper.advance(signal);
      expect(await states()).toEqual(['open']);
      await fixture.anvil.mine(confirmations);
      for (let pass = 0; pass < 3; pass += 1) await sweeper.advance(signal);
      const [sent] = await transactions();
      expect(sent).toMatchObject({ status: 'mined', addresses: 2, nonce: 0 });
      expect(BigInt(sent?.cost ?? 0)).toBe(before[1] - (await gasBalance()));
      expect((await fixture.balance('USDT', treasury)) - before[0]).toBe(20_000_000n);
      expect(await states()).toEqual(['mined']);
      const booked = await fixture.server.database.reader
        .selectFrom('ledger_accounts')
        .select('balance')
        .where('kind', '=', 'gas_paid')
        .executeTakeFirst();
      expect(BigInt(booked?.balance ?? 0)).toBeGreaterThan(0n);
    });

    it(
      `The sweeper brings every unit from ${2 * perMerchant} forwarders of two merchants to the right treasury`,
      { timeout: 60_000 + perMerchant * 2000 },
      async () => {
        const other = '0x976EA74026E726554dB657fA54763abd0C3a0aa9';
        const second = await openMerchant(other);
        const keys = new Map([[second.id, second.key]]);
        const sums = new Map<string, bigint>();
        for (const [merchantId, to] of [
          [fixture.merchantId, treasury],
          [second.id, other],
        ] as const) {
          for (const currency of ['USDT', 'ETH'] as const) {
            const before = await fixture.balance(currency, to);
            let sum = 0n;
            for (let index = 0; index < perMerchant / 2; index += 1) {
              const address = await walletAddress(keys.get(merchantId), currency);
              const amount =
                currency === 'USDT'
                  ? BigInt(randomInt(4_000_000, 9_000_000))
                  : BigInt(randomInt(1e6, 9e6)) * 10n ** 9n;
              await fixture.sendTo(address, currency, amount);
              sum += amount;
            }
            sums.set(`${currency}/${to}`, before + sum);
          }
        }
        await fixture.watch();
        for (let pass = 0; pass < 12; pass += 1) {
          await sweeper.advance(signal);
          await fixture.anvil.mine(confirmations);
        }
        for (const [name, expected] of sums) {
          const [currency, to] = name.split('/') as ['USDT' | 'ETH', string];
          expect([name, await fixture.balance(currency, to)]).toEqual([name, expected]);
        }
      },
    );

    describe('The sweeper continues with the next treasury when the most valuable one', () => {
      const hostile = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65';
      let owner: string;
      beforeAll(async () => {
        owner = (await openMerchant(hostile)).key;
        for (let index = 0; index < 4; index += 1) {
          await fixture.sendTo(await walletAddress(owner, 'USDT'), 'USDT', 9_000_000n);
        }
      });
      /** Changes the gas that a sweep of the treasury takes. @param most gas for so many addresses; an Error refuses it */
      const estimates = (most: (addresses: number) => bigint | Error | undefined) => {
        node.change = ({ method, params }) => {
          const [call] = params as [{ readonly data?: string }?];
          if (method !== 'eth_estimateGas' || !call?.data?.includes(hostile.slice(2).toLowerCase()))
            return undefined;
          const gas = most(sweepWords(call.data));
          return typeof gas === 'bigint' ? `0x${gas.toString(16)}` : gas;
        };
      };
      /** The words of a call with one address are fewer than those of a call with more, by one for each. */
      const sweepWords = (data: string) => (data.length - 10) / 64 - 7;

      it.each<[string, (price: bigint) => bigint | Error]>([
        ['refuses', () => new NodeRefusal(3, 'execution reverted: no')],
        ['burns more gas than the key can pay', () => 10n ** 10n],
        [
          'would take more than half of the budget for gas that no other takes',
          (price) => (36n * 10n ** 16n) / price,
        ],
      ])('%s', async (_, gas) => {
        await fixture.pay('USDT');
        await fixture.pay('USDT');
        const { baseFeePerGas } = await anvil.rpc<{ baseFeePerGas: string }>('eth_getBlockByNumber', [
          'latest',
          false,
        ]);
        const tip = await anvil.rpc<string>('eth_maxPriorityFeePerGas', []);
        const estimate = gas(2n * BigInt(baseFeePerGas) + BigInt(tip));
        estimates(() => estimate);
        const before = await fixture.balance('USDT', treasury);
        for (let pass = 0; pass < 2; pass += 1) {
          await sweeper.advance(signal);
          await fixture.anvil.mine(confirmations);
        }
        expect(await states()).toEqual(['mined']);
        expect((await fixture.balance('USDT', treasury)) - before).toBe(20_000_000n);
        expect(await fixture.balance('USDT', hostile)).toBe(0n);
      });

      it('A treasury of which less can be swept at once is swept in parts', async () => {
        estimates((addresses) => (addresses > 2 ? new NodeRefusal(3, 'execution reverted') : undefined));
        for (let pass = 0; pass < 4; pass += 1) {
          await sweeper.advance(signal);
          await fixture.anvil.mine(confirmations);
        }
        expect((await transactions()).map(({ addresses }) => addresses)).toEqual([2, 2]);
        expect(await fixture.balance('USDT', hostile)).toBe(36_000_000n);
      });
    });

    it('The sweeper sends nothing while gas is too expensive, its key lacks ether, or the budget is spent', async () => {
      await fixture.pay('USDT');
      await fixture.pay('USDT');
      await fixture.anvil.rpc('anvil_setNextBlockBaseFeePerGas', ['0x174876e800']);
      await fixture.anvil.mine();
      await sweeper.advance(signal);
      expect(await transactions()).toEqual([]);
      await fixture.anvil.rpc('anvil_setNextBlockBaseFeePerGas', ['0x3b9aca00']);
      await fixture.anvil.mine();
      await fixture.anvil.rpc('anvil_setBalance', [sweeper.address, '0x1']);
      await sweeper.advance(signal);
      expect(await transactions()).toEqual([]);
      await fixture.anvil.rpc('anvil_setBalance', [sweeper.address, '0xde0b6b3a7640000']);
      // Spent by an earlier transaction of the same day.
      await fixture.server.database.write((transaction) =>
        transaction
          .insertInto('gas_transactions')
          .values({
            id: sweeper.address,
            mode: 'test',
            network: 'evm-dev',
            sender: sweeper.address,
            nonce: -1,
            attempt: 0,
            tx_hash: sweeper.address,
            raw: '0x',
            call_data: '0x',
            addresses: 0,
            currency: 'ETH',
            gas_limit: '1',
            max_fee: '1',
            priority_fee: '1',
            status: 'mined',
            block_height: 1,
            created_at: Date.now(),
            ended_at: Date.now(),
            cost: '499999999999999999',
          })
          .execute(),
      );
      await sweeper.advance(signal);
      expect(await states()).toEqual(['mined']);
      await fixture.server.database.write((transaction) =>
        transaction.deleteFrom('gas_transactions').where('id', '=', sweeper.address).execute(),
      );
      await sweeper.advance(signal);
      expect(await states()).toEqual(['open']);
    });

    it('The sweeper replaces a stuck transaction with the same nonce, and one of the two gets into a block', async () => {
      await fixture.pay('USDT');
      await fixture.pay('USDT');
      const before = await fixture.balance('USDT', treasury);
      await fixture.anvil.automine(false);
      await sweeper.advance(signal);
      await sweeperWith({ stuckMs: -1 }).advance(signal);
      const sent = await transactions();
      expect(sent.map(({ nonce, attempt, status }) => [nonce, attempt, status])).toEqual([
        [0, 0, 'open'],
        [0, 1, 'open'],
      ]);
      expect(BigInt(sent[1]?.max_fee ?? 0)).toBeGreaterThan((BigInt(sent[0]?.max_fee ?? 0) * 110n) / 100n);
      await fixture.anvil.automine(true);
      await fixture.anvil.mine(confirmations);
      await sweeper.advance(signal);
      expect(await states()).toEqual(['lost', 'mined']);
      expect((await fixture.balance('USDT', treasury)) - before).toBe(20_000_000n);
    });

    it('The sweeper sends its transaction again after a reorganisation has dropped it, and sweeps once', async () => {
      await fixture.pay('USDT');
      await fixture.pay('USDT');
      const before = await fixture.balance('USDT', treasury);
      await fixture.anvil.mine(2);
      await sweeper.advance(signal);
      await fixture.anvil.mine(confirmations);
      await sweeper.advance(signal);
      expect(await states()).toEqual(['mined']);
      await fixture.anvil.reorg(confirmations + 1);
      await fixture.anvil.mine();
      expect(await fixture.balance('USDT', treasury)).toBe(before);
      for (let pass = 0; pass < 4; pass += 1) {
        await sweeper.advance(signal);
        await fixture.anvil.mine(confirmations);
      }
      await sweeper.advance(signal);
      expect(await states()).toEqual(['mined']);
      expect((await fixture.balance('USDT', treasury)) - before).toBe(20_000_000n);
    });

    it('The sweeper continues if another program has used its nonce', async () => {
      await fixture.pay('USDT');
      await fixture.pay('USDT');
      await fixture.anvil.automine(false);
      await sweeper.advance(signal);
      await fixture.anvil.rpc('anvil_dropAllTransactions', []);
      await fixture.anvil.automine(true);
      await fixture.anvil.rpc('anvil_impersonateAccount', [sweeper.address]);
      await fixture.anvil.rpc('eth_sendTransaction', [{ from: sweeper.address, to: treasury, value: '0x1' }]);
      await fixture.anvil.mine(confirmations);
      await sweeper.advance(signal);
      expect(await states()).toEqual(['lost']);
      await sweeper.advance(signal);
      await fixture.anvil.mine(confirmations);
      await sweeper.advance(signal);
      expect(await states()).toEqual(['lost', 'mined']);
    });

    it('The sweeper sweeps once if several servers share its key', async () => {
      await fixture.pay('USDT');
      await fixture.pay('USDT');
      const before = await fixture.balance('USDT', treasury);
      const servers = [sweeper, sweeperWith({}), sweeperWith({})];
      for (let pass = 0; pass < 3; pass += 1) {
        await Promise.all(servers.map((one) => one.advance(signal)));
        await fixture.anvil.mine(confirmations);
      }
      expect(await states()).toEqual(['mined']);
      expect((await fixture.balance('USDT', treasury)) - before).toBe(20_000_000n);
    });
  });
