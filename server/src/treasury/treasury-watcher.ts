/**
 * Follows the money of treasuries in final blocks: what left forwarders, whoever swept them, moves on the books from the
 * addresses to the treasury; what a treasury pays to the destination of a pending transfer settles the transfer.
 *
 * Each block is read once it has the network's confirmations. The last blocks are read again at each pass: if one was
 * dropped all the same, what was posted for it is taken back, once.
 */
import type { DepositKeys } from '../addresses/deposit-keys.js';
import { isCoin } from '../chains/assets.js';
import type { TransferTable } from '../db/schema.js';
import { createFailures } from '../shared/failures.js';
import type { EvmConnected } from './forwarder-checks.js';
import { createPaymentSettler, type PaymentSettlerDeps } from './settle-paid.js';
import { bookTreasuryBlocks, type TreasuryBlocks, type TreasuryBooksDeps } from './treasury-books.js';
import { readCoinPayments, readFees, readSweptLogs, readTokenPayments } from './watch-reads.js';
import * as store from './watch-store.js';

export type TreasuryWatcher = ReturnType<typeof createTreasuryWatcher>;

export interface TreasuryWatcherDeps extends TreasuryBooksDeps, PaymentSettlerDeps {
  readonly networks: readonly EvmConnected[];
  readonly depositKeys: Pick<DepositKeys, 'list'>;
}

/** How many blocks before the cursor are read again. */
const rereadBlocks = 64;
/** Where it starts when the first treasury is set, and how far it goes in one step. */
const firstBlocks = 1000;
const mostBlocks = 1000;
/** Payments in the coin need each block's transactions. */
const mostCoinBlocks = 100;

export function createTreasuryWatcher(deps: TreasuryWatcherDeps) {
  const { database, networks } = deps;
  const settlePaid = createPaymentSettler(deps);

  async function advanceNetwork(watched: EvmConnected, signal: AbortSignal): Promise<void> {
    const treasuries = await readTreasuries(deps, watched);
    if (treasuries.size === 0) return;
    const { evm, network } = watched;
    const place = { mode: network.mode, network: network.code };
    for (;;) {
      const head = await evm.run((node) => node.blockNumber(), signal);
      const final = head - network.confirmations + 1;
      const cursor = await store.readCursor(database.reader, place);
      if (cursor === undefined) {
        const height = Math.max(0, final - firstBlocks);
        await database.write((transaction) => store.createCursor(transaction, place, height));
        continue;
      }
      // Also without a new block: whoever read the payments may have been stopped before it settled their transfers.
      await settlePaid(place);
      if (final <= cursor) return;
      const pending = await store.pendingTransfers(database.reader, place);
      const read = await readBlocks(watched, treasuries, pending, cursor, final, signal);
      await bookTreasuryBlocks(deps, watched, read);
    }
  }

  return {
    /** Reads the blocks that became final. Asks no node while no merchant has a treasury. */
    async advance(signal: AbortSignal): Promise<void> {
      const failures = createFailures();
      for (const watched of networks) {
        signal.throwIfAborted();
        await failures.collect(() => advanceNetwork(watched, signal));
      }
      failures.report('networks of treasuries could not be read');
    },
  };
}

/** The merchants of each treasury of a mode, in lower case. */
async function readTreasuries(
  { depositKeys, database }: TreasuryWatcherDeps,
  { network: { mode } }: EvmConnected,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const owners = new Map<string, Set<string>>();
  for (const key of await depositKeys.list(database.reader)) {
    if (key.mode !== mode || key.treasury === undefined) continue;
    const treasury = key.treasury.toLowerCase();
    owners.set(treasury, (owners.get(treasury) ?? new Set()).add(key.merchantId));
  }
  return owners;
}

async function readBlocks(
  { evm, chainAssets }: EvmConnected,
  treasuries: ReadonlyMap<string, ReadonlySet<string>>,
  pending: readonly TransferTable[],
  cursor: number,
  final: number,
  signal: AbortSignal,
): Promise<TreasuryBlocks> {
  const wanted = Object.values(chainAssets).filter(({ currency }) =>
    pending.some((row) => row.currency === currency),
  );
  const contracts = wanted.flatMap(({ contract }) => contract?.toLowerCase() ?? []);
  const coin = wanted.find(isCoin)?.currency;
  const expected = new Map<string, Set<string>>();
  for (const [treasury, owners] of treasuries) {
    const rows = pending.filter((row) => row.currency === coin && owners.has(row.merchant_id));
    if (rows.length > 0) expected.set(treasury, new Set(rows.map(({ address }) => address.toLowerCase())));
  }
  const destinations = new Set(pending.map(({ address }) => address.toLowerCase()));
  const to = Math.min(final, cursor + (expected.size > 0 ? mostCoinBlocks : mostBlocks));
  const from = Math.max(0, cursor + 1 - rereadBlocks);
  const fresh = { from: cursor + 1, to };
  return evm.run(async (node) => {
    const swept = await readSweptLogs(node, { from, to });
    const payments = [
      ...(await readTokenPayments(node, fresh, contracts, [...treasuries.keys()])),
      ...(await readCoinPayments(node, fresh, expected)),
    ].filter(({ address }) => destinations.has(address));
    const freshSwept = swept.filter(({ height }) => height > cursor);
    const hashes = new Set([...freshSwept, ...payments].map(({ txHash }) => txHash));
    const fees = await readFees(node, [...hashes]);
    return { cursor, from, to, swept, payments, fees, treasuries, pending };
  }, signal);
}
