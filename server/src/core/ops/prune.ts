/** Deletes idempotency records, webhook events and replaced webhook secrets whose time is over. */
import type { Database } from '../db/database.js';
import type { Clock } from '../shared/clock.js';
import type { Feature } from '../shared/feature.js';
import { retention } from '../shared/retention.js';
import { modes } from '../shared/scope.js';
import type { Endpoints } from '../webhooks/endpoints.js';
import type { Webhooks } from '../webhooks/webhooks.js';

interface PruneDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly idempotency: { prune(): Promise<void> };
  readonly endpoints: Pick<Endpoints, 'deletePreviousSecrets'>;
  readonly webhooks: Pick<Webhooks, 'prune'>;
}

export const createPruning = (deps: PruneDeps): Feature => ({
  jobs: () => [{ name: 'retention', intervalMs: 3_600_000, run: (signal) => prune(deps, signal) }],
});

export async function prune(deps: PruneDeps, signal: AbortSignal): Promise<void> {
  const { database, clock, idempotency, endpoints, webhooks } = deps;
  await idempotency.prune();
  await endpoints.deletePreviousSecrets(database, clock.real());
  for (const mode of modes) {
    const now = clock.real();
    for (const status of ['delivered', 'failed'] as const) {
      await webhooks.prune(database, mode, status, now - retention.webhookMs[status], signal);
    }
  }
}
