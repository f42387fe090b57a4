/**
 * On Litecoin, a database that was restored from an older backup, without its marker, by the evidence of the blocks
 * only.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bech32 } from '@scure/base';
import { HDKey } from '@scure/bip32';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/database.js';
import { shippedRatesFile } from '../../src/core/money/fixed-rates.js';
import { releaseLease, takeLease } from '../../src/core/scanning/cursors.js';
import { signIn } from '../support/browser.js';
import { commandContext, runWith } from '../support/command-context.js';
import type { TestEngine } from '../support/engines.js';
import { hasLitecoind, litecoinRegtest, startLitecoin, type LitecoinNode } from '../support/litecoin.js';
import { startServer, type TestServer } from '../support/server.js';
import { openShop, type Wallet } from '../support/shop.js';
import { signWith } from '../support/sign-psbt.js';
import type { ShownPsbt } from '../psbt-payouts/fixture.js';
import { backUp, restoreFrom } from './backups.js';

const place = { mode: 'live', network: 'litecoin' } as const;

/** The same output, as another of Litecoin's networks writes its address. */
const written = (address: string, prefix: 'ltc' | 'rltc') =>
  bech32.encode(prefix, bech32.decode(address as `${string}1${string}`).words);

async function openLiveShop(engine: TestEngine, node: LitecoinNode) {
  const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-'));
  const database = await engine.create();
  const networksFile = join(directory, 'networks.json');
  const litecoin = { nodes: [node.url], genesisHash: litecoinRegtest.genesisHash, confirmations: 2 };
  await writeFile(networksFile, JSON.stringify({ networks: { litecoin } }));
  const start = () =>
    startServer({
      engine,
      databaseUrl: database.url,
      env: {
        NETWORKS_FILE: networksFile,
        RATES_FILE: shippedRatesFile,
        SANDBOX: 'on',
        MARKER_DIRECTORY: join(directory, 'marker'),
      },
      log: pino({ level: 'silent' }),
    });
  let server: TestServer = await start();
  const merchantId = server.bootstrapped.merchantId;
  const account = HDKey.fromMasterSeed(randomBytes(32)).derive("m/84'/2'/0'");
  const { key } = await server.database.write(async (transaction) => {
    const scope = { merchantId, mode: 'live' } as const;
    await server.app.depositKeys.set(transaction, scope, 'litecoin', {
      extendedPublicKey: account.publicExtendedKey,
      script: 'p2wpkh',
    });
    return server.app.keys.create(transaction, { ...scope, kind: 'secret' });
  });
  await server.app.depositKeys.refresh();
  const backup = join(directory, 'backup');
  const command = async (line: string) => (await runWith(commandContext(server), line)).json;
  const scan = () => server.app.scanner.scanNow(place);

  const merchant = () => openShop(server, key);
  let files = 0;
  return {
    account,
    command,
    scan,
    get server() {
      return server;
    },
    /** A new address, as the node writes it. */
    async address(): Promise<string> {
      const body = { currency: 'LTC', label: 'Till' };
      const { addresses } = await merchant().ask<Wallet>('POST', '/v1/wallets', { body });
      return written(addresses.find(({ network }) => network === 'litecoin')?.address ?? '', 'rltc');
    },
    async transfer(amount: number): Promise<string> {
      const to = written(await node.rpc<string>('getnewaddress', '', 'bech32'), 'ltc');
      const body = { amount, currency: 'LTC', walletAddress: to, walletNetwork: 'litecoin' };
      return (await merchant().withdraw(body)).id;
    },
    export: (...transfers: string[]) =>
      command(
        `transfers psbt export --mode live --merchant ${merchantId} --network litecoin --fee-rate 2 ${transfers.map((id) => `--transfer=${id}`).join(' ')}`.trim(),
      ) as Promise<ShownPsbt>,
    async import(psbt: string): Promise<void> {
      const path = join(directory, `signed-${(files += 1)}`);
      await writeFile(path, psbt);
      await command(`transfers psbt import ${path}`);
    },
    backUp: () => backUp(engine, database.url, backup, command),
    /** Without the marker, as on another machine. Nothing is scanned before `release`. */
    async restore() {
      await server.stop();
      await restoreFrom(engine, database.url, backup);
      await rm(join(directory, 'marker'), { recursive: true, force: true });
      const opened = await openDatabase(database.url);
      const until = Date.now() + 600_000;
      await takeLease(opened, { ...place, holder: 'nobody', until }, Date.now(), true);
      await opened.close();
      server = await start();
    },
    release: () => releaseLease(server.database, place, 'nobody'),
    async stop() {
      await server.stop();
      await database.dispose();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export const testRestoreOnLitecoin = (engine: TestEngine): unknown =>
  describe.skipIf(!hasLitecoind)(`a restored database on ${engine.name}, with Litecoin`, () => {
    let node: LitecoinNode;
    let shop: Awaited<ReturnType<typeof openLiveShop>>;
    beforeAll(async () => {
      node = await startLitecoin();
    });
    afterAll(() => node.stop());
    beforeEach(async () => {
      shop = await openLiveShop(engine, node);
    });
    afterEach(() => shop.stop());

    async function fund(address: string, amounts: readonly string[]): Promise<void> {
      for (const amount of amounts) await node.pay(address, amount);
      await node.mine(2);
      await shop.scan();
    }

    /** Blocks are timed in whole seconds: these are older than the next start. */
    const passSecond = () => new Promise((resolve) => setTimeout(resolve, 1100));

    it(
      'Money beyond the last index and a spent coin reveal a restore, and no PSBT goes out until it is confirmed',
      {
        timeout: 60_000,
      },
      async () => {
        await shop.scan();
        await fund(await shop.address(), ['0.5', '0.4', '0.3']);
        const [open, waiting] = [await shop.transfer(0.2), await shop.transfer(0.1)];
        const previous = await shop.export(open);
        await shop.backUp();

        const lost = await shop.transfer(0.35);
        const psbt = await shop.export(lost);
        await shop.import(signWith(shop.account, psbt.psbt));
        const later = await shop.address();
        await fund(later, ['0.05']);
        await passSecond();
        await shop.restore();

        // Nobody knows yet what the blocks have.
        await expect(shop.export()).rejects.toThrow('What the others paid is not known yet');
        await shop.release();
        await shop.scan();
        const [spent] = psbt.inputs;
        expect(await shop.command('restore status')).toMatchObject({
          isSuspected: true,
          marker: {},
          addresses: [{ network: 'litecoin', address: written(later, 'ltc') }],
          transfers: [],
          coins: [{ network: 'litecoin', coin: `${spent?.txHash ?? ''}:${spent?.outputIndex ?? ''}` }],
        });

        const refusal = 'restored from an older backup';
        await expect(shop.export()).rejects.toThrow(refusal);
        await expect(shop.command(`transfers psbt show ${previous.id}`)).rejects.toThrow(refusal);
        const manager = await signIn(shop.server, 'manager');
        const file = { headers: { 'X-Checkout-Mode': 'live' }, body: {} };
        expect(
          (await manager.send('POST', `/console/api/psbts/${previous.id}/file`, file)).body.data,
        ).toMatchObject({
          code: 'service_unavailable',
        });
        await expect(shop.command(`transfers psbt bump ${previous.id} --fee-rate 9`)).rejects.toThrow(
          refusal,
        );
        await expect(shop.import(signWith(shop.account, previous.psbt))).rejects.toThrow(refusal);
        await expect(shop.address()).rejects.toThrow('"code":"service_unavailable"');

        expect(await shop.command('restore confirm --yes')).toMatchObject({ held: [waiting] });
        await shop.import(signWith(shop.account, previous.psbt));
        expect(await shop.export()).toMatchObject({ psbt: null });
        expect(await shop.address()).not.toBe(later);
        // The operator has looked into the wallet: it was not paid.
        await shop.command(`transfers release ${waiting} --yes --reason Checked`);
        expect(await shop.export()).toMatchObject({ transfers: [{ id: waiting }] });
      },
    );

    it('A transfer that is paid but was never exported reveals a restore', { timeout: 60_000 }, async () => {
      await shop.scan();
      await fund(await shop.address(), ['0.5']);
      const waiting = await shop.transfer(0.2);
      await shop.backUp();
      await shop.import(signWith(shop.account, (await shop.export()).psbt));
      const [txHash] = await node.rpc<string[]>('getrawmempool');
      await node.mine(2);
      await passSecond();
      await shop.restore();
      await shop.release();
      await shop.scan();
      expect(await shop.command('restore status')).toMatchObject({
        transfers: [{ transferId: waiting, network: 'litecoin', txHash }],
        coins: [{ txHash }],
      });
      expect(await shop.command('restore confirm --yes')).toMatchObject({ held: [waiting] });
      expect(await shop.export()).toMatchObject({ psbt: null });
    });

    it('No restore is suspected if no transfer in the backup can be paid twice', async () => {
      await shop.scan();
      await fund(await shop.address(), ['0.5', '0.3']);
      const psbt = await shop.export(await shop.transfer(0.2));
      const signed = signWith(shop.account, psbt.psbt);
      await shop.backUp();
      await shop.import(signed);
      // Nobody can pay this one twice: the database has lost it.
      const lost = await shop.export(await shop.transfer(0.1));
      await shop.import(signWith(shop.account, lost.psbt));
      await node.mine(2);
      await passSecond();
      await shop.restore();
      await shop.release();
      await shop.scan();
      expect(await shop.command('restore status')).toEqual({ isSuspected: false });
    });
  });
