/**
 * Copies SQLite's write-ahead log into the database in a thread of its own. A commit that did so would make every request wait for a
 * thousand pages and two more syncs.
 */
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import type SqliteDatabase from 'better-sqlite3';
import { errorMessage } from '../shared/error-message.js';

export interface Checkpoints {
  /** To be called after commits. */
  changed(): void;
  close(): Promise<void>;
}

/** Long enough that a page that changes often is copied once for many commits. */
const intervalMs = 500;

interface Given {
  readonly path: string;
  readonly driver: string;
}

/** By then, the log has about the thousand pages that SQLite leaves in it by default. Many servers, such as those of tests, never get there. */
const commitsBeforeThread = 200;

/** @param onFailure gets the reason if it stops, or cannot start */
export function startCheckpoints(path: string, onFailure: (reason: string) => void): Checkpoints {
  let commits = 0;
  let isOver = false;
  let copying: Thread | undefined;
  let timer: NodeJS.Timeout | undefined;
  const end = (reason: string) => {
    isOver = true;
    onFailure(reason);
  };
  return {
    changed() {
      commits += 1;
      if (isOver || commits < commitsBeforeThread) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        try {
          copying ??= startThread(path, end);
          copying.copy();
        } catch (error) {
          // The system allows this process no further thread, as in a container with few.
          end(errorMessage(error));
        }
      }, intervalMs).unref();
    },
    async close() {
      clearTimeout(timer);
      await copying?.close();
    },
  };
}

interface Thread {
  copy(): void;
  close(): Promise<void>;
}

function startThread(path: string, onFailure: (reason: string) => void): Thread {
  const driver = createRequire(import.meta.url).resolve('better-sqlite3');
  const workerData: Given = { path, driver };
  // Passed as text: a separate file would have different names in the sources and in the build.
  const worker = new Worker(`(${thread.toString()})(require)`, {
    eval: true,
    workerData,
    execArgv: [],
    resourceLimits: { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 16 },
  });
  let isRunning = true;
  const ended = new Promise<void>((resolve) => {
    worker.once('exit', () => {
      isRunning = false;
      resolve();
    });
  });
  worker.on('error', (error) => onFailure(errorMessage(error)));
  worker.unref();
  return {
    copy() {
      if (isRunning) worker.postMessage('copy');
    },
    async close() {
      if (!isRunning) return;
      worker.ref();
      worker.postMessage('close');
      await ended;
    },
  };
}

/** Runs in the thread, where nothing else of this file exists. */
function thread(load: NodeJS.Require): void {
  const threads = load('node:worker_threads') as typeof import('node:worker_threads');
  const { parentPort } = threads;
  const { path, driver } = threads.workerData as Given;
  const Sqlite = load(driver) as typeof SqliteDatabase;
  const connection = new Sqlite(path);
  connection.pragma('synchronous = FULL');
  parentPort?.on('message', (order: 'copy' | 'close') => {
    if (order === 'close') {
      connection.close();
      parentPort.close();
      return;
    }
    try {
      connection.pragma('wal_checkpoint(passive)');
    } catch {
      // The disk may be full. The log grows until there is room, and the commits have noticed it too.
    }
  });
}
