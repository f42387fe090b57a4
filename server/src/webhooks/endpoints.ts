/** Merchants' webhook endpoints: their URLs and signing secrets. */
import { randomBytes } from 'node:crypto';
import { retention } from '../shared/retention.js';
import type { Clock } from '../shared/clock.js';
import { invalidField, Problem } from '../shared/problem.js';
import * as store from './store.js';
import type { EndpointRow } from './store.js';
import { isForbiddenTarget } from './targets.js';
import type { Transaction, Reader } from '../db/engine.js';

export interface Endpoint {
  readonly merchantId: string;
  readonly url: string;
  /** When it returned 410 Gone, in epoch milliseconds. Nothing is sent until the URL is set again. */
  readonly disabledAt: number | null;
}

export interface Endpoints {
  /**
   * Sets a merchant's webhook URL, and enables the endpoint if it was disabled. An empty URL removes the endpoint, and
   * its pending events fail. Problem: `validation_error`.
   * @returns the secret if a new one was created; it is never shown again
   */
  set(transaction: Transaction, merchantId: string, url: string): Promise<string | undefined>;
  /**
   * Creates a new secret. Events are signed with the former one as well for another 24 hours.
   * Problem: `webhook_not_configured`.
   * @returns the new secret
   */
  rotateSecret(transaction: Transaction, merchantId: string): Promise<string>;
  find(reader: Reader, merchantId: string): Promise<Endpoint | undefined>;
  list(reader: Reader): Promise<Endpoint[]>;
}

export function createEndpoints(clock: Clock): Endpoints {
  return {
    async set(transaction, merchantId, url) {
      if (url === '') {
        await store.deleteEndpoint(transaction, merchantId);
        await store.failPending(transaction, merchantId);
        return undefined;
      }
      checkUrl(url);
      const existing = await store.lockEndpoint(transaction, merchantId);
      const secret = existing?.secret ?? newSecret();
      await store.putEndpoint(transaction, {
        merchant_id: merchantId,
        url,
        secret,
        former_secret: existing?.former_secret ?? null,
        former_secret_until: existing?.former_secret_until ?? null,
        disabled_at: null,
        updated_at: clock.real(),
      });
      return existing ? undefined : secret;
    },

    async rotateSecret(transaction, merchantId) {
      const existing = await store.lockEndpoint(transaction, merchantId);
      if (!existing) throw notConfigured();
      const now = clock.real();
      const secret = newSecret();
      await store.putEndpoint(transaction, {
        ...existing,
        secret,
        former_secret: existing.secret,
        former_secret_until: now + retention.formerSecretMs,
      });
      return secret;
    },

    async find(reader, merchantId) {
      const row = await store.findEndpoint(reader, merchantId);
      return row && view(row);
    },

    async list(reader) {
      return (await store.listEndpoints(reader)).map(view);
    },
  };
}

export function notConfigured(): Problem {
  return new Problem(
    'webhook_not_configured',
    'The account has no active webhook URL. Set one with: merchants update ID --webhook-url URL',
  );
}

/** The secrets to sign with now, newest first. */
export function signingSecrets(row: EndpointRow, now: number): string[] {
  const { secret, former_secret: former, former_secret_until: until } = row;
  return former !== null && until !== null && until > now ? [secret, former] : [secret];
}

/** A secret in the format of Standard Webhooks: `whsec_` and 32 random bytes in base64. */
function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

function checkUrl(text: string): void {
  const url = text.length <= 2048 ? URL.parse(text) : null;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw invalidField(
      'webhookUrl',
      'Must be an absolute https URL of at most 2048 characters, or empty. http works only in test mode',
    );
  }
  if (`${url.username}${url.password}${url.hash}` !== '') {
    throw invalidField('webhookUrl', 'Must not contain a user name, a password or a fragment');
  }
  if (isForbiddenTarget(url)) {
    throw invalidField('webhookUrl', 'Must not be a link-local or cloud metadata address');
  }
}

function view(row: EndpointRow): Endpoint {
  return { merchantId: row.merchant_id, url: row.url, disabledAt: row.disabled_at };
}
