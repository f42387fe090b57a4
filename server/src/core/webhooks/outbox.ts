/** The webhook outbox: events are stored in the transaction of the change that they report, and delivered later. */
import type { WebhookEventType } from 'crypto-checkout/contract';
import type { Clock } from '../shared/clock.js';
import { sealedJson, type PersonalData } from '../db/personal-data.js';
import type { NewId } from '../shared/ids.js';
import { requireEndpoint } from './endpoints.js';
import * as store from './store.js';
import { scopeOf, type Scope } from '../shared/scope.js';
import type { Transaction, Reader } from '../db/engine.js';
import type { WebhookEndpointTable } from '../db/schema.js';
import { afterCommit } from '../db/transaction-context.js';

export interface NewEvent extends Scope {
  readonly type: WebhookEventType;
  /**
   * The record that changed: the id of a payment, transfer, wallet deposit or subscriber. The transaction must hold its
   * lock, so that the events of a record have a definite order.
   */
  readonly subjectId: string;
  /** The record as the API returns it, and anything more that the receiver needs. `mode` and `sequence` are added. */
  readonly data: Readonly<Record<string, unknown>>;
}

export type Outbox = ReturnType<typeof createOutbox>;

/** The receivers of a merchant's events. */
export interface EventReceivers {
  /** Undefined if there are only listeners. */
  readonly endpoint: WebhookEndpointTable | undefined;
}

/** Others that events are reported to. */
interface Listeners {
  hears(reader: Reader, scope: Scope): Promise<boolean>;
  onEvent(transaction: Transaction, event: NewEvent): Promise<void>;
}

const noListeners: Listeners = { hears: () => Promise.resolve(false), onEvent: () => Promise.resolve() };

/** @param wake called after a commit when there is something to deliver */
export function createOutbox(
  clock: Clock,
  newId: NewId,
  personalData: PersonalData,
  wake: () => void = () => {},
  { hears, onEvent } = noListeners,
) {
  return {
    /**
     * Reports an event, and stores it for delivery if the transaction commits. Without a webhook URL for the mode it does nothing, so
     * nothing is sent later either. If the endpoint is disabled, the event is stored as failed, to be retried by hand.
     * @param known the result of `receivers` in the same transaction
     */
    async add(transaction: Transaction, event: NewEvent, known?: EventReceivers) {
      const { merchantId, mode, type, subjectId, data } = event;
      await onEvent(transaction, event);
      const { endpoint } = known ?? { endpoint: await store.findEndpoint(transaction, { merchantId, mode }) };
      if (!endpoint) return;
      const now = clock.now({ merchantId, mode });
      // Based on the time, so that it keeps rising after older events were pruned. Events of the same millisecond get
      // consecutive numbers.
      const sequence = Math.max(now, (await store.lastSequence(transaction, subjectId)) + 1);
      const isDisabled = endpoint.disabled_at !== null;
      const id = newId();
      await store.insertEvent(transaction, {
        id,
        merchant_id: merchantId,
        mode,
        type,
        subject_id: subjectId,
        sequence,
        data: personalData.sealEvent(id, sealedJson.event.write({ ...data, mode, sequence })),
        status: isDisabled ? 'failed' : 'pending',
        tries: 0,
        due_at: isDisabled ? null : now,
        claim: null,
        claimed_until: null,
        created_at: now,
      });
      afterCommit(transaction, wake);
    },

    /** Undefined if `add` would report to nobody for this merchant and mode. Check first if the event's data is expensive. */
    async receivers(transaction: Transaction, scope: Scope): Promise<EventReceivers | undefined> {
      const endpoint = await store.findEndpoint(transaction, scope);
      return endpoint || (await hears(transaction, scope)) ? { endpoint } : undefined;
    },

    requireEndpoint,

    /** The newest event of a subject; undefined if there is none. */
    async newest(reader: Reader, subjectId: string) {
      const row = await store.findNewest(reader, subjectId);
      if (!row) return undefined;
      const data = sealedJson.event.read(personalData.openEvent(row));
      return { id: row.id, ...scopeOf(row), data };
    },

    /** Sends an event again, whatever its status, with the same id and a new retry schedule. */
    async resend(transaction: Transaction, { id, merchantId, mode }: Scope & { id: string }): Promise<void> {
      await store.makeDue(transaction, id, clock.now({ merchantId, mode }));
      afterCommit(transaction, wake);
    },
  };
}
