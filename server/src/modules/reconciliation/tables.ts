/** The progress of comparing balances with the books, and the differences. */
import { kept } from '../../core/db/data-policy.js';
import type { Rows } from '../../core/db/schema.js';
import { sql } from 'kysely';
import type { Values } from '../../core/db/values.js';
import { bigint, growingTables, table, text, time, units } from '../../core/db/table.js';
import type { Mode } from '../../core/shared/scope.js';

export const reconciliationTables = {
  /** The progress of comparing the balances of a network's addresses with the books. */
  reconciliations: table(kept('of no merchant'), {
    mode: text<Mode>(),
    network: text(),
    /** The block at which open addresses were read last. */
    height: bigint(),
    /** The number of blocks at which no node reported the balances. */
    unread: bigint(),
    /** The round through all addresses: the `sequence` of the last one that was read, and that of the last one there is. */
    position: bigint(),
    last_position: bigint(),
    /** The scanned height when the round began, and when the one before it did. */
    round_height: bigint(),
    former_height: bigint(),
    /** Real time. `finished_at` is the end of the last complete round; null before the first one. */
    started_at: time(),
    finished_at: time().nullable(),
  }).primaryKey('mode', 'network'),

  /** Balances that differ from the books, and amounts that wallets have moved on their own. */
  balance_differences: table(kept('of addresses, which are on the chain'), {
    mode: text<Mode>(),
    network: text(),
    address: text(),
    currency: text(),
    /**
     * seen: once, another look must confirm it; dust: a surplus below the smallest payment; shortage: less than in the
     * books; spent: none, except for coins that the address's wallet has moved on its own.
     */
    state: text<'seen' | 'dust' | 'shortage' | 'spent'>(),
    /** Balance and what left, less what was received. Units of the chain, like all amounts here. */
    difference: units(),
    /** The balance at the first look, and the block and the node that it is of. */
    balance: units(),
    height: bigint(),
    hash: text(),
    node: text(),
    /** Up to this block, the balance was what the books say, as far as is known. */
    above: bigint(),
    /**
     * The amount that the wallet of an extended key moved, and the number of transactions that the address had sent
     * then.
     */
    spent: units(),
    sent: bigint(),
    /** When it was first seen (real time). */
    found_at: time(),
  })
    .primaryKey('mode', 'network', 'address', 'currency')
    .index('state', ['mode', 'network', 'state', 'height'])
    // Without those of the addresses that a wallet of an extended key has emptied, which are as many as its payments.
    .index('told', ['mode', 'network', 'state', 'found_at', 'address'], {
      where: sql`state <> 'spent'`,
      since: growingTables,
    }),
};

declare module '../../core/db/schema.js' {
  interface Schema extends Rows<typeof reconciliationTables> {}
}

type Own = Rows<typeof reconciliationTables>;
export type ReconciliationTable = Own['reconciliations'];
export type BalanceDifferenceRow = Values<typeof reconciliationTables.balance_differences>;
