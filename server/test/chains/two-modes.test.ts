/** A network of the same code in both modes, and merchants with deposit keys of their own: nothing of them mixes. */
import { HDKey } from '@scure/bip32';
import { verifyPayment } from 'crypto-checkout/client';
import type { PaymentRecord } from 'crypto-checkout/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createAddressSource,
  createTestAddressSources,
  type AddressSource,
  type AddressSources,
} from '../../src/core/addresses/address-sources.js';
import type { Network } from '../../src/core/chains/networks.js';
import { enginesOfQuick } from '../support/engines.js';
import { MemoryChain } from '../support/memory-chain.js';
import { startServer, type TestServer } from '../support/server.js';
import { openShop, type LockedPayment } from '../support/shop.js';

const network: Network = {
  mode: 'live',
  code: 'tron',
  name: 'Tron',
  family: 'tron',
  confirmations: 3,
  assets: { USDT: { minAmount: '0.01', withdrawalFee: '1' } },
};

/** The extended public key of some wallet. */
const extendedPublicKey = (seed: number) =>
  HDKey.fromMasterSeed(new Uint8Array(32).fill(seed)).derive("m/44'/195'/0'").publicExtendedKey;

const testSeed = new Uint8Array(32).fill(7);

describe.each(enginesOfQuick)('a network in both modes, on $name', (engine) => {
  const chain = new MemoryChain();
  /** By merchant, for live mode. */
  const ownSources = new Map<string, AddressSource>();
  let server: TestServer;
  let first: string;
  let second: string;

  beforeAll(async () => {
    const testSources = createTestAddressSources(testSeed);
    const addressSources: AddressSources = {
      find: (scope, family) =>
        scope.mode === 'test' ? testSources.find(scope, family) : ownSources.get(scope.merchantId),
    };
    server = await startServer({
      engine,
      // By default it is off where there is a live network.
      env: { SANDBOX: 'on' },
      overrides: { networks: [{ network, chain }], addressSources },
    });
    const makeMerchant = (name: string, seed: number) =>
      server.database.write(async (transaction) => {
        const { id: merchantId } = await server.app.merchants.create(transaction, { name });
        ownSources.set(merchantId, createAddressSource('live', 'tron', extendedPublicKey(seed)));
        return (await server.app.keys.create(transaction, { merchantId, kind: 'secret', mode: 'live' })).key;
      });
    first = await makeMerchant('First Shop', 1);
    second = await makeMerchant('Second Shop', 2);
  });
  afterAll(() => server.stop());

  const lock = (key: string) => openShop(server, key).lock();
  const record = (key: string, id: string) =>
    openShop(server, key).ask<PaymentRecord>('GET', `/v1/transactions/${id}/verify`);
  const statusOf = async (key: string, id: string) => (await record(key, id)).status;
  const usdt = async (key: string) => (await openShop(server, key).balance()).totalBalance;
  const scanLive = () => server.app.scanner.scanNow({ mode: 'live', network: 'tron' });
  const payOnChain = (txHash: string, { address }: LockedPayment) =>
    chain.send({ txHash, outputIndex: 0, currency: 'USDT', senders: [], address, amount: 10_010_000n });

  it('each merchant’s addresses come from their own key, and test ones from the test key', async () => {
    const [own, other, test] = [await lock(first), await lock(second), await lock(server.secretKey)];
    const [ownSource, otherSource] = [...ownSources.values()];
    expect(own.address).toBe(ownSource?.derive(0));
    expect(other.address).toBe(otherSource?.derive(0));
    const testSource = createTestAddressSources(testSeed).find({ merchantId: '', mode: 'test' }, 'tron');
    expect(test.address).toBe(testSource?.derive(0));
    expect((await lock(first)).address).toBe(ownSource?.derive(1));
    const rows = await server.database.reader.selectFrom('derivations').selectAll().execute();
    expect(rows.map(({ source_id: id }) => id).sort()).toEqual(
      [ownSource?.id, otherSource?.id, testSource?.id].sort(),
    );
  });

  it('transfers of one hash are kept apart, and each pays the payment of its own mode', async () => {
    const live = await lock(first);
    const test = await lock(server.secretKey);
    const { txHash } = await openShop(server).send(test.address, test.amount);
    payOnChain(txHash, live);
    await scanLive();
    expect([await statusOf(first, live.id), await statusOf(server.secretKey, test.id)]).toEqual([
      'in progress',
      'in progress',
    ]);
    chain.mine(3);
    await scanLive();
    expect([await statusOf(first, live.id), await statusOf(server.secretKey, test.id)]).toEqual([
      'success',
      'in progress',
    ]);
    await openShop(server).mine();
    expect(await statusOf(server.secretKey, test.id)).toBe('success');
    const receipts = await server.database.reader
      .selectFrom('receipts')
      .select(['mode', 'payment_id'])
      .where('tx_hash', '=', txHash)
      .orderBy('mode')
      .execute();
    expect(receipts).toEqual([
      { mode: 'live', payment_id: live.id },
      { mode: 'test', payment_id: test.id },
    ]);
  });

  it('a transfer on the network of one mode to an address of the other mode is ignored', async () => {
    const test = await lock(server.secretKey);
    payOnChain('to-a-test-address', test);
    chain.mine(3);
    await scanLive();
    expect(await statusOf(server.secretKey, test.id)).toBe('in progress');
    const found = await server.database.reader
      .selectFrom('receipts')
      .select('id')
      .where('tx_hash', '=', 'to-a-test-address')
      .execute();
    expect(found).toEqual([]);
  });

  it('each merchant and mode is credited separately, with a cursor for each mode', async () => {
    const live = await lock(second);
    payOnChain('second-shop', live);
    chain.mine(3);
    await scanLive();
    expect(await statusOf(second, live.id)).toBe('success');
    expect([await usdt(first), await usdt(second)].map((sum) => sum > 0)).toEqual([true, true]);
    const cursors = await server.database.reader
      .selectFrom('chain_cursors')
      .select(['mode', 'height'])
      .where('network', '=', 'tron')
      .orderBy('mode')
      .execute();
    expect(cursors.map(({ mode }) => mode)).toEqual(['live', 'test']);
    expect(cursors[0]?.height).toBe((await chain.head()).height);
    const foreign = await server.api('GET', `/v1/transactions/${live.id}/verify`, { key: first });
    expect(foreign.status).toBe(404);
  });

  it('a payment record has its mode, and verifyPayment accepts only live ones unless mode test is asked for', async () => {
    const [live, test] = [await lock(first), await lock(server.secretKey)];
    const [paidLive, paidTest] = [await record(first, live.id), await record(server.secretKey, test.id)];
    expect([paidLive.mode, paidTest.mode]).toEqual(['live', 'test']);
    const failed = (payment: PaymentRecord, mode?: 'test') =>
      verifyPayment(payment, { txRef: payment.txRef ?? '', baseAmount: 10, baseCurrency: 'USD', mode })
        .failed.map(({ rule }) => rule)
        .filter((rule) => rule === 'mode');
    expect([failed(paidLive), failed(paidTest), failed(paidTest, 'test')]).toEqual([[], ['mode'], []]);
  });
});
