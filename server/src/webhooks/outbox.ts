/** The outbox: an event is kept in the transaction of the change that it tells of, and delivered afterwards. */
import type { WebhookEventType } from 'crypto-checkout/contract';
import type { Clock } from '../shared/clock.js';
import type { NewId } from '../shared/ids.js';
import { notConfigured } from './endpoints.js';
import * as store from './store.js';
import type { Mode } from '../shared/scope.js';
import type { Transaction, Reader } from '../db/engine.js';
import { afterCommit } from '../db/transaction-context.js';

export interface NewEvent {
  readonly merchantId: string;
  readonly mode: Mode;
  readonly type: WebhookEventType;
  /**
   * Whose change it is: the id of a payment, transfer, wallet deposit or subscriber. The transaction holds its lock,
   * so that its events have an order.
   */
  readonly subjectId: string;
  /** The record as the API shows it, and what else the receiver needs; `mode` and `sequence` are added. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** An event that was kept before. */
export interface KeptEvent {
  readonly id: string;
  readonly mode: Mode;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Outbox {
  /**
   * Keeps an event for delivery. It is sent only if the transaction commits. A merchant without a webhook URL is told
   * nothing, then or later; for one whose endpoint said 410 Gone it is kept as failed, to be retried by hand.
   */
  add(transaction: Transaction, announcement: NewEvent): Promise<void>;
  /** Whether `announce` would keep anything for this merchant, for callers to whom the data costs something. */
  hasEndpoint(reader: Reader, merchantId: string): Promise<boolean>;
  /** Problem: `webhook_not_configured` where nothing can be sent. */
  requireEndpoint(reader: Reader, merchantId: string): Promise<void>;
  /** The newest event of a subject; undefined where none was kept. */
  newest(reader: Reader, subjectId: string): Promise<KeptEvent | undefined>;
  /** Sends an event once more, whatever became of it, under its own id and by a new schedule of tries. */
  resend(transaction: Transaction, event: Pick<KeptEvent, 'id' | 'mode'>): Promise<void>;
}

/** @param wake tells whoever delivers that there is something to deliver */
export function createOutbox(clock: Clock, newId: NewId, wake: () => void = () => {}): Outbox {
  return {
    async add(transaction, { merchantId, mode, type, subjectId, data }) {
      const endpoint = await store.findEndpoint(transaction, merchantId);
      if (!endpoint) return;
      const now = clock.now(mode);
      const last = await store.findNewest(transaction, subjectId);
      // The time keeps it rising after older events were removed; more than one at a time follow each other.
      const sequence = Math.max(now, (last?.sequence ?? 0) + 1);
      const isDisabled = endpoint.disabled_at !== null;
      await store.insertEvent(transaction, {
        id: newId(),
        merchant_id: merchantId,
        mode,
        type,
        subject_id: subjectId,
        sequence,
        data: JSON.stringify({ ...data, mode, sequence }),
        status: isDisabled ? 'failed' : 'pending',
        tries: 0,
        due_at: isDisabled ? null : now,
        claim: null,
        claimed_until: null,
        created_at: now,
      });
      afterCommit(wake);
    },

    async hasEndpoint(reader, merchantId) {
      return (await store.findEndpoint(reader, merchantId)) !== undefined;
    },

    async requireEndpoint(reader, merchantId) {
      const endpoint = await store.findEndpoint(reader, merchantId);
      if (endpoint?.disabled_at !== null) throw notConfigured();
    },

    async newest(reader, subjectId) {
      const row = await store.findNewest(reader, subjectId);
      return row && { id: row.id, mode: row.mode, data: JSON.parse(row.data) as KeptEvent['data'] };
    },

    async resend(transaction, { id, mode }) {
      await store.makeDue(transaction, id, clock.now(mode));
      afterCommit(wake);
    },
  };
}
