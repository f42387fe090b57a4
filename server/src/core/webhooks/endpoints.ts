/** Merchants' webhook endpoints, one for each mode: their URLs and signing secrets. */
import { randomBytes } from 'node:crypto';
import { retention } from '../shared/retention.js';
import type { Clock } from '../shared/clock.js';
import { invalidField, Problem } from '../shared/problem.js';
import type { DataKeys } from '../shared/data-keys.js';
import { readSecrets, secretColumns, type EndpointSecrets, type PreviousSecret } from './endpoint-secrets.js';
import * as store from './store.js';
import { TargetRefused, type Targets } from './targets.js';
import { scopeOf, type Mode, type Scope } from '../shared/scope.js';
import type { Database } from '../db/database.js';
import { lockName } from '../db/locks.js';
import type { Transaction, Reader } from '../db/engine.js';
import type { WebhookEndpointTable } from '../db/schema.js';

export interface Endpoint extends Scope {
  readonly url: string;
  /** When it returned 410 Gone, in epoch milliseconds. Nothing is sent until the URL is set again. */
  readonly disabledAt: number | null;
}

export type Endpoints = ReturnType<typeof createEndpoints>;

/** Each mode has its own endpoint, with its own secrets. */
export function createEndpoints(clock: Clock, targets: Pick<Targets, 'check'>, dataKeys: DataKeys) {
  /** Rewrites the secrets of endpoints, each in a transaction of its own, unless that is done meanwhile. */
  async function rewrite(
    database: Database,
    isDone: (row: WebhookEndpointTable) => boolean,
    change: (secrets: EndpointSecrets) => EndpointSecrets,
    onProgress: (done: number, of: number) => void = () => {},
  ): Promise<number> {
    const open = (await store.listEndpoints(database.reader)).filter((row) => !isDone(row));
    for (const [index, { merchant_id: merchantId, mode }] of open.entries()) {
      await database.write(async (transaction) => {
        const row = await store.lockEndpoint(transaction, { merchantId, mode });
        if (!row || isDone(row)) return;
        const columns = secretColumns(dataKeys, { merchantId, mode }, change(readSecrets(dataKeys, row)));
        await store.putEndpoint(transaction, { ...row, ...columns });
      });
      onProgress(index + 1, open.length);
    }
    return open.length;
  }

  return {
    /**
     * Sets the webhook URL of a merchant's mode, and enables the endpoint if it was disabled. An empty URL removes the
     * endpoint, and its pending events fail. Problem: `validation_error`.
     * @returns the secret if a new one was created; it is never shown again
     */
    async set(transaction: Transaction, scope: Scope, url: string): Promise<string | undefined> {
      if (url === '') {
        await store.deleteEndpoint(transaction, scope);
        await store.failPending(transaction, scope);
        return undefined;
      }
      checkUrl(targets, url, scope.mode);
      // There may be no row to lock yet, and of two secrets only one would sign.
      await lockName(transaction, `webhook of ${scope.merchantId} ${scope.mode}`);
      const existing = await store.lockEndpoint(transaction, scope);
      const secret = newSecret();
      await store.putEndpoint(transaction, {
        merchant_id: scope.merchantId,
        mode: scope.mode,
        url,
        ...(existing
          ? { secret: existing.secret, former_secrets: existing.former_secrets }
          : secretColumns(dataKeys, scope, { secret, previous: [] })),
        disabled_at: null,
        updated_at: clock.real(),
      });
      return existing ? undefined : secret;
    },

    /**
     * Creates a new secret. Events are signed with the previous one as well for a time, and with those
     * before it until their own time is over. Problem: `webhook_not_configured`.
     * @returns the new secret
     */
    async rotateSecret(transaction: Transaction, scope: Scope): Promise<string> {
      const existing = await store.lockEndpoint(transaction, scope);
      if (!existing) throw notConfigured(scope.mode);
      const now = clock.real();
      const secret = newSecret();
      const replaced = readSecrets(dataKeys, existing);
      const previous = [
        { secret: replaced.secret, until: now + retention.previousSecretMs },
        ...replaced.previous.filter(({ until }) => until > now),
      ];
      await store.putEndpoint(transaction, {
        ...existing,
        ...secretColumns(dataKeys, scope, { secret, previous }),
      });
      return secret;
    },

    /** Deletes replaced secrets that sign nothing any more at `now`, in epoch milliseconds of real time. */
    async deletePreviousSecrets(database: Database, now: number): Promise<void> {
      const isKept = ({ until }: PreviousSecret) => until > now;
      await rewrite(
        database,
        (row) => readSecrets(dataKeys, row).previous.every(isKept),
        ({ secret, previous }) => ({ secret, previous: previous.filter(isKept) }),
      );
    },

    /**
     * Encrypts the secrets that are not under the current data key. If it is stopped, the completed part remains.
     * @param onProgress called after each endpoint
     */
    rotateDataKey: (database: Database, onProgress: (done: number, of: number) => void) =>
      rewrite(
        database,
        ({ secret, former_secrets: previous }) => dataKeys.isCurrent(secret) && dataKeys.isCurrent(previous),
        (secrets) => secrets,
        onProgress,
      ),

    async find(reader: Reader, scope: Scope): Promise<Endpoint | undefined> {
      const row = await store.findEndpoint(reader, scope);
      return row && view(row);
    },

    async list(reader: Reader): Promise<Endpoint[]> {
      return (await store.listEndpoints(reader)).map(view);
    },
  };
}

/** The endpoint that a mode's events go to. Problem: `webhook_not_configured` if there is none, or a disabled one. */
export async function requireEndpoint(reader: Reader, scope: Scope): Promise<WebhookEndpointTable> {
  const endpoint = await store.findEndpoint(reader, scope);
  if (endpoint?.disabled_at !== null) throw notConfigured(scope.mode);
  return endpoint;
}

function notConfigured(mode: Mode): Problem {
  return new Problem(
    'webhook_not_configured',
    `The account has no active webhook URL in ${mode} mode. Set one with: merchants update ID --webhook-url URL --mode ${mode}`,
  );
}

/** A secret in the format of Standard Webhooks: `whsec_` and 32 random bytes in base64. */
function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

function checkUrl(targets: Pick<Targets, 'check'>, text: string, mode: Mode): void {
  const url = text.length <= 2048 ? URL.parse(text) : null;
  if (!url || !(mode === 'live' ? /^https:$/ : /^https?:$/).test(url.protocol)) {
    throw invalidField(
      'webhookUrl',
      'Must be an absolute https URL of at most 2048 characters, or empty. http works only in test mode',
    );
  }
  if (`${url.username}${url.password}${url.hash}` !== '') {
    throw invalidField('webhookUrl', 'Must not contain a user name, a password or a fragment');
  }
  try {
    targets.check(url, mode);
  } catch (error) {
    if (error instanceof TargetRefused) throw invalidField('webhookUrl', error.message);
    throw error;
  }
}

function view(row: WebhookEndpointTable): Endpoint {
  return { ...scopeOf(row), url: row.url, disabledAt: row.disabled_at };
}
