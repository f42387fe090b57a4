/** The part of treasuries in `chains status`. */
import { amountOf, amountText, counted, recordJson } from '../../../core/commands/records.js';
import type { StatusPart } from '../../../core/hooks.js';
import { isoTime } from '../../../core/shared/clock.js';
import type { TreasuryStatus } from '../status.js';

export const treasuryStatus = (treasuries: readonly TreasuryStatus[]): StatusPart => ({
  lines: treasuries.flatMap(treasuryLines),
  json: {
    treasuries: treasuries.map((one) => ({
      ...one,
      outflows: one.outflows.map((row) => ({
        ...recordJson(row, 'tx_hash', 'treasury', 'address', 'currency', 'paid_at'),
        amount: amountOf(row.amount, row.currency),
      })),
      reservedSince: one.reservedSince && isoTime(one.reservedSince),
    })),
  },
  hasFailed: treasuries.some(
    ({ isBehind, unclear, reversed, unexplained }) =>
      isBehind || unclear.length > 0 || reversed.length > 0 || unexplained > 0,
  ),
});

function treasuryLines(status: TreasuryStatus): string[] {
  const { mode, network, height, behind, isBehind, unclear, reversed, reserved, reservedSince } = status;
  const { outflows, unexplained } = status;
  const read = height === null ? 'no block read yet' : `read up to block ${height}`;
  const parts = [
    ...(behind > 0
      ? [`${behind} blocks left to read${isBehind ? ': transfers cannot be exported' : ''}`]
      : []),
    ...(reservedSince === null
      ? []
      : [`${counted(reserved, 'transfer')} exported, the oldest ${isoTime(reservedSince)}`]),
  ];
  return [
    [mode, network, `treasuries ${read}`, ...parts].join('  '),
    ...unclear.map(
      (id) =>
        `${mode}  ${network}  transfer ${id} may have been paid, and no node could show it: "transfers settle" or "transfers release"`,
    ),
    ...outflows.map(
      ({ treasury, tx_hash: hash, amount, currency, address, paid_at: paidAt }) =>
        `${mode}  ${network}  ${amountText(amount, currency)} left the treasury ${treasury} for ${address || 'an unknown address'} in ${hash}  ${isoTime(paidAt)}: no transfer explains it. "transfers explain" says what it was for`,
    ),
    ...(unexplained > outflows.length
      ? [
          `${mode}  ${network}  and ${counted(unexplained - outflows.length, 'payment')} more that no transfer explains`,
        ]
      : []),
    ...reversed.map(
      (id) =>
        `${mode}  ${network}  transfer ${id} was paid in a block that the network has dropped: it waits for its transaction, or "transfers release"`,
    ),
  ];
}
