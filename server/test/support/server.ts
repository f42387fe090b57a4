/** Starts the whole server in the test's process, with its own database, one account and both kinds of keys. */
import { randomBytes } from 'node:crypto';
import { pino, type Logger } from 'pino';
import type { Overrides } from '../../src/app.js';
import { startServer as start, type RunningServer } from '../../src/server.js';
import { readConfig } from '../../src/core/config.js';
import { settings } from '../../src/modules.js';
import type { TestEngine } from './engines.js';
import { call, type Answer, type CallOptions } from './call.js';
import type { Mode, Caller } from '../../src/core/shared/scope.js';

export interface TestServer extends RunningServer {
  /** There is always an account, because its keys are given. */
  readonly bootstrapped: RunningServer['bootstrapped'] & { readonly merchantId: string };
  /** Test keys of the first account. */
  readonly publicKey: string;
  readonly secretKey: string;
  readonly databaseUrl: string;
  /** Sends a request, with the secret key by default. */
  api(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Creates another account and returns one of its API keys. */
  foreignKey(kind: Caller['kind'], mode: Mode): Promise<string>;
  /** Secret keys that reach none of the merchant's test records: another merchant's in both modes, and its own live one. */
  keysWithoutAccess(): Promise<string[]>;
  /** Stops the server. Removes the database, unless it was given. */
  stop(): Promise<void>;
}

export interface TestServerOptions {
  /** Creates a new database. `stop` removes it. */
  readonly engine: TestEngine;
  /** An existing database to use instead of a new one. `stop` does not remove it. */
  readonly databaseUrl?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly overrides?: Overrides;
  readonly log?: Logger;
}

const randomKey = (prefix: string) => prefix + randomBytes(32).toString('base64url');

/** By default, only the sandbox adds blocks and there are no rate limits. `env` can change both. */
export async function startServer(options: TestServerOptions): Promise<TestServer> {
  const database = options.databaseUrl === undefined ? await options.engine.create() : undefined;
  const databaseUrl = options.databaseUrl ?? database?.url ?? '';
  const publicKey = randomKey('pk_test_');
  const secretKey = randomKey('sk_test_');
  const environment = {
    PORT: '0',
    DATABASE_URL: databaseUrl,
    BOOTSTRAP_PUBLIC_KEY: publicKey,
    BOOTSTRAP_SECRET_KEY: secretKey,
    BLOCK_INTERVAL_MS: '0',
    RATE_LIMIT: 'off',
    DATABASE_CREATE: 'on',
    ...options.env,
  };
  const config = readConfig(environment, settings);
  const log = options.log ?? pino({ level: 'error' }, pino.destination({ fd: 2, sync: true }));
  const running = await start(config, log, options.overrides).catch(async (error: unknown) => {
    await database?.dispose();
    throw error;
  });
  const { keys, merchants } = running.app;
  const foreignKey: TestServer['foreignKey'] = (kind, mode) =>
    running.database.write(async (transaction) => {
      const { id: merchantId } = await merchants.create(transaction, { name: 'Another Shop' });
      return (await keys.create(transaction, { merchantId, kind, mode })).key;
    });
  return {
    ...running,
    bootstrapped: { ...running.bootstrapped, merchantId: running.bootstrapped.merchantId ?? '' },
    publicKey: config.bootstrapPublicKey ?? publicKey,
    secretKey: config.bootstrapSecretKey ?? secretKey,
    databaseUrl,
    api: (method, path, request = {}) =>
      call(running.url, method, path, { key: config.bootstrapSecretKey ?? secretKey, ...request }),
    foreignKey,
    async keysWithoutAccess() {
      const { merchantId = '' } = running.bootstrapped;
      const own = await running.database.write((transaction) =>
        keys.create(transaction, { merchantId, kind: 'secret', mode: 'live' }),
      );
      return [await foreignKey('secret', 'test'), await foreignKey('secret', 'live'), own.key];
    },
    async stop() {
      await running.stop();
      await database?.dispose();
    },
  };
}
