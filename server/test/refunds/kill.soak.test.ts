/** Kills servers at random moments between the approval of refunds, their transfers, and the payments: each is paid once. */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createMerchantClient, type MerchantClient } from 'crypto-checkout/client';
import { getAddress } from 'viem';
import { describe, it } from 'vitest';
import { openDatabase } from '../../src/database.js';
import { engines } from '../support/engines.js';
import { startServers, type Servers } from '../support/process.js';
import { randomOf } from '../support/random.js';
import { roundsOf, seedsOf, startRound } from '../support/rounds.js';
import { expectBooksInOrder } from '../support/violations.js';

const rounds = roundsOf({ usual: 1, soak: 10 });
const seeds = seedsOf(rounds);
const secretKey = `sk_test_${randomBytes(32).toString('base64url')}`;
const keys = {
  BOOTSTRAP_SECRET_KEY: secretKey,
  BOOTSTRAP_PUBLIC_KEY: `pk_test_${randomBytes(32).toString('base64url')}`,
};
/** In whole USDT: the part of each payment that goes back. */
const parts = [5, 6, 7, 8];

describe.each(engines)('refunds whose servers are killed, on $name', (engine) => {
  it(
    `refunds whose servers are killed are paid once, over ${seeds.length} rounds`,
    { timeout: 60_000 + seeds.length * 30_000 },
    async ({ expect }) => {
      const { url: databaseUrl, dispose } = await engine.create();
      const env = { DATABASE_URL: databaseUrl, BLOCK_INTERVAL_MS: '100', ...keys };
      let servers: Servers | undefined;
      let kills = 0;
      try {
        servers = await startServers(engine.name, env);
        for (const [round, seed] of seeds.entries()) {
          startRound(`refunds on ${engine.name}, seed ${seed}`, round, seeds.length);
          const random = randomOf(seed);
          const payment = await overpay(servers.url);
          const addresses = parts.map(() => getAddress(`0x${randomBytes(20).toString('hex')}`));
          const work = parts.map((amount, index) =>
            refundUntilPaid(() => servers?.url ?? '', payment, amount, addresses[index] ?? ''),
          );
          const all = Promise.all(work);
          // The caller handles it later; here, it only must not be unhandled while a server starts.
          all.catch(() => undefined);
          for (let times = 1 + random(2); times > 0; times -= 1) {
            await delay(random(1200));
            await servers.restartOne();
            kills += 1;
          }
          await all;
          const database = await openDatabase(databaseUrl);
          try {
            const sent = await database.reader
              .selectFrom('simulated_transfers')
              .select(['address', 'amount'])
              .where('address', 'in', addresses)
              .execute();
            const paid = addresses.map((address) =>
              sent.flatMap((one) => (one.address === address ? [Number(one.amount) / 1e6] : [])),
            );
            expect(paid, `seed ${seed}`).toEqual(parts.map((amount) => [amount]));
            await expectBooksInOrder(database, `seed ${seed}`);
          } finally {
            await database.close();
          }
        }
        if (seeds.length > 1) {
          console.log(
            `kill -9 of refunds on ${engine.name}: seeds ${seeds[0]} to ${seeds.at(-1)}, kills ${kills}, refunds ${seeds.length * parts.length}; each paid once, ledger in order`,
          );
        }
      } finally {
        await servers?.kill();
        await dispose();
      }
    },
  );
});

/** A payment that brought enough for all parts above its price. */
async function overpay(url: string): Promise<string> {
  const client = createMerchantClient({ apiUrl: url, secretKey });
  const { data } = await client.payments.create({ body: { amount: '10', baseCurrency: 'USD' } });
  const { id } = data.payment;
  await client.payments.setCurrency({ params: { payment_id: id, currency: 'USDT', network: 'ethereum' } });
  const locked = await client.payments.lockCurrency({ params: { payment_id: id } });
  const address = locked.data.addressInformation?.address;
  const response = await fetch(`${url}/sandbox/transfers`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${secretKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ network: 'ethereum', currency: 'USDT', address, amount: 100 }),
  });
  if (!response.ok) throw new Error(`The transfer returned HTTP ${response.status}`);
  for (;;) {
    const payment = await client.transactions.verify({ params: { transaction_id: id } });
    if (payment.data.status === 'success') return id;
    await delay(50);
  }
}

/** Does what a shop's server does whose requests fail: it asks again, with the same idempotency key, until all is done. */
async function refundUntilPaid(url: () => string, paymentId: string, amount: number, address: string) {
  const idempotencyKey = `${paymentId}-${amount}`;
  const again = async <T>(work: (client: MerchantClient) => Promise<T>): Promise<T> => {
    for (const deadline = Date.now() + 30_000; ; await delay(50)) {
      try {
        return await work(createMerchantClient({ apiUrl: url(), secretKey }));
      } catch (error) {
        if (Date.now() > deadline) throw error;
      }
    }
  };
  const { data } = await again(({ refunds }) =>
    refunds.create({
      params: { payment_id: paymentId },
      body: { kind: 'partial', amount, address },
      idempotencyKey,
    }),
  );
  const params = { refund_id: data.id };
  await again(({ refunds }) => refunds.approve({ params, body: { address } }));
  await again(async ({ refunds }) => {
    const { status } = (await refunds.retrieve({ params })).data;
    if (status !== 'paid') throw new Error(`The refund of ${amount} is ${status}`);
  });
}
