/** The addresses of open payments on a network, whose balances an adapter may have to read. */
import { paymentStates, paymentStatuses, statesWith } from 'crypto-checkout/contract';
import type { Reader } from '../db/engine.js';
import type { Mode } from '../shared/scope.js';
import type { Network } from '../chains/networks.js';

const watchedAfterEndMs = 86_400_000;
/** Adapters read no more than these in a block. */
const most = 500;

const openStates = paymentStates.payable;
const endedStates = paymentStatuses
  .filter((status) => status !== 'in progress')
  .flatMap((status) => statesWith(status));

/** Deeper reorganisations than this are rare enough to be looked at by a person. */
const reorgBlocks = 256;

/**
 * Whether anybody may be about to pay in a mode, on whichever network: a payment waits for money, or a wallet has an address.
 */
export async function isAnyoneExpected(reader: Reader, mode: Mode): Promise<boolean> {
  const payment = await reader
    .selectFrom('payments')
    .select('id')
    .where('state', 'in', openStates)
    .where('mode', '=', mode)
    .where('address', 'is not', null)
    .limit(1)
    .executeTakeFirst();
  if (payment) return true;
  const wallet = await reader
    .selectFrom('wallets')
    .select('id')
    .where('mode', '=', mode)
    .limit(1)
    .executeTakeFirst();
  return wallet !== undefined;
}

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
    .where((e) => e.and({ mode, network: code }))
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
      .where((e) => e.and({ mode, network: code, currency }))
      .where('locked_at', 'is not', null)
      .orderBy('created_at', 'desc')
      .limit(most),
  );
  const rows = [...((await open?.execute()) ?? []), ...((await ended?.execute()) ?? [])];
  rows.sort((a, b) => b.created_at - a.created_at);
  return [...new Set([...recent, ...rows].flatMap(({ address }) => address ?? []))].slice(0, most);
}
