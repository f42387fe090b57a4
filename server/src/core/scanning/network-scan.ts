/** Scans one network: holds its lease, reads the chain outside of transactions, and writes each step in one. */
import type { Logger } from 'pino';
import type { Clock } from '../shared/clock.js';
import type { Database } from '../db/database.js';
import type { Transaction } from '../db/engine.js';
import type { ChainCursorRow } from '../db/schema.js';
import type { Chain, NetworkRef, TransferId } from '../chains/chain.js';
import { crossCheck, type CrossCheck } from './cross-check.js';
import { createFinality } from './finality.js';
import * as cursors from './cursors.js';
import { readDifference, type Difference } from '../chains/read-chain.js';
import { withBlocks } from './asset-gaps.js';
import { createKeepWaiting } from './kept.js';
import { comparePending } from './pending.js';
import { rescan } from './rescan.js';
import type { PendingTransfers, ScanSink } from './scan.js';

export interface ScannedNetwork {
  readonly chain: Chain;
  readonly confirmations: number;
  readonly intervalMs: number;
  /** A scan that is further behind than this is logged; none if absent. */
  readonly lagLimitMs?: number | undefined;
}

export interface ScanDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly sink: ScanSink;
  readonly log: Logger;
}

/** A difference whose pending transfers are compared with those of the last scan. */
type Compared = Omit<Difference, 'pending'> & { readonly pending: PendingTransfers | undefined };

const blocksAtOnce = 50;
/** Blocks in one step of a scan that is further behind than `farBehind`: writing a step takes time too. */
const manyAtOnce = 500;
const farBehind = 5000;
/** The most steps in a row without progress, as during a reorganisation. The next scan continues. */
const mostStalls = 3;
const checkIntervalMs = 10_000;
/** The longest time that `synced_at` may lag behind while nothing happens: each update is a write. */
const syncIntervalMs = 1000;

export function createNetworkScan(
  network: ScannedNetwork,
  { database, clock, sink, log }: ScanDeps,
  holder: string,
) {
  const { chain } = network;
  const { mode } = chain;
  const ref: NetworkRef = { mode, network: chain.network };
  const finalHeightOf = createFinality(database.reader, ref, (message) => log.warn(ref, message));
  const keptBlocks = Math.max(network.confirmations, 100) * 2;
  const leaseMs = 6000 + 2 * network.intervalMs;
  let known: ChainCursorRow | undefined;
  /** The pending transfers at the last write under this lease, and after them the kept ones; undefined if unknown. */
  let appliedPending: readonly TransferId[] | undefined;
  /** When receipts that wait for a second node are checked again (real time). */
  let checkNotBefore = 0;
  /** True if the last batch left work for the next one. */
  let hasBacklog = false;

  const realNow = () => clock.real();
  const keepWaiting = createKeepWaiting(chain, sink, database.reader, realNow);
  const lease = (): cursors.Lease => ({ ...ref, holder, until: realNow() + leaseMs });

  /** Takes or renews the lease if necessary. Returns the cursor, or undefined if another process scans. */
  async function ensureLease(isUrgent: boolean, signal: AbortSignal): Promise<ChainCursorRow | undefined> {
    const previous = known;
    known = await cursors.readCursor(database.reader, ref);
    // Another process moved it back, such as the command that accepts a deep reorganisation.
    if (previous && known && known.height < previous.height) chain.forgetHead?.();
    // After a failover to a database that lagged, the last write may be lost, and with it the receipts of pending transfers.
    if (previous && (known?.hash !== previous.hash || known.synced_at < previous.synced_at))
      appliedPending = undefined;
    if (!known) {
      const syncedAt = clock.real();
      await cursors.createCursor(database, lease(), await chain.head(signal), syncedAt);
      known = await cursors.readCursor(database.reader, ref);
      if (!known) throw new Error(`The cursor of ${ref.network} was not stored`);
    }
    const isOurs = known.lease_holder === holder;
    if (isOurs && known.lease_until - realNow() > leaseMs / 2) return known;
    // A SQLite file has only one server, so another process that holds the lease has died.
    const force = isUrgent || database.engine === 'sqlite';
    if (!isOurs) {
      appliedPending = undefined;
      if (!force && known.lease_holder !== null && known.lease_until >= realNow()) return undefined;
    }
    const taken = await cursors.takeLease(database, lease(), realNow(), force);
    known = taken ?? known;
    return taken;
  }

  /** Keeps the lease during reads that take longer than it lasts. Returns when it ends. */
  async function renewIfDue(until: number): Promise<number> {
    if (until - realNow() > leaseMs / 2) return until;
    const renewed = lease();
    if (!(await cursors.takeLease(database, renewed, realNow(), false))) throw new cursors.LeaseLost(ref);
    return renewed.until;
  }

  /** @returns undefined if nothing was checked */
  async function checkReceipts(
    cursor: ChainCursorRow,
    { orphanedAbove, head }: Difference,
    finalHeight: number | undefined,
    isUrgent: boolean,
    signal: AbortSignal,
  ): Promise<CrossCheck | undefined> {
    // Reorganised transfers have moved, and nodes that disagree need not be asked again at each block.
    const isDue = isUrgent || realNow() >= checkNotBefore;
    if (!sink.unchecked || !chain.blockOfEach || orphanedAbove !== undefined || !isDue) return undefined;
    const receipts = await sink.unchecked(database.reader, { ...ref, head, finalHeight });
    const found = await crossCheck(chain, receipts, signal);
    checkNotBefore = found.checked.length < receipts.length ? realNow() + checkIntervalMs : 0;
    const { disagreement } = found;
    if (disagreement !== undefined && disagreement !== cursor.disagreement) {
      log.warn(ref, `The nodes disagree: ${disagreement}. Nothing of it is credited until they agree`);
    }
    return found;
  }

  /** Scans one step of blocks. Returns whether there is more to read. */
  async function step(isUrgent: boolean, signal: AbortSignal): Promise<boolean> {
    const cursor = await ensureLease(isUrgent, signal);
    if (!cursor) return false;
    const now = clock.real();
    let heldUntil = cursor.lease_until;
    const isFarBehind = cursor.head_height - cursor.height > farBehind;
    const difference = await readDifference(
      chain,
      {
        last: cursor,
        async scanned() {
          const blocks = await cursors.readScannedBlocks(database.reader, ref);
          const lowest = blocks.at(-1)?.height ?? cursor.height;
          return { blocks, isComplete: lowest <= cursor.first_height };
        },
        async beforeBlock() {
          heldUntil = await renewIfDue(heldUntil);
        },
      },
      isFarBehind ? manyAtOnce : blocksAtOnce,
      signal,
    );
    signal.throwIfAborted();
    const finalHeight = await finalHeightOf(difference);
    const found = await checkReceipts(cursor, difference, finalHeight, isUrgent, signal);
    const compared = difference.pending && comparePending(difference.pending, appliedPending);
    const pending = compared && (await keepWaiting({ ...difference, pending: compared }, isUrgent, signal));
    signal.throwIfAborted();
    await write(cursor, { ...difference, pending }, now, finalHeight, found, isUrgent);
    return difference.pending === undefined || hasBacklog;
  }

  /** @param startedAt when reading began (real time) */
  async function write(
    cursor: ChainCursorRow,
    difference: Compared,
    startedAt: number,
    finalHeight: number | undefined,
    found: CrossCheck | undefined,
    isUrgent: boolean,
  ): Promise<void> {
    const { orphanedAbove, blocks, head, tipHeight, pending } = difference;
    // Another replica may have measured a slightly later time. Neither time ever goes back.
    const syncedAt = pending ? Math.max(startedAt, cursor.synced_at) : cursor.synced_at;
    const readUntil = Math.max(cursor.read_until, readUntilOf(chain, difference, startedAt));
    const checked = found?.checked ?? [];
    const disagreement = found ? (found.disagreement ?? null) : cursor.disagreement;
    const isSyncDue = syncedAt - cursor.synced_at >= (isUrgent ? 1 : syncIntervalMs);
    const nodeLimits = chain.limits?.()?.slice(0, 1000) ?? null;
    const isChanged =
      hasBacklog ||
      orphanedAbove !== undefined ||
      blocks.length > 0 ||
      checked.length > 0 ||
      disagreement !== cursor.disagreement ||
      nodeLimits !== cursor.node_limits ||
      (finalHeight ?? null) !== cursor.final_height ||
      (pending !== undefined && pending.appeared.length + (pending.gone?.length ?? 1) > 0) ||
      (isSyncDue && (await sink.hasDue(database.reader, ref)));
    if (!isChanged && !isSyncDue && cursor.problem === null) return;

    const kept = lease();
    const overdueMs = chain.overdueMs?.() ?? 0;
    const gaps = withBlocks(cursor, blocks, syncedAt);
    const move: cursors.CursorMove = {
      height: head.height,
      hash: head.hash,
      head_height: tipHeight,
      gaps,
      synced_at: syncedAt,
      read_until: readUntil,
      final_height: finalHeight ?? null,
      disagreement,
      overdue_since: overdueMs > 0 ? realNow() - overdueMs : null,
      node_limits: nodeLimits,
    };
    const apply = async (transaction: Transaction) => {
      await cursors.moveCursor(transaction, kept, move);
      if (!isChanged) return 'complete';
      const forgetUpTo = head.height - keptBlocks;
      await cursors.writeScannedBlocks(transaction, ref, orphanedAbove, blocks, forgetUpTo);
      return sink.apply(transaction, {
        ...ref,
        orphanedAbove,
        blocks,
        checked,
        pending,
        head,
        finalHeight,
        readBefore: orphanedAbove === undefined ? cursor.read_until : 0,
        syncedBefore: cursor.synced_at,
      });
    };
    // Until the write returns, its outcome is unknown: the answer can be lost after the commit.
    appliedPending = undefined;
    const outcome = await database.write(
      apply,
      hasBacklog || blocks.length > 0 || orphanedAbove !== undefined,
    );
    hasBacklog = outcome === 'more';
    appliedPending = pending?.kept ? [...pending.transfers, ...pending.kept] : pending?.transfers;
    known = { ...cursor, ...move, problem: null, is_wrong_chain: false, lease_until: kept.until };
  }

  /**
   * Reads a part of the blocks that were read without an asset that is back: so few that new blocks do not wait for it.
   */
  async function fillGap(signal: AbortSignal): Promise<void> {
    const gap = known?.gaps.find(({ to }) => to !== undefined);
    if (gap?.to === undefined || known?.lease_holder !== holder) return;
    const to = Math.min(gap.to, gap.from + blocksAtOnce - 1);
    await rescan({ database, chain, sink, from: gap.from, to, signal });
    known = await cursors.readCursor(database.reader, ref);
  }

  return {
    /**
     * Reads up to the chain's head. Calls must not overlap.
     * @param isUrgent takes the lease from another process, and stores the time of the scan even if nothing is new
     * @throws LeaseLost if another process took the lease meanwhile; that process's writes remain
     */
    async run(isUrgent: boolean, signal: AbortSignal): Promise<void> {
      const catchUp = watchCatchUp(log, ref);
      // Nodes on two branches can make it switch back and forth indefinitely.
      for (let more = true, stalls = 0; more && stalls < mostStalls;) {
        signal.throwIfAborted();
        const before = known?.height ?? -1;
        more = await step(isUrgent, signal);
        stalls = hasBacklog || (known?.height ?? -1) > before ? 0 : stalls + 1;
        if (known) catchUp(known);
      }
      await fillGap(signal);
    },
    /**
     * Releases the lease, so that another process can scan.
     * @param failure why the last scan failed; undefined if it did not
     */
    async release(failure?: cursors.ScanFailure): Promise<void> {
      await cursors.releaseLease(database, ref, holder, failure);
      if (known) known = { ...known, ...failure };
    },
    /** The cursor as this process last saw it. */
    cursor: (): ChainCursorRow | undefined => known,
  };
}

/**
 * Up to when the blocks show that none is missing, by real time. Nothing is earlier than the block before it: networks whose
 * miners may set a block's time back still cannot set it before that.
 * @param startedAt when reading began
 */
function readUntilOf(chain: Chain, { blocks, pending }: Compared, startedAt: number): number {
  if (pending && chain.isMadeHere?.()) return startedAt;
  // Another block can have the same time. And one whose miner's clock is ahead says nothing about the future.
  return Math.max(0, ...blocks.map(({ time }) => Math.min(time, startedAt) - 1));
}

const manyBlocks = 500;
const reportEveryMs = 10_000;

/**
 * Logs the progress of a scan that had many blocks left after its first step: every ten seconds, and when it has read
 * them.
 */
function watchCatchUp(log: Logger, ref: NetworkRef): (cursor: ChainCursorRow) => void {
  let first: { readonly height: number; readonly at: number } | undefined;
  let reportedAt = 0;
  return ({ height, head_height: headHeight }) => {
    const now = performance.now();
    const left = Math.max(0, headHeight - height);
    if (!first && left < manyBlocks) return;
    const isFirst = !first;
    first ??= { height, at: now };
    if (!isFirst && left > 0 && now - reportedAt < reportEveryMs) return;
    reportedAt = now;
    const seconds = (now - first.at) / 1000;
    const blocksPerSecond = isFirst ? 0 : Math.round((height - first.height) / seconds);
    const message = left > 0 ? 'Reading missed blocks' : 'Read all missed blocks';
    log.info({ ...ref, left, height, blocksPerSecond }, message);
    if (left === 0) first = undefined;
  };
}
