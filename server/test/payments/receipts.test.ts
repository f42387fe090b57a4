/** Random sequences of chain events and payments: whatever the order, receipts match the chain in the end. */
import { afterEach, describe, expect, it } from 'vitest';
import { createCheckoutClient } from 'crypto-checkout/client';
import { statusOf, decimalOf, fromUnits, toUnits, type Payment } from 'crypto-checkout/contract';
import { enginesOfTurn } from '../support/engines.js';
import { roundsOf } from '../support/rounds.js';
import { startServer, type TestServer } from '../support/server.js';
import { openShop } from '../support/shop.js';
import { violationsOf } from '../support/violations.js';

const seeds = Array.from({ length: roundsOf({ usual: 1, soak: 30 }) }, (_, index) => index + 1);
const actions = 60;
const confirmations = 2;
const networks = ['tron', 'bsc'] as const;
const native = { tron: 'TRX', bsc: 'BNB' } as const;

/** Mulberry32: a small random number generator that gives the same numbers for the same seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

describe.each(enginesOfTurn)('receipts on $name', (engine) => {
  let server: TestServer;
  afterEach(() => server.stop());

  it.each(seeds)('match the chain after random events (seed %i)', async (seed) => {
    server = await startServer({ engine });
    const random = randomOf(seed);
    const client = createCheckoutClient({ apiUrl: server.url, publicKey: server.publicKey });
    const { sandbox } = openShop(server);
    const payments: Payment[] = [];
    for (let count = 0; count < 4; count += 1) {
      const { data } = await client.create({ amount: 10, baseCurrency: 'USD' });
      await client.setCurrency(data.payment.id, 'USDT', networks[count % 2] ?? 'tron');
      payments.push((await client.lockCurrency(data.payment.id)).data);
    }

    const wallet = await server.api('POST', '/v1/wallets', { body: { currency: 'USDT' } });
    const ofWallet = wallet.body.data['addresses'] as { network: string; address: string }[];

    for (let count = 0; count < actions; count += 1) {
      const payment = payments[random(payments.length)];
      const network = networks[random(2)] ?? 'tron';
      if (!payment) break;
      switch (random(10)) {
        case 0:
          await sandbox('transfers', {
            network,
            currency: random(5) === 0 ? native[network] : 'USDT',
            address: ofWallet.find((address) => address.network === network)?.address,
            amount: 1 + random(3),
          });
          break;
        case 1:
        case 2:
          await sandbox('transfers', {
            network: payment.currencyNetwork,
            currency: random(5) === 0 ? native[payment.currencyNetwork === 'bsc' ? 'bsc' : 'tron'] : 'USDT',
            address: payment.addressInformation?.address,
            amount: [2.5, 5, 10, 12][random(4)],
          });
          break;
        case 3:
        case 4:
        case 5:
          await sandbox('blocks', { network, count: 1 + random(2) });
          break;
        case 6:
        case 7:
          await sandbox('reorgs', { network, depth: 1 + random(4), keep: random(2) === 0 });
          break;
        case 8:
          await sandbox('clock', { advanceSeconds: random(400) });
          break;
        default:
          if (random(3) === 0) await server.api('PATCH', `/v1/payments/${payment.id}/cancel`);
      }
    }
    // Everything pending gets its confirmations, and every deadline passes.
    for (const network of networks) await sandbox('blocks', { network, count: confirmations });
    await sandbox('clock', { advanceSeconds: 3600 });

    const { reader } = server.database;
    const transfers = await reader.selectFrom('simulated_transfers').selectAll().execute();
    const receipts = await reader.selectFrom('receipts').selectAll().execute();
    const confirmed = receipts.filter((receipt) => receipt.status === 'confirmed');
    // The simulated chain deletes dropped transfers, so the rest are those on the best chain.
    expect(confirmed.map((receipt) => receipt.tx_hash).sort()).toEqual(
      transfers.map((one) => one.tx_hash).sort(),
    );
    expect(receipts.filter((receipt) => receipt.status === 'seen')).toEqual([]);

    for (const { id } of payments) {
      const { data: payment } = await client.verify(id);
      const received = transfers
        .filter((one) => one.address === payment.addressInformation?.address && one.currency === 'USDT')
        .reduce((sum, one) => sum + BigInt(one.amount), 0n);
      const log = JSON.stringify(payment.transactionTimeLog, null, 1);
      expect(decimalOf(payment.amountReceived ?? 0), log).toBe(fromUnits(received, 6));
      expect(payment.status, log).not.toBe('in progress');
      if (payment.status === 'success') {
        expect(received, log).toBeGreaterThanOrEqual(toUnits(decimalOf(payment.amount ?? 0), 6));
      }
      expect(payment.state && statusOf(payment.state)).toBe(payment.status);
    }
    // Each transfer to the wallet is a separate payment, which is a success only if the chain still has the transfer.
    const walletAddresses = ofWallet.map(({ address }) => address);
    const toWallet = receipts.filter((receipt) => walletAddresses.includes(receipt.address));
    expect(new Set(toWallet.map((receipt) => receipt.payment_id)).size).toBe(toWallet.length);
    for (const receipt of toWallet) {
      const { data: deposit } = await client.verify(receipt.payment_id);
      const isOnChain = transfers.some((one) => one.tx_hash === receipt.tx_hash);
      const log = JSON.stringify(deposit.transactionTimeLog, null, 1);
      expect(deposit.status, log).toBe(isOnChain ? 'success' : 'error');
      const amount = fromUnits(BigInt(receipt.amount), receipt.currency === 'BNB' ? 18 : 6);
      expect(decimalOf(deposit.amount ?? 0)).toBe(amount);
      expect(decimalOf(deposit.amountReceived ?? 0), log).toBe(isOnChain ? amount : '0');
    }
    const violations = await violationsOf(server.database);
    expect(violations).toEqual([]);

    // In the end, everything that arrived is credited to the merchant or taken as the fee.
    const accounts = await reader.selectFrom('ledger_accounts').selectAll().execute();
    const balanceOf = (kind: string, currency: string) =>
      accounts
        .filter((account) => account.kind === kind && account.currency === currency)
        .reduce((sum, account) => sum + BigInt(account.balance), 0n);
    for (const currency of new Set(accounts.map((account) => account.currency))) {
      expect(balanceOf('unallocated', currency), currency).toBe(0n);
      expect(balanceOf('available', currency) + balanceOf('fee_income', currency), currency).toBe(
        balanceOf('custody', currency),
      );
    }
  });
});
