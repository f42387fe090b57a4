/** Deletes idempotency records, webhook events and replaced webhook secrets whose retention period has passed. */
import type { Database } from '../db/database.js';
import type { WebhookStatus } from '../db/tables/webhooks.js';
import type { Clock } from '../shared/clock.js';
import { retention } from '../shared/retention.js';
import type { Mode } from '../shared/scope.js';

const modes: readonly Mode[] = ['test', 'live'];

export interface PruneDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly idempotency: { prune(): Promise<void> };
  readonly endpoints: { deleteFormerSecrets(database: Database, now: number): Promise<void> };
  readonly webhooks: {
    prune(
      database: Database,
      mode: Mode,
      status: WebhookStatus,
      before: number,
      signal: AbortSignal,
    ): Promise<void>;
  };
}

export async function prune(deps: PruneDeps, signal: AbortSignal): Promise<void> {
  const { database, clock, idempotency, endpoints, webhooks } = deps;
  await idempotency.prune();
  await endpoints.deleteFormerSecrets(database, clock.real());
  for (const mode of modes) {
    const now = clock.real();
    for (const status of ['delivered', 'failed'] as const) {
      await webhooks.prune(database, mode, status, now - retention.webhookMs[status], signal);
    }
  }
}
