/** Runs the built server as a separate process, for tests that stop or kill it. */
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { TestEngine } from './engines.js';

export interface ServerProcess {
  readonly url: string;
  /** Sends SIGKILL and waits for the exit. */
  kill(): Promise<void>;
  /** Sends SIGTERM and waits for the exit. @returns the exit code; null if a signal ended the process */
  stop(): Promise<number | null>;
  /** Halts the process, as a hypervisor does that moves or pauses its machine: nothing in it notices. */
  freeze(): void;
  thaw(): void;
}

/** In a soak a server may start as slowly as it does during much other work. */
const startMs = process.env['SOAK'] ? 300_000 : 150_000;

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
/** Both as in the Dockerfile and docs/deployment.md. */
const flags = ['--max-semi-space-size=4'];
const allocation = { MALLOC_ARENA_MAX: '1' };

/**
 * Starts the server on a free port and waits until `/readyz` reports it ready.
 * @param env at least `DATABASE_URL` and the bootstrap keys
 * @param node another Node.js to run it with
 */
export async function startProcess(
  env: Readonly<Record<string, string>>,
  node = process.execPath,
): Promise<ServerProcess> {
  const child = spawn(node, [...flags, main], {
    env: {
      PATH: process.env['PATH'],
      HOST: '127.0.0.1',
      PORT: '0',
      RATE_LIMIT: 'off',
      LOG_LEVEL: 'error',
      DATABASE_CREATE: 'on',
      ...allocation,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    return (await exited)[0];
  };
  const timeout = setTimeout(() => child.kill('SIGKILL'), startMs);
  const url = await readUrl(child.stdout);
  for (let last = ''; ;) {
    if (!url || child.exitCode !== null || child.signalCode !== null) {
      throw new Error(
        `The server did not become ready (exit code ${(await exited)[0]}, last said: ${last}). Run "npm run build" first`,
      );
    }
    const ready = await fetch(`${url}/readyz`).catch((error: unknown) => String(error));
    if (typeof ready !== 'string' && ready.ok) break;
    last = typeof ready === 'string' ? ready : await ready.text().catch(String);
    await delay(20);
  }
  clearTimeout(timeout);
  return {
    url,
    async kill() {
      await end('SIGKILL');
    },
    stop: () => end('SIGTERM'),
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
  };
}

/** Reads the URL from the server's output; undefined if the server exits without printing it. */
async function readUrl(output: NodeJS.ReadableStream): Promise<string | undefined> {
  const lines = createInterface({ input: output });
  try {
    for await (const line of lines) {
      const url = /listens on (http\S+)/.exec(line)?.[1];
      if (url !== undefined) return url;
    }
    return undefined;
  } finally {
    lines.close();
    // Discard later output: an unread pipe would block the server.
    output.resume();
  }
}

/** The servers of one database: one on SQLite, two on PostgreSQL. */
export interface Servers {
  /** The address of one that is running. */
  readonly url: string;
  /** Kills one of them at random, and starts it again. */
  restartOne(): Promise<void>;
  kill(): Promise<void>;
  /** @returns their exit codes */
  stop(): Promise<(number | null)[]>;
}

export async function startServers(
  engine: TestEngine['name'],
  env: Readonly<Record<string, string>>,
): Promise<Servers> {
  const running = [await startProcess(env)];
  if (engine === 'PostgreSQL') running.push(await startProcess(env));
  return {
    get url() {
      return running[0]?.url ?? '';
    },
    async restartOne() {
      const index = randomInt(running.length);
      const [killed] = running.splice(index, 1);
      await killed?.kill();
      running.push(await startProcess(env));
    },
    async kill() {
      for (const server of running) await server.kill();
    },
    stop: () => Promise.all(running.map((server) => server.stop())),
  };
}
