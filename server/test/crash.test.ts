/** Kills the built server at random moments under load. Everything that it confirmed must still be there afterwards. */
import { randomBytes, randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createCheckoutClient, createMerchantClient } from 'crypto-checkout/client';
import { describe, expect, it } from 'vitest';
import { checkLedger } from '../src/audit/check.js';
import { engines } from './support/engines.js';
import { startProcess, type ServerProcess } from './support/process.js';
import { roundsOf, startRound } from './support/rounds.js';
import { openDatabase } from '../src/db/open.js';

const rounds = roundsOf({ usual: 1, soak: 20 });
const streams = 6;
const publicKey = `pk_test_${randomBytes(32).toString('base64url')}`;
const secretKey = `sk_test_${randomBytes(32).toString('base64url')}`;

/** The steps that the server confirmed with 200, in the order that a payment goes through them. */
const steps = ['created', 'set', 'locked', 'sent', 'cancelled'] as const;
type Step = (typeof steps)[number];

interface Answered {
  readonly txRef: string;
  step: Step;
  /** The reply to the lock. */
  quote?: { amount: number; address: string };
  /** Transfers that the simulator confirmed. */
  sent: { txHash: string; amount: number }[];
}

describe.concurrent.each(engines)('a server killed at any moment, on $name', (engine) => {
  it(
    `keeps everything that it confirmed and posts nothing twice, over ${rounds} rounds`,
    { timeout: 60_000 + rounds * 15_000 },
    async () => {
      const { url: databaseUrl, dispose } = await engine.create();
      const env = {
        DATABASE_URL: databaseUrl,
        BOOTSTRAP_PUBLIC_KEY: publicKey,
        BOOTSTRAP_SECRET_KEY: secretKey,
        BLOCK_INTERVAL_MS: '100',
      };
      const answered = new Map<string, Answered>();
      let server: ServerProcess | undefined;
      try {
        for (let round = 0; round < rounds; round += 1) {
          startRound(`payments on ${engine.name}`, round, rounds);
          server = await startProcess(env);
          const { url } = server;
          const stopped = new AbortController();
          const former = answered.size;
          const running = Array.from({ length: streams }, () => pay(url, answered, stopped.signal));
          await delay(randomInt(150, 900));
          // On a busy machine, nothing may have been answered by then.
          await expect.poll(() => answered.size, { timeout: 30_000 }).toBeGreaterThan(former);
          await server.kill();
          stopped.abort();
          await Promise.all(running);
        }
        server = await startProcess(env);
        await expectAllThere(server.url, answered);
        expect(await server.stop()).toBe(0);
        await expectBooksInOrder(databaseUrl, answered);
      } finally {
        await server?.kill();
        await dispose();
      }
    },
  );
});

/** Runs payments one after the other, each through a random part of its lifecycle, until the signal is aborted. */
async function pay(url: string, answered: Map<string, Answered>, signal: AbortSignal): Promise<void> {
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
        const txHash = await send(url, addressInformation.address, part, signal);
        record.sent.push({ txHash, amount: part });
        record.step = 'sent';
      }
    } catch {
      // The server was killed during a request. A change that it did not confirm may have happened or not.
      await delay(5);
    }
  }
}

async function send(url: string, address: string, amount: number, signal: AbortSignal): Promise<string> {
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

async function expectAllThere(url: string, answered: ReadonlyMap<string, Answered>): Promise<void> {
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

async function expectBooksInOrder(
  databaseUrl: string,
  answered: ReadonlyMap<string, Answered>,
): Promise<void> {
  const database = await openDatabase(databaseUrl);
  try {
    const checks = await checkLedger(database.reader);
    expect(checks.flatMap((check) => check.violations)).toEqual([]);
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
