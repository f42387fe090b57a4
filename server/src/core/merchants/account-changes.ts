/** Changes of a merchant's keys, webhook and settings, each with its entry in the audit log: for commands and for the console. */
import type { Transaction } from '../db/engine.js';
import { isoTime } from '../shared/clock.js';
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
        ...{ merchantId: merchant.id, actor, action: 'merchant.created', subjectId: merchant.id },
        after: settingsOf(merchant),
      });
      return merchant;
    },

    async createKey(transaction: Transaction, owner: NewKey, actor: AuditActor) {
      const { merchantId, mode, kind, scope = 'full', label, expiresAt } = owner;
      const created = await keys.create(transaction, owner);
      const after = {
        ...{ kind, mode, scope },
        ...(label !== undefined && { label }),
        ...(expiresAt !== undefined && { expiresAt: isoTime(expiresAt) }),
        last4: created.key.slice(-4),
      };
      const entry = { merchantId, mode, actor, action: 'key.created', subjectId: created.id, after } as const;
      await auditLog.record(transaction, entry);
      return created;
    },

    /** Repeating it changes nothing. @param owner only a key of this scope. Problem: `not_found`. */
    async revokeKey(
      transaction: Transaction,
      id: string,
      actor: AuditActor,
      owner?: Scope,
    ): Promise<undefined> {
      const { merchant_id, mode, kind, scope, last4, revoked_at } = await keys.revoke(transaction, id, owner);
      if (revoked_at !== null) return;
      await auditLog.record(transaction, {
        ...{ merchantId: merchant_id, mode, actor, action: 'key.revoked', subjectId: id },
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
          ...{ ...scope, actor, action, subjectId: scope.merchantId },
          ...{ before, after },
        });
      let secret: string | undefined;
      if (url !== undefined) {
        const former = await endpoints.find(transaction, scope);
        const before = former && { url: withoutQuery(former.url), isDisabled: former.disabledAt !== null };
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

    /** Problems: `validation_error`, `not_found`. */
    async updateMerchant(transaction: Transaction, id: string, change: MerchantChange, actor: AuditActor) {
      const before = await merchants.retrieve(transaction, id);
      const merchant = await merchants.update(transaction, id, change);
      await auditLog.record(transaction, {
        ...{ merchantId: id, actor, action: 'merchant.updated', subjectId: id },
        ...{ before: settingsOf(before), after: settingsOf(merchant) },
      });
      return merchant;
    },
  };
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

/** A query may hold a token, and the audit log is for ever. */
function withoutQuery(text: string): string {
  const url = new URL(text);
  return `${url.origin}${url.pathname}${url.search === '' ? '' : '?…'}`;
}
