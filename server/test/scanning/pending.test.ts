/** The difference between the pending transfers of two scans in a row. */
import { expect, it } from 'vitest';
import type { ChainTransfer, TransferId } from '../../src/core/chains/chain.js';
import { comparePending } from '../../src/core/scanning/pending.js';
import { keyOf } from '../../src/core/scanning/scan.js';

const transfer = (txHash: string, outputIndex = 0): ChainTransfer => ({
  txHash,
  outputIndex,
  address: 'T',
  currency: 'USDT',
  amount: 1n,
  senders: [],
});
const [a, b, c, d] = [transfer('a'), transfer('b'), transfer('b', 1), transfer('d')];
/** A copy, as from a node that makes new objects with every answer. */
const copy = (one: ChainTransfer) => ({ ...one });
const hashes = (transfers: readonly TransferId[] | undefined) => transfers?.map(keyOf);

it.each([
  { name: 'nothing changed', previous: [a, b], now: [a, b], appeared: [], gone: [] },
  {
    name: 'nothing changed, in new objects',
    previous: [a, b],
    now: [copy(a), copy(b)],
    appeared: [],
    gone: [],
  },
  { name: 'another order', previous: [a, b, c], now: [c, b, a], appeared: [], gone: [] },
  { name: 'one more at the end', previous: [a, b], now: [a, b, c], appeared: ['b:1'], gone: [] },
  { name: 'one more at the start', previous: [b], now: [a, b], appeared: ['a:0'], gone: [] },
  { name: 'one less', previous: [a, b, c], now: [a, copy(c)], appeared: [], gone: ['b:0'] },
  { name: 'all others', previous: [a, b], now: [c, d], appeared: ['b:1', 'd:0'], gone: ['a:0', 'b:0'] },
  { name: 'none left', previous: [a], now: [], appeared: [], gone: ['a:0'] },
  {
    name: 'the previous ones are unknown',
    previous: undefined,
    now: [a, b],
    appeared: ['a:0', 'b:0'],
    gone: undefined,
  },
])('$name', ({ previous, now, appeared, gone }) => {
  const pending = comparePending(now, previous);
  expect({ appeared: hashes(pending.appeared), gone: hashes(pending.gone) }).toEqual({ appeared, gone });
  expect([a, b, c, d].filter((one) => pending.has(keyOf(one))).map(keyOf)).toEqual(
    [...now].map(keyOf).sort(),
  );
});
