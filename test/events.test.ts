/** The events that each state change fires. */
import { describe, expect, it } from 'vitest';
import { reduce, type CheckoutState } from '../src/checkout/state.js';
import type { Payment } from '../src/contract/checkout.js';
import { NetworkError } from '../src/errors.js';
import { CheckoutErrorEvent } from '../src/events.js';
import { eventsOf } from '../src/checkout/state-events.js';
import {
  baseFieldsOnly,
  createdPayment,
  paymentInState,
  lockedPayment,
  quotedPayment,
} from './support/payments.js';

const report = (state: CheckoutState, payment: Payment) =>
  reduce(state, { type: 'reported', payment, now: Date.now() });
const creating: CheckoutState = { name: 'creating', preselected: {} };
const resuming: CheckoutState = { name: 'creating', paymentId: 'known', preselected: {} };
const choosing = report(creating, createdPayment());
const waiting = report(creating, lockedPayment());
const partial = report(waiting, paymentInState('partially_paid', { amountSeen: 1 }));
const confirming = report(waiting, paymentInState('confirming', { amountSeen: 3.25 }));

const rows: [string, CheckoutState, CheckoutState, string[]][] = [
  ['a creation', creating, choosing, ['created']],
  ['resuming a payment with no coin chosen', resuming, choosing, []],
  ['resuming a quoted payment', resuming, report(resuming, quotedPayment()), ['currency-set']],
  ['resuming a locked payment', resuming, waiting, ['locked']],
  ['resuming a paid payment', resuming, report(resuming, paymentInState('settled')), ['success']],
  ['a choice', choosing, report(creating, quotedPayment()), ['currency-set']],
  ['the same choice', report(creating, quotedPayment()), report(creating, quotedPayment()), []],
  [
    'another network',
    report(creating, quotedPayment()),
    report(creating, quotedPayment({ currencyNetwork: 'base' })),
    ['currency-set'],
  ],
  ['a lock', report(creating, quotedPayment()), waiting, ['locked']],
  ['no change', waiting, report(waiting, lockedPayment()), []],
  ['a partial payment', waiting, partial, ['detected', 'partial']],
  [
    'the same partial payment',
    partial,
    report(partial, paymentInState('partially_paid', { amountSeen: 1 })),
    [],
  ],
  [
    'another partial payment',
    partial,
    report(partial, paymentInState('partially_paid', { amountSeen: 2 })),
    ['partial'],
  ],
  ['full payment', waiting, confirming, ['detected', 'confirming']],
  [
    'another confirmation',
    confirming,
    report(confirming, paymentInState('confirming', { amountSeen: 3.25, confirmations: 1 })),
    [],
  ],
  [
    'funds lost to a reorg',
    confirming,
    report(confirming, paymentInState('partially_paid', { amountSeen: 1 })),
    ['partial'],
  ],
  [
    'full payment, already confirmed',
    waiting,
    report(waiting, paymentInState('settled', { amountSeen: 3.25 })),
    ['detected', 'success'],
  ],
  [
    'base fields: full payment',
    report(creating, baseFieldsOnly(lockedPayment())),
    report(waiting, baseFieldsOnly(paymentInState('settled', { amountReceived: 3.25 }))),
    ['detected', 'success'],
  ],
  ['expiry', waiting, report(waiting, paymentInState('expired')), ['expired']],
  ['cancellation', waiting, report(waiting, paymentInState('cancelled')), ['cancelled']],
  [
    'a reversal',
    report(waiting, paymentInState('settled')),
    report(waiting, paymentInState('reversed')),
    ['error'],
  ],
  ['a lost connection', waiting, reduce(waiting, { type: 'lost-connection' }), []],
];

describe('the events of', () => {
  it.each(rows)('%s', (_name, from, to, types) => {
    const events = eventsOf(from, to);
    expect(events.map(({ type }) => type)).toEqual(types.map((type) => `checkout-${type}`));
    for (const event of events) {
      expect(event).toMatchObject({ bubbles: true, composed: true });
      expect(event.payment).toBe(to.payment);
    }
  });

  it('a failed creation contain the error', () => {
    const problem = new NetworkError('Offline');
    const [event, ...more] = eventsOf(creating, reduce(creating, { type: 'failed', problem }));
    expect(more).toEqual([]);
    expect(event).toBeInstanceOf(CheckoutErrorEvent);
    expect(event).toMatchObject({ type: 'checkout-error', payment: undefined, error: problem });
  });
});
