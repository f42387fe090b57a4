/** Networks from NETWORKS_FILE on real nodes, through the whole server: anvil and Litecoin Core pay what it asks for. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HDKey } from '@scure/bip32';
import pino from 'pino';
import { getAddress } from 'viem';
import type { PaymentRecord } from 'crypto-checkout/contract';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Family } from '../../src/core/chains/networks.js';
import { startAnvil, type Anvil } from '../support/anvil.js';
import { commandContext, runWith } from '../support/command-context.js';
import { enginesOfQuick } from '../support/engines.js';
import { hasLitecoind, startLitecoin, type LitecoinNode } from '../support/litecoin.js';
import { startServer, type TestServer } from '../support/server.js';
import { openShop, type LockedPayment } from '../support/shop.js';

const account = (path: string, versions = { public: 0x0488b21e, private: 0x0488ade4 }) =>
  HDKey.fromMasterSeed(new Uint8Array(32).fill(5), versions).derive(path).publicExtendedKey;
const keys: Partial<Record<Family, string>> = {
  evm: account("m/44'/60'/0'"),
  litecoin: account("m/84'/1'/0'", { public: 0x045f1cf6, private: 0x045f18bc }),
};

const { signal } = new AbortController();

/** A part of a node's URL that must never be seen. */
const secret = 'hunter2hunter2';

describe.each(enginesOfQuick)('real nodes on $name', (engine) => {
  let anvil: Anvil;
  let litecoin: LitecoinNode | undefined;
  let token: string;
  let directory: string;
  let server: TestServer;
  let merchantId: string;
  const lines: string[] = [];

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-'));
    anvil = await startAnvil();
    litecoin = hasLitecoind ? await startLitecoin() : undefined;
    // Has 18 decimals, like USDT on BNB Chain.
    token = await anvil.deploy('PlainToken', [18]);
    const file = join(directory, 'networks.json');
    await writeFile(
      file,
      JSON.stringify({
        networks: {
          'evm-dev': {
            nodes: [`http://127.0.0.1:49/${secret}`, `${anvil.url}/?key=${secret}`],
            assets: { USDT: { contract: token, decimals: 18 } },
          },
          ...(litecoin && { 'litecoin-regtest': { nodes: [litecoin.url] } }),
        },
      }),
    );
    server = await startServer({
      engine,
      env: { NETWORKS_FILE: file },
      log: pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) }),
    });
    merchantId = (await server.app.merchants.list(server.database.reader))[0]?.id ?? '';
    const { depositKeys } = server.app;
    await server.database.write(async (transaction) => {
      for (const [family, extendedPublicKey] of Object.entries(keys)) {
        const key = { extendedPublicKey, script: undefined };
        await depositKeys.set(transaction, { merchantId, mode: 'test' }, family as Family, key);
      }
    });
    await depositKeys.refresh();
    await scan('evm-dev');
    if (litecoin) await scan('litecoin-regtest');
  });
  afterAll(async () => {
    await server.stop();
    await Promise.all([anvil.stop(), litecoin?.stop()]);
    await rm(directory, { recursive: true, force: true });
  });

  const scan = (network: string) => server.app.scanner.scanNow({ mode: 'test', network });
  const lock = (currency: string, network: string) => openShop(server).lock({ currency, network });
  const verify = (id: string) => openShop(server).ask<PaymentRecord>('GET', `/v1/transactions/${id}/verify`);
  const units = (amount: number, decimals: number) =>
    BigInt(Math.round(amount * 1e8)) * 10n ** BigInt(decimals - 8);

  it('A payment in ether succeeds in two parts', async () => {
    const { id, amount, address } = await lock('ETH', 'evm-dev');
    const whole = units(amount, 18);
    await anvil.send(address, whole / 2n);
    await scan('evm-dev');
    expect((await verify(id)).amountSeen).toBeGreaterThan(0);
    await anvil.send(address, whole - whole / 2n);
    await anvil.mine(2);
    await scan('evm-dev');
    expect(await verify(id)).toMatchObject({ status: 'success', amountReceived: amount });
  });

  it('The check of a transaction says what it is to a payment, whether or not the books know it', async () => {
    const { id, address } = await lock('ETH', 'evm-dev');
    const check = (hash: string, of = id) =>
      openShop(server).ask('GET', `/v1/payments/${of}/transfers/${hash}`);
    const network = 'evm-dev';
    const depth = { confirmations: expect.any(Number) as number, requiredConfirmations: 2 };
    const paid = { answer: 'paid_this', network, currency: 'ETH', ...depth };
    const own = await anvil.send(address, 10n ** 15n);
    expect(await check(own)).toEqual({ ...paid, amount: 0.001 });
    const hashes = [
      await anvil.call('PlainToken', token as `0x${string}`, 'transfer', [address, 10n ** 18n]),
      await anvil.send('0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', 7n),
    ];
    expect(await Promise.all(hashes.map((hash) => check(hash)))).toEqual([
      { ...paid, answer: 'other_coin', currency: 'USDT', amount: 1 },
      { answer: 'other_address', network },
    ]);
    expect(await check('ab'.repeat(32))).toEqual({ answer: 'unknown', network });
    if (litecoin) {
      const other = await lock('LTC', 'litecoin-regtest');
      const hash = await litecoin.pay(other.address, '0.5');
      await litecoin.mine(1);
      expect(await check(hash, other.id)).toMatchObject({ answer: 'paid_this', amount: 0.5 });
      expect(await check('ab'.repeat(32), other.id)).toMatchObject({ answer: 'unknown' });
    }
    await scan(network);
    expect(await check(own)).toEqual({ ...paid, amount: 0.001 });
  });

  it('A payment in a token with more decimals than the books succeeds', async () => {
    const { id, amount, address } = await lock('USDT', 'evm-dev');
    await anvil.call('PlainToken', token as `0x${string}`, 'transfer', [address, units(amount, 18) + 1n]);
    await anvil.mine(2);
    await scan('evm-dev');
    expect(await verify(id)).toMatchObject({ status: 'success', amountReceived: amount });
  });

  it('A payment shows a wallet in the browser how to pay, from the lock on, and only on real EVM networks', async () => {
    const { ask, create } = openShop(server);
    const payment = await create();
    expect(payment.evm).toBeUndefined();
    const set = await ask<PaymentRecord>('PATCH', `/v1/payments/${payment.id}/currency/set/USDT/evm-dev`);
    expect(set.evm).toBeUndefined();
    const evm = { chainId: 31_337, decimals: 18, coin: 'ETH', contract: getAddress(token) };
    const locked = await ask<PaymentRecord>('PATCH', `/v1/payments/${payment.id}/currency/lock`);
    expect(locked.evm).toEqual(evm);
    const path = `/v1/transactions/${payment.id}/verify/checkout`;
    const seen = await server.api('GET', path, { key: server.publicKey });
    expect(seen.body.data['evm']).toEqual(evm);
    const evmOf = async ({ id }: LockedPayment) => (await verify(id)).evm;
    expect(await evmOf(await lock('ETH', 'evm-dev'))).toEqual({ chainId: 31_337, decimals: 18, coin: 'ETH' });
    // A wallet would send real coins to the address of a simulated network.
    expect(await evmOf(await lock('ETH', 'ethereum'))).toBeUndefined();
    expect(await evmOf(await lock('BTC', 'bitcoin'))).toBeUndefined();
  });

  it.runIf(hasLitecoind)('A payment in litecoins is seen before its block, and succeeds', async () => {
    const { id, amount, address } = await lock('LTC', 'litecoin-regtest');
    expect(address).toMatch(/^rltc1/);
    await litecoin?.pay(address, String(amount));
    await scan('litecoin-regtest');
    expect(await verify(id)).toMatchObject({ status: 'in progress', amountSeen: amount });
    await litecoin?.mine(2);
    await scan('litecoin-regtest');
    expect(await verify(id)).toMatchObject({ status: 'success', amountReceived: amount });
  });

  it('A transaction of the merchant’s own wallet is found, with the amount that it pays to an address', async () => {
    const found = async (code: string, txHash: string, address: string) => {
      const connected = server.app.connected.find(({ network }) => network.code === code);
      const place = await connected?.locate(txHash.replace(/^0x/, ''), signal);
      if (!place) return undefined;
      const block = await connected?.chainFor(new Set([address])).block(place.height, signal);
      return block?.transfers.filter((transfer) => transfer.txHash === txHash);
    };
    const stranger = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
    const native = await anvil.send(stranger, 7n);
    expect(await found('evm-dev', native, stranger)).toMatchObject([{ currency: 'ETH', amount: 7n }]);
    const paid = await anvil.call('PlainToken', token as `0x${string}`, 'transfer', [
      stranger,
      5n * 10n ** 12n,
    ]);
    expect(await found('evm-dev', paid, stranger)).toMatchObject([{ currency: 'USDT', amount: 5n }]);
    expect(await found('evm-dev', `0x${'ab'.repeat(32)}`, stranger)).toBeUndefined();
  });

  it('The check of the networks names the node that cannot be reached', async () => {
    const progress: string[] = [];
    const context = commandContext(server, progress);
    const output = await runWith(context, 'networks check');
    expect(output.text).toMatch(/PROBLEM +node 1: /);
    expect(output.text).toMatch(/ok +node 2: Chain id 31337/);
    expect(output.text).toMatch(/10 USD would be +.*ETH/);
    expect(progress.length).toBeGreaterThan(0);
    expect(JSON.stringify(output) + progress.join()).not.toContain(secret);
  });

  it('No line of the log has a credential of a node, while nodes fail', async () => {
    await anvil.stop();
    await expect(scan('evm-dev')).rejects.toThrow(/node 2 cannot be reached/);
    const context = commandContext(server, []);
    const output = await runWith(context, 'networks check --network evm-dev');
    expect(output.text).toContain('10 USD would be  payable in nothing: no node can be used, see above');
    await vi.waitFor(() => expect(lines.join()).toContain('Scanning failed'), { timeout: 20_000 });
    const ready = await fetch(`${server.url}/readyz`);
    expect(`${lines.join()} ${await ready.text()}`).not.toContain(secret);
  });
});
