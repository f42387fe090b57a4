/** Webhook endpoints, the outbox and delivery attempts. */
import type { WebhookEventType } from 'crypto-checkout/contract';
import { sql } from 'kysely';
import type { Mode } from '../../shared/scope.js';
import { type DataPolicy, deletedWith, kept, ownPersonal } from '../data-policy.js';
import { bigint, integer, record, table, text, time } from '../table.js';

export type WebhookStatus = 'pending' | 'delivered' | 'failed';

/** Encrypted like the event, since a receiver may have echoed it. */
const responses: DataPolicy = {
  ...deletedWith('outbox'),
  personal: {
    columns: { response_excerpt: 'emptied' },
    boundTo: ['event_id'],
    key: ['event_id', 'tried_at', 'duration_ms'],
  },
};

export const webhookTables = {
  /** The URL that a merchant's webhooks of one mode are sent to. */
  webhook_endpoints: table(kept('a reset keeps the URL'), {
    merchant_id: text().references('merchants.id'),
    mode: text<Mode>(),
    url: text(),
    /** `whsec_…`, encrypted if there is a data key: events are signed with it. */
    secret: text(),
    /**
     * Replaced secrets, newest first: a JSON array of `{secret, until}`, encrypted too. Each also signs until then
     * (real time).
     */
    former_secrets: text(),
    /** When it responded 410 Gone; null while it is enabled. */
    disabled_at: time().nullable(),
    updated_at: time(),
  }).primaryKey('merchant_id', 'mode'),

  /** A webhook event: one for each change that a merchant is notified of. */
  outbox: table(ownPersonal({ columns: { data: 'searched' } }), {
    /** Also the `webhook-id`. */
    ...record,
    type: text<WebhookEventType>(),
    /** The record that changed: the id of a payment, transfer, wallet deposit or subscriber. */
    subject_id: text(),
    /** Increases with each event of a subject. */
    sequence: bigint(),
    /** The event's `data` as JSON, encrypted if there is a data key. */
    data: text(),
    status: text<WebhookStatus>(),
    /** Failed attempts since the event was added or last resent. */
    tries: integer(),
    /** When the next attempt is due, on the merchant's clock; null unless pending. */
    due_at: time().nullable(),
    /** The id of the current delivery's claim, and when the claim ends (real time). */
    claim: text().nullable(),
    claimed_until: time().nullable(),
    created_at: time(),
  })
    .unique('subject', ['subject_id', 'sequence'])
    // Only pending events, so that the index stays small.
    .index('due', ['mode', 'merchant_id', 'due_at'], { where: sql`due_at is not null` })
    // One for each way to list events, newest first.
    .index('newest', ['merchant_id', 'mode', 'created_at', 'id'])
    // With the tries, so that failing events are counted in only the index.
    .index('status', ['merchant_id', 'mode', 'status', 'created_at', 'id', 'tries'])
    .index('type', ['merchant_id', 'mode', 'type', 'created_at', 'id']),

  /** An attempt to deliver an event. */
  webhook_tries: table(responses, {
    event_id: text().references('outbox.id', 'cascade'),
    /** Real time. */
    tried_at: time(),
    duration_ms: integer(),
    /** HTTP status; null if no response came. */
    response_status: integer().nullable(),
    /** The start of the response, without secrets, encrypted if there is a data key. */
    response_excerpt: text(),
    /** Why the attempt failed; null if it succeeded. */
    error: text().nullable(),
  }).index('event', ['event_id', 'tried_at']),
};
