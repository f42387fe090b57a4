/** Lists what payments wait for although their transfers are deep enough, for `chains status`. */
import type { Reader } from '../../db/engine.js';
import type { NetworkRef } from '../../chains/chain.js';
import type { Network } from '../../chains/networks.js';
import { shownConfirmations } from '../depth.js';

/** Listed of each network and reason. */
const mostListed = 20;

export interface WaitingPayments extends NetworkRef {
  /** `second node`: no node of a second provider has confirmed them; `final`: their blocks are not final yet. */
  readonly waitsFor: 'second node' | 'final';
  /** Ids of the first payments, oldest first. */
  readonly payments: readonly string[];
  readonly count: number;
  /** The first block that has one of their transfers. */
  readonly height: number;
}

/** @returns the payments that wait on a network, as the last scan found it */
export async function findWaiting(reader: Reader, network: Network): Promise<WaitingPayments[]> {
  const { mode, code } = network;
  const seen = reader
    .selectFrom('receipts')
    .innerJoin('chain_cursors', (join) =>
      join
        .onRef('chain_cursors.mode', '=', 'receipts.mode')
        .onRef('chain_cursors.network', '=', 'receipts.network'),
    )
    .select(['receipts.payment_id', 'receipts.block_height'])
    .where('receipts.mode', '=', mode)
    .where('receipts.network', '=', code)
    .where('receipts.status', '=', 'seen')
    .where('receipts.block_height', 'is not', null)
    .orderBy('receipts.block_height')
    .orderBy('receipts.id');
  // Before that, nobody expects it to be final.
  const usual = shownConfirmations(null, network);
  const unchecked = await seen.where('receipts.awaits_check', '=', 1).execute();
  const unfinal = await seen
    .where('receipts.required_confirmations', 'is', null)
    .where((e) => e('receipts.block_height', '<=', e('chain_cursors.height', '-', usual)))
    .where((e) =>
      e.or([
        e('chain_cursors.final_height', 'is', null),
        e('receipts.block_height', '>', e.ref('chain_cursors.final_height')),
      ]),
    )
    .execute();
  return [
    ...toWaiting({ mode, network: code, waitsFor: 'second node' }, unchecked),
    ...toWaiting({ mode, network: code, waitsFor: 'final' }, unfinal),
  ];
}

function toWaiting(
  what: Pick<WaitingPayments, 'mode' | 'network' | 'waitsFor'>,
  rows: readonly { readonly payment_id: string; readonly block_height: number | null }[],
): WaitingPayments[] {
  const ids = [...new Set(rows.map((row) => row.payment_id))];
  const [first] = rows;
  if (!first) return [];
  return [
    { ...what, payments: ids.slice(0, mostListed), count: ids.length, height: first.block_height ?? 0 },
  ];
}
