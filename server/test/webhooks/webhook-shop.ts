/** A server with merchant accounts that receive webhooks, and access to the stored events and attempts. */
import { expect } from 'vitest';
import { newId } from '../../src/core/shared/ids.js';
import type { WebhookStatus } from '../../src/core/db/tables/webhooks.js';
import { createOutbox } from '../../src/core/webhooks/outbox.js';
import { createWebhooks, type WebhookRecord } from '../../src/core/webhooks/webhooks.js';
import { startServer, type TestServer, type TestServerOptions } from '../support/server.js';
import type { Receiver } from './receiver.js';
import type { Mode } from '../../src/core/shared/scope.js';
import type { Transaction } from '../../src/core/db/engine.js';
import { clockAt } from '../support/clock.js';

export interface PublishOptions {
  readonly merchantId?: string;
  readonly mode?: Mode;
  /** As another process would do it: the server is not notified, and finds the events by polling. */
  readonly fromElsewhere?: boolean;
}

export interface WebhookShop {
  readonly server: TestServer;
  /** Sets an account's webhook URL and gives the receiver the secret. The default is the first account's, in test mode. */
  setEndpoint(receiver: Pick<Receiver, 'url' | 'secret'>, merchantId?: string, mode?: Mode): Promise<void>;
  /** Removes the first account's webhook URL. */
  removeEndpoint(): Promise<void>;
  /** Makes a new secret for the first account's endpoint in test mode, and returns it. */
  rotateSecret(): Promise<string>;
  /** Creates another account with a webhook URL. @returns its id */
  merchant(receiver: Receiver): Promise<string>;
  /** Publishes made-up events, each of a new subject. @returns the subjects */
  publish(count: number, options?: PublishOptions): Promise<string[]>;
  /** Publishes made-up events of one subject. */
  publishFor(subjectId: string, merchantId: string, count: number): Promise<void>;
  /** Newest first. */
  events(filter?: { status?: WebhookStatus; merchantId?: string }): Promise<WebhookRecord[]>;
  retry(id: string): Promise<void>;
  /** Waits until no event is pending, of one account or of all. @returns all its events */
  settled(merchantId?: string): Promise<WebhookRecord[]>;
  /** Moves the test clock of a merchant. */
  advance(seconds: number, merchantId?: string): Promise<void>;
  /** Time by the test clock of a merchant. */
  now(merchantId?: string): number;
}

export async function openWebhookShop(options: TestServerOptions): Promise<WebhookShop> {
  const server = await startServer(options);
  const { database } = server;
  const first = server.bootstrapped.merchantId;
  const firstEndpoint = { merchantId: first, mode: 'test' } as const;
  const clock = clockAt(options.overrides?.realNow ?? (() => Date.now()));
  const endpoints = server.app.endpoints;
  const webhooks = createWebhooks(clock, server.app.personalData);
  const here = createOutbox(clock, newId, server.app.personalData, () => server.app.dispatcher.wake());
  const elsewhere = createOutbox(clock, newId, server.app.personalData);

  const addEvent = (
    transaction: Transaction,
    event: { subjectId: string; merchantId: string; mode: Mode },
    outbox = here,
  ): Promise<void> =>
    outbox.add(transaction, { ...event, type: 'transfer.success', data: { id: event.subjectId } });

  const shop: WebhookShop = {
    server,

    async setEndpoint(receiver, merchantId = first, mode = 'test') {
      const secret = await database.write((transaction) =>
        endpoints.set(transaction, { merchantId, mode }, receiver.url),
      );
      if (secret !== undefined) receiver.secret = secret;
    },

    async removeEndpoint() {
      await database.write((transaction) => endpoints.set(transaction, firstEndpoint, ''));
    },

    rotateSecret: () => database.write((transaction) => endpoints.rotateSecret(transaction, firstEndpoint)),

    async merchant(receiver) {
      const { id } = await database.write((transaction) =>
        server.app.merchants.create(transaction, { name: 'Another Shop' }),
      );
      await shop.setEndpoint(receiver, id);
      return id;
    },

    async publish(count, { merchantId = first, mode = 'test', fromElsewhere = false } = {}) {
      const subjects = Array.from({ length: count }, () => newId());
      const outbox = fromElsewhere ? elsewhere : here;
      await database.write(async (transaction) => {
        for (const subjectId of subjects)
          await addEvent(transaction, { subjectId, merchantId, mode }, outbox);
      });
      return subjects;
    },

    publishFor: (subjectId, merchantId, count) =>
      database.write(async (transaction) => {
        for (let index = 0; index < count; index += 1) {
          await addEvent(transaction, { subjectId, merchantId, mode: 'test' });
        }
      }),

    events: (filter = {}) => webhooks.list(database.reader, { limit: 10_000, ...filter }),

    retry: async (id) => {
      await database.write(async (transaction) =>
        webhooks.retry(transaction, await webhooks.owner(transaction, id), id),
      );
    },

    async settled(merchantId) {
      const filter = merchantId === undefined ? {} : { merchantId };
      const pending = () => shop.events({ status: 'pending', ...filter });
      await expect.poll(pending, { timeout: 45_000 }).toEqual([]);
      return shop.events(filter);
    },

    async advance(seconds, merchantId = first) {
      await database.write((transaction) => server.app.clock.advance(transaction, merchantId, seconds));
      await server.app.sandbox.syncClock();
    },

    now: (merchantId = first) => server.app.clock.now({ merchantId, mode: 'test' }),
  };
  return shop;
}
