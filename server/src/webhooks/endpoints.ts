/** Where merchants are told, and the secrets that events are signed with. */
import { randomBytes } from 'node:crypto';
import { retention } from '../shared/retention.js';
import type { Clock } from '../shared/clock.js';
import { invalidField, Problem } from '../shared/problem.js';
import * as store from './store.js';
import type { EndpointRow } from './store.js';
import { isNeverTarget } from './targets.js';
import type { Transaction, Reader } from '../db/engine.js';

export interface Endpoint {
  readonly merchantId: string;
  readonly url: string;
  /** When it answered 410 Gone, epoch milliseconds: until it is set anew nothing is sent. */
  readonly disabledAt: number | null;
}

export interface Endpoints {
  /**
   * Sets where a merchant is told, and ends a disablement; an empty URL removes the endpoint, and what waits for it
   * counts as failed. Problem: `validation_error`.
   * @returns the secret, if one was made: it is never shown again
   */
  set(transaction: Transaction, merchantId: string, url: string): Promise<string | undefined>;
  /**
   * Makes a new secret; the former one signs beside it for another 24 hours. Problem: `webhook_not_configured`.
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
        updated_at: clock.now('live'),
      });
      return existing ? undefined : secret;
    },

    async rotateSecret(transaction, merchantId) {
      const existing = await store.lockEndpoint(transaction, merchantId);
      if (!existing) throw notConfigured();
      const now = clock.now('live');
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
  return new Problem('webhook_not_configured', 'The account has no webhook URL that takes events');
}

/** The secrets that sign now, the newest first. */
export function signingSecrets(row: EndpointRow, now: number): string[] {
  const { secret, former_secret: former, former_secret_until: until } = row;
  return former !== null && until !== null && until > now ? [secret, former] : [secret];
}

/** As Standard Webhooks writes them: 32 random bytes in base64. */
function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

function checkUrl(text: string): void {
  const url = text.length <= 2048 ? URL.parse(text) : null;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw invalidField(
      'webhookUrl',
      'Must be an absolute https URL of at most 2048 characters, or empty; http is for test mode alone',
    );
  }
  if (`${url.username}${url.password}${url.hash}` !== '') {
    throw invalidField('webhookUrl', 'Must not contain a user name, a password or a fragment');
  }
  if (isNeverTarget(url)) throw invalidField('webhookUrl', 'Is an address that webhooks are never sent to');
}

function view(row: EndpointRow): Endpoint {
  return { merchantId: row.merchant_id, url: row.url, disabledAt: row.disabled_at };
}
