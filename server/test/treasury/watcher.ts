/** The money of a treasury on the books: sweeps by anybody, blocks that are dropped, and payouts from the treasury. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createWalletClient,
  encodeFunctionData,
  getAddress,
  http,
  parseAbi,
  zeroAddress,
  type Hex,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { foundry } from 'viem/chains';
import type { TestEngine } from '../support/engines.js';
import { factory, sweepCall, transact } from '../support/forwarders.js';
import { confirmations, openTreasury, treasury, type TreasuryFixture } from './treasury-fixture.js';
import { treasury as treasuryModule } from '../../src/modules/treasury/module.js';

const destination = '0x14dC79964da2C08b23698B3D3cc7Ca32193d9955';
/** The treasury's key: that of anvil's second account. */
const treasuryKey = '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d';

export const testWatcher = (engine: TestEngine): unknown =>
  describe(`the books of a treasury on ${engine.name}`, () => {
    let fixture: TreasuryFixture;

    beforeAll(async () => {
      fixture = await openTreasury(engine);
      await fixture.setTreasury();
    });
    afterAll(() => fixture.stop());

    async function sweep(from?: string): Promise<void> {
      const { transactions } = await fixture.command<{ transactions: { to: string; data: string }[] }>(
        'sweeps export --network evm-dev --format json',
      );
      for (const { to, data } of transactions) await transact(fixture.anvil, to, data, from);
    }
    const transferStatus = async (id: string) => (await fixture.merchant.retrieve(id)).status;
    async function createTransfer(
      amount: number,
      currency = 'USDT',
      walletAddress = destination,
    ): Promise<string> {
      const body = { amount, currency, walletAddress, walletNetwork: 'evm-dev' };
      return (await fixture.merchant.withdraw(body)).id;
    }
    /** The treasury sends a token, or ether. */
    async function payOut(to: string, amount: bigint, currency: 'ETH' | 'USDT' = 'USDT'): Promise<string> {
      if (currency === 'ETH')
        return (await transact(fixture.anvil, to, '0x', treasury, amount)).transactionHash;
      const data = `0xa9059cbb${to.slice(2).toLowerCase().padStart(64, '0')}${amount.toString(16).padStart(64, '0')}`;
      return (await transact(fixture.anvil, fixture.token, data, treasury)).transactionHash;
    }
    async function saltOf(address: string): Promise<Hex> {
      const { derivation_index: index } = await fixture.server.database.reader
        .selectFrom('addresses')
        .select('derivation_index')
        .where('address', '=', address)
        .executeTakeFirstOrThrow();
      const owner = { merchantId: fixture.merchantId, mode: 'test' } as const;
      const source = fixture.server.app.depositKeys.sources.find(owner, 'evm');
      return source?.forwarder?.salt(index) as Hex;
    }
    const pass = () => treasuryModule.rules(fixture.server.app).watcher.advance(new AbortController().signal);
    const settleByHand = (id: string, txHash: string) =>
      fixture.command(`transfers settle ${id} --tx-hash ${txHash}`);
    interface Exported {
      readonly transfers: { readonly id: string; readonly link: string }[];
      readonly leftOut: { readonly id: string; readonly paidBy: string[] }[];
    }
    const line = () => `transfers export --network evm-dev --merchant ${fixture.merchantId} --format`;
    const exported = () => fixture.command<Exported>(`${line()} json`);

    it('The books move money to the treasury once a stranger’s sweep of it is final', async () => {
      const [ether, usdt] = [await fixture.pay('ETH'), await fixture.pay('USDT')];
      expect(await fixture.custody('USDT')).toEqual({ addresses: usdt.amount, treasury: 0n });
      await sweep();
      await pass();
      expect(await fixture.custody('USDT')).toEqual({ addresses: usdt.amount, treasury: 0n });
      await fixture.watch();
      expect(await fixture.custody('USDT')).toEqual({ addresses: 0n, treasury: usdt.amount });
      expect(await fixture.custody('ETH')).toEqual({ addresses: 0n, treasury: ether.amount });
      await fixture.booksInOrder();
    });

    it('The books follow a late payment and its sweep, and count each block once', async () => {
      const before = await fixture.custody('USDT');
      const { address, amount } = await fixture.pay('USDT');
      await sweep();
      await fixture.watch();
      await fixture.sendTo(address, 'USDT', 5_000_000n);
      await fixture.watch();
      await sweep();
      await fixture.watch();
      await fixture.watch();
      expect(await fixture.custody('USDT')).toEqual({
        addresses: 0n,
        treasury: before.treasury + amount + 5_000_000n,
      });
      await fixture.booksInOrder();
    });

    it('charge the gas of its own sweep to the treasury, and nothing for that of a stranger', async () => {
      const before = await fixture.custody('ETH');
      await fixture.pay('USDT');
      const held = await fixture.balance('ETH', treasury);
      await sweep(treasury);
      const gas = held - (await fixture.balance('ETH', treasury));
      await fixture.watch();
      expect(await fixture.custody('ETH')).toEqual({ addresses: 0n, treasury: before.treasury - gas });
      await fixture.booksInOrder();
    });

    it('The books revert a sweep and its gas when the block is dropped after it was final, and post both again once', async () => {
      const before = await fixture.custody('USDT');
      const ether = await fixture.custody('ETH');
      const { amount } = await fixture.pay('USDT');
      await fixture.anvil.mine(2);
      await sweep(treasury);
      await fixture.watch();
      expect((await fixture.custody('USDT')).addresses).toBe(0n);
      expect((await fixture.custody('ETH')).treasury).toBeLessThan(ether.treasury);
      await fixture.anvil.reorg(confirmations + 1);
      await fixture.watch();
      expect(await fixture.custody('USDT')).toEqual({ addresses: amount, treasury: before.treasury });
      expect(await fixture.custody('ETH')).toEqual(ether);
      await fixture.booksInOrder();
      const held = await fixture.balance('ETH', treasury);
      await sweep(treasury);
      const gas = held - (await fixture.balance('ETH', treasury));
      await fixture.watch();
      expect(await fixture.custody('USDT')).toEqual({ addresses: 0n, treasury: before.treasury + amount });
      expect(await fixture.custody('ETH')).toEqual({ ...ether, treasury: ether.treasury - gas });
      await fixture.booksInOrder();
    });

    it('The books have the amount that a sweep moves in its new block, even if it is less than in the dropped one', async () => {
      const before = await fixture.custody('USDT');
      const kept = await fixture.pay('USDT');
      const height = () => fixture.anvil.rpc('eth_blockNumber').then(Number);
      const common = await height();
      const lost = await fixture.lock('USDT');
      await fixture.sendTo(lost.address, 'USDT', lost.amount + 1_000_000n);
      await fixture.anvil.mine(confirmations);
      await fixture.scan();
      const salts = await Promise.all([lost.address, kept.address].map(saltOf));
      const data = sweepCall([{ treasury, token: fixture.token, salts }]);
      const { transactionHash } = await transact(fixture.anvil, factory.address, data, destination);
      const raw = await fixture.anvil.rpc<Hex>('eth_getRawTransactionByHash', [transactionHash]);
      await fixture.watch();
      expect(await fixture.custody('USDT')).toEqual({
        addresses: 0n,
        treasury: before.treasury + kept.amount + lost.amount + 1_000_000n,
      });
      await fixture.anvil.reorg((await height()) - common, [[raw, 1]]);
      await fixture.watch();
      expect(await fixture.custody('USDT')).toEqual({
        addresses: 0n,
        treasury: before.treasury + kept.amount,
      });
      await fixture.booksInOrder();
    });

    it('The books revert the gas of a payout whose block is dropped, and let the transfer wait again', async () => {
      await fixture.pay('USDT');
      await sweep();
      await fixture.watch();
      const ether = await fixture.custody('ETH');
      await fixture.anvil.mine(2);
      const id = await createTransfer(1.75);
      await payOut(destination, 1_750_000n);
      await fixture.watch();
      expect(await transferStatus(id)).toBe('success');
      expect((await fixture.custody('ETH')).treasury).toBeLessThan(ether.treasury);
      await fixture.anvil.reorg(confirmations + 1);
      await fixture.watch();
      expect(await transferStatus(id)).toBe('pending');
      expect(await fixture.custody('ETH')).toEqual(ether);
      await payOut(destination, 1_750_000n);
      await fixture.watch();
      expect(await transferStatus(id)).toBe('success');
      await fixture.booksInOrder();
    });

    it('correct the gas of a payout that costs another amount in its new block', async () => {
      await fixture.pay('USDT');
      await sweep();
      await fixture.watch();
      const ether = await fixture.custody('ETH');
      const held = await fixture.balance('ETH', treasury);
      await fixture.anvil.mine(2);
      const id = await createTransfer(1.76);
      const common = Number(await fixture.anvil.rpc('eth_blockNumber'));
      const txHash = await payOut(destination, 1_760_000n);
      const first = held - (await fixture.balance('ETH', treasury));
      const raw = await fixture.anvil.rpc<Hex>('eth_getRawTransactionByHash', [txHash]);
      await fixture.watch();
      expect((await fixture.custody('ETH')).treasury).toBe(ether.treasury - first);
      const depth = Number(await fixture.anvil.rpc('eth_blockNumber')) - common;
      await fixture.anvil.reorg(depth, [[raw, 2]]);
      await fixture.watch();
      const gas = held - (await fixture.balance('ETH', treasury));
      expect(gas).not.toBe(first);
      expect(await transferStatus(id)).toBe('success');
      expect((await fixture.custody('ETH')).treasury).toBe(ether.treasury - gas);
      await fixture.booksInOrder();
    });

    it('settle a transfer when the treasury has paid it, in a token and in ether', async () => {
      await fixture.pay('ETH');
      await sweep();
      await fixture.watch();
      const before = await fixture.custody('USDT');
      const [token, ether] = [await createTransfer(3.5), await createTransfer(0.001, 'ETH')];
      await payOut(destination, 3_500_000n);
      await pass();
      expect(await transferStatus(token)).toBe('pending');
      await payOut(destination, 1_000_000_000_000_000n, 'ETH');
      await fixture.watch();
      expect([await transferStatus(token), await transferStatus(ether)]).toEqual(['success', 'success']);
      expect(await fixture.custody('USDT')).toEqual({ ...before, treasury: before.treasury - 3_500_000n });
      await fixture.booksInOrder();
    });

    const chainCheck = async () => {
      const checks =
        await fixture.command<{ invariant: string; violations: string[] }[]>('ledger check --chain');
      expect(checks.some(({ invariant }) => invariant.includes('held on evm-dev'))).toBe(true);
      return checks.flatMap(({ violations }) => violations);
    };

    it('The books match the chain, before and after a sweep', async () => {
      const paid = await fixture.pay('USDT');
      await fixture.watch();
      expect(await chainCheck()).toEqual([]);
      await sweep();
      // In a block that is not final yet.
      expect(await chainCheck()).toEqual([]);
      await fixture.watch();
      expect(await chainCheck()).toEqual([]);
      await fixture.anvil.rpc('anvil_setBalance', [paid.address, '0x5']);
      await fixture.watch();
      // Dust is reported, and turns nothing red; test/reconciliation/reconcile.ts has what is missing and what is too
      // much.
      expect(await chainCheck()).toEqual([]);
      await fixture.anvil.rpc('anvil_setBalance', [paid.address, '0x0']);
      const held = await fixture.balance('ETH', treasury);
      await fixture.anvil.rpc('anvil_setBalance', [treasury, '0x1']);
      await fixture.watch();
      expect(await chainCheck()).toEqual([expect.stringMatching(/treasuries hold .* ETH, the books say/)]);
      await fixture.anvil.rpc('anvil_setBalance', [treasury, `0x${held.toString(16)}`]);
      await fixture.watch();
      expect(await chainCheck()).toEqual([]);
    });

    it('settle what is paid by the exported transactions and links', async () => {
      const ids = [await createTransfer(2.5), await createTransfer(0.002, 'ETH')];
      const safe = await fixture.command<{
        transactions: { to: string; value: string; data: string | null }[];
      }>(`${line()} safe`);
      // The same export, written once more.
      const [reserved] = await fixture.command<{ exportId: string }[]>('transfers exported');
      const again = await fixture.command<Exported>(`${line()} links --again ${reserved?.exportId ?? ''}`);
      expect(again.transfers.map(({ link }) => link)).toEqual([
        `ethereum:${getAddress(fixture.token)}@31337/transfer?address=${destination}&uint256=2500000`,
        `ethereum:${destination}@31337?value=2000000000000000`,
      ]);
      for (const { to, value, data } of safe.transactions) {
        await transact(fixture.anvil, to, data ?? '0x', treasury, BigInt(value));
      }
      // Nobody pays twice while the blocks are not final.
      expect(await fixture.command(`${line()} safe`)).toMatchObject({ transactions: [] });
      await fixture.watch();
      expect(await Promise.all(ids.map(transferStatus))).toEqual(['success', 'success']);
      expect(await chainCheck()).toEqual([]);
      await fixture.booksInOrder();
    });

    it('The books ignore transfers that somebody else paid, or that were paid another amount', async () => {
      const id = await createTransfer(1.25);
      await fixture.sendTo(destination, 'USDT', 1_250_000n);
      await payOut(destination, 1_250_001n);
      await fixture.watch();
      expect(await transferStatus(id)).toBe('pending');
      await payOut(destination, 1_250_000n);
      await fixture.watch();
      expect(await transferStatus(id)).toBe('success');
    });

    it('The books settle neither of two equal transfers after one payment, and both after two', async () => {
      const ids = [await createTransfer(0.75), await createTransfer(0.75)];
      await payOut(destination, 750_000n);
      await fixture.watch();
      expect(await Promise.all(ids.map(transferStatus))).toEqual(['pending', 'pending']);
      await payOut(destination, 750_000n);
      await fixture.watch();
      expect(await Promise.all(ids.map(transferStatus))).toEqual(['success', 'success']);
      await fixture.booksInOrder();
    });

    it('A payment with which one transfer was settled by hand does not settle another', async () => {
      const ids = [await createTransfer(0.65), await createTransfer(0.65)];
      const txHash = await payOut(destination, 650_000n);
      await fixture.watch();
      expect(await Promise.all(ids.map(transferStatus))).toEqual(['pending', 'pending']);
      await settleByHand(ids[1] ?? '', txHash);
      await pass();
      await fixture.watch();
      expect(await Promise.all(ids.map(transferStatus))).toEqual(['pending', 'success']);
      expect(await exported()).toMatchObject({ transfers: [{ id: ids[0] }], leftOut: [] });
      await payOut(destination, 650_000n);
      await fixture.watch();
      expect(await Promise.all(ids.map(transferStatus))).toEqual(['success', 'success']);
      await fixture.booksInOrder();
    });

    it('A payment used by hand before it was read does not settle a later transfer of the same amount', async () => {
      const first = await createTransfer(0.55);
      const txHash = await payOut(destination, 550_000n);
      await fixture.anvil.mine(confirmations - 1);
      await fixture.scan();
      await settleByHand(first, txHash);
      const second = await createTransfer(0.55);
      await fixture.watch();
      expect(await transferStatus(second)).toBe('pending');
      expect(await exported()).toMatchObject({ transfers: [{ id: second }], leftOut: [] });
      await payOut(destination, 550_000n);
      await fixture.watch();
      expect(await transferStatus(second)).toBe('success');
      await fixture.booksInOrder();
    });

    it('The payments of one transaction are matched by their amounts, when one of them was used by hand', async () => {
      const [small, large] = [await createTransfer(0.35), await createTransfer(0.85)];
      const { database, app } = fixture.server;
      const { mode, network, currency, address } = await database.reader
        .selectFrom('transfers')
        .selectAll()
        .where('id', '=', small)
        .executeTakeFirstOrThrow();
      const tx_hash = `0x${'ab'.repeat(32)}`;
      const payment = {
        mode,
        network,
        currency,
        address,
        tx_hash,
        treasury,
        block_height: 1_000_000,
        block_hash: '',
        gas: '0',
        is_certain: 1 as const,
        paid_at: Date.now(),
        transfer_id: null,
        is_exact: 1 as const,
        may_settle: 1 as const,
        note: null,
        noted_by: null,
        noted_at: null,
      };
      await database.write(async (transaction) => {
        await app.transfers.settle(transaction, small, tx_hash, 0n, 'treasury');
        await transaction
          .insertInto('treasury_payments')
          .values([
            { ...payment, output_index: 0, amount: '850000' },
            { ...payment, output_index: 1, amount: '350000' },
          ])
          .execute();
      });
      await pass();
      const used = await database.reader
        .selectFrom('treasury_payments')
        .select(['output_index', 'transfer_id'])
        .where('tx_hash', '=', tx_hash)
        .orderBy('output_index')
        .execute();
      expect(used).toEqual([
        { output_index: 0, transfer_id: large },
        { output_index: 1, transfer_id: small },
      ]);
      expect(await transferStatus(large)).toBe('success');
      await fixture.booksInOrder();
    });

    it('settle the one that is left when the other is given up, without a new block', async () => {
      const ids = [await createTransfer(0.45), await createTransfer(0.45)];
      await payOut(destination, 450_000n);
      await fixture.watch();
      expect(await Promise.all(ids.map(transferStatus))).toEqual(['pending', 'pending']);
      await fixture.command(`transfers fail ${ids[0] ?? ''} --reason Unneeded`);
      await pass();
      expect(await Promise.all(ids.map(transferStatus))).toEqual(['failed', 'success']);
      await fixture.booksInOrder();
    });

    it('settle what a treasury that is an account pays in ether in a batch (EIP-7702), whose nonce proves nothing', async () => {
      const { anvil } = fixture;
      await fixture.pay('ETH');
      await sweep();
      await fixture.watch();
      const other = '0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f';
      const ids = [await createTransfer(0.0004, 'ETH'), await createTransfer(0.0004, 'ETH', other)];
      const token = await createTransfer(0.25);
      await exported();
      const wallet = createWalletClient({
        account: privateKeyToAccount(treasuryKey),
        chain: foundry,
        transport: http(anvil.url),
      });
      const nonce = Number(await anvil.rpc('eth_getTransactionCount', [treasury, 'latest']));
      const run = async (contractAddress: Hex, data: Hex) => {
        const authorization = await wallet.signAuthorization({ contractAddress, executor: 'self' });
        await wallet.sendTransaction({ to: treasury, data, authorizationList: [authorization] });
      };
      const data = encodeFunctionData({
        abi: parseAbi(['function payOut(address[] to, uint256 amount)']),
        args: [[destination, other], 400_000_000_000_000n],
      });
      await run(await anvil.deploy('Treasury', [0, factory.address]), data);
      await fixture.watch();
      expect(await Promise.all(ids.map(transferStatus))).toEqual(['success', 'success']);
      await expect(fixture.command(`transfers release ${token} --nonce ${nonce}`)).rejects.toThrow(
        /EIP-7702/,
      );
      await run(zeroAddress, '0x');
      await fixture.watch();
      await fixture.command(`transfers release ${token} --nonce ${nonce}`);
      await fixture.command(`transfers fail ${token} --reason Test`);
      await fixture.booksInOrder();
    });

    it('settle what a treasury that is a contract pays in ether, from inside of a call', async () => {
      const contract = await fixture.anvil.deploy('Treasury', [0, factory.address]);
      await fixture.setTreasury(getAddress(contract));
      await fixture.pay('ETH');
      await sweep();
      await fixture.watch();
      const other = '0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f';
      const ids = [await createTransfer(0.0005, 'ETH'), await createTransfer(0.0005, 'ETH', other)];
      await fixture.anvil.call('Treasury', contract, 'payOut', [[destination, other], 500_000_000_000_000n]);
      await fixture.watch();
      expect(await Promise.all(ids.map(transferStatus))).toEqual(['success', 'success']);
      await fixture.booksInOrder();
    });
  });
