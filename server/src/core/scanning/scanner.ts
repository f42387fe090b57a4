/** Scans all networks, each in its own loop, so that a failing one does not delay the others. */
import { setTimeout as delay } from 'node:timers/promises';
import { errorMessage } from '../shared/error-message.js';
import type { NewId } from '../shared/ids.js';
import type { NetworkRef } from '../chains/chain.js';
import { createScanStatuses, keyOf, type NetworkStatus, type ScanStatuses } from './scan-statuses.js';
import { lagOf, LeaseLost } from './cursors.js';
import { ChainBehind } from '../chains/read-chain.js';
import { NodesUnavailable } from '../chains/nodes-unavailable.js';
import { createNetworkScan, type ScanDeps, type ScannedNetwork } from './network-scan.js';

export interface ScannerOptions extends ScanDeps {
  readonly networks: readonly ScannedNetwork[];
  /** Defaults to statuses of its own. */
  readonly statuses?: ScanStatuses;
  readonly newId: NewId;
}

export type Scanner = ReturnType<typeof createScanner>;

const longestPauseMs = 30_000;
/** A node that lags catches up within seconds. One that stays behind for longer may never do so. */
const stuckMs = 5 * 60_000;
/** The number of attempts of an urgent scan if urgent scans of other processes take its lease. */
const urgentAttempts = 20;

export function createScanner({ networks, newId, statuses = createScanStatuses(), ...deps }: ScannerOptions) {
  const { clock, log } = deps;
  const holder = newId();
  const loops = new Map(networks.map((network) => [keyOf(network.chain), createLoop(network)]));
  for (const [key, loop] of loops) statuses.add(key, loop.status);

  function createLoop(network: ScannedNetwork) {
    const { mode, network: code } = network.chain;
    const scan = createNetworkScan(network, deps, holder);
    // One per network: on a shared signal, Node would warn about too many listeners.
    const stopping = new AbortController();
    const { signal } = stopping;
    let isFailing = false;
    /** Scans in a row that failed and read no block. */
    let failures = 0;
    let problem: string | undefined;
    /** Since when the nodes have had fewer blocks than were read, in real time. */
    let behindSince: number | undefined;
    let isStuck = false;
    let wasLate = false;
    let running: Promise<void> = Promise.resolve();
    /** The scan that begins when the running one has ended. Callers until then share it. */
    let next: { isUrgent: boolean; readonly done: Promise<void> } | undefined;
    let loop: Promise<void> | undefined;

    function request(isUrgent: boolean): Promise<void> {
      if (next) {
        next.isUrgent ||= isUrgent;
        return next.done;
      }
      const queued = {
        isUrgent,
        done: running.then(() => {
          next = undefined;
          const done = attempt(queued.isUrgent);
          running = done.catch(() => {});
          return done;
        }),
      };
      next = queued;
      return queued.done;
    }

    async function attempt(isUrgent: boolean): Promise<void> {
      const before = scan.cursor()?.height;
      try {
        await runUnlessLost(isUrgent);
        if (isFailing) log.info({ mode, network: code }, 'Scanning works again');
        isFailing = false;
        failures = 0;
        problem = undefined;
        behindSince = undefined;
        isStuck = false;
      } catch (error) {
        if (signal.aborted) throw error;
        problem = error instanceof ChainBehind ? describeBehind(error) : undefined;
        failures = scan.cursor()?.height === before ? failures + 1 : 0;
        if (!isFailing) log.warn({ err: error, mode, network: code }, 'Scanning failed; retrying');
        isFailing = true;
        // Another process may reach the network's node when this one does not.
        await scan
          .release({
            problem: (problem ?? errorMessage(error)).slice(0, 1000),
            is_wrong_chain: error instanceof NodesUnavailable && error.isAny('wrong-network'),
          })
          .catch(() => {});
        throw error;
      }
    }

    /** The remedy is logged only if the node stays behind: it would do harm while a node only lags. */
    function describeBehind({ message, remedy }: ChainBehind): string {
      const now = clock.real();
      behindSince ??= now;
      if (now - behindSince < stuckMs) return message;
      const whole = `${message}. This has lasted for more than ${stuckMs / 60_000} minutes. ${remedy}`;
      if (!isStuck) log.error({ mode, network: code, problem: whole }, 'Scanning is stuck');
      isStuck = true;
      return whole;
    }

    async function runUnlessLost(isUrgent: boolean): Promise<void> {
      for (let attempts = 1; ; attempts += 1) {
        try {
          return await scan.run(isUrgent, signal);
        } catch (error) {
          if (!(error instanceof LeaseLost)) throw error;
          if (!isUrgent) return;
          if (attempts === urgentAttempts) throw error;
          await delay(Math.random() * 20 * attempts, undefined, { signal });
        }
      }
    }

    function lagMs(): number | undefined {
      const cursor = scan.cursor();
      if (!cursor) return undefined;
      // Not by the last answers of this process's own nodes: only the one that scans asks them again.
      return lagOf(cursor, clock.real());
    }

    function logLag(): void {
      const lag = lagMs() ?? 0;
      const isLate = lag > (network.lagLimitMs ?? Infinity);
      if (isLate === wasLate) return;
      wasLate = isLate;
      if (!isLate) log.info({ mode, network: code }, 'The network is read up to now again');
      else {
        log.warn(
          { mode, network: code, lagSeconds: Math.round(lag / 1000) },
          'The network is not read up to now. It is not offered, and payments whose deadline has passed stay open until a block timed after it is read',
        );
      }
    }

    async function run(): Promise<void> {
      while (!signal.aborted) {
        // `attempt` has logged the error.
        await request(false)
          .then(logLag, logLag)
          .catch(() => {});
        const pause = Math.min(network.intervalMs * 2 ** Math.min(failures, 10), longestPauseMs);
        await delay(pause, undefined, { signal }).catch(() => {});
      }
    }

    return {
      request,
      start() {
        loop ??= run();
      },
      async stop() {
        stopping.abort(new Error('The scanner was stopped'));
        await loop;
        await next?.done.catch(() => {});
        await running;
        await scan
          .release()
          .catch((error: unknown) =>
            log.warn(
              { err: error, mode, network: code },
              'A lease could not be released; it expires automatically',
            ),
          );
      },
      status(): NetworkStatus {
        const cursor = scan.cursor();
        return {
          mode,
          network: code,
          height: cursor?.height,
          headHeight: cursor?.head_height,
          lagMs: lagMs(),
          isWrongChain: cursor?.is_wrong_chain === true,
          gaps: cursor?.gaps ?? [],
          isFailing,
          disagreement: cursor?.disagreement ?? undefined,
          problem,
        };
      },
    };
  }

  return {
    start(): void {
      for (const loop of loops.values()) loop.start();
    },
    /** Resolves when a scan that began after the call has finished. Rejects if it fails. */
    async scanNow(network: NetworkRef): Promise<void> {
      const loop = loops.get(keyOf(network));
      if (!loop) throw new Error(`The ${network.mode} network ${network.network} is not scanned`);
      await loop.request(true);
    },
    /** Aborts running scans, waits until they have ended, and releases the leases. */
    async stop(): Promise<void> {
      await Promise.all([...loops.values()].map((loop) => loop.stop()));
    },
    status: statuses.all,
  };
}
