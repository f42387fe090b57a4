/** Webhooks for operators: list events with their attempts, retry them, measure the backlog and prune old events. */
import type { WebhookEventType } from 'crypto-checkout/contract';
import type { Clock } from '../shared/clock.js';
import type { Database } from '../db/database.js';
import type { WebhookStatus } from '../db/tables/webhooks.js';
import { orNotFound } from '../shared/problem.js';
import { notConfigured } from './endpoints.js';
import * as store from './store.js';
import type { EventFilter, EventWithAttempts } from './store.js';
import { scopeOf, type Mode } from '../shared/scope.js';
import type { Transaction, Reader } from '../db/engine.js';

/** An event; times are epoch milliseconds. */
export interface WebhookRecord {
  readonly id: string;
  readonly merchantId: string;
  readonly mode: Mode;
  readonly type: WebhookEventType;
  readonly subjectId: string;
  readonly status: WebhookStatus;
  readonly createdAt: number;
  /** When the next attempt is due, by the merchant's clock; null unless pending. */
  readonly dueAt: number | null;
  /** Oldest first. */
  readonly attempts: readonly WebhookAttempt[];
}

export interface WebhookAttempt {
  /** Real time. */
  readonly attemptedAt: number;
  readonly durationMs: number;
  /** The HTTP status; null if no response arrived. */
  readonly responseStatus: number | null;
  /** The beginning of the response body, with secrets redacted. */
  readonly responseExcerpt: string;
  /** Why it failed; null if it succeeded. */
  readonly error: string | null;
}

export interface WebhookBacklog {
  /** How many events wait for their first or next attempt. */
  readonly pending: number;
  /** When the earliest of them is due, in real time; undefined if there are none. */
  readonly oldestDueAt: number | undefined;
  /** How overdue the earliest is; 0 if none is due. */
  readonly lagMs: number;
}

const pruneBatchSize = 500;

export function createWebhooks(clock: Clock) {
  return {
    /** Newest first. */
    async list(reader: Reader, filter: EventFilter): Promise<WebhookRecord[]> {
      return (await store.listEvents(reader, filter)).map(view);
    },

    /** Sends an event again, whatever its status. Problems: `not_found`, `webhook_not_configured`. */
    async retry(transaction: Transaction, id: string): Promise<void> {
      const event = orNotFound(await store.findEvent(transaction, id), 'webhook');
      const { merchant_id: merchantId, mode } = event;
      const endpoint = await store.findEndpoint(transaction, { merchantId, mode });
      if (endpoint?.disabled_at !== null) throw notConfigured(mode);
      await store.makeDue(transaction, id, clock.now({ merchantId, mode }));
    },

    async backlog(reader: Reader): Promise<WebhookBacklog> {
      const dueTimes: number[] = [];
      const lagsMs: number[] = [];
      for (const mode of ['test', 'live'] satisfies Mode[]) {
        for (const { merchantId, dueAt } of await store.waitingMerchants(reader, mode)) {
          const lagMs = clock.now({ merchantId, mode }) - dueAt;
          dueTimes.push(clock.real() - lagMs);
          lagsMs.push(lagMs);
        }
      }
      return {
        pending: await store.countWaiting(reader),
        oldestDueAt: dueTimes.length === 0 ? undefined : Math.min(...dueTimes),
        lagMs: Math.max(0, ...lagsMs),
      };
    },

    /** Deletes the events of a mode and status that were created before a real time, with their attempts. */
    async prune(
      database: Database,
      mode: Mode,
      status: WebhookStatus,
      before: number,
      signal: AbortSignal,
    ): Promise<void> {
      let deleted = pruneBatchSize;
      while (deleted === pruneBatchSize && !signal.aborted) {
        deleted = await database.write((transaction) =>
          store.deleteOld(transaction, mode, status, before, pruneBatchSize),
        );
      }
    },
  };
}

function view(row: EventWithAttempts): WebhookRecord {
  return {
    id: row.id,
    ...scopeOf(row),
    type: row.type,
    subjectId: row.subject_id,
    status: row.status,
    createdAt: row.created_at,
    dueAt: row.due_at,
    attempts: row.attempts.map((attempt) => ({
      attemptedAt: attempt.tried_at,
      durationMs: attempt.duration_ms,
      responseStatus: attempt.response_status,
      responseExcerpt: attempt.response_excerpt,
      error: attempt.error,
    })),
  };
}
