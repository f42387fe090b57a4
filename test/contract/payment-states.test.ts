/** The groups of payment states. */
import { expect, test } from 'vitest';
import {
  isInGroup,
  paymentStates,
  paymentStatuses,
  statesWith,
  statusOf,
  type PaymentState,
} from '../../src/contract/payment-states.js';

const states: PaymentState[] = Object.values(paymentStates).flat();

test('each state is in one group', () => {
  expect(new Set(states).size).toBe(states.length);
});

test.each<[PaymentState, string]>([
  ['created', 'in progress'],
  ['currency_set', 'in progress'],
  ['confirming', 'in progress'],
  ['settled_late', 'success'],
  ['expired_late', 'error'],
  ['reversed', 'error'],
  ['cancelled_paid', 'cancelled'],
])('the status of %s is %s', (state, status) => {
  expect(statusOf(state)).toBe(status);
});

test('the states of all statuses together are all states', () => {
  expect(paymentStatuses.flatMap(statesWith).sort()).toEqual([...states].sort());
});

test('a price is chosen before it can be paid', () => {
  expect(isInGroup('currency_set', 'choosing')).toBe(true);
  expect(isInGroup('currency_set', 'payable')).toBe(false);
  // A server that sends no detailed states.
  expect(isInGroup(undefined, 'payable')).toBe(false);
});
