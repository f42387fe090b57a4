/** A server with accounts that are told of events, and a look at what was kept and tried. */
import { expect } from 'vitest';
import { newId } from '../../src/shared/ids.js';
import type { WebhookStatus } from '../../src/db/schema.js';
import { createEndpoints } from '../../src/webhooks/endpoints.js';
import { createOutbox } from '../../src/webhooks/outbox.js';
import { createWebhooks, type WebhookRecord } from '../../src/webhooks/webhooks.js';
import { startServer, type TestServer, type TestServerOptions } from '../support/server.js';
import type { Receiver } from './receiver.js';
import type { Mode } from '../../src/shared/scope.js';
import type { Transaction } from '../../src/db/engine.js';

export interface Shop {
  readonly server: TestServer;
  /** Sets where an account is told, and gives the receiver its secret. The first account if no other is named. */
  tell(receiver: Pick<Receiver, 'url' | 'secret'>, merchantId?: string): Promise<void>;
  /** Stops telling the first account. */
  silence(): Promise<void>;
  rotateSecret(): Promise<string>;
  /** A further account that is told. */
  merchant(receiver: Receiver): Promise<string>;
  /** Announces made-up events, each of a subject of its own. @returns their subjects */
  announce(count: number, options?: { merchantId?: string; mode?: Mode }): Promise<string[]>;
  /** Announces made-up events of one subject. */
  announceOf(subjectId: string, merchantId: string, count: number): Promise<void>;
  /** Newest first. */
  events(filter?: { status?: WebhookStatus; merchantId?: string }): Promise<WebhookRecord[]>;
  retry(id: string): Promise<void>;
  /** Waits until no event waits, of one account or of all, and answers all its events. */
  settled(merchantId?: string): Promise<WebhookRecord[]>;
  sandbox(path: string, body: object): Promise<Record<string, unknown>>;
  /** Moves test mode's clock. */
  advance(seconds: number): Promise<void>;
  /** What test mode's clock says. */
  now(): Promise<number>;
}

export async function openShop(options: TestServerOptions): Promise<Shop> {
  const server = await startServer(options);
  const { database } = server;
  const first = server.bootstrapped.merchantId;
  const clock = { now: options.overrides?.realNow ?? (() => Date.now()) };
  const endpoints = createEndpoints(clock);
  const webhooks = createWebhooks(clock);
  const outbox = createOutbox(clock, newId);

  const tellOf = (
    transaction: Transaction,
    about: { subjectId: string; merchantId: string; mode: Mode },
  ): Promise<void> =>
    outbox.add(transaction, { ...about, type: 'transfer.success', data: { id: about.subjectId } });

  const shop: Shop = {
    server,

    async tell(receiver, merchantId = first) {
      const secret = await database.write((transaction) =>
        endpoints.set(transaction, merchantId, receiver.url),
      );
      if (secret !== undefined) receiver.secret = secret;
    },

    async silence() {
      await database.write((transaction) => endpoints.set(transaction, first, ''));
    },

    rotateSecret: () => database.write((transaction) => endpoints.rotateSecret(transaction, first)),

    async merchant(receiver) {
      const { id } = await database.write((transaction) =>
        server.app.merchants.create(transaction, { name: 'Another Shop' }),
      );
      await shop.tell(receiver, id);
      return id;
    },

    async announce(count, { merchantId = first, mode = 'test' } = {}) {
      const subjects = Array.from({ length: count }, () => newId());
      await database.write(async (transaction) => {
        for (const subjectId of subjects) await tellOf(transaction, { subjectId, merchantId, mode });
      });
      return subjects;
    },

    announceOf: (subjectId, merchantId, count) =>
      database.write(async (transaction) => {
        for (let told = 0; told < count; told += 1) {
          await tellOf(transaction, { subjectId, merchantId, mode: 'test' });
        }
      }),

    events: (filter = {}) => webhooks.list(database.reader, { limit: 10_000, ...filter }),

    retry: (id) => database.write((transaction) => webhooks.retry(transaction, id)),

    async settled(merchantId) {
      const filter = merchantId === undefined ? {} : { merchantId };
      const waiting = () => shop.events({ status: 'pending', ...filter });
      await expect.poll(waiting, { timeout: 15_000 }).toEqual([]);
      return shop.events(filter);
    },

    async sandbox(path, body) {
      const { status, body: reply } = await server.api('POST', `/sandbox/${path}`, { body });
      expect(status, JSON.stringify(reply)).toBe(200);
      return reply.data;
    },

    async advance(seconds) {
      await shop.sandbox('clock', { advanceSeconds: seconds });
    },

    now: () => Promise.resolve(server.app.clock.now('test')),
  };
  return shop;
}
