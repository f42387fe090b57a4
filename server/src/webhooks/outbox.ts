/** The outbox: an event is kept in the transaction of the change that it tells of, and delivered afterwards. */
import type { WebhookEventType } from 'crypto-checkout/contract';
import type { Clock } from '../clock.js';
import type { Transaction } from '../db/database.js';
import type { Mode } from '../db/schema.js';
import type { NewId } from '../ids.js';

export interface Announcement {
  readonly merchantId: string;
  readonly mode: Mode;
  readonly type: WebhookEventType;
  /** Whose change it is: the id of a payment, transfer, wallet deposit or subscriber. */
  readonly subjectId: string;
  /** The record as the API shows it, and what else the receiver needs. */
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Outbox {
  /** Keeps an event for delivery. It is sent only if the transaction commits. */
  announce(transaction: Transaction, announcement: Announcement): Promise<void>;
}

export function createOutbox(clock: Clock, newId: NewId): Outbox {
  return {
    async announce(transaction, { merchantId, mode, type, subjectId, data }) {
      await transaction
        .insertInto('outbox')
        .values({
          id: newId(),
          merchant_id: merchantId,
          mode,
          type,
          subject_id: subjectId,
          data: JSON.stringify(data),
          created_at: clock.now(mode),
        })
        .execute();
    },
  };
}
