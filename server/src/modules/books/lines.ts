/** Makes the lines of a posting: what it changed of the merchant's balance, and apart from it what it charged. */
import type { BookingKind } from 'crypto-checkout/contract';
import type { LedgerAccountKind } from '../../core/db/tables/ledger.js';
import { kindOfPosting } from '../../core/ledger/posting-kinds.js';
import { inBooks } from './kinds.js';

/** The changes to the parts of a balance, in units. */
export interface Change {
  readonly available: bigint;
  readonly reserved: bigint;
  readonly unallocated: bigint;
}

export interface PostedEntry {
  readonly kind: LedgerAccountKind;
  readonly network: string | null;
  readonly debit: bigint;
  readonly credit: bigint;
}

export interface Line extends Change {
  readonly kind: BookingKind;
  readonly note: string;
  /** True if it is the charge of another line of the same posting. */
  readonly isFee: boolean;
}

export const totalOf = ({ available, reserved, unallocated }: Change): bigint =>
  available + reserved + unallocated;

/**
 * None if the posting changes nothing of a balance.
 * @param isOfRefund true if the transfer that it is about pays a refund
 */
export function linesOf(key: string, entries: readonly PostedEntry[], isOfRefund: boolean): Line[] {
  const own = inBooks[kindOfPosting(key)];
  if (!own) return [];
  const grown = (kind: LedgerAccountKind) =>
    entries
      .filter((entry) => entry.kind === kind)
      .reduce((sum, { debit, credit }) => sum + credit - debit, 0n);
  const change = {
    available: grown('available'),
    reserved: grown('reserved'),
    unallocated: grown('unallocated'),
  };
  const kind = own.kind === 'transfer' && isOfRefund ? 'refund' : own.kind;
  const fee = own.fee === undefined ? 0n : grown('fee_income');
  // The fee was taken from, or given back to, the part that the money is in: only money that is paid out is still reserved.
  const part = change.reserved === 0n ? 'available' : 'reserved';
  const lines: Line[] = [{ ...change, [part]: change[part] + fee, kind, note: own.note, isFee: false }];
  if (own.fee) {
    const none = { available: 0n, reserved: 0n, unallocated: 0n };
    lines.push({ ...none, [part]: -fee, ...own.fee, isFee: true });
  }
  return lines.filter((line) => line.available !== 0n || line.reserved !== 0n || line.unallocated !== 0n);
}
