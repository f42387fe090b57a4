/** Handlers of the account settings that people change in the console, and of the audit log. */
import type { SettingsApi } from 'crypto-checkout/contract';
import { replyWith, replyWithPage, type Handlers } from '../../core/api/handler.js';
import { isoTime } from '../../core/shared/clock.js';
import { Problem } from '../../core/shared/problem.js';
import type { Scope } from '../../core/shared/scope.js';
import type { Endpoints } from '../../core/webhooks/endpoints.js';
import type { AccountChanges } from '../../core/merchants/account-changes.js';
import type { createGoLive } from './go-live.js';
import { actorOf, type AuditLog } from '../../core/merchants/audit-log.js';
import type { Keys } from '../../core/merchants/keys.js';
import type { Merchant, Merchants } from '../../core/merchants/merchants.js';

type Reader = Parameters<AuditLog['page']>[0];

interface AccountHandlersDeps {
  readonly reader: Reader;
  readonly keys: Keys;
  readonly merchants: Merchants;
  readonly auditLog: AuditLog;
  readonly accountChanges: AccountChanges;
  readonly endpoints: Endpoints;
  readonly goLive: ReturnType<typeof createGoLive>;
}

export function createAccountHandlers(deps: AccountHandlersDeps): Handlers<SettingsApi> {
  const { reader, keys, merchants, auditLog, accountChanges, endpoints, goLive } = deps;

  async function viewWebhook(from: Reader, scope: Scope, secret?: string) {
    const { url = '', disabledAt = null } = (await endpoints.find(from, scope)) ?? {};
    const view = { mode: scope.mode, url, disabledAt: disabledAt === null ? null : isoTime(disabledAt) };
    return { ...view, ...(secret !== undefined && { secret }) };
  }

  return {
    goLive: {
      retrieve: async (_input, { caller }) => ({
        data: { mode: caller.mode, steps: await goLive.steps(caller) },
      }),
    },

    webhook: {
      retrieve: (_input, { caller }) => replyWith(viewWebhook(reader, caller)),

      update: ({ body }, { caller, change }) =>
        change(async (transaction) => {
          const { url } = body;
          const secret = await accountChanges.changeWebhook(transaction, caller, actorOf(caller), { url });
          return viewWebhook(transaction, caller, secret);
        }),

      rotateSecret: (_input, { caller, change }) =>
        change(async (transaction) => {
          const rotated = { rotateSecret: true };
          const secret = await accountChanges.changeWebhook(transaction, caller, actorOf(caller), rotated);
          return viewWebhook(transaction, caller, secret);
        }),
    },

    apiKeys: {
      list: ({ query }, { caller }) => replyWithPage(query, keys.page(caller, query)),

      create: ({ body }, { caller, change }) =>
        change((transaction) => {
          const { merchantId, mode } = caller;
          if (mode === 'live') throw liveKey(merchantId);
          return accountChanges.createKey(transaction, { merchantId, mode, ...body }, actorOf(caller));
        }),

      revoke: ({ params }, { caller, change }) =>
        change((transaction) =>
          accountChanges.revokeKey(transaction, params.key_id, actorOf(caller), caller),
        ),
    },

    counter: {
      retrieve: async (_input, { caller: { merchantId, mode } }) => ({
        data: { publicKey: (await keys.publicKey(merchantId, mode)) ?? null },
      }),
    },

    shop: {
      async retrieve(_input, { caller }) {
        return { data: viewShop(await merchants.retrieve(reader, caller.merchantId)) };
      },

      update: ({ body: { redirectOrigins, ...body } }, { caller, change }) =>
        change(async (transaction) => {
          const origins = redirectOrigins?.length === 0 ? null : redirectOrigins;
          const changed = { ...body, redirectOrigins: origins };
          return viewShop(
            await accountChanges.updateMerchant(transaction, caller.merchantId, changed, actorOf(caller)),
          );
        }),
    },

    refundLimits: {
      update: ({ body }, { caller, change }) =>
        change(async (transaction) =>
          viewShop(
            await accountChanges.setRefundLimit(transaction, caller.merchantId, body, actorOf(caller)),
          ),
        ),
    },

    auditLog: {
      list: ({ query }, { caller }) => replyWithPage(query, auditLog.page(reader, caller, query)),
    },
  };
}

function liveKey(merchantId: string): Problem {
  return new Problem(
    'invalid_state',
    `Live keys are made on the server's command line: keys create --merchant ${merchantId} --kind secret --mode live`,
  );
}

const viewShop = (merchant: Merchant) => ({ ...merchant, redirectOrigins: merchant.redirectOrigins ?? [] });
