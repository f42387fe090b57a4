/** The first account and its test keys, so that a new server can be used at once. */
import type { Database } from '../db/database.js';
import type { Keys } from './keys.js';
import type { Merchant, Merchants } from './merchants.js';
import type { Caller } from '../shared/scope.js';
import type { Transaction } from '../db/engine.js';

export interface BootstrapKeys {
  readonly publicKey: string | undefined;
  readonly secretKey: string | undefined;
}

export interface Bootstrapped {
  /** The oldest account. */
  readonly merchantId: string;
  /** Keys that were made now: this is the only time the secret one can be shown. */
  readonly made: { readonly publicKey?: string; readonly secretKey?: string };
}

/**
 * Makes the first account where there is none, and gives the oldest one the test keys that are not known yet.
 * Of several processes that start together, one does it and the others find it done.
 */
export async function bootstrap(
  database: Database,
  merchants: Merchants,
  keys: Keys,
  given: BootstrapKeys,
): Promise<Bootstrapped> {
  return database.write(async (transaction) => {
    await waitForTurn(transaction);
    const [first] = await merchants.list(transaction);
    const merchant: Merchant = first ?? (await merchants.create(transaction, { name: 'Example Shop' }));
    const owner = (kind: Caller['kind']): Caller => ({ merchantId: merchant.id, kind, mode: 'test' });

    async function ensure(kind: Caller['kind'], key: string | undefined): Promise<string | undefined> {
      if (key === undefined) return first ? undefined : (await keys.create(transaction, owner(kind))).key;
      if (!(await keys.exists(transaction, key))) await keys.add(transaction, owner(kind), key);
      return undefined;
    }
    const publicKey = await ensure('public', given.publicKey);
    const secretKey = await ensure('secret', given.secretKey);
    return {
      merchantId: merchant.id,
      made: { ...(publicKey !== undefined && { publicKey }), ...(secretKey !== undefined && { secretKey }) },
    };
  });
}

/** Writes one row that everybody writes: PostgreSQL lets one transaction after the other past it, SQLite does so anyway. */
async function waitForTurn(transaction: Transaction): Promise<void> {
  const turn = { name: 'bootstrap', value: 'done' };
  await transaction
    .insertInto('settings')
    .values(turn)
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: turn.value }))
    .execute();
}
