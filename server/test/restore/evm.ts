/**
 * On an EVM network, a database that was restored from an older backup: no address twice, no transfer twice, and work
 * continues after `restore confirm`.
 */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Hex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { restore as restoreModule } from '../../src/modules/restore/module.js';
import { shippedRatesFile } from '../../src/core/money/fixed-rates.js';
import { startAnvil, type Anvil } from '../support/anvil.js';
import { commandContext, runWith } from '../support/command-context.js';
import type { TestDatabase, TestEngine } from '../support/engines.js';
import { deployFactory, transact } from '../support/forwarders.js';
import { unitsOf } from '../support/real-money.js';
import { startServer, type TestServer } from '../support/server.js';
import { openShop } from '../support/shop.js';
import { backUp, restoreFrom } from './backups.js';
import { treasury as treasuryModule } from '../../src/modules/treasury/module.js';

export const treasury = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
export const destination = '0x14dC79964da2C08b23698B3D3cc7Ca32193d9955';
const signal = new AbortController().signal;
const metricsToken = 'a-token-for-the-metrics-of-this-test';

/** A shop in live mode, whose database can be put back. */
export async function openLiveShop(engine: TestEngine, anvil: Anvil, token: Hex) {
  const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-'));
  const database: TestDatabase = await engine.create();
  const networksFile = join(directory, 'networks.json');
  const ethereum = {
    nodes: [anvil.url],
    chainId: 31_337,
    confirmations: 2,
    assets: { USDC: false, USDT: { contract: token, decimals: 6 } },
    sweeps: { minValue: '1', maxGasPriceGwei: '50', dailyBudget: '0.5' },
  };
  const logged: string[] = [];
  await writeFile(networksFile, JSON.stringify({ networks: { ethereum } }));
  const start = () =>
    startServer({
      engine,
      databaseUrl: database.url,
      env: {
        NETWORKS_FILE: networksFile,
        RATES_FILE: shippedRatesFile,
        SANDBOX: 'on',
        MARKER_DIRECTORY: join(directory, 'marker'),
        METRICS_TOKEN: metricsToken,
      },
      log: pino({ level: 'error' }, { write: (line) => void logged.push(line) }),
    });
  let server: TestServer = await start();
  const merchantId = (await server.app.merchants.list(server.database.reader))[0]?.id ?? '';
  const { key } = await server.database.write((transaction) =>
    server.app.keys.create(transaction, { merchantId, kind: 'secret', mode: 'live' }),
  );
  const backup = join(directory, 'backup');

  const merchant = () => openShop(server, key);
  const command = (line: string) => runWith(commandContext(server), line);
  const scan = () => server.app.scanner.scanNow({ mode: 'live', network: 'ethereum' });
  /** Until each network has been scanned once, the simulated ones too, that is the reason a server is not ready. */
  const allScanned = () =>
    expect
      .poll(() => server.app.scanner.status().every(({ lagMs }) => lagMs !== undefined), { timeout: 20_000 })
      .toBe(true);
  async function lock() {
    const { id, address, amount } = await merchant().lock({ network: 'ethereum' });
    return { id, address, amount: unitsOf(amount, 'USDT') };
  }
  const sendTokens = ({ address, amount }: { address: string; amount: bigint }) =>
    anvil.call('SilentToken', token, 'transfer', [address, amount]);
  async function settle(id: string): Promise<void> {
    await anvil.mine(3);
    await vi.waitFor(
      async () => {
        await scan();
        expect(await merchant().ask('GET', `/v1/payments/${id}`)).toMatchObject({ status: 'success' });
      },
      { timeout: 10_000, interval: 50 },
    );
  }

  await allScanned();
  return {
    command,
    lock,
    logged,
    merchantId,
    scan,
    settle,
    send: sendTokens,
    get server() {
      return server;
    },
    async setTreasury() {
      const { depositKeys } = server.app;
      const room = treasuryModule.rules(server.app);
      await server.database.write((transaction) =>
        depositKeys.set(transaction, { merchantId, mode: 'live' }, 'evm', { treasury }, true),
      );
      await depositKeys.refresh();
      await room.forwarderChecks.refresh(signal);
      await scan();
    },
    /** Fetches what was paid, so that the treasury can pay. */
    async sweep() {
      const { json } = await command('sweeps export --network ethereum --format json');
      const { transactions } = json as { transactions: { to: string; data: string }[] };
      for (const { to, data } of transactions) await transact(anvil, to, data);
    },
    /** Settles waiting transfers by the payments of the treasury. */
    async watch() {
      await anvil.mine(3);
      await scan();
      await treasuryModule.rules(server.app).watcher.advance(signal);
    },
    retrieve: (transferId: string) => merchant().retrieve(transferId),
    async transfer(amount: number): Promise<string> {
      const body = { amount, currency: 'USDT', walletAddress: destination, walletNetwork: 'ethereum' };
      return (await merchant().withdraw(body)).id;
    },
    async exported(): Promise<string[]> {
      const { json } = await command(
        `transfers export --network ethereum --merchant ${merchantId} --format json`,
      );
      return (json as { transfers: { id: string }[] }).transfers.map(({ id }) => id);
    },
    /** The wallet pays a transfer. */
    async pay(amount: bigint) {
      const words = [
        destination.slice(2).toLowerCase().padStart(64, '0'),
        amount.toString(16).padStart(64, '0'),
      ];
      await transact(anvil, token, `0xa9059cbb${words.join('')}`, treasury);
    },
    backUp: () => backUp(engine, database.url, backup, command),
    /** As docs/backup.md says. @param isMarkerLost as on another machine */
    async restore(isMarkerLost: boolean) {
      await server.stop();
      await restoreFrom(engine, database.url, backup);
      if (isMarkerLost) await rm(join(directory, 'marker'), { recursive: true, force: true });
      server = await start();
      await treasuryModule.rules(server.app).forwarderChecks.refresh(signal);
      await scan();
      await restoreModule.rules(server.app).look();
      await allScanned();
    },
    /** The machine is restarted. @param whileDown the actions of others meanwhile @param isMarkerLost as after its disk was replaced */
    async restart(whileDown: () => Promise<void>, isMarkerLost = false) {
      await server.stop();
      await whileDown();
      // Blocks are timed in whole seconds: these are older than the next start.
      await new Promise((resolve) => setTimeout(resolve, 1100));
      if (isMarkerLost) await rm(join(directory, 'marker'), { recursive: true, force: true });
      server = await start();
      await treasuryModule.rules(server.app).forwarderChecks.refresh(signal);
      await scan();
      await restoreModule.rules(server.app).look();
      await allScanned();
    },
    markerDirectory: join(directory, 'marker'),
    /** Another shop on the same server, with a treasury of its own. @returns locks a payment of it, and says how that was answered */
    async neighbour() {
      const { app, database: db } = server;
      const other = await db.write((transaction) => app.merchants.create(transaction, { name: 'Another' }));
      const made = await db.write((transaction) =>
        app.keys.create(transaction, { merchantId: other.id, kind: 'secret', mode: 'live' }),
      );
      await db.write((transaction) =>
        app.depositKeys.set(
          transaction,
          { merchantId: other.id, mode: 'live' },
          'evm',
          { treasury: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC' },
          true,
        ),
      );
      await app.depositKeys.refresh();
      await treasuryModule.rules(app).forwarderChecks.refresh(signal);
      return async (): Promise<number> => {
        const { key: ofOther } = made;
        const { id } = await openShop(server, ofOther).create();
        const path = `/v1/payments/${id}/currency`;
        await server.api('PATCH', `${path}/set/USDT/ethereum`, { key: ofOther });
        return (await server.api('PATCH', `${path}/lock`, { key: ofOther })).status;
      };
    },
    async ready(): Promise<number> {
      return (await fetch(`${server.url}/readyz`)).status;
    },
    async readiness(): Promise<string> {
      const { message } = (await (await fetch(`${server.url}/readyz`)).json()) as { message: string };
      return message;
    },
    async metric(): Promise<string | undefined> {
      const headers = { Authorization: `Bearer ${metricsToken}` };
      const text = await (await fetch(`${server.url}/metrics`, { headers })).text();
      return /^checkout_restore_suspected\{mode="live",network="ethereum"\} (\d+)$/m.exec(text)?.[1];
    },
    async unwritable(): Promise<string | undefined> {
      const headers = { Authorization: `Bearer ${metricsToken}` };
      const text = await (await fetch(`${server.url}/metrics`, { headers })).text();
      return /^checkout_marker_unwritable\{mode="live",network="ethereum"\} (\d+)$/m.exec(text)?.[1];
    },
    async marker(): Promise<string> {
      const [name] = await readdir(join(directory, 'marker'));
      return readFile(join(directory, 'marker', name ?? ''), 'utf8');
    },
    /** Makes a payment by the sandbox, up to its address, as test mode does. */
    async lockInTestMode(): Promise<void> {
      await openShop(server).lock({ currency: 'LTC', network: 'litecoin' });
    },
    /** A key that sweeps automatically, and has the ether for it. */
    async gasSweeper() {
      const key = generatePrivateKey();
      await anvil.rpc('anvil_setBalance', [privateKeyToAccount(key).address, '0xde0b6b3a7640000']);
      return treasuryModule
        .rules(server.app)
        .createGasSweeper(Buffer.from(key.slice(2), 'hex'), { planEveryMs: 0 });
    },
    gasTransactions: () => server.database.reader.selectFrom('gas_transactions').select('status').execute(),
    async stop() {
      await server.stop();
      await database.dispose();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export const testRestoreOnEvm = (engine: TestEngine): unknown =>
  describe(`a restored database on ${engine.name}`, () => {
    let anvil: Anvil;
    let token: Hex;
    beforeEach(async () => {
      anvil = await startAnvil();
      token = await anvil.deploy('SilentToken');
      await deployFactory(anvil);
    });
    afterEach(() => anvil.stop());

    it.each([
      ['by its marker', false],
      ['only by the chain, when the marker is lost', true],
    ])('A restored database is detected %s', { timeout: 60_000 }, async (_, isMarkerLost) => {
      const shop = await openLiveShop(engine, anvil, token);
      await shop.setTreasury();
      const first = await shop.lock();
      await shop.send(first);
      await shop.settle(first.id);
      await shop.sweep();
      await shop.watch();
      // An address that was locked and not paid is in the backup too.
      const kept = await shop.transfer(0.51);
      expect(await shop.exported()).toEqual([kept]);
      const nonce = Number(await anvil.rpc('eth_getTransactionCount', [treasury, 'latest']));
      const [sent, unsent] = [await shop.transfer(1.01), await shop.transfer(2.02)];
      await shop.backUp();

      const second = await shop.lock();
      expect((await shop.exported()).sort()).toEqual([sent, unsent].sort());
      await shop.pay(1_010_000n);
      await shop.send(second);
      await anvil.mine(3);
      // Blocks are timed in whole seconds: these are older than the next start.
      await new Promise((resolve) => setTimeout(resolve, 1100));
      await shop.restore(isMarkerLost);

      const evidence = (await shop.command('restore status')) as { hasFailed?: boolean; text: string };
      expect(evidence.hasFailed).toBe(true);
      if (!isMarkerLost) expect(evidence.text).toContain('payouts were started that are not in it');
      expect(evidence.text).toContain(`${second.address} on ethereum`);
      expect(evidence.text).toContain(`the transfer ${sent} on ethereum was never exported`);
      expect(await shop.readiness()).toContain('restored from an older backup');
      expect(await shop.command('chains status')).toMatchObject({ hasFailed: true });
      await expect(shop.lock()).rejects.toThrow('"code":"service_unavailable"');
      await expect(shop.lock()).rejects.toThrow('expected 503 to be 200');
      await expect(shop.exported()).rejects.toThrow('restored from an older backup');

      expect(await shop.command('restore confirm')).toMatchObject({ hasFailed: true });
      await expect(shop.lock()).rejects.toThrow('expected 503');
      const confirmed = await shop.command('restore confirm --yes');
      expect(confirmed).toMatchObject({ json: { isConfirmed: true } });
      expect(await shop.command('restore status')).toMatchObject({ json: { isSuspected: false } });
      expect(await shop.readiness()).not.toContain('restored');

      // A running server does this within two seconds.
      await shop.server.app.depositKeys.refresh();
      await treasuryModule.rules(shop.server.app).forwarderChecks.refresh(signal);
      const third = await shop.lock();
      expect([first.address, second.address]).not.toContain(third.address);
      await shop.watch();
      expect(await shop.retrieve(sent)).toMatchObject({ status: 'success' });
      // The wallet has the other one from the lost export, and may send it at any time.
      expect(await shop.exported()).toEqual([]);
      await shop.pay(2_020_000n);
      await shop.watch();
      expect(await shop.retrieve(unsent)).toMatchObject({ status: 'success' });
      // A wallet may have been given the earlier export too since the backup.
      await expect(shop.command(`transfers release ${kept} --nonce ${nonce}`)).rejects.toThrow(
        'no nonce is a proof',
      );
      const [held] = (await shop.command('transfers exported')).json as { id: string; exportId: string }[];
      expect(held?.id).toBe(kept);
      await expect(
        shop.command(`transfers export --network ethereum --format json --again ${held?.exportId ?? ''}`),
      ).rejects.toThrow('handed to a wallet');

      // The forwarders of both epochs are watched, and swept.
      await shop.send(first);
      await shop.send(third);
      await shop.settle(third.id);
      await shop.sweep();
      await shop.watch();
      const swept = await shop.server.database.reader.selectFrom('sweeps').select('address').execute();
      expect(swept.map(({ address }) => address.toLowerCase())).toEqual(
        expect.arrayContaining([first.address.toLowerCase(), third.address.toLowerCase()]),
      );
      const later = await shop.transfer(3.03);
      expect(await shop.exported()).toEqual([later]);
      await shop.stop();
    });

    it(
      'A restored server continues in test mode and credits payments, but fetches and gives out nothing, until it is confirmed',
      {
        timeout: 60_000,
      },
      async () => {
        const shop = await openLiveShop(engine, anvil, token);
        await shop.setTreasury();
        const first = await shop.lock();
        await shop.backUp();
        const second = await shop.lock();
        await shop.restore(false);
        expect(await shop.metric()).toBe('1');
        const lines = shop.logged.map((text) => JSON.parse(text) as { level: number; msg: string });
        const msg = 'The database may have been restored from an older backup: for those whom that concerns';
        expect(lines).toMatchObject([{ level: 50, msg: expect.stringContaining(msg) as string }]);

        const marked = await shop.marker();
        await shop.lockInTestMode();
        expect(await shop.marker()).toBe(marked);
        await shop.send(first);
        await shop.settle(first.id);
        const sweeper = await shop.gasSweeper();
        await sweeper.advance(signal);
        expect(await shop.gasTransactions()).toEqual([]);
        await expect(shop.lock()).rejects.toThrow('"code":"service_unavailable"');

        await shop.command('restore confirm --yes');
        expect(await shop.metric()).toBe('0');
        const { auditLog, depositKeys } = shop.server.app;
        const room = treasuryModule.rules(shop.server.app);
        const entries = await auditLog.list(shop.server.database.reader, { merchantId: shop.merchantId });
        expect(entries.filter(({ action }) => action === 'restore.confirmed')).toMatchObject([
          { actor: 'a test', mode: 'live' },
        ]);
        await sweeper.advance(signal);
        expect(await shop.gasTransactions()).toEqual([{ status: 'open' }]);
        await depositKeys.refresh();
        await room.forwarderChecks.refresh(signal);
        expect([first.address, second.address]).not.toContain((await shop.lock()).address);
        await shop.stop();
      },
    );
  });
