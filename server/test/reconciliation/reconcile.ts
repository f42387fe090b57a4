/** Money that no block or log of the node showed is found by the balance of its address, and credited once. */
import { reconciliation as reconciliationModule } from '../../src/modules/reconciliation/module.js';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Hex } from 'viem';
import { openTreasury, confirmations, type TreasuryFixture } from '../treasury/treasury-fixture.js';
import { invite } from '../support/browser.js';
import { startAnvil, type Anvil } from '../support/anvil.js';
import { commandContext, runWith } from '../support/command-context.js';
import type { TestEngine } from '../support/engines.js';
import { native, sweepCall, transact, factory } from '../support/forwarders.js';
import { startProviderProxy, type ProviderProxy } from '../support/provider-proxy.js';
import { treasury } from '../treasury/treasury-fixture.js';

const { signal } = new AbortController();
const ether = 10n ** 18n;

export const testReconciliation = (engine: TestEngine): unknown =>
  describe(`reconciliation on ${engine.name}`, () => {
    let anvil: Anvil;
    let proxy: ProviderProxy;
    let fixture: TreasuryFixture;
    let splitter: Hex;

    beforeAll(async () => {
      anvil = await startAnvil();
      proxy = await startProviderProxy(anvil.url);
      splitter = await anvil.deploy('Splitter');
      fixture = await openTreasury(engine, {
        anvil,
        network: { nodes: [proxy.url] },
        // Nobody takes what is sent there.
        env: { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'pay@checkout.example' },
      });
      await fixture.setTreasury();
    });
    afterAll(async () => {
      await fixture.stop();
      await proxy.close();
      await anvil.stop();
    });
    afterEach(async () => {
      proxy.change = undefined;
      await fixture.booksInOrder();
    });

    const payByContract = (address: string, amount: bigint) =>
      anvil.call('Splitter', splitter, 'pay', [[address as Hex]], amount);
    const statusOf = async (id: string) =>
      (await fixture.merchant.ask<{ status: string }>('GET', `/v1/payments/${id}`)).status;
    const receiptsAt = (address: string) =>
      fixture.server.database.reader
        .selectFrom('receipts')
        .selectAll()
        .where('address', '=', address)
        .where('status', 'in', ['seen', 'confirmed'])
        .execute();
    const received = async (address: string) =>
      (await receiptsAt(address)).reduce((sum, { amount }) => sum + BigInt(amount), 0n);

    /** Makes a block, reads it, and compares. */
    async function block(): Promise<void> {
      await anvil.mine(1);
      await fixture.scan();
      await reconciliationModule.rules(fixture.server.app).advance(signal);
    }
    /** Until something holds, for at most so many blocks. */
    const after = (check: () => Promise<void>) =>
      vi.waitFor(
        async () => {
          await block();
          await check();
        },
        { timeout: 15_000, interval: 20 },
      );

    it('Reconciliation credits a payment that a contract sent, though the node keeps no older state', async () => {
      proxy.change = ({ method, params: [, at] }) =>
        method === 'eth_call' && at !== 'latest'
          ? new Error('missing trie node: state is not available')
          : undefined;
      const { id, address, amount } = await fixture.lock('ETH');
      await payByContract(address, amount);
      await after(async () => expect(await statusOf(id)).toBe('success'));
      const [receipt] = await receiptsAt(address);
      expect(receipt).toMatchObject({ amount: amount.toString(), tx_hash: receipt?.block_hash });
      expect(receipt?.found_above).toBeLessThan(receipt?.block_height ?? 0);
    });

    it('Reconciliation names the exact block where nodes report older balances', async () => {
      const { address, amount } = await fixture.lock('ETH');
      await block();
      await payByContract(address, amount);
      const paidIn = Number(await anvil.rpc('eth_blockNumber'));
      await after(async () => expect(await received(address)).toBe(amount));
      expect(await receiptsAt(address)).toMatchObject([{ block_height: paidIn, found_above: paidIn - 1 }]);
    });

    it('Reconciliation finds each deposit to a hosted wallet, even if the previous one was swept before it was seen', async () => {
      const wallet = await fixture.merchant.ask<{ addresses: { address: string; network: string }[] }>(
        'POST',
        '/v1/wallets',
        { body: { currency: 'ETH' } },
      );
      const address = wallet.addresses.find((one) => one.network === 'evm-dev')?.address ?? '';
      await payByContract(address, ether);
      const row = await fixture.server.database.reader
        .selectFrom('addresses')
        .select('derivation_index')
        .where('address', '=', address)
        .executeTakeFirstOrThrow();
      const owner = { merchantId: fixture.merchantId, mode: 'test' } as const;
      const source = fixture.server.app.depositKeys.sources.find(owner, 'evm');
      const salt = source?.forwarder?.salt(row.derivation_index) as Hex;
      await transact(anvil, factory.address, sweepCall([{ treasury, token: native, salts: [salt] }]));
      expect(await fixture.balance('ETH', address)).toBe(0n);
      await fixture.watch();
      await after(async () => expect(await received(address)).toBe(ether));
      await payByContract(address, ether / 2n);
      await after(async () => expect(await received(address)).toBe(ether + ether / 2n));
      await anvil.mine(confirmations);
      await fixture.scan();
      await fixture.watch();
      const { addresses } = await fixture.custody('ETH');
      expect(addresses).toBeGreaterThanOrEqual(0n);
    });

    it('Reconciliation credits nothing for coins that a dropped sweep has put back, however long the watcher cannot read', async () => {
      const { address, amount } = await fixture.pay('ETH');
      await anvil.mine(2);
      const { transactions } = await fixture.command<{ transactions: { to: string; data: string }[] }>(
        'sweeps export --network evm-dev --format json',
      );
      for (const { to, data } of transactions) await transact(anvil, to, data);
      await fixture.watch();
      expect(await fixture.balance('ETH', address)).toBe(0n);
      await anvil.reorg(confirmations + 1);
      expect(await fixture.balance('ETH', address)).toBe(amount);
      for (let made = 0; made < 5; made += 1) await block();
      expect(await received(address)).toBe(amount);
      await fixture.watch();
      expect(await received(address)).toBe(amount);
    });

    it('A credited payment is not credited again when a rescan finds its transfer, and names the transfer', async () => {
      const { id, address, amount } = await fixture.lock('USDT');
      // A node that leaves out logs, and says that the block has none.
      proxy.change = ({ method, params: [first] }, result) => {
        if (method === 'eth_getLogs') return [];
        if (method === 'eth_getBlockReceipts') return new Error('method not found');
        if (method === 'eth_getBlockByNumber' && first !== 'pending') {
          return result && { ...result, logsBloom: `0x${'0'.repeat(512)}` };
        }
        return undefined;
      };
      await fixture.sendTo(address, 'USDT', amount);
      await after(async () => expect(await statusOf(id)).toBe('success'));
      const [found] = await receiptsAt(address);
      expect(found?.output_index).toBeLessThan(0);
      proxy.change = undefined;
      await fixture.command(
        `chains rescan --network evm-dev --from ${(found?.found_above ?? 0) + 1} --mode test`,
      );
      const [named, ...more] = await receiptsAt(address);
      expect(named).toMatchObject({ amount: amount.toString(), status: 'confirmed', found_above: null });
      expect(named?.tx_hash).not.toBe(named?.block_hash);
      expect(more).toEqual([]);
      expect(await statusOf(id)).toBe('success');
    });

    it('A credited balance is replaced by the transfers that made it up, when they are found one by one', async () => {
      const { id, address, amount } = await fixture.lock('USDT');
      proxy.change = ({ method, params: [first, at] }, result) => {
        if (method === 'eth_getLogs') return [];
        if (method === 'eth_getBlockReceipts') return new Error('method not found');
        if (method === 'eth_call' && at !== 'latest') return new Error('missing trie node: state is gone');
        if (method === 'eth_getBlockByNumber' && first !== 'pending') {
          return result && { ...result, logsBloom: `0x${'0'.repeat(512)}` };
        }
        return undefined;
      };
      const third = amount / 3n;
      await fixture.sendTo(address, 'USDT', third);
      await fixture.sendTo(address, 'USDT', amount - third);
      await after(async () => expect(await statusOf(id)).toBe('success'));
      proxy.change = undefined;
      const [found] = await receiptsAt(address);
      await fixture.command(
        `chains rescan --network evm-dev --from ${(found?.found_above ?? 0) + 1} --mode test`,
      );
      await after(async () => expect(await received(address)).toBe(amount));
      expect((await receiptsAt(address)).map((one) => one.found_above)).toEqual([null, null]);
      expect(await statusOf(id)).toBe('success');
    });

    it('A settled payment is kept when a reorganisation is accepted that never happened', async () => {
      const { id, address, amount } = await fixture.lock('ETH');
      await payByContract(address, amount);
      await after(async () => expect(await statusOf(id)).toBe('success'));
      const [receipt] = await receiptsAt(address);
      await anvil.mine(220);
      await fixture.scan();
      await fixture.command(
        `chains rescan --network evm-dev --from ${(receipt?.block_height ?? 0) - 1} --accept-reorg --mode test`,
      );
      expect(await statusOf(id)).toBe('success');
      await block();
      expect(await statusOf(id)).toBe('success');
      const events = await fixture.merchant.eventsOf(id);
      expect(events.map(({ type }) => type)).not.toContain('payment.reversed');
    });

    it('Reconciliation believes neither a balance that is reported once, nor one that a second look does not see', async () => {
      const { address } = await fixture.lock('ETH');
      let isLying = true;
      proxy.change = ({ method, params: [call] }, result) => {
        const { data = '' } = (call ?? {}) as { data?: string };
        if (!isLying || method !== 'eth_call' || !data.includes(address.slice(2).toLowerCase()))
          return undefined;
        return (result as string).replace(/0{64}/g, ether.toString(16).padStart(64, '0'));
      };
      await block();
      isLying = false;
      for (let count = 0; count < 4; count += 1) await block();
      expect(await receiptsAt(address)).toEqual([]);
    });

    it('A shortage raises an alarm only after a second look, notifies those who chose it, and credits nothing when the balance returns', async () => {
      const { server } = fixture;
      const { merchantId } = server.bootstrapped;
      await invite(server, 'accountant', 'ada@shop.example');
      await fixture.command(
        `mail staff --merchant ${merchantId} --mode test --email ada@shop.example --kinds shortage`,
      );
      const notifications = () =>
        server.database.reader.selectFrom('mails').selectAll().where('kind', '=', 'shortage').execute();
      const { address, amount } = await fixture.pay('ETH');
      await fixture.lock('ETH');
      const shortages = async () =>
        (await reconciliationModule.rules(fixture.server.app).differences()).filter(
          ({ state }) => state === 'shortage',
        );
      proxy.change = ({ method, params: [call] }, result) =>
        method === 'eth_call' && !('to' in (call as object))
          ? `0x${'0'.repeat((result as string).length - 2)}`
          : undefined;
      await vi.waitFor(
        async () => {
          await fixture
            .command(`chains reconcile --network evm-dev --mode test --address ${address} --apply`)
            .catch(() => {});
          await fixture.watch();
          await block();
          expect((await shortages()).map((one) => one.address)).toContain(address);
        },
        { timeout: 15_000, interval: 20 },
      );
      proxy.change = undefined;
      expect(await notifications()).toMatchObject([
        { amount: expect.stringMatching(/^[\d.]+ ETH$/) as string },
      ]);
      for (let count = 0; count < 3; count += 1) {
        await fixture.command(`chains reconcile --network evm-dev --mode test --address ${address} --apply`);
        await block();
      }
      expect((await shortages()).map((one) => one.address)).not.toContain(address);
      expect(await received(address)).toBe(amount);
    });

    it('Reconciliation separates dust, surplus and shortage in the ledger check, and books dust when a command asks for it', async () => {
      const { address, amount } = await fixture.pay('ETH');
      await fixture.watch();
      const check = async () => {
        const {
          exitCode = 0,
          hasFailed,
          text,
        } = await runWith(commandContext(fixture.server), 'ledger check --chain');
        return { exitCode, hasFailed, text };
      };
      const before = await check();
      expect(before).toMatchObject({ exitCode: 0, hasFailed: false });
      await payByContract(address, 1n);
      await fixture.watch();
      const withDust = await check();
      expect(withDust).toMatchObject({ exitCode: 0, hasFailed: false });
      expect(withDust.text).toContain(`Dust: ${address} holds 0.000000000000000001 ETH more`);
      const reconcile = () =>
        runWith(
          commandContext(fixture.server),
          `chains reconcile --network evm-dev --address ${address} --apply`,
        );
      await vi.waitFor(
        async () => {
          await reconcile();
          await block();
          expect(await received(address)).toBe(amount + 1n);
        },
        { timeout: 15_000, interval: 20 },
      );
      await fixture.watch();
      expect((await check()).text).not.toContain(address);
      const { entries } = {
        entries: await fixture.command<{ action: string; subjectId: string }[]>('audit list'),
      };
      expect(entries).toContainEqual(
        expect.objectContaining({ action: 'balance.reconciled', subjectId: address }),
      );

      const row = await fixture.server.database.reader
        .selectFrom('receipts')
        .selectAll()
        .where('address', '=', address)
        .where('chain_amount', '=', amount.toString())
        .executeTakeFirstOrThrow();
      const setAmount = (units: bigint) =>
        fixture.server.database.write((transaction) =>
          transaction
            .updateTable('receipts')
            .set({ chain_amount: units.toString() })
            .where('id', '=', row.id)
            .execute(),
        );
      await setAmount(amount * 2n);
      expect(await check()).toMatchObject({ exitCode: 3, hasFailed: false });
      await setAmount(1n);
      expect(await check()).toMatchObject({ exitCode: 4, hasFailed: false });
      await setAmount(amount);
    });
  });
