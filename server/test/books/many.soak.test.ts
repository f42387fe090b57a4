/**
 * A month of 100,000 bookings next to other months and merchants, on both engines: its sums, its time, and the memory
 * of the command.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stderr } from 'node:process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/database.js';
import type { Database } from '../../src/core/db/database.js';
import { engines } from '../support/engines.js';

const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const start = Date.UTC(2026, 11, 1);
const payments = 33_334;
const amount = 10_000_000n;
const fee = 100_000n;

/** Payments of one merchant, each with a receipt and its settlement, spread over 30 days. */
async function book(database: Database, merchantId: string, from: number, count: number): Promise<void> {
  const account = (kind: string) => `live/USDT/${kind}/${merchantId}`;
  for (let first = 0; first < count; first += 250) {
    const numbers = Array.from({ length: Math.min(250, count - first) }, (_, index) => first + index);
    const named = (kind: string, number: number) => `${merchantId}-${from}-${kind}-${number}`;
    await database.write(async (transaction) => {
      await transaction
        .insertInto('ledger_postings')
        .values(
          numbers.flatMap((number) =>
            (['receipt', 'settlement'] as const).map((kind, index) => ({
              id: named(kind, number),
              key: `${kind}:${named('p', number)}`,
              mode: 'live' as const,
              currency: 'USDT',
              payment_id: null,
              merchant_id: merchantId,
              tx_hash: null,
              created_at: from + Math.floor((number * 30 * 86_400_000) / count) + index,
            })),
          ),
        )
        .execute();
      const entry = (posting_id: string, name: string, debit: bigint, credit: bigint) => ({
        posting_id,
        account_id: name,
        debit: debit.toString(),
        credit: credit.toString(),
      });
      await transaction
        .insertInto('ledger_entries')
        .values(
          numbers.flatMap((number) => [
            entry(named('receipt', number), account('custody'), amount, 0n),
            entry(named('receipt', number), account('unallocated'), 0n, amount),
            entry(named('settlement', number), account('unallocated'), amount, 0n),
            entry(named('settlement', number), account('available'), 0n, amount - fee),
            entry(named('settlement', number), 'live/USDT/fee_income', 0n, fee),
          ]),
        )
        .execute();
    });
  }
}

/** Runs `books export`. @returns its output, its seconds, and the most memory that it had, in MB */
async function run(databaseUrl: string, ...options: string[]) {
  const began = performance.now();
  const child = spawn(process.execPath, [cli, 'books', 'export', ...options], {
    env: { PATH: process.env['PATH'], DATABASE_URL: databaseUrl },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += String(data)));
  let peak = 0;
  const timer = setInterval(() => {
    readFile(`/proc/${child.pid}/status`, 'utf8').then(
      (text) => (peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(text)?.[1] ?? 0) / 1024)),
      () => undefined,
    );
  }, 20);
  const [code] = (await once(child, 'close')) as [number];
  clearInterval(timer);
  expect(code, output).toBe(0);
  return { output, seconds: (performance.now() - began) / 1000, peak: Math.round(peak) };
}

describe.each(engines)('100,000 bookings of a month, on $name', (engine) => {
  it('100,000 bookings of a month are exported whole, next to other months and merchants, in memory that does not grow', async () => {
    const made = await engine.create();
    const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-many-'));
    const database = await openDatabase(made.url);
    onTestFinished(async () => {
      await database.close();
      await made.dispose();
      await rm(directory, { recursive: true });
    });
    const merchants = ['MANY', 'OTHER'];
    for (const id of merchants) {
      await database.write(async (transaction) => {
        await transaction
          .insertInto('merchants')
          .values({
            id,
            name: id,
            business_name: id,
            logo: '',
            fee_basis_points: 100,
            support_url: '',
            redirect_origins: null,
            transfers: 'any',
            daily_limits: '{}',
            daily_refunds: '{}',
            auto_refund: '{}',
            books_currency: null,
            time_zone: null,
            created_at: 0,
            updated_at: 0,
          })
          .execute();
        const months = id === 'MANY' ? 3n : 1n;
        const total = BigInt(payments) * months;
        const small = id === 'MANY' ? 3334n : 0n;
        await transaction
          .insertInto('ledger_accounts')
          .values(
            (
              [
                ['custody', amount * (total + small)],
                ['unallocated', 0n],
                ['available', (amount - fee) * (total + small)],
              ] as const
            ).map(([kind, balance]) => ({
              id: `live/USDT/${kind}/${id}`,
              mode: 'live' as const,
              kind,
              currency: 'USDT',
              network: null,
              merchant_id: id,
              balance: balance.toString(),
            })),
          )
          .execute();
      });
    }
    await database.write((transaction) =>
      transaction
        .insertInto('ledger_accounts')
        .values({
          id: 'live/USDT/fee_income',
          mode: 'live',
          kind: 'fee_income',
          currency: 'USDT',
          network: null,
          merchant_id: null,
          balance: '0',
        })
        .execute(),
    );
    await book(database, 'MANY', Date.UTC(2026, 9, 1), payments);
    await book(database, 'MANY', Date.UTC(2026, 10, 1), payments);
    await book(database, 'MANY', start, payments);
    await book(database, 'MANY', Date.UTC(2026, 8, 1), 3334);
    await book(database, 'OTHER', start, payments);
    await database.gatherStatistics();

    const scope = ['--merchant', 'MANY', '--mode', 'live'];
    const small = await run(
      made.url,
      ...scope,
      '--month',
      '2026-09',
      '--output',
      join(directory, 'small.csv'),
    );
    const whole = await run(
      made.url,
      ...scope,
      '--month',
      '2026-12',
      '--output',
      join(directory, 'whole.csv'),
    );
    const lines = (await readFile(join(directory, 'whole.csv'), 'utf8')).trim().split('\r\n').slice(1);
    expect(lines).toHaveLength(3 * payments);
    const sum = lines.reduce(
      (total, line) => total + BigInt(Math.round(Number(line.split(',')[6]) * 1e6)),
      0n,
    );
    expect(sum).toBe((amount - fee) * BigInt(payments));
    const net = ((Number(amount - fee) / 1e6) * payments).toFixed(1).replace(/\.0$/, '');
    expect(whole.output).toContain(`${3 * payments} bookings from 2026-12-01`);
    expect(whole.output).toContain(`${net} booked`);
    expect(whole.output).toContain('90000 bookings');
    stderr.write(
      `${engine.name}: ${3 * payments} bookings, ${(await stat(join(directory, 'whole.csv'))).size} bytes, in ${whole.seconds.toFixed(1)} s with ${whole.peak} MB at most; 10,002 in ${small.seconds.toFixed(1)} s with ${small.peak} MB\n`,
    );
    // Ten times as many bookings: the kept part of each would be far more than this.
    expect(whole.peak - small.peak).toBeLessThan(100);
  }, 600_000);
});
