/** Sends a signed sample of every event to a merchant's endpoint, so that its receiver can be tried before real events. */
import { setMaxListeners } from 'node:events';
import { webhookEventType, type WebhookEventType } from 'crypto-checkout/contract';
import { isoTime, type Clock } from '../shared/clock.js';
import type { NewId } from '../shared/ids.js';
import type { Scope } from '../shared/scope.js';
import type { Reader } from '../db/engine.js';
import type { DataKeys } from '../shared/data-keys.js';
import { signingSecrets } from './endpoint-secrets.js';
import { requireEndpoint } from './endpoints.js';
import type { EventTypes } from './event-types.js';
import type { Outcome, Sender } from './send.js';

export interface SampleResult extends Outcome {
  readonly type: WebhookEventType;
  /** The `webhook-id` that was sent. */
  readonly id: string;
}

export function createWebhookTest(
  eventTypes: EventTypes,
  sender: Sender,
  clock: Clock,
  newId: NewId,
  dataKeys: DataKeys,
) {
  return {
    /** All that this server sends. */
    types: webhookEventType.options.filter((type) => eventTypes[type]),

    /**
     * Sends samples of the types at once, and returns the answers in their order. Nothing is stored or repeated.
     * Problem: `webhook_not_configured`.
     */
    async run(
      reader: Reader,
      scope: Scope,
      types: readonly WebhookEventType[],
      signal: AbortSignal,
    ): Promise<SampleResult[]> {
      const endpoint = await requireEndpoint(reader, scope);
      const now = clock.real();
      // Every sample listens to it; Node warns of more than ten.
      const ending = AbortSignal.any([signal]);
      setMaxListeners(0, ending);
      return Promise.all(
        types.map(async (type) => {
          const id = newId();
          const data = {
            ...eventTypes[type]?.sample(scope.mode),
            mode: scope.mode,
            sequence: now,
            isSample: true,
          };
          const body = JSON.stringify({ type, timestamp: isoTime(clock.now(scope)), data });
          const secrets = signingSecrets(dataKeys, endpoint, now);
          const delivery = { url: endpoint.url, mode: scope.mode, id, body, secrets, now };
          return { type, id, ...(await sender.send(delivery, ending)) };
        }),
      );
    },
  };
}
