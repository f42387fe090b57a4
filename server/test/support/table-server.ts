/** A server for a small table of endpoints: only the API layer, with real keys in a real database. */
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Endpoint } from 'crypto-checkout/contract';
import express from 'express';
import { pino } from 'pino';
import type { Clock } from '../../src/core/shared/clock.js';
import { type Database } from '../../src/core/db/database.js';
import type { Handlers } from '../../src/core/api/handler.js';
import { createIdempotency, type Idempotency } from '../../src/core/api/idempotency.js';
import { createIpLimits, createLimits } from '../../src/core/api/limits.js';
import { mount } from '../../src/core/api/mount.js';
import { createCookies } from '../../src/core/api/cookies.js';
import { createProblemHandler } from '../../src/core/api/problem.js';
import { startRequest } from '../../src/core/ops/request.js';
import { newId } from '../../src/core/shared/ids.js';
import type { Limits } from '../../src/core/config.js';
import { createHooks } from '../../src/core/hooks.js';
import { createPermissions } from '../../src/core/shared/permissions.js';
import { createAuditLog } from '../../src/core/merchants/audit-log.js';
import { createKeys, type Keys } from '../../src/core/merchants/keys.js';
import { createMerchants } from '../../src/core/merchants/merchants.js';
import type { Mode } from '../../src/core/shared/scope.js';
import { openDatabase } from '../../src/database.js';
import { clockAt } from './clock.js';
import { plainData } from './plain-data.js';

export interface TableServer {
  readonly url: string;
  /** The public URL that error replies link to. It differs from `url`, as it does behind a proxy. */
  readonly publicUrl: string;
  readonly database: Database;
  readonly idempotency: Idempotency;
  readonly keys: Keys;
  readonly merchantId: string;
  readonly secret: string;
  readonly public: string;
  readonly live: string;
  /** All log lines. */
  readonly logged: string[];
  stop(): Promise<void>;
}

const publicUrl = 'https://pay.example.com/api';

export interface TableServerOptions<T extends Record<string, Record<string, Endpoint>>> {
  readonly table: T;
  readonly handlers: Handlers<T>;
  readonly databaseUrl?: string;
  readonly clock?: Clock;
  readonly limits?: Limits;
  readonly modes?: readonly Mode[];
  readonly isIdempotent?: boolean;
}

export async function startTable<T extends Record<string, Record<string, Endpoint>>>(
  options: TableServerOptions<T>,
): Promise<TableServer> {
  const { table, handlers, databaseUrl = 'sqlite::memory:', limits } = options;
  const clock = options.clock ?? clockAt(() => Date.now());
  const database = await openDatabase(databaseUrl);
  const keys = createKeys(database, clock, newId);
  const merchants = createMerchants(clock, newId);
  const account = await database.write(async (transaction) => {
    const { id: merchantId } = await merchants.create(transaction, { name: 'Example Shop' });
    const make = async (kind: 'secret' | 'public', mode: Mode) =>
      (await keys.create(transaction, { merchantId, kind, mode })).key;
    return {
      merchantId,
      secret: await make('secret', 'test'),
      public: await make('public', 'test'),
      live: await make('secret', 'live'),
    };
  });
  const idempotency = createIdempotency({
    database,
    personalData: plainData,
    now: () => clock.real(),
    readPayment: () => Promise.reject(new Error('The table has no payments')),
  });
  const logged: string[] = [];
  const stopping = new AbortController();
  const app = express();
  app.use(startRequest);
  app.use(
    '/v1',
    mount(table, handlers, {
      database,
      idempotency: options.isIdempotent === false ? undefined : idempotency,
      stopping: stopping.signal,
      sessions: undefined,
      cookiesOf: createCookies(publicUrl),
      auditLog: createAuditLog(clock, plainData, createHooks().emailsOf),
      keys,
      clock,
      permissions: createPermissions([]),
      callerLimits: limits && createLimits(limits),
      ipLimits: limits && createIpLimits(limits),
      modes: options.modes ?? ['test', 'live'],
    }),
  );
  const log = pino({ level: 'info' }, { write: (line: string) => void logged.push(line) });
  app.use(createProblemHandler(log, (code) => `${publicUrl}/docs/errors#${code}`));
  const server = createServer(app);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    publicUrl,
    database,
    idempotency,
    keys,
    ...account,
    logged,
    async stop() {
      stopping.abort();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      await database.close();
    },
  };
}
