import { describe, expect, it } from 'vitest';
import type { PaymentState } from 'crypto-checkout/contract';
import { assess, type PaymentFacts, type ReceiptFact } from '../../src/core/payments/assess.js';

const deadline = 1_000;
const locked: PaymentFacts = {
  currency: 'USDT',
  network: 'tron',
  amount: 100n,
  baseAmount: 50n,
  expiresAt: deadline,
  cancelledAt: null,
  settledAt: null,
  accepted: null,
  returned: 0n,
  receipts: [],
};

/** The rate at which 100 units are worth this much. */
const worth = (value: bigint) => ({ numerator: value, denominator: 100n });

const receipt = (fact: Partial<ReceiptFact>): ReceiptFact => ({
  currency: 'USDT',
  network: 'tron',
  amount: 100n,
  firstSeenAt: 500,
  isConfirmed: true,
  awaitedUntil: Infinity,
  baseRate: worth(50n),
  ...fact,
});

interface Row {
  readonly when: string;
  readonly facts?: Partial<PaymentFacts>;
  readonly receipts?: readonly Partial<ReceiptFact>[];
  readonly now?: number;
  readonly readUntil?: number;
  readonly state: PaymentState;
}

const later = { now: deadline + 100, readUntil: deadline + 50 };
const unlocked = { amount: null };

const rows: readonly Row[] = [
  { when: 'nothing is chosen', facts: { ...unlocked, currency: null, network: null }, state: 'created' },
  { when: 'a currency is set', facts: unlocked, state: 'currency_set' },
  { when: 'the time to choose has passed', facts: unlocked, now: deadline, readUntil: 0, state: 'expired' },
  { when: 'it was cancelled before the lock', facts: { ...unlocked, cancelledAt: 10 }, state: 'cancelled' },
  { when: 'it was locked', state: 'awaiting_funds' },
  { when: 'half is seen', receipts: [{ amount: 50n, isConfirmed: false }], state: 'partially_paid' },
  { when: 'half is confirmed', receipts: [{ amount: 50n }], state: 'partially_paid' },
  { when: 'all is seen', receipts: [{ isConfirmed: false }], state: 'confirming' },
  {
    when: 'half is confirmed and half is seen',
    receipts: [{ amount: 50n }, { amount: 50n, isConfirmed: false }],
    state: 'confirming',
  },
  { when: 'all is confirmed', receipts: [{}], state: 'settled' },
  { when: 'two halves are confirmed', receipts: [{ amount: 50n }, { amount: 50n }], state: 'settled' },
  { when: 'one unit is missing', receipts: [{ amount: 99n }], state: 'partially_paid' },
  { when: 'one unit too much is confirmed', receipts: [{ amount: 101n }], state: 'settled_over' },
  { when: 'it is paid twice', receipts: [{}, {}], state: 'settled_over' },
  {
    when: 'a second full payment is not confirmed yet',
    receipts: [{}, { isConfirmed: false }],
    state: 'settled',
  },
  { when: 'another currency arrived', receipts: [{ currency: 'TRX' }], state: 'awaiting_funds' },
  {
    when: 'the currency arrived on another network',
    receipts: [{ network: 'bsc' }],
    state: 'awaiting_funds',
  },
  { when: 'the deadline passed', ...later, state: 'expired' },
  {
    when: 'the deadline passed but the chain has not been read up to it',
    now: 1_100,
    readUntil: 999,
    state: 'awaiting_funds',
  },
  { when: 'the chain is ahead of the clock', now: 999, readUntil: 2_000, state: 'awaiting_funds' },
  {
    when: 'funds seen in time confirm after the deadline',
    receipts: [{ isConfirmed: false }],
    ...later,
    state: 'confirming',
  },
  {
    when: 'a part seen in time confirms after the deadline',
    receipts: [{ amount: 50n, isConfirmed: false }],
    ...later,
    state: 'partially_paid',
  },
  {
    when: 'a part seen in time has waited for a block for too long',
    receipts: [{ amount: 50n, isConfirmed: false, awaitedUntil: deadline + 50 }],
    ...later,
    state: 'expired',
  },
  {
    when: 'a part is confirmed at the deadline, and dust waits for a block',
    receipts: [{ amount: 50n }, { amount: 1n, isConfirmed: false, awaitedUntil: 0 }],
    ...later,
    state: 'expired_partial',
  },
  {
    when: 'it was paid exactly at the deadline',
    receipts: [{ firstSeenAt: deadline }],
    ...later,
    state: 'settled',
  },
  {
    when: 'a part is confirmed at the deadline',
    receipts: [{ amount: 50n }],
    ...later,
    state: 'expired_partial',
  },
  {
    when: 'only another currency arrived by the deadline',
    receipts: [{ currency: 'TRX' }],
    ...later,
    state: 'invalid',
  },
  {
    when: 'it is paid late without loss of value',
    receipts: [{ firstSeenAt: 1_001 }],
    ...later,
    state: 'settled_late',
  },
  {
    when: 'it is paid late and the funds have lost value',
    receipts: [{ firstSeenAt: 1_001, baseRate: worth(49n) }],
    ...later,
    state: 'expired_late',
  },
  {
    when: 'it is paid late in part',
    receipts: [{ firstSeenAt: 1_001, amount: 60n }],
    ...later,
    state: 'expired_late',
  },
  {
    when: 'a part in time is topped up late',
    receipts: [{ amount: 40n }, { amount: 60n, firstSeenAt: 1_050 }],
    ...later,
    state: 'settled_late',
  },
  {
    when: 'the late payment is not confirmed',
    receipts: [{ firstSeenAt: 1_001, isConfirmed: false }],
    ...later,
    state: 'expired',
  },
  { when: 'it was cancelled', facts: { cancelledAt: 600 }, state: 'cancelled' },
  {
    when: 'it was cancelled and the deadline passed',
    facts: { cancelledAt: 600 },
    ...later,
    state: 'cancelled',
  },
  {
    when: 'it was paid before it was cancelled',
    facts: { cancelledAt: 600 },
    receipts: [{}],
    state: 'settled',
  },
  {
    when: 'funds seen before it was cancelled are not confirmed',
    facts: { cancelledAt: 600 },
    receipts: [{ isConfirmed: false }],
    state: 'cancelled_paid',
  },
  {
    when: 'it was paid after it was cancelled',
    facts: { cancelledAt: 600 },
    receipts: [{ firstSeenAt: 601 }],
    state: 'cancelled_paid',
  },
  { when: 'the settled receipt was lost', facts: { settledAt: 700 }, state: 'reversed' },
  {
    when: 'the settled receipt fell back to unconfirmed',
    facts: { settledAt: 700 },
    receipts: [{ isConfirmed: false }],
    state: 'reversed',
  },
  {
    when: 'the settled receipt was lost and the deadline passed',
    facts: { settledAt: 700 },
    ...later,
    state: 'reversed',
  },
  {
    when: 'the lost receipt came back',
    facts: { settledAt: 700 },
    receipts: [{}],
    ...later,
    state: 'settled',
  },
  {
    when: 'the shop took half as enough',
    facts: { accepted: 50n, settledAt: 700 },
    receipts: [{ amount: 50n }],
    ...later,
    state: 'settled',
  },
  {
    when: 'a part of what the shop took was lost',
    facts: { accepted: 50n, settledAt: 700 },
    receipts: [{ amount: 49n }],
    ...later,
    state: 'reversed',
  },
  {
    when: 'more than all came after the shop took half as enough',
    facts: { accepted: 50n, settledAt: 700 },
    receipts: [{ amount: 50n }, { amount: 51n, firstSeenAt: deadline + 1 }],
    ...later,
    state: 'settled_over',
  },
];

describe('the state of a payment', () => {
  it.each(rows)('State is $state if $when', ({ facts, receipts = [], now = 500, readUntil = 500, state }) => {
    const payment = { ...locked, ...facts, receipts: receipts.map(receipt) };
    expect(assess(payment, now, readUntil)).toBe(state);
  });

  it('The state of a payment does not depend on the order of the receipts', () => {
    const receipts = [{ amount: 40n }, { amount: 60n, isConfirmed: false }, { currency: 'TRX' }].map(receipt);
    const states = [receipts, [...receipts].reverse()].map((order) =>
      assess({ ...locked, receipts: order }, 500, 500),
    );
    expect(states).toEqual(['confirming', 'confirming']);
  });
});
