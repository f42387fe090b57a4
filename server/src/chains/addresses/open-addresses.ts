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

/** Of payments that are open, or ended less than a day ago. Newest first. @param now of the mode's clock */
export async function readOpenAddresses(
  reader: Reader,
  { mode, code }: Pick<Network, 'mode' | 'code'>,
  currency: string,
  now: number,
): Promise<string[]> {
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
  return rows.slice(0, most).flatMap(({ address }) => address ?? []);
}
