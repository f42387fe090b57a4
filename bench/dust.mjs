/** `npm run bench -- dust`: how much a flood of small transfers to one payment slows down the scan that sees another payer's. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { createApp } from '../server/dist/app.js';
import { readConfig } from '../server/dist/core/config.js';
import { ensureTestSeed } from '../server/dist/core/addresses/test-seed.js';
import { openDatabase } from '../server/dist/database.js';
import { createDatabase } from './create-database.mjs';
import { percentile } from './load.mjs';

const help = `Usage: npm run bench -- dust [options]        (after npm run build)

Times the scan that sees one payer's transfer, in alternation (A B C D E A B C D E …): on a quiet network; with a second
payer's transfer; with a payment that has a flood of transfers that wait for a block; with one whose flood is in a block and
waits for confirmations; and with one that gets one more transfer with every scan, which so has two as well. Prints the
medians and their ratios to the quiet network.

  --database sqlite|postgres   one engine (default: both)
  --dust N                     transfers of the flood (default 8000)
  --rounds N                   rounds (default 15, after 2 that are not counted)
  --help                       show this help`;

const { values: options } = parseArgs({
  options: {
    database: { type: 'string' },
    dust: { type: 'string', default: '8000' },
    rounds: { type: 'string', default: '15' },
    help: { type: 'boolean', default: false },
  },
  args: process.argv.slice(3),
});
if (options.help) console.log(help);
else for (const engine of options.database ? [options.database] : ['sqlite', 'postgres']) await main(engine);

/** @param {string} engine */
async function main(engine) {
  const base = fileURLToPath(new URL('../.tmp/', import.meta.url));
  mkdirSync(base, { recursive: true });
  const directory = mkdtempSync(join(base, 'dust-'));
  /** @type {(() => Promise<void>)[]} */
  const stops = [];
  try {
    const cases = [];
    for (const name of /** @type {const} */ (['quiet', 'two payers', 'pending', 'in a block', 'growing'])) {
      cases.push({
        name,
        shop: await open(engine, directory, stops, name),
        times: /** @type {number[]} */ ([]),
      });
    }
    for (let round = -2; round < Number(options.rounds); round += 1) {
      for (const { shop, times } of cases) {
        const time = await shop.timeTransfer();
        if (round >= 0) times.push(time);
      }
    }
    const quiet = percentile(cases[0]?.times ?? [], 0.5);
    for (const { name, times } of cases) {
      const median = percentile(times, 0.5);
      const ratio = (median / quiet).toFixed(1);
      console.log(
        `${engine.padEnd(9)} ${name.padEnd(11)} ${median.toFixed(1).padStart(7)} ms  ratio ${ratio}`,
      );
    }
  } finally {
    for (const stop of stops.reverse()) await stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/**
 * @param {string} engine
 * @param {string} directory
 * @param {(() => Promise<void>)[]} stops
 * @param {'quiet' | 'two payers' | 'pending' | 'in a block' | 'growing'} name
 */
async function open(engine, directory, stops, name) {
  const url = await createDatabase(engine, directory, stops);
  const database = await openDatabase(url, {});
  await ensureTestSeed(database);
  const app = await createApp({
    config: readConfig({ DATABASE_URL: url, BLOCK_INTERVAL_MS: '0' }),
    database,
    log: pino({ level: 'silent' }),
    publicUrl: 'http://localhost',
    checkoutUrl: 'http://localhost/pay',
    stopping: new AbortController().signal,
  });
  stops.push(() => database.close());
  await app.simulatedChains.prepare();
  const scan = () => app.scanner.scanNow({ mode: 'test', network: 'tron' });
  await scan();
  const { id: merchantId } = await database.write((transaction) =>
    app.merchants.create(transaction, { name: 'Shop' }),
  );
  const lock = () =>
    database.write(async (transaction) => {
      const scope = /** @type {const} */ ({ merchantId, mode: 'test', kind: 'secret' });
      const input = { baseUnits: 1000n, baseCurrency: 'USD' };
      const { id } = await app.payments.create(transaction, scope, input);
      await app.payments.setCurrency(transaction, scope, id, 'USDT', 'tron');
      const { addressInformation } = await app.payments.lockCurrency(transaction, scope, id);
      return addressInformation?.address ?? '';
    });
  const mine = () => database.write((transaction) => app.simulatedChains.mine(transaction, 'tron', 1));
  /** @param {string} address @param {bigint} amount */
  const send = (address, amount) =>
    database.write((transaction) =>
      app.simulatedChains.send(transaction, {
        merchantId,
        network: 'tron',
        currency: 'USDT',
        address,
        amount,
      }),
    );

  const flooded = await lock();
  if (name !== 'quiet' && name !== 'two payers') {
    const rows = Array.from({ length: Number(options.dust) }, () => ({
      tx_hash: randomBytes(32).toString('hex'),
      merchant_id: merchantId,
      network: 'tron',
      currency: 'USDT',
      sender: 'T',
      address: flooded,
      amount: '1',
      sent_at: Date.now(),
      block_height: null,
    }));
    for (let start = 0; start < rows.length; start += 1000) {
      const chunk = rows.slice(start, start + 1000);
      await database.write((transaction) =>
        transaction.insertInto('simulated_transfers').values(chunk).execute(),
      );
    }
  }
  await scan();
  if (name !== 'pending') await mine();
  await scan();
  return {
    async timeTransfer() {
      const address = await lock();
      await send(address, 10_000_000n);
      if (name === 'two payers') await send(await lock(), 1n);
      if (name === 'growing') await send(flooded, 1n);
      const startedAt = performance.now();
      await scan();
      return performance.now() - startedAt;
    },
  };
}
