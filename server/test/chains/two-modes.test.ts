/** A network of the same code in both modes, and merchants with deposit keys of their own: nothing of them mixes. */
import { HDKey } from '@scure/bip32';
import { verifyPayment } from 'crypto-checkout/client';
import type { Payment } from 'crypto-checkout/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createAddressSource,
  createTestAddressSources,
  type AddressSource,
  type AddressSources,
} from '../../src/core/addresses/address-sources.js';
import type { Network } from '../../src/core/chains/networks.js';
import { enginesOfTurn } from '../support/engines.js';
import { MemoryChain } from '../support/memory-chain.js';
import { startServer, type TestServer } from '../support/server.js';

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

interface Locked {
  readonly id: string;
  readonly amount: number;
  readonly addressInformation: { readonly address: string; readonly network: string };
}

interface Balance {
  readonly currency: string;
  readonly totalBalance: number;
}

const testSeed = new Uint8Array(32).fill(7);

describe.each(enginesOfTurn)('a network in both modes, on $name', (engine) => {
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

  async function ask<T>(method: string, path: string, key: string, body?: object): Promise<T> {
    const answer = await server.api(method, path, { key, ...(body && { body }) });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return answer.body.data as T;
  }

  async function lock(key: string): Promise<Locked> {
    const body = { amount: 10, baseCurrency: 'USD' };
    const { payment } = await ask<{ payment: { id: string } }>('POST', '/v1/payments/checkout', key, body);
    await ask('PATCH', `/v1/payments/${payment.id}/currency/set/USDT/tron`, key);
    return ask<Locked>('PATCH', `/v1/payments/${payment.id}/currency/lock`, key);
  }

  const statusOf = async (key: string, id: string) =>
    (await ask<{ status: string }>('GET', `/v1/transactions/${id}/verify`, key)).status;
  const usdt = async (key: string) =>
    (await ask<Balance[]>('GET', '/v1/balances', key)).find(({ currency }) => currency === 'USDT')
      ?.totalBalance;
  const scanLive = () => server.app.scanner.scanNow({ mode: 'live', network: 'tron' });
  const pay = (txHash: string, { addressInformation: { address } }: Locked) =>
    chain.send({ txHash, outputIndex: 0, currency: 'USDT', senders: [], address, amount: 10_010_000n });

  it('derives each merchant’s addresses from the key of their own, and test ones from the test key', async () => {
    const [own, other, test] = [await lock(first), await lock(second), await lock(server.secretKey)];
    const [ownSource, otherSource] = [...ownSources.values()];
    expect(own.addressInformation.address).toBe(ownSource?.derive(0));
    expect(other.addressInformation.address).toBe(otherSource?.derive(0));
    const testSource = createTestAddressSources(testSeed).find({ merchantId: '', mode: 'test' }, 'tron');
    expect(test.addressInformation.address).toBe(testSource?.derive(0));
    expect((await lock(first)).addressInformation.address).toBe(ownSource?.derive(1));
    const rows = await server.database.reader.selectFrom('derivations').selectAll().execute();
    expect(rows.map(({ source_id: id }) => id).sort()).toEqual(
      [ownSource?.id, otherSource?.id, testSource?.id].sort(),
    );
  });

  it('keeps transfers of one hash apart: each pays the payment of its own mode', async () => {
    const live = await lock(first);
    const test = await lock(server.secretKey);
    const { txHash } = await ask<{ txHash: string }>('POST', '/sandbox/transfers', server.secretKey, {
      network: 'tron',
      currency: 'USDT',
      address: test.addressInformation.address,
      amount: test.amount,
    });
    pay(txHash, live);
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
    await ask('POST', '/sandbox/blocks', server.secretKey, { network: 'tron', count: 2 });
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

  it('ignores on one mode’s network what is sent to an address of the other mode', async () => {
    const test = await lock(server.secretKey);
    pay('to-a-test-address', test);
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

  it('credits each merchant and mode separately, with a cursor for each mode', async () => {
    const live = await lock(second);
    pay('second-shop', live);
    chain.mine(3);
    await scanLive();
    expect(await statusOf(second, live.id)).toBe('success');
    expect([await usdt(first), await usdt(second)].map((sum) => (sum ?? 0) > 0)).toEqual([true, true]);
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

  it('says its mode on every record, and verifyPayment takes only live ones for money', async () => {
    const [live, test] = [await lock(first), await lock(server.secretKey)];
    const record = (key: string, { id }: Locked) => ask<Payment>('GET', `/v1/transactions/${id}/verify`, key);
    const [paidLive, paidTest] = [await record(first, live), await record(server.secretKey, test)];
    expect([paidLive.mode, paidTest.mode]).toEqual(['live', 'test']);
    const failed = (payment: Payment, mode?: 'test') =>
      verifyPayment(payment, { txRef: payment.txRef ?? '', baseAmount: 10, baseCurrency: 'USD', mode })
        .failed.map(({ rule }) => rule)
        .filter((rule) => rule === 'mode');
    expect([failed(paidLive), failed(paidTest), failed(paidTest, 'test')]).toEqual([[], ['mode'], []]);
  });
});
