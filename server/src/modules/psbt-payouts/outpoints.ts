/** Coins by the outputs that they are, as nodes are asked for them and as `hash:index`; and what several of them have. */
import type { Outpoint } from '../networks/bitcoin/utxo-node.js';
import type { PsbtInputRow } from './tables.js';

type OutpointRow = Pick<PsbtInputRow, 'tx_hash' | 'output_index'>;

export const outpointOf = (row: OutpointRow): Outpoint => ({
  txHash: row.tx_hash,
  outputIndex: row.output_index,
});

export const nameOf = ({ txHash, outputIndex }: Outpoint): string => `${txHash}:${outputIndex}`;
export const nameOfRow = (row: OutpointRow): string => nameOf(outpointOf(row));

/** The sum of coins, transfers or outputs, in satoshis. */
export const sumOf = (parts: readonly { readonly amount: bigint }[]): bigint =>
  parts.reduce((sum, { amount }) => sum + amount, 0n);
