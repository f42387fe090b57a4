/** Every state of a refund with every event, and the sums that a refund may not exceed. */
import { describe, expect, it } from 'vitest';
import { shareOf, worthToday } from '../../src/modules/refunds/amounts.js';
import { isLive, isReserved, nextStatus } from '../../src/modules/refunds/states.js';

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
  it('All states of a refund are in the table', () => {
    expect(rows.map(([from]) => from).sort()).toEqual([...states].sort());
    expect(cells).toHaveLength(states.length * events.length);
  });

  it.each(cells)('The state %s and the event %s lead to %s', (from, event, next) => {
    const state = states.find((one) => one === from);
    expect(state && nextStatus(state, event)).toBe(next);
  });

  it('A refund reserves money until it ends or has a transfer, and counts until it ends unpaid', () => {
    expect(states.filter(isReserved)).toEqual(['awaiting_address', 'awaiting_approval']);
    expect(states.filter((state) => !isLive(state))).toEqual(['failed', 'cancelled', 'expired']);
  });
});

describe('The amount of a refund', () => {
  const paid = { credited: 1500n, fee: 15n, excess: 500n, used: 0n, usedFee: 0n, usedExcess: 0n };

  it.each([
    ['A full refund gives back all but the fee', 'full', paid, false, undefined, { used: 1500n, fee: 15n }],
    [
      'A full refund gives back all that other refunds left, except the rest of the fee',
      'full',
      { ...paid, used: 404n, usedFee: 4n },
      false,
      undefined,
      { used: 1096n, fee: 11n },
    ],
    [
      'A partial refund uses up its part and the fee on it',
      'partial',
      paid,
      false,
      495n,
      { used: 500n, fee: 5n },
    ],
    [
      'A partial refund that returns the fee uses up only its part',
      'partial',
      paid,
      true,
      500n,
      { used: 500n, fee: 5n },
    ],
    [
      'A partial refund can give back all that there is',
      'partial',
      paid,
      false,
      1485n,
      { used: 1500n, fee: 15n },
    ],
    ['A partial refund cannot give back more than there is', 'partial', paid, false, 1486n, undefined],
    [
      'A refund of an excess gives back all of it, with the fee on it',
      'excess',
      paid,
      true,
      undefined,
      { used: 500n, fee: 5n },
    ],
    [
      'An excess that went back already is not refunded again',
      'excess',
      { ...paid, used: 500n, usedFee: 5n, usedExcess: 500n },
      true,
      undefined,
      undefined,
    ],
    [
      'A refund of an excess gives back the rest if a partial refund took most of everything',
      'excess',
      { ...paid, used: 1400n, usedFee: 14n },
      true,
      undefined,
      { used: 100n, fee: 1n },
    ],
    [
      'A full refund is impossible once everything went back',
      'full',
      { ...paid, used: 1500n, usedFee: 15n },
      true,
      undefined,
      undefined,
    ],
    [
      'A full refund gives back everything if there was no fee',
      'full',
      { ...paid, fee: 0n },
      false,
      undefined,
      { used: 1500n, fee: 0n },
    ],
    [
      'A full refund is impossible if the chain reverted coins that other refunds use',
      'full',
      { ...paid, used: 1600n },
      false,
      undefined,
      undefined,
    ],
    [
      'A full refund of nothing is impossible',
      'full',
      { ...paid, credited: 0n, fee: 0n, excess: 0n },
      false,
      undefined,
      undefined,
    ],
  ] as const)('%s', (_name, kind, facts, withFee, wanted, share) => {
    expect(shareOf(kind, facts, withFee, wanted)).toEqual(share);
  });

  it('A refund at today’s value gives back as much value as came, and never more coins', () => {
    const dollar = { numerator: 1n, denominator: 1n };
    expect(worthToday(1000n, dollar, { numerator: 2n, denominator: 1n })).toBe(500n);
    expect(worthToday(1000n, dollar, { numerator: 3n, denominator: 1n })).toBe(333n);
    expect(worthToday(1000n, dollar, { numerator: 1n, denominator: 2n })).toBe(1000n);
  });
});
