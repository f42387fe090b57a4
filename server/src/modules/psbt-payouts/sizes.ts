/** The size of a payout's transaction once it is signed, and the outputs that are too small to be relayed. */
import type { ScriptType } from '../../core/addresses/bitcoin-scripts.js';
import type { Family } from '../../core/chains/networks.js';
import { bitcoinRules } from '../../core/families/kinds.js';

/**
 * Weight units of a signed input, with the longest signature that nodes relay (72 bytes with its sighash type; 65 for
 * taproot, if a wallet writes the type). An outpoint, a script length and a sequence are 41 bytes, of four units each.
 */
const inputWeights: Readonly<Record<ScriptType, number>> = {
  p2pkh: (41 + 107) * 4,
  'p2sh-p2wpkh': (41 + 23) * 4 + 108,
  p2wpkh: 41 * 4 + 108,
  p2tr: 41 * 4 + 67,
};

/** The size of spending an output: Core's own figures for its dust limit. */
const witnessSpendSize = 67;
const legacySpendSize = 148;

/** In virtual bytes. Nodes relay no transaction that is larger. */
export const largestTransaction = 100_000;

/** @param scripts of the outputs */
export function transactionWeight(
  script: ScriptType,
  inputs: number,
  scripts: readonly Uint8Array[],
): number {
  const counts = compactSize(inputs) + compactSize(scripts.length);
  const outputs = scripts.reduce((sum, { length }) => sum + outputSize(length), 0);
  // The version and the lock time are four bytes each; the marker and the flag of a segwit transaction one unit each.
  const segwit = script === 'p2pkh' ? 0 : 2;
  return (8 + counts + outputs) * 4 + segwit + inputs * inputWeights[script];
}

export function virtualSize(weight: number): number {
  return Math.ceil(weight / 4);
}

/** @param rate satoshis per 1000 virtual bytes */
export function feeOf(weight: number, rate: bigint): bigint {
  return (BigInt(virtualSize(weight)) * rate + 999n) / 1000n;
}

/** The smallest amount, in satoshis, that nodes relay to this script. */
export function dustLimit(script: Uint8Array, family: Family): bigint {
  const isWitness = script[0] === 0x00 || (script[0] === 0x51 && script[1] === 0x20);
  const size = outputSize(script.length) + (isWitness ? witnessSpendSize : legacySpendSize);
  return BigInt(size) * bitcoinRules(family).dustRate;
}

/** An amount, a script length and a script. */
function outputSize(scriptLength: number): number {
  return 8 + compactSize(scriptLength) + scriptLength;
}

function compactSize(count: number): number {
  if (count < 0xfd) return 1;
  return count <= 0xffff ? 3 : 5;
}
