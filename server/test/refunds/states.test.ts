/** Every state of a refund with every event, and the sums that a refund may not exceed. */
import { describe, expect, it } from 'vitest';
import { mostOf, worthToday } from '../../src/refunds/amounts.js';
import { isLive, isReserved, nextStatus } from '../../src/refunds/states.js';

const states = [
  ...(['awaiting_address', 'awaiting_approval', 'approved', 'processing'] as const),
  ...(['paid', 'failed', 'cancelled', 'expired'] as const),
];

/** A row per state, and in it the state after each event; a dash is refused. */
const events = ['address', 'cancel', 'expire', 'approve', 'wait', 'send', 'pay', 'fail'] as const;
const table = `
awaiting_address  | awaiting_approval | cancelled | expired | -        | -          | -          | -    | -
awaiting_approval | awaiting_approval | cancelled | -       | approved | -          | -          | -    | -
approved          | -                 | -         | -       | -        | approved   | processing | paid | failed
processing        | -                 | -         | -       | -        | approved   | processing | paid | failed
paid              | -                 | -         | -       | -        | processing | processing | paid | failed
failed            | -                 | -         | -       | -        | -          | processing | paid | -
cancelled         | -                 | -         | -       | -        | -          | -          | -    | -
expired           | -                 | -         | -       | -        | -          | -          | -    | -`;

const rows = table
  .trim()
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()));
const cells = rows.flatMap(([from = '', ...next]) =>
  events.map((event, index) => [from, event, next[index] === '-' ? undefined : next[index]] as const),
);

describe('The states', () => {
  it('are all in the table', () => {
    expect(rows.map(([from]) => from).sort()).toEqual([...states].sort());
    expect(cells).toHaveLength(states.length * events.length);
  });

  it.each(cells)('%s and %s: %s', (from, event, next) => {
    const state = states.find((one) => one === from);
    expect(state && nextStatus(state, event)).toBe(next);
  });

  it('reserve money until they end or have a transfer, and count until they end unpaid', () => {
    expect(states.filter(isReserved)).toEqual(['awaiting_address', 'awaiting_approval']);
    expect(states.filter((state) => !isLive(state))).toEqual(['failed', 'cancelled', 'expired']);
  });
});

describe('How much', () => {
  const paid = { credited: 1500n, fee: 15n, excess: 500n, live: 0n, liveExcess: 0n };

  it.each([
    ['all but the fee', 'full', paid, false, 1485n],
    ['all with the fee', 'full', paid, true, 1500n],
    ['what other refunds have left', 'partial', { ...paid, live: 400n }, false, 1085n],
    ['an excess without its part of the fee', 'excess', paid, false, 495n],
    ['an excess with it', 'excess', paid, true, 500n],
    ['an excess that went back already', 'excess', { ...paid, live: 495n, liveExcess: 495n }, false, 0n],
    [
      'an excess, if a partial refund took most of everything',
      'excess',
      { ...paid, live: 1400n },
      false,
      85n,
    ],
    ['nothing, if all of it went back', 'full', { ...paid, live: 1500n }, true, 0n],
    ['all, if there was no fee', 'full', { ...paid, fee: 0n }, false, 1500n],
    // The fee on the excess is rounded up, so that the merchant never loses a unit.
    ['an excess, its part of the fee rounded up', 'excess', { ...paid, fee: 14n }, false, 495n],
    [
      'nothing of nothing',
      'full',
      { credited: 0n, fee: 0n, excess: 0n, live: 0n, liveExcess: 0n },
      false,
      0n,
    ],
  ] as const)('%s', (_name, kind, facts, withFee, most) => {
    expect(mostOf(kind, facts, withFee)).toBe(most);
  });

  it('gives back as much value as came, and never more coins', () => {
    const dollar = { numerator: 1n, denominator: 1n };
    expect(worthToday(1000n, dollar, { numerator: 2n, denominator: 1n })).toBe(500n);
    expect(worthToday(1000n, dollar, { numerator: 3n, denominator: 1n })).toBe(333n);
    expect(worthToday(1000n, dollar, { numerator: 1n, denominator: 2n })).toBe(1000n);
  });
});
