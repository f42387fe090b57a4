/** Reads a merchant's books as `books export` does, and checks that they are whole, in tests that move money. */
import { expect } from 'vitest';
import type { Booking } from 'crypto-checkout/contract';
import type { App } from '../../src/app.js';
import type { Database } from '../../src/core/db/database.js';
import type { Scope } from '../../src/core/shared/scope.js';
import { commandContext, runWith } from './command-context.js';

interface Server {
  readonly app: App;
  readonly database: Database;
}

export interface Exported {
  readonly text: string;
  /** The command's other output. */
  readonly logged: string;
  readonly hasFailed: boolean;
}

/** Runs `books export` in this process. @param options split at their spaces */
export async function exportBooks(server: Server, scope: Scope, options: string): Promise<Exported> {
  const progress: string[] = [];
  let text = '';
  const context = {
    ...commandContext(server, progress),
    print(part: string) {
      text += part;
      return Promise.resolve();
    },
  };
  const { merchantId, mode } = scope;
  const words = ['--merchant', merchantId, '--mode', mode, ...options.split(' ')];
  const { hasFailed = false } = await runWith(context, 'books export', ...words);
  return { text, logged: progress.join('\n'), hasFailed };
}

/** The bookings of a period. */
export async function bookingsOf(server: Server, scope: Scope, options: string): Promise<Booking[]> {
  const { text, logged, hasFailed } = await exportBooks(server, scope, `${options} --format json`);
  expect(hasFailed, logged).toBe(false);
  return JSON.parse(text) as Booking[];
}

/** All bookings of all merchants add up to their accounts, by the command's own check. */
export async function expectWholeBooks(server: Server): Promise<void> {
  const rows = await server.database.reader
    .selectFrom('ledger_accounts')
    .select(['merchant_id', 'mode'])
    .where('kind', 'in', ['available', 'unallocated', 'reserved'])
    .distinct()
    .execute();
  for (const { merchant_id: merchantId, mode } of rows) {
    const scope = { merchantId: merchantId ?? '', mode };
    const { logged, hasFailed } = await exportBooks(server, scope, '--from 2000-01-01 --to 2199-12-31');
    expect(hasFailed, logged).toBe(false);
  }
}
