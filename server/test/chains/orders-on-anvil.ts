/** Orders that are paid on a real node while servers are killed or frozen, and what must have become of them. */
import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { HDKey } from '@scure/bip32';
import { createMerchantClient } from 'crypto-checkout/client';
import { expect } from 'vitest';
import { openDatabase } from '../../src/database.js';
import type { Anvil } from '../support/anvil.js';
import { runCommandLine } from '../support/command-line.js';
import { violationsOf } from '../support/violations.js';

const xpub = HDKey.fromMasterSeed(new Uint8Array(32).fill(5)).derive("m/44'/60'/0'").publicExtendedKey;
const currencies = ['ETH', 'USDT'] as const;

export interface Order {
  readonly id: string;
  readonly currency: (typeof currencies)[number];
  readonly address: string;
  /** In the unit of the chain, which has 18 decimals for both. */
  readonly due: bigint;
  /** The transactions that the node has. */
  readonly sent: { readonly txHash: string; readonly amount: bigint }[];
}

/** Gives the merchant a deposit key and an endpoint for webhooks. */
export async function setUp(databaseUrl: string): Promise<void> {
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
export async function order(
  url: string,
  secretKey: string,
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
      await sendOnAnvil(anvil, token, one, first);
      if (first < due) await sendOnAnvil(anvil, token, one, due - first);
    } catch {
      // The server was killed during a request, or is frozen.
      await delay(5);
    }
  }
}

/** The node signs with its own account and mines at once, so that several can pay at a time. */
export async function sendOnAnvil(anvil: Anvil, token: string, one: Order, amount: bigint): Promise<void> {
  const hex = (value: bigint) => value.toString(16);
  const isToken = one.currency === 'USDT';
  const data = `0xa9059cbb${one.address.slice(2).padStart(64, '0')}${hex(amount).padStart(64, '0')}`;
  const transaction = isToken ? { to: token, data } : { to: one.address, value: `0x${hex(amount)}` };
  const txHash = await anvil.rpc<string>('eth_sendTransaction', [{ from: anvil.sender, ...transaction }]);
  one.sent.push({ txHash, amount });
}

export const countPaid = (orders: readonly Order[]) => orders.filter(({ sent }) => sent.length > 0).length;
const isPaid = ({ sent, due }: Order) => sent.reduce((sum, { amount }) => sum + amount, 0n) >= due;

export async function expectAllPaid(url: string, secretKey: string, orders: readonly Order[]): Promise<void> {
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

export async function expectBooksInOrder(databaseUrl: string, orders: readonly Order[]): Promise<void> {
  const database = await openDatabase(databaseUrl);
  try {
    expect(await violationsOf(database)).toEqual([]);
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
