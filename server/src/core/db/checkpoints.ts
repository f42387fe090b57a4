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

/** Between two copies: long enough that a page that changes often is copied once for many commits. */
const intervalMs = 500;
/**
 * Pages in the log from which it is to start again. It can only where all of it is copied, and while others commit, the thread
 * never gets there. So a commit copies the last pages, right after the thread, when they are few.
 */
const usualRestartPages = 8000;

interface Given {
  readonly path: string;
  readonly driver: string;
}

/** By then, the log has about the thousand pages that SQLite leaves in it by default. Many servers, such as those of tests, never get there. */
const commitsBeforeThread = 200;

/**
 * @param copyRest copies what is left of the log, on the connection that commits
 * @param onFailure gets the reason if it stops, or cannot start
 */
export function startCheckpoints(
  path: string,
  copyRest: () => void,
  onFailure: (reason: string) => void,
  restartPages = usualRestartPages,
): Checkpoints {
  let commits = 0;
  let isOver = false;
  let isRestDue = false;
  /** From when it is to copy until it has. */
  let isOrdered = false;
  let copying: Thread | undefined;
  let timer: NodeJS.Timeout | undefined;
  const end = (reason: string) => {
    isOver = true;
    onFailure(reason);
  };
  const onCopied = (pagesInLog: number) => {
    isOrdered = false;
    isRestDue = pagesInLog >= restartPages;
  };
  return {
    changed() {
      commits += 1;
      if (isRestDue) copyRest();
      isRestDue = false;
      if (isOver || isOrdered || commits < commitsBeforeThread) return;
      isOrdered = true;
      timer = setTimeout(() => {
        try {
          copying ??= startThread(path, { onCopied, onFailure: end });
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

interface ThreadEvents {
  onCopied(pagesInLog: number): void;
  onFailure(reason: string): void;
}

function startThread(path: string, { onCopied, onFailure }: ThreadEvents): Thread {
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
  worker.on('message', onCopied);
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
    let pagesInLog = 0;
    try {
      // Others commit meanwhile. Each pass leaves fewer pages than the one before.
      for (let passes = 1; passes <= 3; passes += 1) {
        const [pages] = connection.pragma('wal_checkpoint(passive)') as {
          log: number;
          checkpointed: number;
        }[];
        pagesInLog = pages?.log ?? 0;
        if (pagesInLog - (pages?.checkpointed ?? 0) <= 100) break;
      }
    } catch {
      // The disk may be full. The log grows until there is room, and the commits have noticed it too.
    }
    parentPort.postMessage(pagesInLog);
  });
}
