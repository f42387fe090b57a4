/** The figures of webhook deliveries that are not finished. */
import type { Database } from '../db/database.js';
import type { Figure } from '../shared/feature.js';
import type { Webhooks } from './webhooks.js';

export const createBacklogFigures =
  ({ reader }: Database, { backlog }: Pick<Webhooks, 'backlog'>) =>
  (): readonly Figure[] => [
    {
      name: 'checkout_webhooks_pending',
      help: 'Webhook deliveries that are not finished, including those that wait for another attempt',
      labels: [],
      read: async () => [[{}, (await backlog(reader)).pending]],
    },
    {
      name: 'checkout_webhooks_lag_seconds',
      help: 'The time by which the oldest webhook delivery is overdue, in seconds',
      labels: [],
      read: async () => [[{}, (await backlog(reader)).lagMs / 1000]],
    },
  ];
