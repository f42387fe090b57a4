/**
 * Runs the built command line in a second process, as an operator does. It cannot run in this one: SQLite blocks the event
 * loop while it waits for a lock, so a server in the same process could never release it. Starting Node for every command
 * would cost half a second each, so one process per test file runs them all; `main.long.test.ts` tests the real program.
 */
import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Outcome } from '../../src/command-line/run.js';

export interface CommandRequest {
  readonly id: number;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface CommandReply {
  readonly id: number;
  readonly outcome: Outcome;
}

const program = fileURLToPath(new URL('command-worker.mjs', import.meta.url));
const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

interface Waiting {
  resolve(outcome: Outcome): void;
  reject(error: Error): void;
}

const waiting = new Map<number, Waiting>();
let nextId = 0;
let worker: Promise<ChildProcess> | undefined;

function startWorker(): Promise<ChildProcess> {
  return new Promise((resolve, reject) => {
    // Without vitest's own options, which would have it load the TypeScript sources.
    const child = fork(program, { env: { PATH: process.env['PATH'] }, execArgv: [] });
    // It ends when this process closes the channel.
    child.unref();
    child.channel?.unref();
    const fail = (error: Error) => {
      worker = undefined;
      reject(error);
      for (const { reject: rejectOne } of waiting.values()) rejectOne(error);
      waiting.clear();
    };
    child.once('error', fail);
    child.once('exit', (code, signal) =>
      fail(new Error(`The command worker ended (${signal ?? code}): was the server built?`)),
    );
    child.once('message', () => {
      child.on('message', ({ id, outcome }: CommandReply) => {
        waiting.get(id)?.resolve(outcome);
        waiting.delete(id);
      });
      resolve(child);
    });
  });
}

/** Runs one command on a database. Commands that are given at the same time run at the same time. */
export async function runCommandLine(
  databaseUrl: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  worker ??= startWorker();
  const child = await worker;
  const id = nextId++;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    const request: CommandRequest = { id, args, env: { DATABASE_URL: databaseUrl, ...env } };
    child.send(request);
  });
}

/**
 * Runs one command in a process of its own, which SIGKILL ends after this long: before, within or after its work, since Node
 * takes half a second to start.
 * @returns its output; undefined if it failed, or was killed before it ended
 */
export async function runKilled(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  killAfterMs: number,
): Promise<string | undefined> {
  const child = spawn(process.execPath, [cli, ...args], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const timer = setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(timer);
  return code === 0 ? output : undefined;
}
