/** The heights that each network was scanned to, and the simulated networks. */
import { sql } from 'kysely';
import * as z from 'zod/mini';
import type { Mode } from '../../shared/scope.js';
import { type DataPolicy, kept } from '../data-policy.js';
import { bigint, flag, json, table, text, time, units } from '../table.js';

const assetGap = z.object({
  currency: z.string(),
  /** The first block that was read without it. */
  from: z.number(),
  /** The last one; absent while it is off. */
  to: z.exactOptional(z.number()),
  /** Since when (real time). */
  since: z.number(),
});

/** Wiped before all others, so that no scan finds them again. */
const sentTransfers: DataPolicy = {
  wiped: { rows: (merchantId) => [sql`merchant_id = ${merchantId}`], reads: [], isFirst: true },
};

export const chainTables = {
  /** The height that a network was scanned to. */
  chain_cursors: table(kept('of no merchant'), {
    mode: text<Mode>(),
    network: text(),
    height: bigint(),
    hash: text(),
    /** The height of the chain's newest block at the last scan. The scan is that many blocks behind, less `height`. */
    head_height: bigint(),
    /** The lowest block that was ever read. Nothing is known about those below it. */
    first_height: bigint(),
    /** Real time. Everything that was on the chain or pending at this time has been read. */
    synced_at: time(),
    /**
     * Every block that is timed up to then has been read: a later one is timed later. It follows from the times of the blocks,
     * not from a clock, because a node can be behind without a sign of it. Never goes back.
     */
    read_until: time(),
    /** Blocks up to this height are final, as far as is known now: a node said so twice, of a block that was read. */
    final_height: bigint().nullable(),
    /** Since when the chain's next block has been overdue, in real time; null if it is not. */
    overdue_since: time().nullable(),
    /** Blocks that were read without an asset. */
    gaps: json(z.readonly(z.array(assetGap))),
    /**
     * The contradictions between nodes about receipts, which do not count until these are resolved; null if there are
     * none.
     */
    disagreement: text().nullable(),
    /** Why the last scan failed; null if it did not. */
    problem: text().nullable(),
    /** Requests that nodes refuse, in their own words, although the scan proceeds; null if there are none. */
    node_limits: text().nullable(),
    /** 1 if the last scan failed because a node is on another chain. Nothing is offered until it is back. */
    is_wrong_chain: flag(),
    /** The process that scans, and when its lease ends (real time). */
    lease_holder: text().nullable(),
    lease_until: time(),
  }).primaryKey('mode', 'network'),

  /** The last scanned blocks of a network, to find the fork point after a chain reorganisation. */
  scanned_blocks: table(kept('of no merchant'), {
    mode: text<Mode>(),
    network: text(),
    height: bigint(),
    hash: text(),
  }).primaryKey('mode', 'network', 'height'),

  simulated_blocks: table(kept('of no merchant'), {
    network: text(),
    height: bigint(),
    hash: text(),
    parent_hash: text(),
    time: time(),
  }).primaryKey('network', 'height'),

  simulated_transfers: table(sentTransfers, {
    tx_hash: text().primaryKey(),
    /** The merchant whose reorg may drop it; null if nobody's may: it is between two merchants. */
    merchant_id: text().nullable(),
    network: text(),
    currency: text(),
    sender: text(),
    address: text(),
    amount: units(),
    sent_at: time(),
    /** Null while it is pending. */
    block_height: bigint().nullable(),
  }).index('block', ['network', 'block_height', 'sent_at']),
};
