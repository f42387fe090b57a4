/** A server with a merchant whose payments on an anvil go to a treasury. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import type { Hex } from 'viem';
import { startAnvil, type Anvil } from '../support/anvil.js';
import { commandContext, runWith } from '../support/command-context.js';
import type { TestEngine } from '../support/engines.js';
import { deployFactory } from '../support/forwarders.js';
import { openShop, type Shop } from '../support/shop.js';
import { startServer, type TestServer } from '../support/server.js';
import { treasury as treasuryModule } from '../../src/modules/treasury/module.js';
import { expectBooksInOrder } from '../support/violations.js';

export const treasury: Hex = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
export const confirmations = 3;
const signal = new AbortController().signal;

export interface TreasuryFixture {
  readonly anvil: Anvil;
  /** A token that returns nothing, as USDT does. */
  readonly token: Hex;
  readonly server: TestServer;
  readonly merchant: Shop;
  readonly merchantId: string;
  readonly networksFile: string;
  setTreasury(to?: string): Promise<void>;
  /** Creates and locks a payment of 10 dollars, and pays it. Amounts are in units. */
  pay(currency: 'ETH' | 'USDT'): Promise<{ id: string; address: Hex; amount: bigint }>;
  lock(currency: 'ETH' | 'USDT'): Promise<{ id: string; address: Hex; amount: bigint }>;
  sendTo(address: Hex, currency: 'ETH' | 'USDT', amount: bigint): Promise<void>;
  scan(): Promise<void>;
  balance(token: 'ETH' | 'USDT', owner: string): Promise<bigint>;
  /** Runs a command in this process. @returns its JSON output */
  command<T = Record<string, unknown>>(line: string): Promise<T>;
  booksInOrder(): Promise<void>;
  /** Makes enough blocks, and has the watcher read them. */
  watch(): Promise<void>;
  /** Custody on the books, in units: at the addresses, and in the treasury. */
  custody(currency: 'ETH' | 'USDT'): Promise<{ addresses: bigint; treasury: bigint }>;
  stop(): Promise<void>;
}

export async function openTreasury(
  engine: TestEngine,
  given: {
    readonly anvil?: Anvil;
    readonly network?: object;
    readonly env?: Record<string, string>;
    readonly isDeployed?: boolean;
  } = {},
): Promise<TreasuryFixture> {
  const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-'));
  const anvil = given.anvil ?? (await startAnvil());
  const token = await anvil.deploy('SilentToken');
  if (given.isDeployed !== false) await deployFactory(anvil);
  const networksFile = join(directory, 'networks.json');
  await writeFile(
    networksFile,
    JSON.stringify({
      networks: {
        'evm-dev': {
          nodes: [anvil.url],
          confirmations,
          assets: { USDT: { contract: token, decimals: 6 } },
          ...given.network,
        },
      },
    }),
  );
  const server = await startServer({ engine, env: { NETWORKS_FILE: networksFile, ...given.env } });
  const merchant = openShop(server);
  const [first] = await server.app.merchants.list(server.database.reader);
  const merchantId = first?.id ?? '';
  const scan = () => server.app.scanner.scanNow({ mode: 'test', network: 'evm-dev' });
  const balance: TreasuryFixture['balance'] = async (currency, owner) =>
    BigInt(
      currency === 'ETH'
        ? await anvil.rpc<Hex>('eth_getBalance', [owner, 'latest'])
        : await anvil.rpc<Hex>('eth_call', [
            { to: token, data: `0x70a08231${owner.slice(2).toLowerCase().padStart(64, '0')}` },
            'latest',
          ]),
    );

  async function lock(currency: 'ETH' | 'USDT') {
    const { id, address } = await merchant.lock({ currency, network: 'evm-dev' });
    const view = await merchant.ask<{ amount: number }>('GET', `/v1/payments/${id}`);
    const [whole = '', part = ''] = String(view.amount).split('.');
    return {
      id,
      address: address as Hex,
      amount: BigInt(whole + part.padEnd(currency === 'ETH' ? 18 : 6, '0')),
    };
  }
  async function sendTo(address: Hex, currency: 'ETH' | 'USDT', amount: bigint) {
    if (currency === 'ETH') await anvil.send(address, amount);
    else await anvil.call('SilentToken', token, 'transfer', [address, amount]);
  }

  return {
    anvil,
    token,
    server,
    merchant,
    merchantId,
    networksFile,
    lock,
    sendTo,
    scan,
    balance,
    async setTreasury(to = treasury) {
      const { depositKeys } = server.app;
      const { forwarderChecks } = treasuryModule.rules(server.app);
      await server.database.write((transaction) =>
        depositKeys.set(transaction, { merchantId, mode: 'test' }, 'evm', { treasury: to }, true),
      );
      await depositKeys.refresh();
      await forwarderChecks.refresh(signal);
      await scan();
    },
    async pay(currency) {
      const locked = await lock(currency);
      await sendTo(locked.address, currency, locked.amount);
      await anvil.mine(confirmations);
      await vi.waitFor(
        async () => {
          await scan();
          const { status } = await merchant.ask<{ status: string }>('GET', `/v1/payments/${locked.id}`);
          expect(status).toBe('success');
        },
        { timeout: 10_000, interval: 50 },
      );
      return locked;
    },
    async command<T>(line: string) {
      const { json } = await runWith(commandContext(server), line);
      return JSON.parse(JSON.stringify(json)) as T;
    },
    async booksInOrder() {
      await expectBooksInOrder(server.database);
    },
    async watch() {
      await anvil.mine(confirmations);
      await scan();
      await treasuryModule.rules(server.app).watcher.advance(signal);
    },
    async custody(currency) {
      const rows = await server.database.reader
        .selectFrom('ledger_accounts')
        .select(['id', 'balance'])
        .where('kind', '=', 'custody')
        .where('network', '=', 'evm-dev')
        .where('currency', '=', currency)
        .execute();
      const sum = (isTreasury: boolean) =>
        rows
          .filter(({ id }) => id.endsWith('/treasury') === isTreasury)
          .reduce((total, { balance: units }) => total + BigInt(units), 0n);
      return { addresses: sum(false), treasury: sum(true) };
    },
    async stop() {
      await server.stop();
      if (!given.anvil) await anvil.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
