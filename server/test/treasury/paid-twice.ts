/** No transfer of a treasury is paid twice: a node that omits logs, a watcher that is behind, and what was exported already. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getAddress } from 'viem';
import type { TestEngine } from '../support/engines.js';
import { commandContext, runWith } from '../support/command-context.js';
import { startAnvil, type Anvil } from '../support/anvil.js';
import { factory, transact } from '../support/forwarders.js';
import { openShop } from '../support/shop.js';
import { startProviderProxy, type ProviderProxy } from '../support/provider-proxy.js';
import { confirmations, openTreasury, treasury, type TreasuryFixture } from './treasury-fixture.js';
import { createTransfersByHand, unwatchedPayer } from '../../src/core/withdrawals/transfers-by-hand.js';
import { treasury as treasuryModule } from '../../src/modules/treasury/module.js';

const destination = '0x14dC79964da2C08b23698B3D3cc7Ca32193d9955';

/** Nothing that a node like this answers shows that it leaves something out. */
const withoutLogs: ProviderProxy['change'] = ({ method }, result) => {
  if (method === 'eth_getLogs' && Array.isArray(result)) return [];
  if (method !== 'eth_getBlockByNumber' || typeof result !== 'object' || result === null) return undefined;
  return { ...result, logsBloom: `0x${'0'.repeat(512)}` };
};

const hangUp: ProviderProxy['respond'] = (response) => {
  response.destroy();
  return true;
};

const testLargeTransfer = (engine: TestEngine): unknown =>
  describe(`a large payment of a treasury, also in parts, on ${engine.name}`, () => {
    it('A large transfer, even in parts, is settled only once a second node shows its payment', async () => {
      const anvil = await startAnvil();
      const proxies = await Promise.all([startProviderProxy(anvil.url), startProviderProxy(anvil.url)]);
      const [, second] = proxies;
      const nodes = proxies.map(({ url }) => url);
      const fixture = await openTreasury(engine, { anvil, network: { nodes, crossCheckAbove: '2 USD' } });
      try {
        await fixture.setTreasury();
        await fixture.pay('USDT');
        const { transactions } = await fixture.command<{ transactions: { to: string; data: string }[] }>(
          'sweeps export --network evm-dev --format json',
        );
        for (const { to, data } of transactions) await transact(anvil, to, data);
        await fixture.watch();
        const withdraw = async (amount: number) => {
          const to = { walletAddress: destination, walletNetwork: 'evm-dev' };
          return (await fixture.merchant.withdraw({ amount, ...to })).id;
        };
        const status = async (id: string) => (await fixture.merchant.retrieve(id)).status;
        const payByHand = async (amount: number) => {
          const units = BigInt(amount * 1e6);
          const data = `0xa9059cbb${destination.slice(2).toLowerCase().padStart(64, '0')}${units.toString(16).padStart(64, '0')}`;
          await transact(anvil, fixture.token, data, treasury);
        };
        second.change = withoutLogs;
        const small = await withdraw(1);
        await payByHand(1);
        await fixture.watch();
        expect(await status(small)).toBe('success');
        // With the earlier payments of the treasury, a part is as much as the whole.
        const rest = [await withdraw(0.9), await withdraw(0.8), await withdraw(3)];
        for (const amount of [0.9, 0.8, 3]) await payByHand(amount);
        await fixture.watch();
        expect(await Promise.all(rest.map(status))).toEqual(['pending', 'pending', 'pending']);
        second.change = undefined;
        second.respond = hangUp;
        await fixture.watch();
        expect(await Promise.all(rest.map(status))).toEqual(['pending', 'pending', 'pending']);
        second.respond = undefined;
        await fixture.watch();
        expect(await Promise.all(rest.map(status))).toEqual(['success', 'success', 'success']);
        await fixture.booksInOrder();
      } finally {
        await fixture.stop();
        await Promise.all(proxies.map((proxy) => proxy.close()));
        await anvil.stop();
      }
    });
  });

const testTransfers = (engine: TestEngine): unknown =>
  describe(`a transfer that a treasury pays, on ${engine.name}`, () => {
    let anvil: Anvil;
    let node: ProviderProxy;
    /** Another node of the network, which answers in only one test. */
    let second: ProviderProxy;
    let fixture: TreasuryFixture;

    beforeAll(async () => {
      anvil = await startAnvil();
      node = await startProviderProxy(anvil.url);
      second = await startProviderProxy(anvil.url);
      second.respond = hangUp;
      fixture = await openTreasury(engine, { anvil, network: { nodes: [node.url, second.url] } });
      await fixture.setTreasury();
      await fixture.pay('USDT');
      await fixture.pay('ETH');
      const { transactions } = await fixture.command<{ transactions: { to: string; data: string }[] }>(
        'sweeps export --network evm-dev --format json',
      );
      for (const { to, data } of transactions) await transact(anvil, to, data);
      await fixture.watch();
    });
    afterAll(async () => {
      await fixture.stop();
      await node.close();
      await second.close();
      await anvil.stop();
    });

    const status = async (id: string) => (await fixture.merchant.retrieve(id)).status;
    async function createTransfer(amount: number, currency = 'USDT', to = destination): Promise<string> {
      const body = { amount, currency, walletAddress: to, walletNetwork: 'evm-dev' };
      return (await fixture.merchant.withdraw(body)).id;
    }
    async function payOut(
      amount: bigint,
      currency: 'ETH' | 'USDT' = 'USDT',
      from: string = treasury,
    ): Promise<string> {
      if (currency === 'ETH') return (await transact(anvil, destination, '0x', from, amount)).transactionHash;
      const data = `0xa9059cbb${destination.slice(2).toLowerCase().padStart(64, '0')}${amount.toString(16).padStart(64, '0')}`;
      return (await transact(anvil, fixture.token, data, from)).transactionHash;
    }
    const exported = async () => {
      const output = await fixture.command<{ transfers: { id: string }[] }>(
        `transfers export --network evm-dev --merchant ${fixture.merchantId} --format json`,
      );
      return output.transfers.map(({ id }) => id);
    };
    const watch = () => fixture.watch().catch(() => undefined);

    it('A transfer is settled even if the node left out the log of its payment when the block was read', async () => {
      const id = await createTransfer(1.01);
      await payOut(1_010_000n);
      await anvil.mine(confirmations);
      await fixture.scan();
      // Each range of logs is empty, as from a server behind a balancer that has not read these blocks.
      node.change = ({ method, params }, result) =>
        method === 'eth_getLogs' && !('blockHash' in (params[0] as object)) && Array.isArray(result)
          ? []
          : undefined;
      await watch();
      node.change = undefined;
      await watch();
      expect(await status(id)).toBe('success');
      await fixture.booksInOrder();
    });

    it('A transfer is settled when the last blocks are read again, even if a node left out logs and bloom filters', async () => {
      const id = await createTransfer(1.02);
      await payOut(1_020_000n);
      await anvil.mine(confirmations);
      await fixture.scan();
      node.change = withoutLogs;
      await watch();
      node.change = undefined;
      await watch();
      expect(await status(id)).toBe('success');
      await fixture.booksInOrder();
    });

    it('A transfer is exported once, even by two commands at the same moment', async () => {
      const id = await createTransfer(1.03);
      const both = await Promise.allSettled([exported(), exported()]);
      const given = both.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
      expect(given).toEqual([id]);
      expect(await exported()).toEqual([]);
    });

    it('Transfers are not exported while the watcher is 100 blocks behind', async () => {
      const id = await createTransfer(1.04);
      await payOut(1_040_000n);
      // The watcher cannot read on.
      node.change = ({ method }) => (method === 'eth_getLogs' ? new Error('not now') : undefined);
      await anvil.mine(100);
      await expect(exported()).rejects.toThrow(/\d+ blocks behind .* up to block \d+/);
      node.change = undefined;
      await fixture.watch();
      expect(await status(id)).toBe('success');
    });

    it('A transfer that the treasury has paid cannot be failed, even before the payment is final', async () => {
      const id = await createTransfer(1.05);
      await payOut(1_050_000n);
      await expect(fixture.command(`transfers fail ${id} --reason No`)).rejects.toThrow(/paid/);
      await fixture.watch();
      expect(await status(id)).toBe('success');
    });

    it('A transfer is neither exported nor failed if only one of several nodes shows its payment', async () => {
      const id = await createTransfer(1.055);
      await payOut(1_055_000n);
      node.change = withoutLogs;
      second.respond = undefined;
      await expect(fixture.command(`transfers fail ${id} --reason No`)).rejects.toThrow(/paid/);
      expect(await exported()).toEqual([]);
      second.respond = hangUp;
      node.change = undefined;
      await fixture.watch();
      expect(await status(id)).toBe('success');
    });

    it('An export is not written again for another network or another merchant', async () => {
      const id = await createTransfer(1.055);
      const network = '--network evm-dev --format json';
      const { export: exportId } = await fixture.command<{ export: string }>(`transfers export ${network}`);
      const context = commandContext(fixture.server);
      const networks = context.connected.flatMap((one) => [
        one,
        { ...one, network: { ...one.network, code: 'polygon' } },
      ]);
      const elsewhere = runWith(
        { ...context, connected: networks },
        `transfers export --network polygon --format json --again ${exportId}`,
      );
      await expect(elsewhere).rejects.toThrow(/of evm-dev \(test mode\), not of polygon/);
      const again = (words: string) => fixture.command(`transfers export ${words} --again ${exportId}`);
      const { id: other } = await fixture.command<{ id: string }>('merchants create --name Elsewhere');
      await expect(again(`${network} --merchant ${other}`)).rejects.toThrow(/export with transfers/);
      expect(await again(network)).toMatchObject({ export: exportId, transfers: [{ id }] });
      await fixture.command(`transfers release ${id} --yes --reason Checked`);
      await fixture.command(`transfers fail ${id} --reason No`);
    });

    it('A transfer is reserved by its export until a release with `--yes`, and both are audited', async () => {
      const id = await createTransfer(1.06);
      const released = (words: string) =>
        fixture.command<{ isReleased: boolean; transfers: string[] }>(`transfers release ${words}`);
      expect(await exported()).toEqual([id]);
      const [reserved] = (
        await fixture.command<{ id: string; exportId: string }[]>('transfers exported')
      ).slice(-1);
      expect(reserved?.id).toBe(id);
      await expect(fixture.command(`transfers fail ${id} --reason No`)).rejects.toThrow(/release/);
      expect(await released(reserved?.exportId ?? '')).toEqual({ isReleased: false, transfers: [id] });
      expect(await exported()).toEqual([]);
      expect(await released(`${id} --yes --reason Checked`)).toMatchObject({ isReleased: true });
      expect(await exported()).toEqual([id]);
      const audit = await fixture.command<{ action: string; actor: string }[]>(
        `audit list --merchant ${fixture.merchantId}`,
      );
      expect(audit.map(({ action }) => action)).toEqual(
        expect.arrayContaining(['transfer.exported', 'transfer.released']),
      );
      await released(`${id} --yes --reason Checked`);
      await fixture.command(`transfers fail ${id} --reason No`);
      expect(await status(id)).toBe('failed');
    });

    it('A nonce releases a transfer once it is used in blocks that were read, and two nodes confirm it', async () => {
      const id = await createTransfer(1.07);
      await exported();
      const nonce = Number(await anvil.rpc('eth_getTransactionCount', [treasury, 'latest']));
      const release = () =>
        fixture.command<{ isReleased: boolean }>(`transfers release ${id} --nonce ${nonce}`);
      await fixture.watch();
      await expect(release()).rejects.toThrow(/can still be used/);
      await transact(anvil, treasury, '0x', treasury);
      await fixture.watch();
      await expect(release()).rejects.toThrow(/Only one of the 2 providers can return/);
      expect(await exported()).toEqual([]);
      second.respond = undefined;
      expect(await release()).toMatchObject({ isReleased: true });
      second.respond = hangUp;
      await fixture.command(`transfers fail ${id} --reason No`);
    });

    it('A transfer is neither exported nor failed while its payment is pending in a node', async () => {
      const id = await createTransfer(1.08);
      await anvil.automine(false);
      const data = `0xa9059cbb${destination.slice(2).toLowerCase().padStart(64, '0')}${1_080_000n.toString(16).padStart(64, '0')}`;
      await anvil.rpc('eth_sendTransaction', [{ from: treasury, to: fixture.token, data }]);
      await expect(fixture.command(`transfers fail ${id} --reason No`)).rejects.toThrow(/paid/);
      expect(await exported()).toEqual([]);
      await anvil.automine(true);
      await fixture.watch();
      expect(await status(id)).toBe('success');
    });

    it('Equal transfers of two merchants with the same treasury wait until both are paid', async () => {
      const { id: otherId } = await fixture.command<{ id: string }>('merchants create --name Other');
      const { key } = await fixture.command<{ key: string }>(
        `keys create --merchant ${otherId} --kind secret --mode test`,
      );
      const other = openShop(fixture.server, key);
      const { depositKeys } = fixture.server.app;
      const rules = treasuryModule.rules(fixture.server.app);
      await fixture.server.database.write((transaction) =>
        depositKeys.set(transaction, { merchantId: otherId, mode: 'test' }, 'evm', { treasury }),
      );
      await depositKeys.refresh();
      await rules.forwarderChecks.refresh(new AbortController().signal);
      const { address } = await other.lock({ currency: 'USDT', network: 'evm-dev' });
      await fixture.sendTo(address as `0x${string}`, 'USDT', 50_000_000n);
      await fixture.watch();
      const first = await createTransfer(1.09);
      const { id: second } = await other.withdraw({
        amount: 1.09,
        walletAddress: destination,
        walletNetwork: 'evm-dev',
      });
      const both = async () => [await status(first), (await other.retrieve(second)).status];
      await payOut(1_090_000n);
      await fixture.watch();
      expect(await both()).toEqual(['pending', 'pending']);
      await payOut(1_090_000n);
      await fixture.watch();
      expect(await both()).toEqual(['success', 'success']);
      await fixture.booksInOrder();
    });

    it('The gas of a transfer is booked once, even if it is settled by hand before the watcher reads the payment', async () => {
      await fixture.watch();
      const before = await fixture.custody('ETH');
      const held = await fixture.balance('ETH', treasury);
      const id = await createTransfer(1.11);
      const txHash = await payOut(1_110_000n);
      await anvil.mine(confirmations - 1);
      await fixture.scan();
      await fixture.command(`transfers settle ${id} --tx-hash ${txHash}`);
      const gas = held - (await fixture.balance('ETH', treasury));
      expect(gas).toBeGreaterThan(0n);
      expect(await fixture.custody('ETH')).toEqual({ ...before, treasury: before.treasury - gas });
      await fixture.watch();
      expect(await fixture.custody('ETH')).toEqual({ ...before, treasury: before.treasury - gas });
      await fixture.booksInOrder();
    });

    it('A transfer that a reorganisation reopens while another hash is looked up is not settled with that hash', async () => {
      const id = await createTransfer(0.115);
      const txHash = await payOut(115_000n);
      await fixture.watch();
      expect(await status(id)).toBe('success');
      const { app, database } = fixture.server;
      const byHand = createTransfersByHand({
        ...app,
        payer: () => ({
          ...unwatchedPayer,
          // Between the look and the settlement.
          async placeOf() {
            await database.write((transaction) => app.transfers.unsettle(transaction, id, txHash));
            return undefined;
          },
        }),
      });
      const claimed = { transferId: id, txHash: 'cd'.repeat(32), height: undefined, networkFee: undefined };
      await expect(byHand.settle(claimed, 'test', new AbortController().signal)).rejects.toThrow(
        /it waits again/,
      );
      await database.write((transaction) => app.transfers.settle(transaction, id, txHash, 0n, 'treasury'));
      await fixture.booksInOrder();
    });

    it('A transfer costs the fee of its transaction, whatever somebody says who does not run the server', async () => {
      const id = await createTransfer(0.00009, 'ETH');
      const txHash = await payOut(90_000_000_000_000n, 'ETH');
      await anvil.mine(confirmations - 1);
      await fixture.scan();
      const byHand = createTransfersByHand({ ...fixture.server.app, payer: () => unwatchedPayer });
      const claimed = { transferId: id, txHash, height: undefined, networkFee: '5' };
      await expect(byHand.settle(claimed, 'test', new AbortController().signal)).rejects.toThrow(
        /whose cost no node reports/,
      );
      await fixture.watch();
      expect(await status(id)).toBe('success');
      await fixture.booksInOrder();
    });

    it('The books keep a sweep when a node leaves out the logs of the last blocks', async () => {
      const { address } = await fixture.pay('USDT');
      const { transactions } = await fixture.command<{ transactions: { to: string; data: string }[] }>(
        'sweeps export --network evm-dev --format json',
      );
      for (const { to, data } of transactions) await transact(anvil, to, data);
      await fixture.watch();
      expect(await fixture.balance('USDT', address)).toBe(0n);
      const custody = await fixture.custody('USDT');
      node.change = ({ method }) => (method === 'eth_getLogs' ? [] : undefined);
      await watch();
      node.change = undefined;
      expect(await fixture.custody('USDT')).toEqual(custody);
      const reversed = await fixture.server.database.reader
        .selectFrom('sweeps')
        .select('reversals')
        .where('reversals', '>', 0)
        .execute();
      expect(reversed).toEqual([]);
    });

    const chainCheck = async () => {
      const checks = await fixture.command<{ violations: string[] }[]>('ledger check --chain');
      return checks.flatMap(({ violations }) => violations);
    };

    it('Settling a transfer again corrects the gas of the treasury on the books', async () => {
      await fixture.watch();
      const before = await fixture.custody('ETH');
      const held = await fixture.balance('ETH', treasury);
      const id = await createTransfer(0.0003, 'ETH');
      const txHash = await payOut(300_000_000_000_000n, 'ETH');
      await anvil.mine(confirmations - 1);
      await fixture.scan();
      const settle = `transfers settle ${id} --tx-hash ${txHash}`;
      await fixture.command(`${settle} --unverified --network-fee 0.5`);
      await expect(fixture.command(`${settle} --network-fee 0.1`)).rejects.toThrow(
        /is read from its transaction/,
      );
      for (let time = 0; time < 2; time += 1) {
        await fixture.command(settle);
        const spent = held - (await fixture.balance('ETH', treasury));
        expect(await fixture.custody('ETH')).toEqual({ ...before, treasury: before.treasury - spent });
        await fixture.watch();
      }
      expect(await chainCheck()).toEqual([]);
      await fixture.booksInOrder();
    });

    const hideOldState = (isHidden: boolean) => {
      node.change = ({ method, params }) =>
        isHidden && method === 'eth_call' && typeof params[1] === 'string' && params[1].startsWith('0x')
          ? new Error('missing trie node 12ab (path ) state 0x34cd is not available')
          : undefined;
    };

    it('If no node has old balances, a stranger’s call makes a transfer unclear only if the treasury account runs code', async () => {
      const id = await createTransfer(0.0003, 'ETH');
      const setCode = (text: string) => anvil.rpc('anvil_setCode', [treasury, text]);
      const unclear = async () => {
        await fixture.watch();
        const found = await fixture.command<{ treasuries: { unclear: string[] }[] }>('chains status');
        return found.treasuries.flatMap((one) => one.unclear);
      };
      hideOldState(true);
      await transact(anvil, treasury, '0xabcdef', undefined, 5n);
      expect(await unclear()).toEqual([]);
      // An account that runs the code of a contract can pay when it is called (EIP-7702).
      await setCode(`0xef0100${'12'.repeat(20)}`);
      await transact(anvil, treasury, '0x', undefined, 5n);
      expect(await unclear()).toEqual([id]);
      await setCode('0x');
      hideOldState(false);
      await fixture.command(`transfers release ${id} --yes --reason Checked`);
      expect(await exported()).toContain(id);
      await payOut(300_000_000_000_000n, 'ETH');
      await fixture.watch();
      expect(await status(id)).toBe('success');
    });

    describe('if the treasury is a contract', () => {
      let safe: `0x${string}`;

      beforeAll(async () => {
        safe = getAddress(await anvil.deploy('Treasury', [0, factory.address]));
        await fixture.setTreasury(safe);
        await anvil.send(safe, 10n ** 18n);
      });
      const shown = async () => {
        const figures = treasuryModule.rules(fixture.server.app).figures();
        const read = await Promise.all(
          figures.map(async (one) => [one.name, (await one.read())[0]?.[1]] as const),
        );
        return Object.fromEntries(read) as Record<string, number>;
      };
      const callSafe = (amount: bigint) => anvil.call('Treasury', safe, 'payOut', [[destination], amount]);

      it('A transfer waits for the operator where nodes have dropped the balances, and the network continues', async () => {
        const id = await createTransfer(0.0004, 'ETH');
        const later = await createTransfer(1.12);
        await callSafe(400_000_000_000_000n);
        await payOut(1_120_000n, 'USDT');
        hideOldState(true);
        await fixture.watch();
        expect([await status(id), await status(later)]).toEqual(['pending', 'success']);
        expect(await exported()).toEqual([]);
        await expect(fixture.command(`transfers fail ${id} --reason No`)).rejects.toThrow(/may have paid/);
        const { treasuries } = await fixture.command<{ treasuries: { behind: number; unclear: string[] }[] }>(
          'chains status',
        );
        expect(treasuries).toMatchObject([{ behind: 0, unclear: [id] }]);
        expect(await shown()).toMatchObject({
          checkout_treasury_lag_seconds: 0,
          checkout_transfers_unclear: 1,
          // Those of the tests before: exported, and neither paid nor released.
          checkout_transfers_exported: (await fixture.command<unknown[]>('transfers exported')).length,
        });
        expect((await shown()).checkout_transfers_exported_age_seconds).toBeGreaterThan(0);
        hideOldState(false);
        await fixture.command(`transfers release ${id} --yes --reason Checked`);
        expect(await exported()).toEqual([id]);
      });

      it('A transfer of ether from a contract is settled by hand only if a node has the balances that show it', async () => {
        const id = await createTransfer(0.0005, 'ETH');
        const txHash = await callSafe(500_000_000_000_000n);
        await anvil.mine(confirmations - 1);
        await fixture.scan();
        hideOldState(true);
        const settle = () => fixture.command(`transfers settle ${id} --tx-hash ${txHash}`);
        await expect(settle()).rejects.toThrow(/only its balances show it/);
        hideOldState(false);
        await settle();
        expect(await status(id)).toBe('success');
        await fixture.booksInOrder();
      });

      it('A transfer is released only by a nonce that its Safe has used', async () => {
        const id = await createTransfer(1.13);
        await exported();
        await fixture.watch();
        const release = (nonce: number) => fixture.command(`transfers release ${id} --nonce ${nonce}`);
        second.respond = undefined;
        await expect(release(2)).rejects.toThrow(/next nonce of .* is 2/);
        await callSafe(1n);
        await fixture.watch();
        expect(await release(2)).toMatchObject({ isReleased: true });
        second.respond = hangUp;
      });

      const unclear = async () => {
        const found = await fixture.command<{ treasuries: { unclear: string[] }[] }>('chains status');
        return found.treasuries.flatMap((one) => one.unclear);
      };

      it('A transfer of ether is not released by the nonce of a Safe: no log shows whether it was paid', async () => {
        const id = await createTransfer(0.0006, 'ETH');
        await exported();
        await callSafe(1n);
        await fixture.watch();
        const nonce = Number(await anvil.rpc('eth_call', [{ to: safe, data: '0xaffed0e0' }, 'latest'])) - 1;
        second.respond = undefined;
        await expect(fixture.command(`transfers release ${id} --nonce ${nonce}`)).rejects.toThrow(
          /does not show whether it has paid ETH/,
        );
        second.respond = hangUp;
        await fixture.command(`transfers release ${id} --yes --reason Checked`);
        await fixture.command(`transfers fail ${id} --reason No`);
      });

      it('No nonce releases a transfer while it is unclear whether it was paid, and the hash settles it', async () => {
        await fixture.setTreasury();
        const id = await createTransfer(0.0007, 'ETH');
        expect(await exported()).toContain(id);
        const nonce = Number(await anvil.rpc('eth_getTransactionCount', [treasury, 'latest']));
        await fixture.setTreasury(safe);
        await transact(anvil, treasury, '0x', treasury);
        const txHash = await callSafe(700_000_000_000_000n);
        hideOldState(true);
        await fixture.watch();
        hideOldState(false);
        expect(await unclear()).toContain(id);
        second.respond = undefined;
        await expect(fixture.command(`transfers release ${id} --nonce ${nonce}`)).rejects.toThrow(
          /may have paid the transfer .* in 0x/,
        );
        second.respond = hangUp;
        await fixture.command(`transfers settle ${id} --tx-hash ${txHash}`);
        expect(await status(id)).toBe('success');
        await fixture.booksInOrder();
      });

      it('A transfer does not lose its unclear payment when an equal transfer is released', async () => {
        const [one, paid] = [await createTransfer(0.00008, 'ETH'), await createTransfer(0.00008, 'ETH')];
        await exported();
        const txHash = await callSafe(80_000_000_000_000n);
        hideOldState(true);
        await fixture.watch();
        hideOldState(false);
        await fixture.command(`transfers release ${one} --yes --reason Checked`);
        expect(await unclear()).toEqual(expect.arrayContaining([one, paid]));
        expect(await exported()).toEqual([]);
        await fixture.command(`transfers settle ${paid} --tx-hash ${txHash}`);
        await fixture.watch();
        expect(await exported()).toEqual([one]);
        await fixture.command(`transfers release ${one} --yes --reason Checked`);
        await fixture.command(`transfers fail ${one} --reason No`);
        await fixture.booksInOrder();
      });

      it('Two equal transfers that are unclear can both be given up once somebody has seen that neither was paid', async () => {
        const both = [await createTransfer(0.00007, 'ETH'), await createTransfer(0.00007, 'ETH')];
        await exported();
        await callSafe(1n);
        hideOldState(true);
        await fixture.watch();
        hideOldState(false);
        expect(await unclear()).toEqual(expect.arrayContaining(both));
        for (const id of both) {
          await fixture.command(`transfers release ${id} --yes --reason Checked`);
          await fixture.command(`transfers fail ${id} --reason No`);
        }
        expect(await Promise.all(both.map(status))).toEqual(['failed', 'failed']);
        await fixture.booksInOrder();
      });
    });

    it('A token, a deposit address or the gas key is refused as a treasury, and an unknown token is reported', async () => {
      const { app, database } = fixture.server;
      const set = (to: string) =>
        fixture.command(
          `deposit-keys set --merchant ${fixture.merchantId} --family evm --treasury ${to} --yes`,
        );
      await expect(set(getAddress(fixture.token))).rejects.toThrow(
        /contract of USDT on .*coins would be lost/,
      );
      // The next one that a payer gets, and one of the merchant with another key.
      const [key] = (await app.depositKeys.list(database.reader)).filter(
        ({ replacedAt }) => replacedAt === null,
      );
      const next =
        key && app.depositKeys.preview({ merchantId: key.merchantId, mode: 'test' }, 'evm', key, undefined);
      await expect(set(next?.derive(key?.used ?? 0) ?? '')).rejects.toThrow(/deposit address of this server/);
      const gasKey = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
      const row = {
        id: 'gas',
        mode: 'test' as const,
        network: 'evm-dev',
        sender: gasKey,
        nonce: 0,
        attempt: 0,
        tx_hash: '0x',
        raw: '',
        call_data: '',
        addresses: 0,
        currency: 'ETH',
        gas_limit: '0',
        max_fee: '0',
        priority_fee: '0',
        status: 'lost' as const,
        cost: null,
        block_height: null,
        created_at: 0,
        ended_at: 0,
      };
      await database.write((transaction) => transaction.insertInto('gas_transactions').values(row).execute());
      await expect(set(gasKey)).rejects.toThrow(/gas key/);
      // A token that NETWORKS_FILE does not name, and a forwarder that was swept, show what they are on the chain.
      const unknown = getAddress(await anvil.deploy('PlainToken', [6]));
      await set(unknown);
      await depositKeysRefreshed();
      expect(
        treasuryModule
          .rules(app)
          .forwarderChecks.problems()
          .map(({ problem }) => problem),
      ).toEqual(expect.arrayContaining([expect.stringMatching(/contract of a token/)]));
    });

    async function depositKeysRefreshed(): Promise<void> {
      await fixture.server.app.depositKeys.refresh();
      await treasuryModule.rules(fixture.server.app).forwarderChecks.refresh(new AbortController().signal);
    }
  });

export function testPaidTwice(engine: TestEngine): void {
  testLargeTransfer(engine);
  testTransfers(engine);
}
