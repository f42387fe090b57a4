/** The addresses whose balance of a native coin is read in each block, to find transfers made inside contracts. */
import type { PaymentState } from 'crypto-checkout/contract';
import type { NetworkRef } from '../chains/chain.js';
import type { Reader } from '../db/engine.js';

const open: readonly PaymentState[] = ['awaiting_funds', 'partially_paid', 'confirming'];
const ended: readonly PaymentState[] = ['settled', 'expired', 'cancelled', 'reversed'];
const hourMs = 3_600_000;
/** Deeper reorganisations than this are rare enough to be looked at by a person. */
const reorgBlocks = 256;
/** More are not read in a block. */
const most = 500;

/**
 * Addresses of payments in a currency on a network that are open or were until an hour ago, newest first, and before them those that
 * got money from a contract in the last blocks: if these are reorganised, it must be found again.
 * @param now the clock of the payments, in epoch milliseconds
 */
export async function nativeAddresses(
  reader: Reader,
  { mode, network }: NetworkRef,
  currency: string,
  now: number,
): Promise<string[]> {
  const recent = await reader
    .selectFrom('receipts')
    .select('address')
    .distinct()
    .where('mode', '=', mode)
    .where('network', '=', network)
    .where('status', 'in', ['seen', 'confirmed'])
    .where('output_index', '<', 0)
    .where('block_height', '>', ({ selectFrom }) =>
      selectFrom('chain_cursors')
        .select(({ eb }) => eb('height', '-', reorgBlocks).as('height'))
        .where('mode', '=', mode)
        .where('network', '=', network),
    )
    .execute();
  const payments = await reader
    .selectFrom('payments')
    .select('address')
    .where((e) =>
      e.or([e('state', 'in', open), e.and([e('state', 'in', ended), e('expires_at', '>', now - hourMs)])]),
    )
    .where('mode', '=', mode)
    .where('network', '=', network)
    .where('currency', '=', currency)
    .where('locked_at', 'is not', null)
    .orderBy('expires_at', 'desc')
    .limit(most)
    .execute();
  return [...new Set([...recent, ...payments].flatMap(({ address }) => address ?? []))];
}
