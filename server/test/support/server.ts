/** The whole server in this process, on a database of its own, with one account and both kinds of keys. */
import { randomBytes } from 'node:crypto';
import { pino, type Logger } from 'pino';
import type { Overrides } from '../../src/app.js';
import { startServer as start, type RunningServer } from '../../src/server.js';
import { readConfig } from '../../src/config.js';
import type { TestEngine } from './engines.js';
import { call, type Answer, type CallOptions } from './call.js';
import type { Mode, Caller } from '../../src/shared/scope.js';

export interface TestServer extends RunningServer {
  /** Test keys of the first account. */
  readonly publicKey: string;
  readonly secretKey: string;
  /** Where its data is; it outlives `stop` where the database was given. */
  readonly databaseUrl: string;
  /** A request with the secret key, if no other is given. */
  api(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** A key of a new account. */
  foreignKey(kind: Caller['kind'], mode: Mode): Promise<string>;
  /** Stops it, and removes its database if that was made for it. */
  stop(): Promise<void>;
}

export interface TestServerOptions {
  /** Makes a database that `stop` removes. */
  readonly engine: TestEngine;
  /** A database in place of a new one, which stays. */
  readonly databaseUrl?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly overrides?: Overrides;
  readonly log?: Logger;
}

const randomKey = (start: string) => start + randomBytes(32).toString('base64url');

/** Blocks come only by the sandbox and nothing is limited, unless `env` says otherwise. */
export async function startServer(options: TestServerOptions): Promise<TestServer> {
  const database = options.databaseUrl === undefined ? await options.engine.create() : undefined;
  const databaseUrl = options.databaseUrl ?? database?.url ?? '';
  const publicKey = randomKey('pk_test_');
  const secretKey = randomKey('sk_test_');
  const config = readConfig({
    PORT: '0',
    DATABASE_URL: databaseUrl,
    BOOTSTRAP_PUBLIC_KEY: publicKey,
    BOOTSTRAP_SECRET_KEY: secretKey,
    BLOCK_INTERVAL_MS: '0',
    RATE_LIMIT: 'off',
    ...options.env,
  });
  const log = options.log ?? pino({ level: 'error' }, pino.destination({ fd: 2, sync: true }));
  const running = await start(config, log, options.overrides).catch(async (error: unknown) => {
    await database?.dispose();
    throw error;
  });
  const { keys, merchants } = running.app;
  return {
    ...running,
    publicKey: config.bootstrapPublicKey ?? publicKey,
    secretKey: config.bootstrapSecretKey ?? secretKey,
    databaseUrl,
    api: (method, path, request = {}) =>
      call(running.url, method, path, { key: config.bootstrapSecretKey ?? secretKey, ...request }),
    foreignKey: (kind, mode) =>
      running.database.write(async (transaction) => {
        const { id: merchantId } = await merchants.create(transaction, { name: 'Another Shop' });
        return (await keys.create(transaction, { merchantId, kind, mode })).key;
      }),
    async stop() {
      await running.stop();
      await database?.dispose();
    },
  };
}
