/** Kills the built server while a real node makes blocks with payments. Each transaction must be credited, and once. */
import { randomBytes, randomInt } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { HDKey } from '@scure/bip32';
import { createMerchantClient } from 'crypto-checkout/client';
import { describe, expect, it } from 'vitest';
import { checkLedger } from '../../src/audit/check.js';
import { openDatabase } from '../../src/db/open.js';
import { startAnvil, type Anvil } from '../support/anvil.js';
import { runCommandLine } from '../support/command-line.js';
import { engines } from '../support/engines.js';
import { startProcess, type ServerProcess } from '../support/process.js';
import { roundsOf, startRound } from '../support/rounds.js';

/** Per engine. */
const rounds = roundsOf({ usual: 1, soak: 10 });
const streams = 3;
const secretKey = `sk_test_${randomBytes(32).toString('base64url')}`;
const xpub = HDKey.fromMasterSeed(new Uint8Array(32).fill(5)).derive("m/44'/60'/0'").publicExtendedKey;
const currencies = ['ETH', 'USDT'] as const;

interface Order {
  readonly id: string;
  readonly currency: (typeof currencies)[number];
  readonly address: string;
  /** In the unit of the chain, which has 18 decimals for both. */
  readonly due: bigint;
  /** The transactions that the node has. */
  readonly sent: { readonly txHash: string; readonly amount: bigint }[];
}

describe.concurrent.each(engines)(
  'a server that is killed while it reads a real node, on $name',
  (engine) => {
    it(
      `misses no transaction and counts none twice, over ${rounds} rounds`,
      { timeout: 120_000 + rounds * 30_000 },
      async () => {
        const { url: databaseUrl, dispose } = await engine.create();
        const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-'));
        const anvil = await startAnvil();
        const orders: Order[] = [];
        let server: ServerProcess | undefined;
        try {
          const token = await anvil.deploy('PlainToken', [18]);
          const file = join(directory, 'networks.json');
          const network = { nodes: [anvil.url], assets: { USDT: { contract: token, decimals: 18 } } };
          await writeFile(file, JSON.stringify({ networks: { 'evm-dev': network } }));
          const env = {
            DATABASE_URL: databaseUrl,
            NETWORKS_FILE: file,
            BOOTSTRAP_SECRET_KEY: secretKey,
            BLOCK_INTERVAL_MS: '0',
            // A machine with other work does not read the chain between two kills.
            READY_CHAIN_LAG_SECONDS: '86400',
          };
          await (await startProcess(env)).stop();
          await setUp(databaseUrl);
          for (let round = 0; round < rounds; round += 1) {
            startRound(`payments on anvil, on ${engine.name}`, round, rounds);
            server = await startProcess(env);
            const { url } = server;
            const stopped = new AbortController();
            const running = Array.from({ length: streams }, () =>
              order(url, anvil, token, orders, stopped.signal),
            );
            const paidBefore = countPaid(orders);
            const deadline = Date.now() + 15_000;
            while (countPaid(orders) === paidBefore && Date.now() < deadline) await delay(5);
            // Now and then it lives long enough to read everything.
            await delay(rounds > 2 && randomInt(4) === 0 ? 6000 : randomInt(10, 900));
            await server.kill();
            stopped.abort();
            await Promise.all(running);
            // Payers do not wait for the server.
            for (const one of orders.filter(({ sent }) => sent.length === 0)) {
              if (randomInt(2) === 0) await send(anvil, token, one, one.due);
            }
            await anvil.mine(randomInt(4) === 0 ? 70 : randomInt(1, 5));
          }
          server = await startProcess(env);
          await anvil.mine(3);
          await expectAllPaid(server.url, orders);
          expect(await server.stop()).toBe(0);
          await expectBooksInOrder(databaseUrl, orders);
          expect(countPaid(orders)).toBeGreaterThanOrEqual(rounds);
        } finally {
          await server?.kill();
          await anvil.stop();
          await dispose();
          await rm(directory, { recursive: true, force: true });
        }
      },
    );
  },
);

/** Gives the merchant a deposit key and an endpoint for webhooks. */
async function setUp(databaseUrl: string): Promise<void> {
  const run = async (...args: string[]): Promise<unknown> => {
    const { exitCode, stdout, stderr } = await runCommandLine(databaseUrl, [...args, '--json']);
    expect(exitCode, stderr).toBe(0);
    return JSON.parse(stdout) as unknown;
  };
  const [merchant] = (await run('merchants', 'list')) as readonly { id: string }[];
  const id = merchant?.id ?? '';
  await run('merchants', 'update', id, '--webhook-url', 'http://localhost:9/hooks');
  await run(
    ...['deposit-keys', 'set', '--merchant', id, '--family', 'evm', '--mode', 'test'],
    ...['--xpub', xpub, '--yes'],
  );
}

/** Makes orders one after the other and pays them, whole or in two parts, until the signal is aborted. */
async function order(
  url: string,
  anvil: Anvil,
  token: string,
  orders: Order[],
  signal: AbortSignal,
): Promise<void> {
  const ask = async (method: string, path: string, body?: object): Promise<unknown> => {
    const response = await fetch(url + path, {
      method,
      headers: { Authorization: `Bearer ${secretKey}`, 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
      signal,
    });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    return ((await response.json()) as { data: unknown }).data;
  };
  while (!signal.aborted) {
    try {
      const currency = currencies[randomInt(2)] ?? 'ETH';
      const { payment } = (await ask('POST', '/v1/payments/checkout', {
        amount: 10,
        baseCurrency: 'USD',
      })) as { payment: { id: string } };
      await ask('PATCH', `/v1/payments/${payment.id}/currency/set/${currency}/evm-dev`);
      const { amount, addressInformation } = (await ask(
        'PATCH',
        `/v1/payments/${payment.id}/currency/lock`,
      )) as { amount: number; addressInformation: { address: string } };
      const due = BigInt(Math.round(amount * 1e8)) * 10n ** 10n;
      const one: Order = { id: payment.id, currency, address: addressInformation.address, due, sent: [] };
      orders.push(one);
      if (randomInt(4) === 0) continue;
      const first = randomInt(3) === 0 ? due / 2n : due;
      await send(anvil, token, one, first);
      if (first < due) await send(anvil, token, one, due - first);
    } catch {
      // The server was killed during a request.
      await delay(5);
    }
  }
}

/** The node signs with its own account and mines at once, so that several can pay at a time. */
async function send(anvil: Anvil, token: string, one: Order, amount: bigint): Promise<void> {
  const hex = (value: bigint) => value.toString(16);
  const isToken = one.currency === 'USDT';
  const data = `0xa9059cbb${one.address.slice(2).padStart(64, '0')}${hex(amount).padStart(64, '0')}`;
  const transaction = isToken ? { to: token, data } : { to: one.address, value: `0x${hex(amount)}` };
  const txHash = await anvil.rpc<string>('eth_sendTransaction', [{ from: anvil.sender, ...transaction }]);
  one.sent.push({ txHash, amount });
}

const countPaid = (orders: readonly Order[]) => orders.filter(({ sent }) => sent.length > 0).length;
const isPaid = ({ sent, due }: Order) => sent.reduce((sum, { amount }) => sum + amount, 0n) >= due;

async function expectAllPaid(url: string, orders: readonly Order[]): Promise<void> {
  const merchant = createMerchantClient({ apiUrl: url, secretKey });
  // A server that was killed every second has hundreds of blocks to catch up with.
  const deadline = Date.now() + 120_000;
  for (const one of orders) {
    const read = async () =>
      (await merchant.transactions.verify({ params: { transaction_id: one.id } })).data;
    let payment = await read();
    while (isPaid(one) && payment.status !== 'success' && Date.now() < deadline) {
      await delay(100);
      payment = await read();
    }
    const expected = isPaid(one) ? 'success' : 'in progress';
    expect(payment.status, JSON.stringify(payment.transactionTimeLog)).toBe(expected);
  }
}

async function expectBooksInOrder(databaseUrl: string, orders: readonly Order[]): Promise<void> {
  const database = await openDatabase(databaseUrl);
  try {
    const checks = await checkLedger(database.reader);
    expect(checks.flatMap((check) => check.violations)).toEqual([]);
    const receipts = await database.reader.selectFrom('receipts').selectAll().execute();
    const found = receipts.map((row) => [row.payment_id, row.tx_hash, row.status].join()).sort();
    const sent = orders.flatMap(({ id, sent }) => sent.map(({ txHash }) => [id, txHash, 'confirmed'].join()));
    expect(found).toEqual(sent.sort());
    const events = await database.reader
      .selectFrom('outbox')
      .select('subject_id')
      .where('type', '=', 'payment.success')
      .execute();
    const paid = orders.filter(isPaid).map(({ id }) => id);
    expect(events.map(({ subject_id: id }) => id).sort()).toEqual(paid.sort());
  } finally {
    await database.close();
  }
}
