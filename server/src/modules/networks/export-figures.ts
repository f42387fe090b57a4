/** The figures in `/metrics` about transfers that any module exported for a wallet. */
import { byNetwork, type Figure } from '../../core/shared/feature.js';
import type { Mode } from '../../core/shared/scope.js';

/** The transfers of a network that exports hold. */
export interface ExportedTransfers {
  readonly mode: Mode;
  readonly network: string;
  readonly count: number;
  /** When the oldest of them was exported, in epoch milliseconds. */
  readonly since: number;
}

/** @param now real time, epoch milliseconds */
export function exportFigures(
  read: () => Promise<readonly ExportedTransfers[]>,
  now: () => number,
): Figure[] {
  return [
    byNetwork({
      name: 'checkout_transfers_exported',
      help: 'Transfers that exports hold for a wallet until they are paid',
      read: async () => (await read()).map((one) => [one, one.count] as const),
    }),
    byNetwork({
      name: 'checkout_transfers_exported_age_seconds',
      help: 'The age of the oldest export whose transfers are not paid, in seconds; 0 without one',
      read: async () => (await read()).map((one) => [one, Math.max(0, (now() - one.since) / 1000)] as const),
    }),
  ];
}
