/**
 * Follows the money of treasuries in final blocks: money that left forwarders, no matter who swept them, moves on the
 * books from the addresses to the treasury; a treasury's payment to the destination of a transfer settles the transfer.
 * Any other payment from a treasury is recorded, and reported.
 *
 * Each block is read once it has the network's confirmations in the scanned blocks, and must be the block that was
 * scanned. The logs of the last blocks are read again at each pass: logs that a node left out are found, and postings
 * for a block that was dropped anyway are reverted, once. So is the settlement of a transfer.
 */
import { coinOf } from '../../core/chains/assets.js';
import { readCursor as readScan, readScannedBlocks } from '../../core/scanning/cursors.js';
import { finalHeight } from '../../core/scanning/finality.js';
import type { EvmClient } from '../networks/evm/client.js';
import { inconsistent } from '../networks/evm/transfers.js';
import type { Reader } from '../../core/db/engine.js';
import { createFailures } from '../../core/shared/failures.js';
import { waitingTransfers } from '../../core/withdrawals/waiting-transfers.js';
import { inTreasuries } from './chain-balances.js';
import { placeOf, type EvmConnected, type TreasuryContext } from './context.js';
import { readOwners } from './owners.js';
import { takeBackDropped } from './dropped-payments.js';
import { createPaymentSettler } from './settle-paid.js';
import { bookTreasuryBlocks, type TreasuryBlocks } from './treasury-books.js';
import { createTreasuryReader, keyOfPayment, watchedFor, type Watched } from './watch-reads.js';
import * as store from './watch-store.js';
import { clearNeedless } from './unswept.js';
import type { SweepRow } from './tables.js';
import { unprovenTransfers } from './ended-transfers.js';

/** The number of blocks before the cursor that are read again. */
const rereadBlocks = 64;
/** The number of blocks before the newest at which it starts when the first treasury is set. */
const firstBlocks = 1000;
/** The number of blocks in one step. Payments in the coin need each block's transactions. */
const mostBlocks = 1000;
const mostCoinBlocks = 100;

export function createTreasuryWatcher(deps: TreasuryContext) {
  const { database } = deps;
  const settlePaid = createPaymentSettler(deps);
  /** The networks whose marks of unswept addresses were looked through since the start. */
  const cleared = new Set<EvmConnected>();

  async function advanceNetwork(
    watched: EvmConnected,
    reader: TreasuryBlockReader,
    signal: AbortSignal,
  ): Promise<void> {
    const place = placeOf(watched);
    const owners = await readOwners(deps, database.reader, place.mode);
    if (owners.treasuries.length === 0) return;
    if (!cleared.has(watched)) {
      await clearNeedless(database, place);
      cleared.add(watched);
    }
    for (;;) {
      const scan = await readScan(database.reader, place);
      if (!scan) return;
      const final = finalHeight(watched.network, scan.height);
      const cursor = await store.readCursor(database.reader, place);
      if (cursor === undefined) {
        const height = Math.max(0, final - firstBlocks);
        await database.write((transaction) => store.createCursor(transaction, place, height));
        continue;
      }
      // Also without a new block: the process that read the payments may have been stopped before it settled their
      // transfers.
      await settlePaid(watched, owners, signal);
      await takeBackDropped(deps, watched, Math.max(0, cursor + 1 - rereadBlocks), signal);
      if (final <= cursor) return;
      const coin = coinOf(watched.chainAssets)?.currency;
      const payable = [
        ...(await waitingTransfers(database.reader, place)),
        ...(coin === undefined ? [] : await unprovenTransfers(database.reader, place, coin)),
      ];
      const hasCoins = coin !== undefined && (await inTreasuries(database.reader, place, coin)) > 0n;
      const looked = watchedFor(watched, owners, payable, hasCoins);
      const work = { cursor, final, tip: scan.head_height, watched: looked };
      const read = await readNext(database.reader, watched, reader, work, signal);
      await bookTreasuryBlocks(deps, watched, { ...read, owners, payable });
    }
  }

  const networks = deps.networks.map((network) => ({ network, reader: createTreasuryReader() }));
  return {
    /** Reads the blocks that became final. Asks no node while no merchant has a treasury, or no block is new. */
    async advance(signal: AbortSignal): Promise<void> {
      const failures = createFailures();
      for (const { network, reader } of networks) {
        signal.throwIfAborted();
        await failures.collect(() => advanceNetwork(network, reader, signal));
      }
      failures.report('networks of treasuries could not be read');
    },
  };
}

type TreasuryBlockReader = ReturnType<typeof createTreasuryReader>;

/** Reads some of the blocks after the cursor, and the last ones before it again. */
async function readNext(
  database: Reader,
  on: EvmConnected,
  reader: TreasuryBlockReader,
  { cursor, final, tip, watched }: { cursor: number; final: number; tip: number; watched: Watched },
  signal: AbortSignal,
): Promise<Omit<TreasuryBlocks, 'owners' | 'payable'>> {
  const place = placeOf(on);
  const from = Math.max(0, cursor + 1 - rereadBlocks);
  const posted = await store.sweepsFrom(database, place, from, cursor);
  const scanned = new Map(
    (await readScannedBlocks(database, place)).map(({ height, hash }) => [height, hash]),
  );
  const known = new Set(
    (await store.paymentsFrom(database, place, from)).map((row) => keyOfPayment(row.tx_hash, row.block_hash)),
  );
  const most = watched.hasCoin ? mostCoinBlocks : mostBlocks;
  return on.evm.run(async (node) => {
    const again = await reader.readAgain(node, { from, to: cursor }, { ...watched, known });
    const isReported = (row: SweepRow) =>
      again.swept.some(
        ({ txHash, logIndex, blockHash }) =>
          txHash === row.tx_hash && logIndex === row.log_index && blockHash === row.block_hash,
      );
    await ensureDropped(
      node,
      posted.filter((row) => !row.is_reversed && !isReported(row)),
    );
    const range = { from: cursor + 1, to: Math.min(final, cursor + most), tip };
    const fresh = await reader.read(node, range, watched);
    for (const { height, hash } of fresh.blocks) {
      if ((scanned.get(height) ?? hash) !== hash) throw inconsistent(node, height);
    }
    return {
      cursor,
      from,
      to: fresh.to,
      swept: [...again.swept, ...fresh.swept],
      payments: [...again.payments, ...fresh.payments],
      fees: new Map([...again.fees, ...fresh.fees]),
    };
  }, signal);
}

/** A node that leaves out the sweeps of a block that is there says nothing about them. */
async function ensureDropped(node: EvmClient, missing: readonly SweepRow[]): Promise<void> {
  for (const { block_height: height, block_hash: hash } of missing) {
    if ((await node.header(height))?.hash === hash) throw inconsistent(node, height);
  }
}
