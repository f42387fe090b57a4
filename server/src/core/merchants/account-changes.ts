/** Changes of a merchant's keys, webhook and settings, each with its entry in the audit log: for commands and for the console. */
import { countDecimals, parseDecimal, toUnits } from 'crypto-checkout/contract';
import type { Transaction } from '../db/engine.js';
import { lockName } from '../db/locks.js';
import { isoTime } from '../shared/clock.js';
import { invalidState } from '../shared/problem.js';
import type { Scope } from '../shared/scope.js';
import type { Endpoints } from '../webhooks/endpoints.js';
import type { AuditActor, AuditAction, AuditFields, AuditLog } from './audit-log.js';
import type { Keys, NewKey } from './keys.js';
import type { Merchant, MerchantChange, Merchants, NewMerchant } from './merchants.js';

export interface WebhookChange {
  /** Empty: it is removed. */
  readonly url?: string | undefined;
  readonly rotateSecret?: boolean;
}

/** One limit of refunds, in a coin or in money. */
export interface RefundLimit {
  readonly limit: 'dailyRefunds' | 'autoRefund';
  readonly currency: string;
  /** A decimal; null: none. */
  readonly amount: string | null;
}

interface AccountChangesDeps {
  readonly keys: Keys;
  readonly merchants: Merchants;
  readonly endpoints: Endpoints;
  readonly auditLog: AuditLog;
}

export type AccountChanges = ReturnType<typeof createAccountChanges>;

export function createAccountChanges({ keys, merchants, endpoints, auditLog }: AccountChangesDeps) {
  return {
    /** Problem: `validation_error`. */
    async createMerchant(transaction: Transaction, input: NewMerchant, actor: AuditActor): Promise<Merchant> {
      const merchant = await merchants.create(transaction, input);
      await auditLog.record(transaction, {
        merchantId: merchant.id,
        actor,
        action: 'merchant.created',
        subjectId: merchant.id,
        after: settingsOf(merchant),
      });
      return merchant;
    },

    async createKey(transaction: Transaction, owner: NewKey, actor: AuditActor) {
      const { merchantId, mode, kind, scope = 'full', label, expiresAt } = owner;
      const created = await keys.create(transaction, owner);
      const after = {
        kind,
        mode,
        scope,
        ...(label !== undefined && { label }),
        ...(expiresAt !== undefined && { expiresAt: isoTime(expiresAt) }),
        last4: created.key.slice(-4),
      };
      const entry = { merchantId, mode, actor, action: 'key.created', subjectId: created.id, after } as const;
      await auditLog.record(transaction, entry);
      return created;
    },

    /** Revoking a key again changes nothing. @param owner if given, the key must be of this scope. Problem: `not_found`. */
    async revokeKey(
      transaction: Transaction,
      id: string,
      actor: AuditActor,
      owner?: Scope,
    ): Promise<undefined> {
      const { merchant_id, mode, kind, scope, last4, revoked_at } = await keys.revoke(transaction, id, owner);
      if (revoked_at !== null) return;
      await auditLog.record(transaction, {
        merchantId: merchant_id,
        mode,
        actor,
        action: 'key.revoked',
        subjectId: id,
        before: { kind, mode, scope, last4 },
      });
    },

    /** Sets the webhook URL of a mode and rotates its secret, as asked. @returns the new secret, if there is one */
    async changeWebhook(
      transaction: Transaction,
      scope: Scope,
      actor: AuditActor,
      { url, rotateSecret = false }: WebhookChange,
    ): Promise<string | undefined> {
      const audit = (action: AuditAction, before?: AuditFields, after?: AuditFields) =>
        auditLog.record(transaction, {
          ...scope,
          actor,
          action,
          subjectId: scope.merchantId,
          before,
          after,
        });
      let secret: string | undefined;
      if (url !== undefined) {
        const previous = await endpoints.find(transaction, scope);
        const before = previous && {
          url: withoutQuery(previous.url),
          isDisabled: previous.disabledAt !== null,
        };
        secret = await endpoints.set(transaction, scope, url);
        if (url !== '') await audit('webhook.set', before, { url: withoutQuery(url), isDisabled: false });
        else if (before) await audit('webhook.removed', before);
      }
      if (rotateSecret && secret === undefined) {
        secret = await endpoints.rotateSecret(transaction, scope);
        await audit('webhook.secret_rotated');
      }
      return secret;
    },

    updateMerchant,

    /**
     * Sets one limit as the command does, except that the daily one only becomes lower: anyone who has a person's session
     * could raise it just before refunding to an address of their own. Problems: `validation_error`, `invalid_state`.
     */
    async setRefundLimit(
      transaction: Transaction,
      id: string,
      { limit, currency, amount }: RefundLimit,
      actor: AuditActor,
    ) {
      const code = currency.toUpperCase();
      await lockName(transaction, lockOf(id));
      const { dailyRefunds } = await merchants.retrieve(transaction, id);
      if (limit === 'dailyRefunds' && isHigher(amount, dailyRefunds[code])) {
        const wanted = amount === null ? 'none' : (parseDecimal(amount) ?? '');
        throw invalidState(
          `Only the server's command line raises or removes the daily limit of refunds: merchants update ${id} --daily-refunds ${code}=${wanted}`,
        );
      }
      return updateMerchant(transaction, id, { [limit]: { [code]: amount } }, actor);
    },
  };

  /** Problems: `validation_error`, `not_found`. */
  async function updateMerchant(
    transaction: Transaction,
    id: string,
    change: MerchantChange,
    actor: AuditActor,
  ) {
    // Limits are stored together: of two changes at once, one would lose the other's.
    await lockName(transaction, lockOf(id));
    const before = await merchants.retrieve(transaction, id);
    const merchant = await merchants.update(transaction, id, change);
    await auditLog.record(transaction, {
      merchantId: id,
      actor,
      action: 'merchant.updated',
      subjectId: id,
      before: settingsOf(before),
      after: settingsOf(merchant),
    });
    return merchant;
  }
}

const lockOf = (merchantId: string) => `settings of ${merchantId}`;

/** @param now undefined if there is no limit yet, which counts as the highest. A text that is no amount is left to the check of amounts. */
function isHigher(next: string | null, now: string | undefined): boolean {
  if (now === undefined) return false;
  const parsed = next === null ? null : parseDecimal(next);
  if (parsed === null) return true;
  if (parsed === undefined) return false;
  const decimals = Math.max(countDecimals(parsed), countDecimals(now));
  return toUnits(parsed, decimals) > toUnits(now, decimals);
}

/** The fields of an account that the audit log keeps. */
export function settingsOf({
  id: _id,
  createdAt: _created,
  updatedAt: _updated,
  ...settings
}: Merchant): AuditFields {
  return settings;
}

/** A query may contain a token, and audit entries are never deleted. */
function withoutQuery(text: string): string {
  const url = new URL(text);
  return `${url.origin}${url.pathname}${url.search === '' ? '' : '?…'}`;
}
