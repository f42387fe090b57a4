/** Webhooks after they were stored: list events with their attempts, retry them, measure the backlog and prune old events. */
import type { CoreApi, Data } from 'crypto-checkout/contract';
import { isoTime, type Clock } from '../shared/clock.js';
import type { Database } from '../db/database.js';
import type { PersonalData } from '../db/personal-data.js';
import type { WebhookStatus } from '../db/tables/webhooks.js';
import { afterCommit } from '../db/transaction-context.js';
import type { Page, PageRequest } from '../shared/pagination.js';
import { orNotFound } from '../shared/problem.js';
import { bodyOf } from './send.js';
import { requireEndpoint } from './endpoints.js';
import * as store from './store.js';
import type { DeliveryFilter, EventFilter, EventWithAttempts } from './store.js';
import { scopeOf, type Mode, type Scope } from '../shared/scope.js';
import type { Transaction, Reader } from '../db/engine.js';

export type Webhooks = ReturnType<typeof createWebhooks>;

type DeliveryWithRequest = Data<CoreApi['webhooks']['retrieve']>;
type Delivery = Omit<DeliveryWithRequest, 'url' | 'body'>;

/** An event with its attempts, as the API and the commands show it. */
export interface WebhookRecord extends Delivery {
  readonly merchantId: string;
}

const pruneBatchSize = 500;

/** The number of failed events that are sent again at once, so that the transaction stays short. */
const retriedAtOnce = 1000;

/** @param wake called after a commit when there is something to deliver */
export function createWebhooks(clock: Clock, personalData: PersonalData, wake: () => void = () => {}) {
  const find = async (reader: Reader, scope: Scope, id: string) =>
    orNotFound(await store.findDelivery(reader, scope, id), 'webhook');

  const view = (row: EventWithAttempts): WebhookRecord => ({
    ...scopeOf(row),
    id: row.id,
    type: row.type,
    subjectId: row.subject_id,
    status: row.status,
    createdAt: isoTime(row.created_at),
    dueAt: row.due_at === null ? null : isoTime(row.due_at),
    tries: row.attempts.map((attempt) => ({
      triedAt: isoTime(attempt.tried_at),
      durationMs: attempt.duration_ms,
      responseStatus: attempt.response_status,
      responseExcerpt: personalData.openResponse(row.id, attempt.response_excerpt),
      error: attempt.error,
    })),
  });

  return {
    /** The events of a merchant's mode, newest first. */
    async page(reader: Reader, scope: Scope, query: PageRequest & DeliveryFilter): Promise<Page<Delivery>> {
      const { rows, total } = await store.pageOfEvents(reader, scope, query);
      return { rows: rows.map(view), total };
    },

    /** Problem: `not_found`. */
    async retrieve(reader: Reader, scope: Scope, id: string): Promise<DeliveryWithRequest> {
      const event = await find(reader, scope, id);
      const endpoint = await store.findEndpoint(reader, scope);
      return {
        ...view(event),
        url: endpoint?.url ?? '',
        body: bodyOf({ ...event, data: personalData.openEvent(event) }),
      };
    },

    /** Sends an event again, whatever its status. Problems: `not_found`, `webhook_not_configured`. */
    async retry(transaction: Transaction, scope: Scope, id: string): Promise<Delivery> {
      await find(transaction, scope, id);
      await requireEndpoint(transaction, scope);
      await store.makeDue(transaction, id, clock.now(scope));
      afterCommit(transaction, wake);
      return view(await find(transaction, scope, id));
    },

    /** Sends the oldest failed events of a merchant's mode again. Problem: `webhook_not_configured`. */
    async retryFailed(transaction: Transaction, scope: Scope) {
      await requireEndpoint(transaction, scope);
      const retried = await store.makeFailedDue(transaction, scope, clock.now(scope), retriedAtOnce);
      afterCommit(transaction, wake);
      const left = { page: 1, skip: 0, status: 'failed' } as const;
      return { retried, remaining: (await store.pageOfEvents(transaction, scope, left)).total };
    },

    /** For operators: of all merchants, newest first. */
    async list(reader: Reader, filter: EventFilter) {
      return (await store.listEvents(reader, filter)).map(view);
    },

    /** For operators: whose an event is. Problem: `not_found`. */
    owner: async (reader: Reader, id: string): Promise<Scope> =>
      scopeOf(orNotFound(await store.findEvent(reader, id), 'webhook')),

    async backlog(reader: Reader) {
      const lagsMs: number[] = [];
      for (const mode of ['test', 'live'] satisfies Mode[]) {
        for (const { merchantId, dueAt } of await store.waitingMerchants(reader, mode)) {
          lagsMs.push(clock.now({ merchantId, mode }) - dueAt);
        }
      }
      const longestMs = Math.max(...lagsMs);
      return {
        /** The number of events that wait for their first or next attempt. */
        pending: await store.countWaiting(reader),
        /** When the earliest of them is due, in real time; undefined if there are none. */
        oldestDueAt: lagsMs.length === 0 ? undefined : clock.real() - longestMs,
        /** The longest that any event is overdue; 0 if none is due. */
        lagMs: Math.max(0, longestMs),
      };
    },

    /** Deletes the events of a mode and status that were created before a real time, with their attempts. */
    async prune(database: Database, mode: Mode, status: WebhookStatus, before: number, signal: AbortSignal) {
      let deleted = pruneBatchSize;
      while (deleted === pruneBatchSize && !signal.aborted) {
        deleted = await database.write((transaction) =>
          store.deleteOld(transaction, mode, status, before, pruneBatchSize),
        );
      }
    },
  };
}
