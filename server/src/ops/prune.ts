/** Deletes idempotency records and webhook events whose retention period has passed. */
import type { Database } from '../db/database.js';
import type { WebhookStatus } from '../db/schema.js';
import type { Clock } from '../shared/clock.js';
import { retention } from '../shared/retention.js';
import type { Mode } from '../shared/scope.js';

const modes: readonly Mode[] = ['test', 'live'];

export interface PruneDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly idempotency: { prune(before: number): Promise<void> };
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
  const { database, clock, idempotency, webhooks } = deps;
  await idempotency.prune(clock.real() - retention.idempotencyMs);
  for (const mode of modes) {
    const now = clock.real();
    for (const status of ['delivered', 'failed'] as const) {
      await webhooks.prune(database, mode, status, now - retention.webhookMs[status], signal);
    }
  }
}
