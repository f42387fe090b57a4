/** The two servers of a test, as processes that can be killed and started again with the same data. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env, execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createMerchantClient, type MerchantClient } from 'crypto-checkout/client';
import { startApiServer, type ApiServer } from '../../../scripts/api-server.mjs';
import { freePort } from '../../../scripts/system.mjs';

const execute = promisify(execFile);
const installed = fileURLToPath(new URL('../node_modules/crypto-checkout-server/dist/', import.meta.url));

export interface ShopKeys {
  readonly publicKey: string;
  readonly secretKey: string;
  readonly webhookSecret: string;
  readonly client: MerchantClient;
}

export interface Checkout extends Pick<ApiServer, 'url' | 'restart'> {
  /** Makes an account whose test webhooks go to `webhookUrl`. */
  account(name: string, webhookUrl: string): Promise<ShopKeys>;
  command(...args: readonly string[]): Promise<string>;
  stop(): Promise<void>;
}

/** The server from its package, on simulated networks that add a block twice a second. */
export async function startCheckout(): Promise<Checkout> {
  const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-vendure-'));
  const databaseUrl = `sqlite:${join(directory, 'data.sqlite')}`;
  const server = await startApiServer({
    main: join(installed, 'main.js'),
    databaseUrl,
    blockIntervalMs: 500,
  });
  const command = async (...args: readonly string[]) =>
    (
      await execute(execPath, [join(installed, 'cli.js'), ...args], {
        cwd: directory,
        env: { ...env, DATABASE_URL: databaseUrl, PUBLIC_URL: server.url },
      })
    ).stdout;
  return {
    url: server.url,
    restart: server.restart,
    command,
    async account(name, webhookUrl) {
      const made: unknown = JSON.parse(
        await command('init', '--name', name, '--webhook-url', webhookUrl, '--json'),
      );
      const { publicKey, secretKey, webhookSecret } = textsOf(made);
      if (!publicKey || !secretKey || !webhookSecret) throw new Error('init printed no keys');
      const client = createMerchantClient({ apiUrl: server.url, secretKey });
      return { publicKey, secretKey, webhookSecret, client };
    },
    async stop() {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** The texts of an object, by their names. */
function textsOf(value: unknown): Record<string, string> {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(Object.entries(value).filter(([, one]) => typeof one === 'string'));
}

export interface ShopProcess {
  readonly url: string;
  /** Kills the process; `meanwhile` runs while it is down. */
  restart(meanwhile?: () => Promise<void>): Promise<void>;
  /** Everything that it has logged. */
  log(): string;
  stop(): Promise<void>;
}

export async function startShop(): Promise<ShopProcess> {
  const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-vendure-shop-'));
  const port = await freePort();
  let log = '';
  let child: ChildProcess;
  const launch = async () => {
    child = spawn(execPath, [fileURLToPath(new URL('shop-server.mjs', import.meta.url))], {
      cwd: directory,
      env: { ...env, PORT: String(port), DATABASE: join(directory, 'shop.sqlite'), NODE_ENV: 'production' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    await new Promise<void>((resolve, reject) => {
      child.stdout?.on('data', (chunk: Buffer) => {
        log += String(chunk);
        if (/^ready$/m.test(log)) resolve();
      });
      child.stderr?.on('data', (chunk: Buffer) => (log += String(chunk)));
      child.once('exit', (code) => reject(new Error(`The shop ended with ${code}\n${log}`)));
    });
  };
  const kill = async (signal: NodeJS.Signals) => {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
  };
  await launch();
  const killOnExit = () => void child.kill('SIGKILL');
  process.once('exit', killOnExit);
  return {
    url: `http://127.0.0.1:${port}`,
    async restart(meanwhile) {
      await kill('SIGKILL');
      await meanwhile?.();
      log = log.replaceAll(/^ready$/gm, '');
      await launch();
    },
    log: () => log,
    async stop() {
      process.removeListener('exit', killOnExit);
      await kill('SIGTERM');
      await rm(directory, { recursive: true, force: true });
    },
  };
}
