/**
 * Payments of treasuries that have not settled a transfer yet: in blocks that are not final, in no block at all, or
 * because it is not clear which transfer it was. Exporting or failing transfers must take account of them, or they
 * are paid twice.
 */
import { readCursor as readScan } from '../../core/scanning/cursors.js';
import type { NetworkRef } from '../../core/chains/chain.js';
import type { EvmClient } from '../networks/evm/client.js';
import type { Reader } from '../../core/db/engine.js';
import { NodeError } from '../networks/rpc/node-error.js';
import type { TransferRow } from '../../core/db/schema.js';
import { invalidState } from '../../core/shared/problem.js';
import { groupBy } from '../../core/shared/group-by.js';
import { isAfter } from '../../core/withdrawals/after.js';
import { waitingTransfers } from '../../core/withdrawals/waiting-transfers.js';
import { placeOf, type EvmConnected, type TreasuryContext } from './context.js';
import { readOwners, type TreasuryOwners } from './owners.js';
import { finalHeight } from '../../core/scanning/finality.js';
import { createTreasuryReader, readPending, watchedFor, type Watched } from './watch-reads.js';
import { openPayments, readCursor } from './watch-store.js';
import type { TreasuryPaymentRow } from './tables.js';

/** The watcher may be behind by the blocks of this time, which are then read here. */
const slackMs = 60_000;

/** True if a payment can have been for a transfer like it. */
export const canBeFor = (
  { clock }: Pick<TreasuryContext, 'clock'>,
  { block_height: height, paid_at: time }: TreasuryPaymentRow,
  transfer: TransferRow,
): boolean => isAfter(clock, { height, time }, transfer);

/**
 * Groups of identical payments and transfers. Those of merchants who share a treasury are in one group, too: nothing
 * tells them apart. A payment from before any of the transfers existed was for something else.
 * @param isForNone keeps payments for which no transfer is given
 */
export function groupsOf(
  deps: Pick<TreasuryContext, 'clock'>,
  payments: readonly TreasuryPaymentRow[],
  transfers: readonly TransferRow[],
  owners: TreasuryOwners,
  isForNone = false,
) {
  const nameOf = (row: TransferRow | TreasuryPaymentRow) => {
    const [merchant = ''] = 'treasury' in row ? owners.ownersOf(row.treasury) : [row.merchant_id];
    return [owners.groupOf(merchant), row.currency, row.address, row.amount].join('/');
  };
  const alike = groupBy(transfers, nameOf);
  return [
    ...groupBy(
      payments.filter((row) => row.is_exact),
      nameOf,
    ),
  ].map(([name, all]) => {
    const waiting = alike.get(name) ?? [];
    const isFor = (row: TreasuryPaymentRow) => waiting.some((one) => canBeFor(deps, row, one));
    return { waiting, paid: isForNone ? all : all.filter(isFor) };
  });
}

/** The payments that have settled no transfer, as far as they are stored, and the transfers that wait. */
export async function readStoredGroups(deps: TreasuryContext, reader: Reader, place: NetworkRef) {
  const owners = await readOwners(deps, reader, place.mode);
  return groupsOf(deps, await openPayments(reader, place), await waitingTransfers(reader, place), owners);
}

/**
 * The same, with the payments that nodes see now. Any node's answer counts: a payment that one of them has seen may be
 * true.
 * @param transfers that may have been paid
 * @throws NodesUnavailable; Problem `invalid_state` while the watcher of treasuries is behind
 */
export async function readSeenGroups(
  deps: TreasuryContext,
  on: EvmConnected,
  transfers: readonly TransferRow[],
  signal: AbortSignal,
) {
  const { database, clock } = deps;
  const place = placeOf(on);
  const owners = await readOwners(deps, database.reader, place.mode);
  const treasuries = new Set(transfers.flatMap((row) => owners.treasuriesOf(row.merchant_id)));
  if (treasuries.size === 0) return [];
  const cursor = await readCursor(database.reader, place);
  const scan = await readScan(database.reader, place);
  if (cursor === undefined || !scan) {
    throw invalidState(
      `The watcher of treasuries has not read any block of ${on.network.name} yet, so nobody knows what was paid already. Start the server, and try again when "chains status" shows it`,
    );
  }
  const watched = watchedFor(on, owners, transfers);
  const answers = await on.evm.each(async (node) => {
    const head = await readHead(node, scan.height);
    ensureNotBehind(on, cursor, Math.max(head, scan.head_height));
    return [
      ...(await readFrom(node, cursor + 1, head, watched)),
      ...(await readPending(node, watched, clock.real())),
    ];
  }, signal);
  const stored = await openPayments(database.reader, place);
  const rows = [...stored, ...answers.flat()];
  const mined = new Map(
    rows.flatMap((row) => (row.block_height > 0 ? [[`${row.tx_hash}/${row.output_index}`, row]] : [])),
  );
  const hashes = new Set([...mined.values()].map(({ tx_hash: hash }) => hash));
  const waiting = rows.filter((row) => row.block_height === 0 && !hashes.has(row.tx_hash));
  const seen = [...mined.values(), ...new Map(waiting.map((row) => [row.tx_hash, row])).values()];
  return groupsOf(deps, seen, await waitingTransfers(database.reader, place), owners);
}

/** The newest block of a node. @throws NodeError if it is older than the scanned blocks, and so knows too little */
export async function readHead(node: EvmClient, scanned: number): Promise<number> {
  const head = await node.blockNumber();
  if (head >= scanned) return head;
  throw new NodeError('behind', `${node.name} is behind: it is at block ${head}`);
}

/** The number of final blocks that the watcher may not have read yet. */
export function slackOf({ blockSeconds }: Pick<EvmConnected, 'blockSeconds'>): number {
  return 3 + Math.ceil(slackMs / (blockSeconds * 1000));
}

function ensureNotBehind(on: EvmConnected, cursor: number, head: number): void {
  const { name } = on.network;
  const final = finalHeight(on.network, head);
  if (final - cursor <= slackOf(on)) return;
  throw invalidState(
    `The watcher of treasuries is ${final - cursor} blocks behind on ${name}: it has read up to block ${cursor}, and block ${final} is final. What was paid in between is not known yet. Try again when it has read them; "chains status" shows how far it is`,
  );
}

async function readFrom(
  node: EvmClient,
  from: number,
  head: number,
  watched: Watched,
): Promise<TreasuryPaymentRow[]> {
  const reader = createTreasuryReader();
  const payments: TreasuryPaymentRow[] = [];
  for (let next = from; next <= head;) {
    const read = await reader.read(node, { from: next, to: head, tip: head }, watched);
    payments.push(...read.payments);
    next = read.to + 1;
  }
  return payments;
}
