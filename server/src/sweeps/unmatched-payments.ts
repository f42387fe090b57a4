/** Payments of treasuries of which it is not clear which transfer they settle. */
import type { Reader } from '../db/engine.js';
import type { TreasuryPaymentTable } from '../db/schema.js';
import type { Mode } from '../shared/scope.js';
import { openPayments } from './watch-store.js';

export function unmatchedPayments(
  reader: Reader,
  place: { readonly mode: Mode; readonly network: string },
): Promise<TreasuryPaymentTable[]> {
  return openPayments(reader, place);
}
