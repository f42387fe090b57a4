/** Payments on a real EVM node, from the chain to the balance: each is credited once, whatever the chain does. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Hex } from 'viem';
import { checkLedger } from '../../../src/audit/check.js';
import { createEvmChain } from '../../../src/chains/evm/evm-chain.js';
import {
  createWatchedAddresses,
  type WatchedAddresses,
} from '../../../src/chains/addresses/watched-addresses.js';
import type { Network } from '../../../src/chains/networks.js';
import { anvilChainId, startAnvil, type Anvil } from '../../support/anvil.js';
import { engines } from '../../support/engines.js';
import { openMerchant } from '../../support/merchant-fixture.js';
import { startServer, type TestServer } from '../../support/server.js';

const confirmations = 3;
const asset = { minAmount: '0.000001', withdrawalFee: '0' };

interface PaymentView {
  readonly status: string;
  readonly amount: string | number;
  readonly amountReceived: string | number;
}

describe.each(engines)('Payments from a node on $name', (engine) => {
  let anvil: Anvil;
  let token: Hex;
  let splitter: Hex;
  let server: TestServer;
  let merchant: ReturnType<typeof openMerchant>;

  beforeAll(async () => {
    anvil = await startAnvil();
    token = await anvil.deploy('SilentToken');
    splitter = await anvil.deploy('Splitter');
    await anvil.mine(10);
    const network: Network = {
      mode: 'test',
      code: 'evm-dev',
      name: 'Anvil',
      family: 'evm',
      confirmations,
      assets: { ETH: asset, USDT: asset },
    };
    let watched: WatchedAddresses | undefined;
    const chain = createEvmChain(
      {
        mode: 'test',
        code: 'evm-dev',
        chainId: anvilChainId,
        nodes: [anvil.url],
        assets: [
          { currency: 'ETH', decimals: 18 },
          { currency: 'USDT', decimals: 6, contract: token },
        ],
      },
      {
        async watched(addresses) {
          watched ??= createWatchedAddresses(server.database);
          return watched.find('test', addresses);
        },
        async openNative() {
          const { reader } = server.database;
          const rows = await reader
            .selectFrom('payments')
            .select('address')
            .where('currency', '=', 'ETH')
            .execute();
          return rows.flatMap(({ address }) => address ?? []);
        },
      },
    );
    server = await startServer({ engine, overrides: { networks: [{ network, chain }] } });
    merchant = openMerchant(server);
    await scan();
  });
  afterAll(async () => {
    await server.stop();
    await anvil.stop();
  });

  const scan = () => server.app.scanner.scanNow({ mode: 'test', network: 'evm-dev' });

  /** Locks a payment of 10 dollars, and returns the amount in the coin's smallest unit too. */
  async function lock(currency: 'ETH' | 'USDT') {
    const { id, address } = await merchant.lock({ currency, network: 'evm-dev' });
    const view = await read(id);
    const [whole = '', part = ''] = String(view.amount).split('.');
    const amount = BigInt(whole + part.padEnd(currency === 'ETH' ? 18 : 6, '0'));
    return { id, address: address as Hex, amount };
  }
  const read = (id: string) => merchant.ask<PaymentView>('GET', `/v1/payments/${id}`);

  /** The state that the API shows after the next scan; the ledger is checked each time. */
  async function after(id: string): Promise<{ status: string; paid: boolean }> {
    await scan();
    const violations = (await checkLedger(server.database.reader)).flatMap((check) => check.violations);
    expect(violations).toEqual([]);
    const { status, amount, amountReceived } = await read(id);
    return { status, paid: Number(amount) === Number(amountReceived) };
  }

  it('succeed with the confirmations of the network, in the native coin and in a token', async () => {
    const [native, usdt] = [await lock('ETH'), await lock('USDT')];
    await anvil.send(native.address, native.amount);
    await anvil.call('SilentToken', token, 'transfer', [usdt.address, usdt.amount]);
    expect(await after(native.id)).toMatchObject({ paid: false });
    await anvil.mine(confirmations);
    expect(await after(native.id)).toEqual({ status: 'success', paid: true });
    expect(await after(usdt.id)).toEqual({ status: 'success', paid: true });
  });

  it('succeed if a contract sends the coins, and are taken back and credited again with its blocks', async () => {
    const { id, address, amount } = await lock('ETH');
    await anvil.call('Splitter', splitter, 'pay', [[address]], amount);
    await anvil.mine(confirmations);
    expect(await after(id)).toEqual({ status: 'success', paid: true });

    await anvil.reorg(confirmations + 1);
    await anvil.mine();
    expect(await after(id)).toEqual({ status: 'error', paid: false });
    await anvil.call('Splitter', splitter, 'pay', [[address]], amount);
    await anvil.mine(confirmations);
    expect(await after(id)).toMatchObject({ paid: true });
  });

  it('count what a contract and a transaction send in one block once each', async () => {
    const { id, address, amount } = await lock('ETH');
    const half = amount / 2n;
    await anvil.automine(false);
    await anvil.send(address, half);
    await scan();
    await anvil.call('Splitter', splitter, 'pay', [[address]], amount - half);
    await anvil.mine();
    await anvil.automine(true);
    await anvil.mine(confirmations);
    expect(await after(id)).toEqual({ status: 'success', paid: true });
    expect(await after(id)).toEqual({ status: 'success', paid: true });
  });

  it('that are moved to another block are credited once', async () => {
    const { id, address, amount } = await lock('ETH');
    const raw = await anvil.sign(address, amount);
    await anvil.publish(raw);
    await anvil.mine(1);
    expect(await after(id)).toMatchObject({ paid: false });
    await anvil.reorg(2, [[raw, 1]]);
    expect(await after(id)).toMatchObject({ paid: false });
    await anvil.mine(confirmations);
    expect(await after(id)).toEqual({ status: 'success', paid: true });
  });
});
