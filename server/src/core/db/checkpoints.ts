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
 * Pages in the log from which it is to start again. It can only where all of it is copied and nobody reads from it, and while others
 * commit, the thread rarely gets there. So a commit copies the last pages, right after the thread, when they are few.
 */
const usualRestartPages = 8000;
/** At most so many may be left for a commit. More are left while somebody reads an earlier state: then the log just grows. */
const fewPages = 500;
/** Pages in the log from which each commit copies them if there is no thread. SQLite's own default. */
const pagesWithoutThread = 1000;

/** The connection that commits. */
export interface CheckpointConnection {
  /** Copies what is left of the log. */
  checkpoint(): void;
  /** @param pages in the log from which each commit copies them; 0 for never */
  checkpointEvery(pages: number): void;
}

interface Given {
  readonly path: string;
  readonly driver: string;
  readonly restartPages: number;
}

/** After a copy, in pages. */
interface Copied {
  readonly log: number;
  readonly left: number;
}

/** By then, the log has about the thousand pages that SQLite leaves in it by default. Many servers, such as those of tests, never get there. */
const commitsBeforeThread = 200;

/** @param onFailure gets the reason if the thread ends, or cannot start */
export function startCheckpoints(
  path: string,
  connection: CheckpointConnection,
  onFailure: (reason: string) => void,
  restartPages = usualRestartPages,
): Checkpoints {
  let commits = 0;
  let isOver = false;
  let isRestDue = false;
  /** A copy is ordered, and not done yet. */
  let isOrdered = false;
  let isChangedMeanwhile = false;
  let copying: Thread | undefined;
  let timer: NodeJS.Timeout | undefined;
  const end = (reason: string) => {
    if (isOver) return;
    isOver = true;
    connection.checkpointEvery(pagesWithoutThread);
    onFailure(reason);
  };
  const order = () => {
    isOrdered = true;
    isChangedMeanwhile = false;
    timer = setTimeout(() => {
      try {
        if (!copying) {
          copying = startThread({ path, restartPages }, { onCopied, onFailure: end });
          connection.checkpointEvery(0);
        }
        copying.copy();
      } catch (error) {
        // The system allows this process no further thread, as in a container with few.
        end(errorMessage(error));
      }
    }, intervalMs).unref();
  };
  const onCopied = ({ log, left }: Copied) => {
    if (isOver) return;
    isOrdered = false;
    isRestDue = log >= restartPages && left <= fewPages;
    if (isChangedMeanwhile) order();
  };
  return {
    changed() {
      commits += 1;
      if (isOver || commits < commitsBeforeThread) return;
      if (isRestDue) connection.checkpoint();
      isRestDue = false;
      if (isOrdered) isChangedMeanwhile = true;
      else order();
    },
    async close() {
      isOver = true;
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
  onCopied(copied: Copied): void;
  onFailure(reason: string): void;
}

function startThread(given: Omit<Given, 'driver'>, { onCopied, onFailure }: ThreadEvents): Thread {
  const driver = createRequire(import.meta.url).resolve('better-sqlite3');
  const workerData: Given = { ...given, driver };
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
      onFailure('it ended');
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
  const { path, driver, restartPages } = threads.workerData as Given;
  const Sqlite = load(driver) as typeof SqliteDatabase;
  const connection = new Sqlite(path);
  connection.pragma('synchronous = FULL');
  const copy = (): Copied => {
    const [pages] = connection.pragma('wal_checkpoint(passive)') as { log: number; checkpointed: number }[];
    return { log: pages?.log ?? 0, left: (pages?.log ?? 0) - (pages?.checkpointed ?? 0) };
  };
  parentPort?.on('message', (order: 'copy' | 'close') => {
    if (order === 'close') {
      connection.close();
      parentPort.close();
      return;
    }
    let copied: Copied = { log: 0, left: 0 };
    try {
      copied = copy();
      // Others have committed meanwhile. This takes less time, and leaves fewer pages for the commit.
      if (copied.log >= restartPages) copied = copy();
    } catch {
      // The disk may be full. The log grows until there is room, and the commits have noticed it too.
    }
    parentPort.postMessage(copied);
  });
}
