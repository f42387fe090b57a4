/** Starts real servers: Medusa from npm, and the payment API from its package. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { env, execPath } from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

export const plugin = resolve(__dirname, '../..');
export const shopFolder = join(plugin, 'test/shop');
const server = join(plugin, 'node_modules/crypto-checkout-server/dist');
const medusa = join(plugin, 'node_modules/.bin/medusa');

export type Env = Readonly<Record<string, string>>;

/** A server that can be killed and started again at the same address. */
export interface Running {
  readonly url: string;
  start(more?: Env): Promise<void>;
  /** Sends SIGKILL and waits for the exit. */
  kill(): Promise<void>;
}

const base = { PATH: env['PATH'] ?? '', HOME: env['HOME'] ?? '' };

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('No free port');
  return address.port;
}

/** @param logFile the output of the process, for a look after a failure */
function running(
  url: string,
  health: string,
  logFile: string,
  begin: (more: Env) => string[],
  settings: Env,
  cwd: string,
): Running {
  let child: ChildProcess | undefined;
  return {
    url,
    async start(more = {}) {
      const [command = '', ...args] = begin(more);
      const log = openSync(logFile, 'a');
      const started = spawn(command, args, {
        cwd,
        env: { ...base, ...settings, ...more },
        stdio: ['ignore', log, log],
      });
      child = started;
      for (const deadline = Date.now() + 90_000; ;) {
        if (started.exitCode !== null || Date.now() > deadline)
          throw new Error(`${command} did not start: see ${logFile}`);
        const reply = await fetch(url + health).catch(() => undefined);
        if (reply?.ok) return;
        await delay(100);
      }
    },
    async kill() {
      const ending = child;
      child = undefined;
      if (ending?.exitCode !== null) return;
      ending.kill('SIGKILL');
      await once(ending, 'exit');
    },
  };
}

export function apiProcess(port: number, database: string, folder: string): Running {
  const settings = {
    HOST: '127.0.0.1',
    PORT: String(port),
    RATE_LIMIT: 'off',
    LOG_LEVEL: 'error',
    DEMO: 'off',
    DATABASE_URL: database,
    DATABASE_CREATE: 'on',
  };
  const url = `http://127.0.0.1:${port}`;
  return running(
    url,
    '/readyz',
    join(folder, 'api.log'),
    () => [execPath, join(server, 'main.js')],
    settings,
    folder,
  );
}

export function medusaProcess(port: number, settings: Env, folder: string): Running {
  const url = `http://127.0.0.1:${port}`;
  const begin = () => [execPath, medusa, 'start', '--port', String(port), '--host', '127.0.0.1'];
  return running(
    url,
    '/health',
    join(folder, 'medusa.log'),
    begin,
    { ...medusaEnv, ...settings },
    shopFolder,
  );
}

const medusaEnv = { NODE_ENV: 'production', MEDUSA_DISABLE_TELEMETRY: 'true', LOG_LEVEL: 'warn' };

export async function runMedusa(args: readonly string[], settings: Env): Promise<void> {
  await promisify(execFile)(execPath, [medusa, ...args], {
    cwd: shopFolder,
    env: { ...base, ...medusaEnv, ...settings },
    maxBuffer: 1e8,
  });
}

/** Runs a command of the payment server, on its database. */
export async function command(database: string, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(execPath, [join(server, 'cli.js'), ...args], {
    env: { ...base, DATABASE_URL: database, DATABASE_CREATE: 'on' },
  });
  return stdout;
}
