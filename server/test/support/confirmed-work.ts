/** Payments that a server is given while it is killed or its surroundings fail, and what must be there afterwards. */
import { randomBytes, randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createCheckoutClient, createMerchantClient } from 'crypto-checkout/client';
import { expect } from 'vitest';
import { openDatabase } from '../../src/database.js';
import { violationsOf } from './violations.js';

const publicKey = `pk_test_${randomBytes(32).toString('base64url')}`;
const secretKey = `sk_test_${randomBytes(32).toString('base64url')}`;
/** For a server of its own. */
export const bootstrapKeys = { BOOTSTRAP_PUBLIC_KEY: publicKey, BOOTSTRAP_SECRET_KEY: secretKey };

/** The steps that the server confirmed with 200, in the order that a payment goes through them. */
const steps = ['created', 'set', 'locked', 'sent', 'cancelled'] as const;
type Step = (typeof steps)[number];

export interface Answered {
  readonly txRef: string;
  step: Step;
  /** The reply to the lock. */
  quote?: { amount: number; address: string };
  /** Transfers that the simulator confirmed. */
  sent: { txHash: string; amount: number }[];
}

/** Runs payments one after the other, each through a random part of its lifecycle, until the signal is aborted. */
export async function keepPaying(
  url: string,
  answered: Map<string, Answered>,
  signal: AbortSignal,
): Promise<void> {
  const client = createCheckoutClient({ apiUrl: url, publicKey });
  while (!signal.aborted) {
    try {
      const txRef = `order-${randomBytes(8).toString('hex')}`;
      const { data } = await client.create({ amount: 5000, baseCurrency: 'NGN', txRef }, { signal });
      const { id } = data.payment;
      const record: Answered = { txRef, step: 'created', sent: [] };
      answered.set(id, record);
      await client.setCurrency(id, 'USDT', 'tron', { signal });
      record.step = 'set';
      const locked = (await client.lockCurrency(id, { signal })).data;
      const { amount, addressInformation } = locked;
      if (amount === undefined || !addressInformation) throw new Error('A locked payment has no quote');
      record.quote = { amount, address: addressInformation.address };
      record.step = 'locked';
      if (randomInt(5) === 0) {
        await client.cancel(id, { signal });
        record.step = 'cancelled';
        continue;
      }
      for (const part of randomInt(2) === 0 ? [amount] : [1, amount]) {
        const txHash = await sendTransfer(url, addressInformation.address, part, signal);
        record.sent.push({ txHash, amount: part });
        record.step = 'sent';
      }
    } catch {
      // The server was killed during a request. A change that it did not confirm may have happened or not.
      await delay(5);
    }
  }
}

async function sendTransfer(
  url: string,
  address: string,
  amount: number,
  signal: AbortSignal,
): Promise<string> {
  const response = await fetch(`${url}/sandbox/transfers`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${secretKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ network: 'tron', currency: 'USDT', address, amount }),
    signal,
  });
  if (!response.ok) throw new Error(`The transfer returned HTTP ${response.status}`);
  const { data } = (await response.json()) as { data: { txHash: string } };
  return data.txHash;
}

export async function expectAllThere(url: string, answered: ReadonlyMap<string, Answered>): Promise<void> {
  const merchant = createMerchantClient({ apiUrl: url, secretKey });
  for (const [id, record] of answered) {
    const isPaid = record.sent.some(({ amount }) => amount === record.quote?.amount);
    const read = async () => (await merchant.transactions.verify({ params: { transaction_id: id } })).data;
    let payment = await read();
    // A transfer is confirmed within a few blocks of 100 ms.
    for (
      const deadline = Date.now() + 30_000;
      isPaid && payment.status !== 'success';
      payment = await read()
    ) {
      if (Date.now() > deadline) break;
      await delay(50);
    }
    expect(payment.txRef).toBe(record.txRef);
    if (record.step === 'cancelled') expect(payment.status).toBe('cancelled');
    if (steps.indexOf(record.step) >= steps.indexOf('set')) expect(payment.currency).toBe('USDT');
    if (record.quote) {
      expect(payment.isCurrencyLocked).toBe(true);
      expect(payment.amount).toBe(record.quote.amount);
      expect(payment.addressInformation?.address).toBe(record.quote.address);
    }
    if (isPaid) expect(payment.status, JSON.stringify(payment.transactionTimeLog)).toBe('success');
  }
}

export async function expectBooksInOrder(
  databaseUrl: string,
  answered: ReadonlyMap<string, Answered>,
): Promise<void> {
  const database = await openDatabase(databaseUrl);
  try {
    expect(await violationsOf(database)).toEqual([]);
    const receipts = await database.reader.selectFrom('receipts').select(['tx_hash', 'status']).execute();
    const hashes = receipts.map((receipt) => receipt.tx_hash);
    expect(new Set(hashes).size).toBe(hashes.length);
    for (const { txHash } of [...answered.values()].flatMap((record) => record.sent)) {
      expect(hashes).toContain(txHash);
    }
  } finally {
    await database.close();
  }
}
