/** What operators see and do: events with their tries, trying again, how much waits, and removing what is old. */
import type { WebhookEventType } from 'crypto-checkout/contract';
import type { Clock } from '../shared/clock.js';
import type { Database } from '../db/database.js';
import type { WebhookStatus } from '../db/schema.js';
import { notFound } from '../shared/problem.js';
import { notConfigured } from './endpoints.js';
import * as store from './store.js';
import type { EventFilter, EventWithTries } from './store.js';
import type { Mode } from '../shared/scope.js';
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
  /** When it is tried next, on the mode's clock; null unless pending. */
  readonly dueAt: number | null;
  /** Oldest first. */
  readonly tries: readonly WebhookTry[];
}

export interface WebhookTry {
  /** Real time. */
  readonly triedAt: number;
  readonly durationMs: number;
  /** The answer's HTTP status; null where none came. */
  readonly responseStatus: number | null;
  /** How the answer began, without anything secret. */
  readonly responseExcerpt: string;
  /** Null where it arrived. */
  readonly error: string | null;
}

export interface WebhookFigures {
  /** How many events wait: for their first try or for the next one. */
  readonly pending: number;
  /** When the earliest of them is due, on its mode's clock; undefined where none waits. */
  readonly oldestDueAt: number | undefined;
  /** How long the most overdue one has been due: 0 where none is. */
  readonly lagMs: number;
}

export interface Webhooks {
  /** Newest first. */
  list(reader: Reader, filter: EventFilter): Promise<WebhookRecord[]>;
  /** Tries an event once more, whatever became of it. Problems: `not_found`, `webhook_not_configured`. */
  retry(transaction: Transaction, id: string): Promise<void>;
  figures(reader: Reader): Promise<WebhookFigures>;
  /** Deletes the events of a mode and status that were made before a time of its clock, with their attempts. */
  prune(
    database: Database,
    mode: Mode,
    status: WebhookStatus,
    before: number,
    signal: AbortSignal,
  ): Promise<void>;
}

const prunedAtOnce = 500;

export function createWebhooks(clock: Clock): Webhooks {
  return {
    async list(reader, filter) {
      return (await store.listEvents(reader, filter)).map(view);
    },

    async retry(transaction, id) {
      const event = await store.findEvent(transaction, id);
      if (!event) throw notFound('webhook');
      const endpoint = await store.findEndpoint(transaction, event.merchant_id);
      if (endpoint?.disabled_at !== null) throw notConfigured();
      await store.makeDue(transaction, id, clock.now(event.mode));
    },

    async figures(reader) {
      const due: number[] = [];
      const lags: number[] = [];
      for (const mode of ['test', 'live'] satisfies Mode[]) {
        const now = clock.now(mode);
        for (const { dueAt } of await store.waitingMerchants(reader, mode)) {
          due.push(dueAt);
          lags.push(now - dueAt);
        }
      }
      return {
        pending: await store.countWaiting(reader),
        oldestDueAt: due.length === 0 ? undefined : Math.min(...due),
        lagMs: Math.max(0, ...lags),
      };
    },

    async prune(database, mode, status, before, signal) {
      let removed = prunedAtOnce;
      while (removed === prunedAtOnce && !signal.aborted) {
        removed = await database.write((transaction) =>
          store.deleteOld(transaction, mode, status, before, prunedAtOnce),
        );
      }
    },
  };
}

function view(row: EventWithTries): WebhookRecord {
  return {
    id: row.id,
    merchantId: row.merchant_id,
    mode: row.mode,
    type: row.type,
    subjectId: row.subject_id,
    status: row.status,
    createdAt: row.created_at,
    dueAt: row.due_at,
    tries: row.log.map((one) => ({
      triedAt: one.tried_at,
      durationMs: one.duration_ms,
      responseStatus: one.response_status,
      responseExcerpt: one.response_excerpt,
      error: one.error,
    })),
  };
}
