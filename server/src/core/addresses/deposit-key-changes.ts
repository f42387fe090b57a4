/** Changes of deposit keys by hand: recorded in the audit log and reported to the merchant, again when they take effect. */
import type { Logger } from 'pino';
import type { DepositKeyChange } from 'crypto-checkout/contract';
import type { Database } from '../db/database.js';
import type { Transaction } from '../db/engine.js';
import { storedActor, type AuditAction, type AuditActor, type AuditLog } from '../merchants/audit-log.js';
import { isoTime } from '../shared/clock.js';
import type { Job } from '../shared/feature.js';
import type { Scope } from '../shared/scope.js';
import type { Family } from '../chains/networks.js';
import type { Outbox } from '../webhooks/outbox.js';
import type { DepositKeyRecord, DepositKeys, GivenKey } from './deposit-keys.js';

interface DepositKeyChangesDeps {
  readonly database: Database;
  readonly depositKeys: DepositKeys;
  readonly auditLog: AuditLog;
  readonly outbox: Outbox;
  readonly log: Logger;
}

export type DepositKeyChanges = ReturnType<typeof createDepositKeyChanges>;

export function createDepositKeyChanges(deps: DepositKeyChangesDeps) {
  const { database, depositKeys, auditLog, outbox, log } = deps;

  async function record(
    transaction: Transaction,
    ids: readonly string[],
    actor: AuditActor,
    actionOf: (key: DepositKeyRecord) => AuditAction,
  ): Promise<DepositKeyRecord[]> {
    if (ids.length === 0) return [];
    const keys = await depositKeys.list(transaction);
    // In the order in which they were changed.
    const changed = ids.flatMap((id) => keys.filter((key) => key.id === id));
    for (const key of changed) {
      const { id, merchantId, mode, family } = key;
      const replaced = keys.find((other) => isReplacedBy(other, key));
      const effectiveAt = isoTime(key.effectiveAt);
      await auditLog.record(transaction, {
        merchantId,
        mode,
        actor,
        action: actionOf(key),
        subjectId: family,
        before: replaced && keyFacts(replaced),
        after: { ...keyFacts(key), state: key.state, effectiveAt },
      });
      const data: DepositKeyChange = {
        id,
        family,
        status: key.state === 'replaced' ? 'in_use' : key.state,
        key: shortKey(key),
        formerKey: replaced ? shortKey(replaced) : null,
        effectiveAt,
        changedBy: storedActor(actor),
      };
      await outbox.add(transaction, {
        merchantId,
        mode,
        type: 'account.deposit_key_changed',
        subjectId: id,
        data,
      });
    }
    return changed;
  }

  async function reportIn(transaction: Transaction): Promise<DepositKeyRecord[]> {
    const ids = await depositKeys.takeUnreported(transaction);
    return record(transaction, ids, 'server', () => 'deposit_key.took_effect');
  }

  /** Reports the keys that have taken effect. Addresses do not wait for it. */
  async function report(): Promise<void> {
    if (!depositKeys.hasUnreported()) return;
    const keys = await database.write(reportIn);
    for (const { merchantId, mode, family } of keys) {
      log.warn({ merchantId, mode, family }, 'A new deposit key has taken effect');
    }
    await depositKeys.refresh();
  }

  return {
    /** Calls `depositKeys.set`, and audits it. @returns the changed keys */
    async set(
      transaction: Transaction,
      scope: Scope,
      family: Family,
      key: GivenKey,
      { actor, isAtOnce }: { readonly actor: AuditActor; readonly isAtOnce: boolean },
    ) {
      // A replaced key cannot be reported later.
      await reportIn(transaction);
      const ids = await depositKeys.set(transaction, scope, family, key, isAtOnce);
      return record(transaction, ids, actor, ({ state }) =>
        state === 'withdrawn' ? 'deposit_key.withdrawn' : 'deposit_key.set',
      );
    },

    /** Calls `depositKeys.withdraw`, and audits it. @returns the withdrawn key, if one was pending */
    async withdraw(transaction: Transaction, scope: Scope, family: Family, actor: AuditActor) {
      const id = await depositKeys.withdraw(transaction, scope, family);
      const ids = id === undefined ? [] : [id];
      const [key] = await record(transaction, ids, actor, () => 'deposit_key.withdrawn');
      return key;
    },

    report,
    jobs: (): readonly Job[] => [{ name: 'deposit key changes', intervalMs: 1000, run: report }],
  };
}

/** A treasury's address, or an extended public key without its middle: anyone who has all of it sees all payments. */
export function shortKey({ treasury, extendedPublicKey: xpub }: GivenKey): string {
  return treasury ?? `${xpub.slice(0, 12)}…${xpub.slice(-6)}`;
}

/** True if the key has replaced the other one, will replace it, or would have if it had not been withdrawn. */
function isReplacedBy(other: DepositKeyRecord, key: DepositKeyRecord): boolean {
  if (other.id === key.id || other.merchantId !== key.merchantId || other.mode !== key.mode) return false;
  if (other.family !== key.family) return false;
  if (key.state === 'withdrawn') return other.state === 'in_use';
  return other.state !== 'withdrawn' && other.replacedAt === key.effectiveAt;
}

function keyFacts({ extendedPublicKey, script, treasury }: GivenKey) {
  return treasury === undefined ? { extendedPublicKey, script: script ?? null } : { treasury };
}
