/** Creates the first merchant account and its test keys, so that a new server can be tried at once. */
import type { Database } from '../db/database.js';
import { writeSetting } from '../db/settings.js';
import type { AuditLog } from './audit-log.js';
import type { KeyKind, Keys } from './keys.js';
import type { Merchant, Merchants } from './merchants.js';
import type { Transaction } from '../db/engine.js';

export type Bootstrapped = Awaited<ReturnType<typeof bootstrap>>;

/**
 * Creates the first account if there is none, on a server to try things out or if keys are given, and adds the given test keys to the oldest account if they are new.
 * Generates the keys of a new account that are not given.
 * If several processes start together, one of them does this and the others find it done.
 * @returns the oldest account, if there is one, and the keys that were generated now. The secret key cannot be shown again
 */
export async function bootstrap(
  database: Database,
  merchants: Merchants,
  keys: Keys,
  auditLog: AuditLog,
  given: { readonly publicKey: string | undefined; readonly secretKey: string | undefined },
  isTrial: boolean,
) {
  return database.write(async (transaction) => {
    await waitForTurn(transaction);
    const [first] = await merchants.list(transaction);
    // If the server takes real money, an account of the demo shop would only be in the way.
    if (!first && !isTrial && given.publicKey === undefined && given.secretKey === undefined) {
      return { merchantId: undefined, made: { publicKey: undefined, secretKey: undefined } };
    }
    const merchant: Merchant =
      first ??
      (await merchants.create(transaction, {
        name: 'Nightjar Lanterns',
        // Only for an account that nobody asked for: given keys belong to a shop with its own support.
        ...(given.publicKey === undefined && { supportUrl: 'mailto:help@nightjar.example' }),
      }));
    const actor = 'server, at its start';
    if (!first) {
      const { id: merchantId, name } = merchant;
      const entry = { merchantId, actor, action: 'merchant.created', subjectId: merchantId } as const;
      await auditLog.record(transaction, { ...entry, after: { name } });
    }

    /** @returns the key, if it was generated now */
    async function ensure(kind: KeyKind, givenKey: string | undefined): Promise<string | undefined> {
      const isThere = givenKey === undefined ? first : await keys.exists(transaction, givenKey);
      if (isThere) return undefined;
      const owner = { merchantId: merchant.id, kind, mode: 'test' } as const;
      const { id, key } = await keys.create(transaction, owner, givenKey);
      await auditLog.record(transaction, {
        merchantId: merchant.id,
        mode: 'test',
        actor,
        action: 'key.created',
        subjectId: id,
        after: { kind, mode: 'test', scope: 'full', last4: key.slice(-4) },
      });
      return givenKey === undefined ? key : undefined;
    }
    const publicKey = await ensure('public', given.publicKey);
    const secretKey = await ensure('secret', given.secretKey);
    return { merchantId: merchant.id, made: { publicKey, secretKey } };
  });
}

/** Writes a row that every process writes: PostgreSQL then runs them one after the other, as SQLite always does. */
const waitForTurn = (transaction: Transaction) => writeSetting(transaction, 'bootstrap', 'done');
