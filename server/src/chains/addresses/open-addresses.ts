/** The addresses of open payments on a network, whose balances an adapter may have to read. */
import type { PaymentState } from 'crypto-checkout/contract';
import type { Reader } from '../../db/engine.js';
import type { Network } from '../networks.js';

const watchedAfterEndMs = 86_400_000;
/** Adapters read no more than these in a block. */
const most = 500;

const openStates = ['awaiting_funds', 'partially_paid', 'confirming'] as const satisfies PaymentState[];
const endedStates = [
  'settled',
  'settled_over',
  'settled_late',
  'expired',
  'expired_partial',
  'expired_late',
  'invalid',
  'reversed',
  'cancelled',
  'cancelled_paid',
] as const satisfies PaymentState[];

/** Deeper reorganisations than this are rare enough to be looked at by a person. */
const reorgBlocks = 256;

/**
 * Of payments that are open, or ended less than a day ago, newest first. Before them those that got money from a contract in
 * the last blocks: it has no transaction of its own (its output index is negative), so after a reorganisation it must be found
 * again in the same way.
 * @param now of the clock of the payments, epoch milliseconds
 */
export async function readOpenAddresses(
  reader: Reader,
  { mode, code }: Pick<Network, 'mode' | 'code'>,
  currency: string,
  now: number,
): Promise<string[]> {
  const recent = await reader
    .selectFrom('receipts')
    .select('address')
    .distinct()
    .where('mode', '=', mode)
    .where('network', '=', code)
    .where('status', 'in', ['seen', 'confirmed'])
    .where('output_index', '<', 0)
    .where('block_height', '>', (e) =>
      e
        .selectFrom('chain_cursors')
        .select((c) => c('height', '-', reorgBlocks).as('height'))
        .where('mode', '=', mode)
        .where('network', '=', code),
    )
    .execute();
  // Two queries, because an index leads to each kind, and to none of both together.
  const [open, ended] = [openStates, endedStates].map((states) =>
    reader
      .selectFrom('payments')
      .select(['address', 'created_at'])
      .where('state', 'in', states)
      .where('expires_at', '>', states === openStates ? 0 : now - watchedAfterEndMs)
      .where('mode', '=', mode)
      .where('network', '=', code)
      .where('currency', '=', currency)
      .where('locked_at', 'is not', null)
      .orderBy('created_at', 'desc')
      .limit(most),
  );
  const rows = [...((await open?.execute()) ?? []), ...((await ended?.execute()) ?? [])];
  rows.sort((a, b) => b.created_at - a.created_at);
  return [...new Set([...recent, ...rows].flatMap(({ address }) => address ?? []))].slice(0, most);
}
