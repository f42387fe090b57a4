/** Payments in a real coin: paid by a Litecoin Core, and followed through replacements, reorgs and the death of the node. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Payment } from 'crypto-checkout/contract';
import { decimalOf } from 'crypto-checkout/contract';
import { checkLedger } from '../../../src/audit/check.js';
import { createAddressSource, type AddressSources } from '../../../src/chains/addresses/address-sources.js';
import { createBitcoinChain } from '../../../src/chains/bitcoin/bitcoin-chain.js';
import type { Network } from '../../../src/chains/networks.js';
import { litecoinTestKey } from '../../support/extended-keys.js';
import { engines } from '../../support/engines.js';
import { hasLitecoind, litecoinRegtest, startLitecoin, type LitecoinNode } from '../../support/litecoin.js';
import { startServer, type TestServer } from '../../support/server.js';

const confirmations = 2;
const network: Network = {
  mode: 'test',
  code: litecoinRegtest.code,
  name: 'Litecoin regtest',
  family: 'litecoin',
  addressNet: 'regtest',
  confirmations,
  assets: { LTC: { minAmount: '0.0001', withdrawalFee: '0' } },
};

const source = createAddressSource('test', 'litecoin', litecoinTestKey, { net: 'regtest' });
const addressSources: AddressSources = {
  find: (_scope, family) => (family === 'litecoin' ? source : undefined),
};

describe.skipIf(!hasLitecoind)('Payments in real litecoins', () => {
  let node: LitecoinNode;
  beforeAll(async () => {
    node = await startLitecoin();
  });
  afterAll(() => node.stop());

  describe.each(engines)('on $name', (engine) => {
    let server: TestServer;

    beforeAll(async () => {
      const chain = createBitcoinChain(
        { ...litecoinRegtest, nodes: [node.url], timeoutMs: 2000 },
        {
          async watched(addresses) {
            const rows = await server.database.reader
              .selectFrom('addresses')
              .select('address')
              .where('address', 'in', addresses)
              .execute();
            return new Set(rows.map(({ address }) => address));
          },
        },
      );
      server = await startServer({ engine, overrides: { networks: [{ network, chain }], addressSources } });
    });
    afterAll(() => server.stop());

    const scan = () => server.app.scanner.scanNow({ mode: 'test', network: network.code });

    async function ask<T>(method: string, path: string, body?: object): Promise<T> {
      const { status, body: reply } = await server.api(method, path, { body });
      expect(status, `${method} ${path}: ${JSON.stringify(reply)}`).toBe(200);
      return reply.data as T;
    }

    /** A locked payment of 19 dollars: 0.2 LTC at the rate that comes with the server. */
    async function lock(): Promise<{ id: string; address: string; amount: string }> {
      const { payment } = await ask<{ payment: Payment }>('POST', '/v1/payments/checkout', {
        amount: 19,
        baseCurrency: 'USD',
      });
      const path = `/v1/payments/${payment.id}/currency`;
      await ask('PATCH', `${path}/set/LTC/${network.code}`);
      const locked = await ask<Payment>('PATCH', `${path}/lock`);
      const address = locked.addressInformation?.address ?? '';
      expect(address).toMatch(/^rltc1q/);
      return { id: payment.id, address, amount: decimalOf(locked.amount ?? 0) };
    }

    /** Scans, and tells what matters of a payment. */
    async function look(id: string) {
      await scan();
      const { state, status, amountSeen, amountReceived } = await ask<Payment>('GET', `/v1/payments/${id}`);
      return { state, status, seen: amountSeen, received: amountReceived };
    }

    it('exact: seen in the mempool, then per confirmation, then a success', async () => {
      const { id, address, amount } = await lock();
      await scan();
      await node.pay(address, amount);
      expect(await look(id)).toMatchObject({ state: 'confirming', seen: Number(amount), received: 0 });
      await node.mine();
      expect(await look(id)).toMatchObject({ state: 'confirming', received: 0 });
      await node.mine();
      expect(await look(id)).toMatchObject({ status: 'success', received: Number(amount) });
    });

    it('too little, then topped up', async () => {
      const { id, address, amount } = await lock();
      await scan();
      await node.pay(address, '0.15');
      await node.mine(confirmations);
      expect(await look(id)).toMatchObject({ state: 'partially_paid', received: 0.15 });
      await node.pay(address, (Number(amount) - 0.15).toFixed(8));
      await node.mine(confirmations);
      expect(await look(id)).toMatchObject({ status: 'success', received: Number(amount) });
    });

    it('two payments in one transaction, mined while nobody looked', async () => {
      const [first, second] = [await lock(), await lock()];
      await scan();
      await node.rpc('sendmany', '', { [first.address]: first.amount, [second.address]: '0.05' });
      await node.mine(confirmations);
      expect(await look(first.id)).toMatchObject({ status: 'success', received: Number(first.amount) });
      expect(await look(second.id)).toMatchObject({ state: 'partially_paid', received: 0.05 });
    });

    it('replaced by a payment to somebody else: lost at once', async () => {
      const { id, address, amount } = await lock();
      await scan();
      const txid = await node.pay(address, amount, true);
      expect(await look(id)).toMatchObject({ state: 'confirming', seen: Number(amount) });
      await node.replace(txid, await node.rpc<string>('getnewaddress'));
      expect(await look(id)).toMatchObject({ state: 'awaiting_funds', status: 'in progress', seen: 0 });
      await node.mine(confirmations);
      expect(await look(id)).toMatchObject({ state: 'awaiting_funds', received: 0 });
    });

    it('replaced by the same payment with a higher fee: counted once', async () => {
      const { id, address, amount } = await lock();
      await scan();
      const txid = await node.pay(address, amount, true);
      await look(id);
      await node.rpc('bumpfee', txid);
      expect(await look(id)).toMatchObject({ state: 'confirming', seen: Number(amount) });
      await node.mine(confirmations);
      expect(await look(id)).toMatchObject({ status: 'success', received: Number(amount) });
    });

    it.each([1, 2, 3])('a reorg of depth %i takes it back, and a double spend keeps it', async (depth) => {
      const { id, address, amount } = await lock();
      await scan();
      const txid = await node.pay(address, amount, true);
      await node.mine(depth);
      expect(await look(id)).toMatchObject({ status: depth < confirmations ? 'in progress' : 'success' });
      await node.reorg(depth, 'waiting');
      expect(await look(id)).toMatchObject({ received: 0, seen: Number(amount) });
      await node.replace(txid, await node.rpc<string>('getnewaddress'));
      const expected = depth < confirmations ? 'awaiting_funds' : 'reversed';
      expect(await look(id)).toMatchObject({ state: expected, received: 0, seen: 0 });
      await node.mine(confirmations + 1);
      expect(await look(id)).toMatchObject({ state: expected, received: 0 });
    });

    it('a reorg that moves it to another block', async () => {
      const { id, address, amount } = await lock();
      await scan();
      await node.pay(address, amount);
      await node.mine(confirmations);
      expect(await look(id)).toMatchObject({ status: 'success' });
      await node.reorg(confirmations, 'mined again');
      expect(await look(id)).toMatchObject({ status: 'success', received: Number(amount) });
    });

    it('paid while the server cannot reach the node, which was killed', async () => {
      const { id, address, amount } = await lock();
      await scan();
      await node.pay(address, amount);
      await node.mine();
      await node.kill();
      await expect(scan()).rejects.toThrow('No node of litecoin-regtest can be used');
      expect(await ask<Payment>('GET', `/v1/payments/${id}`)).toMatchObject({ status: 'in progress' });
      await node.start();
      await node.mine();
      expect(await look(id)).toMatchObject({ status: 'success', received: Number(amount) });
    });

    it('After all that, the books are in order', async () => {
      const checks = await checkLedger(server.database.reader);
      expect(checks.flatMap(({ violations }) => violations)).toEqual([]);
    });
  });
});
