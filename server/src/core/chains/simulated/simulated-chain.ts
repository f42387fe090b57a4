/** Test mode's chains: they live in the database, behind the same interface as real ones. */
import { createHash, randomBytes } from 'node:crypto';
import { sql, type ExpressionBuilder } from 'kysely';
import type { Clock } from '../../shared/clock.js';
import type { Job } from '../../shared/feature.js';
import type { Database } from '../../db/database.js';
import { chunksOf, inChunks } from '../../db/chunks.js';
import { forUpdate } from '../../db/locks.js';
import { prepared, preparedSend } from '../../db/prepared.js';
import {
  tables,
  type Schema,
  type SimulatedBlockTable,
  type SimulatedTransferTable,
} from '../../db/schema.js';
import { valuesOf } from '../../db/values.js';
import { addressFormat } from '../../addresses/formats.js';
import { isEvm } from '../../families/kinds.js';
import type { Family, Network } from '../networks.js';
import type { Chain, ChainHead, ChainTransfer, NetworkRef } from '../chain.js';
import { merchantOf } from '../../addresses/owners.js';
import type { Transaction, Reader } from '../../db/engine.js';

const transferRows = valuesOf(tables.simulated_transfers);

type OfNetwork = Pick<SimulatedBlockTable, 'network'>;

export interface SimulatedTransfer {
  /** The merchant that it goes to, or whose transfer it pays. */
  readonly merchantId: string;
  readonly network: string;
  readonly currency: string;
  /** Valid, in canonical form. */
  readonly address: string;
  /** In the smallest unit of the currency. */
  readonly amount: bigint;
}

export interface Reorg {
  readonly merchantId: string;
  readonly network: string;
  /** The number of blocks to replace. */
  readonly depth: number;
  readonly keep: boolean;
  /** Limits it to transfers to this address, in canonical form. */
  readonly address?: string | undefined;
}

export type SimulatedChains = ReturnType<typeof createSimulatedChains>;

export interface SimulatedChainsOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly networks: readonly Network[];
  /** Time between blocks, in milliseconds; 0 if only the sandbox adds them. */
  readonly blockIntervalMs: number;
}

/** Empty blocks below the last 1200 are deleted. One call of the sandbox can add 100 blocks, or reorganise 100. */
const keptBlocks = 1200;

export function createSimulatedChains(options: SimulatedChainsOptions) {
  const { database, clock, networks, blockIntervalMs } = options;
  const families = new Map(networks.map(({ code, family }) => [code, family]));
  const familyOf = (network: string): Family => {
    const family = families.get(network);
    if (!family) throw new Error(`The network ${network} is not simulated`);
    return family;
  };
  const newHash = (network: string) => hexOf(familyOf(network), randomBytes(32));

  /** Adds blocks that follow `parent`. @returns the last one */
  async function addBlocks(
    transaction: Transaction,
    parent: SimulatedBlockTable,
    count: number,
  ): Promise<SimulatedBlockTable> {
    const { network } = parent;
    const blocks: SimulatedBlockTable[] = [];
    const time = Math.max(parent.time, clock.real());
    let last = parent;
    for (let made = 0; made < count; made += 1) {
      const { height, hash } = last;
      last = { network, height: height + 1, hash: newHash(network), parent_hash: hash, time };
      blocks.push(last);
    }
    for (const chunk of chunksOf(blocks)) {
      await transaction.insertInto('simulated_blocks').values(chunk).execute();
    }
    return last;
  }

  async function extend(
    transaction: Transaction,
    head: SimulatedBlockTable,
    count: number,
  ): Promise<ChainHead> {
    const { network } = head;
    const last = await addBlocks(transaction, head, count);
    await transaction
      .updateTable('simulated_transfers')
      .set({ block_height: head.height + 1 })
      .where((e) => e.and({ network, block_height: null }))
      .execute();
    await prune(transaction, network, head.height - keptBlocks, head.height + count - keptBlocks);
    return toHead(last);
  }

  const addressOf = (network: string, bytes: Uint8Array) =>
    addressFormat('test', familyOf(network)).write(bytes.subarray(0, 20));
  /** The wallet that pays transfers. */
  const walletOf = (network: string) => addressOf(network, sha256(`withdrawals from ${network}`));

  async function insert(
    transaction: Transaction,
    { network, currency, address, amount }: SimulatedTransfer,
    of: Pick<SimulatedTransferTable, 'tx_hash' | 'merchant_id' | 'sender'>,
  ): Promise<void> {
    const row = { ...of, network, currency, address, amount: amount.toString(), sent_at: clock.real() };
    await insertTransfer(transaction, { ...row, block_height: null });
  }

  /** Adds a block to every network whose last one is at least as old as the interval, in one transaction. */
  const mineDue = (): Promise<void> =>
    database.write(async (transaction) => {
      await lock(
        transaction,
        networks.map(({ code }) => code),
      );
      // Replicas wake up at different times, and a timer can fire a little early. So 90 % of the interval is enough.
      const now = clock.real();
      const due = now - blockIntervalMs * 0.9;
      for (const { code } of networks) {
        const head = await lastBlock(transaction, code);
        // A machine's clock that was ahead and is right again must not stop the blocks for as long.
        const isAhead = head.time > now + blockIntervalMs;
        if (head.time <= due || isAhead) await extend(transaction, head, 1);
      }
    });

  return {
    chains: networks.map(({ code, family }) => simulatedChain(options, code, family)),

    /** The transfers of a transaction; undefined if there is none. @param txHash lower case, without 0x */
    async findTransfers({ network }: NetworkRef, txHash: string): Promise<ChainTransfer[] | undefined> {
      const rows = await database.reader
        .selectFrom('simulated_transfers')
        .selectAll()
        .where('network', '=', network)
        .where('tx_hash', 'in', [txHash, `0x${txHash}`])
        .execute();
      return rows.length === 0 ? undefined : rows.map(toTransfer);
    },

    /** Creates the first block of each network if it is missing. Nothing else works before that. */
    async prepare(): Promise<void> {
      await database.write((transaction) =>
        transaction
          .insertInto('simulated_blocks')
          .values(
            networks.map(({ code, family }) => ({
              network: code,
              height: 0,
              hash: newHash(code),
              parent_hash: hexOf(family, new Uint8Array(32)),
              time: clock.real(),
            })),
          )
          .onConflict((conflict) => conflict.doNothing())
          .execute(),
      );
    },

    /**
     * Sends funds out of nowhere. They are pending until the next block. Only the merchant's own reorgs can drop them.
     * Returns the transaction's hash.
     */
    async send(transaction: Transaction, transfer: SimulatedTransfer): Promise<string> {
      const { merchantId, network } = transfer;
      const hash = randomBytes(32);
      const txHash = hexOf(familyOf(network), hash);
      const sender = addressOf(network, sha256(hash));
      await insert(transaction, transfer, { tx_hash: txHash, merchant_id: merchantId, sender });
      return txHash;
    },

    /** Pays a merchant's transfer from the network's one wallet. Returns the transaction's hash, also if it is refused. */
    async pay(transaction: Transaction, transfer: SimulatedTransfer): Promise<string> {
      const { merchantId, network, address } = transfer;
      const txHash = newHash(network);
      // Token contracts refuse the zero address, and so do the simulated networks: it is a way to see a transfer fail.
      if (address === addressOf(network, new Uint8Array(20))) return txHash;
      const receiver = await merchantOf(transaction, 'test', address);
      await insert(transaction, transfer, {
        tx_hash: txHash,
        // The payer's reorgs must not undo receipts of another merchant.
        merchant_id: receiver === undefined || receiver === merchantId ? merchantId : null,
        sender: walletOf(network),
      });
      return txHash;
    },

    /** Confirmations by hash, 0 while a transaction waits for a block. Refused transactions are absent. */
    async confirmations(txHashes: readonly string[]): Promise<ReadonlyMap<string, number>> {
      // One statement, so that the heads and the transfers are read at the same moment.
      const rows = await inChunks(txHashes, (chunk) =>
        database.reader
          .selectFrom('simulated_transfers')
          .select((e) => [
            'tx_hash',
            'block_height',
            e
              .selectFrom('simulated_blocks')
              .select((of) => of.fn.max('height').as('height'))
              .whereRef('simulated_blocks.network', '=', 'simulated_transfers.network')
              .as('head'),
          ])
          .where('tx_hash', 'in', chunk)
          .execute(),
      );
      return new Map(
        rows.map(({ tx_hash: hash, block_height: block, head }) => [
          hash,
          block === null || head === null ? 0 : head - block + 1,
        ]),
      );
    },

    /** Adds blocks; the first contains all pending transfers. Returns the new head. */
    async mine(transaction: Transaction, network: string, count: number): Promise<ChainHead> {
      await lock(transaction, [network]);
      return extend(transaction, await lastBlock(transaction, network), count);
    },

    /**
     * Replaces the last `depth` blocks, but never the first block. The merchant's own transfers in them become pending
     * again (`keep`), or are gone; the network's wallet sends what it has paid again. Those of other merchants are in the new
     * blocks, at the same heights. Returns the new head.
     */
    async reorg(
      transaction: Transaction,
      { merchantId, network, depth, keep, address }: Reorg,
    ): Promise<ChainHead> {
      await lock(transaction, [network]);
      const head = await lastBlock(transaction, network);
      const replaced = Math.min(depth, head.height);
      if (replaced === 0) return toHead(head);
      const base = head.height - replaced;
      const parent = await transaction
        .selectFrom('simulated_blocks')
        .selectAll()
        .where((e) => e.and({ network, height: base }))
        .executeTakeFirstOrThrow();
      await transaction
        .deleteFrom('simulated_blocks')
        .where('network', '=', network)
        .where('height', '>', base)
        .execute();
      const isDropped = (e: ExpressionBuilder<Schema, 'simulated_transfers'>) =>
        e.and([
          e('network', '=', network),
          e('block_height', '>', base),
          e('merchant_id', '=', merchantId),
          ...(address === undefined ? [] : [e('address', '=', address)]),
        ]);
      const sendAgain = transaction
        .updateTable('simulated_transfers')
        .set({ block_height: null })
        .where(isDropped);
      await (keep ? sendAgain : sendAgain.where('sender', '=', walletOf(network))).execute();
      if (!keep) await transaction.deleteFrom('simulated_transfers').where(isDropped).execute();
      return toHead(await addBlocks(transaction, parent, replaced));
    },

    mineDue,
    jobs: (): readonly Job[] =>
      blockIntervalMs > 0 ? [{ name: 'simulated blocks', intervalMs: blockIntervalMs, run: mineDue }] : [],
  };
}

/** Lets one transaction at a time change a network. The lock is the row of its first block, which always exists. */
async function lock(transaction: Transaction, networks: readonly string[]): Promise<void> {
  await transaction
    .selectFrom('simulated_blocks')
    .select('network')
    .where('network', 'in', networks)
    .where('height', '=', 0)
    .orderBy('network')
    .$call(forUpdate(transaction))
    .execute();
}

const findLastBlock = prepared((reader, { network }: OfNetwork) =>
  reader
    .selectFrom('simulated_blocks')
    .selectAll()
    .where('network', '=', network)
    .orderBy('height', 'desc')
    .limit(sql.lit(1)),
);

async function lastBlock(reader: Reader, network: string): Promise<SimulatedBlockTable> {
  const [last] = await findLastBlock(reader, { network });
  if (!last) throw new Error(`The simulated network ${network} has no blocks`);
  return last;
}

/**
 * Deletes the empty blocks from height `from + 1` to `to`, but never the first block, and none that a scan still has to
 * read or compare: a block made up for a deleted one would look like a reorganisation.
 */
async function prune(transaction: Transaction, network: string, from: number, to: number): Promise<void> {
  if (to <= 0) return;
  await transaction
    .deleteFrom('simulated_blocks')
    .where('network', '=', network)
    .where('height', '>', Math.max(from, 0))
    .where('height', '<=', to)
    .where((e) =>
      e(
        'height',
        '<',
        e.fn.coalesce(
          e
            .selectFrom('scanned_blocks')
            .select((s) => s.fn.min('scanned_blocks.height').as('height'))
            .where('mode', '=', 'test')
            .where('scanned_blocks.network', '=', network),
          e.val(to + 1),
        ),
      ),
    )
    .where(({ exists, not, selectFrom }) =>
      not(
        exists(
          selectFrom('simulated_transfers')
            .select('simulated_transfers.tx_hash')
            .where('simulated_transfers.network', '=', network)
            .whereRef('simulated_transfers.block_height', '=', 'simulated_blocks.height'),
        ),
      ),
    )
    .execute();
}

/** If the next block is later than its interval by more than this, blocks have stopped coming. */
const lateBlockMs = 10_000;

function simulatedChain(
  { database: { reader }, clock, blockIntervalMs }: SimulatedChainsOptions,
  network: string,
  family: Family,
): Chain {
  let headTime: number | undefined;
  let lastPending = noPending('');
  const transfers = () => reader.selectFrom('simulated_transfers').selectAll().where('network', '=', network);

  function overdueMs(): number {
    if (blockIntervalMs === 0 || headTime === undefined) return 0;
    const lateMs = clock.real() - headTime - blockIntervalMs;
    return lateMs > lateBlockMs ? lateMs : 0;
  }

  return {
    mode: 'test',
    network,

    async head() {
      const head = await lastBlock(reader, network);
      headTime = head.time;
      return toHead(head);
    },

    overdueMs,
    // Unless they have stopped: then the blocks to come are unknown.
    isMadeHere: () => overdueMs() === 0,

    async block(height) {
      const head = await lastBlock(reader, network);
      if (height > head.height) return undefined;
      const rows = await reader
        .selectFrom('simulated_blocks')
        .selectAll()
        .where('network', '=', network)
        .where('height', 'in', [height - 1, height, height + 1])
        .execute();
      const [before, own, after] = [height - 1, height, height + 1].map((wanted) =>
        rows.find((row) => row.height === wanted),
      );
      const held = own ? await transfers().where('block_height', '=', height).execute() : [];
      // A pruned block was empty. Its hashes are made up to fit its neighbours.
      return {
        height,
        hash: own?.hash ?? after?.parent_hash ?? prunedHash(network, family, height),
        parentHash: own?.parent_hash ?? before?.hash ?? prunedHash(network, family, height - 1),
        time: own?.time ?? after?.time ?? head.time,
        transfers: held.map(toTransfer),
      };
    },

    async pending() {
      const [now] = await summarizePending(reader, { network });
      const [hash, count, newest] = [now?.head ?? '', Number(now?.count), now?.newest ?? 0];
      // While the last block is the same, no transfer enters or leaves a block, so only newer transfers are read.
      if (lastPending.headHash !== hash) lastPending = noPending(hash);
      if (lastPending.newest !== newest) lastPending = await addNewer(lastPending);
      // One was committed late, or a merchant's test data was wiped.
      if (lastPending.transfers.size !== count) lastPending = await addNewer(noPending(hash));
      return lastPending.list;
    },
  };

  async function addNewer(known: PendingRead): Promise<PendingRead> {
    // More may have followed in the same millisecond.
    const rows = await findNewer(reader, { network, newest: known.newest });
    const added = rows.filter((row) => !known.transfers.has(row.tx_hash));
    if (added.length === 0) return known;
    for (const row of added) known.transfers.set(row.tx_hash, toTransfer(row));
    const newest = rows.at(-1)?.sent_at ?? known.newest;
    return { ...known, list: [...known.transfers.values()], newest };
  }
}

/** The pending transfers of the last read: a flood of them is not read again with every scan. */
interface PendingRead {
  /** The hash of the chain's last block at that time. */
  readonly headHash: string;
  /** Keyed by hash. */
  readonly transfers: Map<string, ChainTransfer>;
  readonly list: readonly ChainTransfer[];
  /** When the newest was sent. */
  readonly newest: number;
}

const noPending = (headHash: string): PendingRead => ({
  headHash,
  transfers: new Map(),
  list: [],
  newest: 0,
});

/** One statement, because most scans find nothing new. */
const summarizePending = prepared((reader, { network }: OfNetwork) =>
  reader
    .selectFrom('simulated_transfers')
    .select((e) => [
      e.fn.countAll().as('count'),
      e.fn.max<number | null>('sent_at').as('newest'),
      e
        .selectFrom('simulated_blocks')
        .select('hash')
        .where('network', '=', network)
        .orderBy('height', 'desc')
        .limit(sql.lit(1))
        .as('head'),
    ])
    .where((e) => e.and({ network, block_height: null })),
);

const findNewer = prepared((reader, { network, newest }: OfNetwork & { readonly newest: number }) =>
  reader
    .selectFrom('simulated_transfers')
    .selectAll()
    .where('network', '=', network)
    .where((e) => e.and([e('block_height', 'is', null), e('sent_at', '>=', newest)]))
    .orderBy('sent_at'),
);

const insertTransfer = preparedSend((transaction, row: SimulatedTransferTable) =>
  transaction.insertInto('simulated_transfers').values(row),
);

function toHead({ height, hash }: SimulatedBlockTable): ChainHead {
  return { height, hash };
}

function toTransfer(row: SimulatedTransferTable): ChainTransfer {
  return {
    txHash: row.tx_hash,
    outputIndex: 0,
    currency: row.currency,
    senders: [row.sender],
    address: row.address,
    amount: transferRows.decode(row).amount,
  };
}

const sha256 = (data: string | Uint8Array): Uint8Array => createHash('sha256').update(data).digest();

/** 32 bytes, as the family writes hashes. */
function hexOf(family: Family, bytes: Uint8Array): string {
  return `${isEvm(family) ? '0x' : ''}${Buffer.from(bytes).toString('hex')}`;
}

function prunedHash(network: string, family: Family, height: number): string {
  return hexOf(family, sha256(`${network}/${height}`));
}
