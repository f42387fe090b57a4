/** The built server as a process of its own, to be killed or stopped. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export interface ServerProcess {
  readonly url: string;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** SIGTERM; resolves to its exit code, or null where a signal ended it. */
  stop(): Promise<number | null>;
}

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/**
 * Starts it on a port of its own choice; resolves once it answers `/readyz`.
 * @param env `DATABASE_URL` and the bootstrap keys at least
 */
export async function startProcess(env: Readonly<Record<string, string>>): Promise<ServerProcess> {
  const child = spawn(process.execPath, [main], {
    env: {
      PATH: process.env['PATH'],
      HOST: '127.0.0.1',
      PORT: '0',
      RATE_LIMIT: 'off',
      LOG_LEVEL: 'error',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    return (await exited)[0];
  };
  const late = setTimeout(() => child.kill('SIGKILL'), 30_000);
  const url = await readUrl(child.stdout);
  for (;;) {
    if (!url || child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`The server did not get ready (exit code ${(await exited)[0]}): was it built?`);
    }
    const ready = await fetch(`${url}/readyz`).catch(() => undefined);
    if (ready?.ok) break;
    await delay(20);
  }
  clearTimeout(late);
  return {
    url,
    async kill() {
      await end('SIGKILL');
    },
    stop: () => end('SIGTERM'),
  };
}

/** Where it says that it listens; undefined where it ends without saying so. */
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
    // What it writes later is not read, and must not hold it up.
    output.resume();
  }
}
