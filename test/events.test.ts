/** Which events a change of state fires. */
import { describe, expect, it } from 'vitest';
import type { Payment } from '../src/contract/checkout.js';
import { NetworkError } from '../src/errors.js';
import { CheckoutErrorEvent, eventsOf } from '../src/events.js';
import { next, type CheckoutState } from '../src/state.js';
import { bare, created, inState, locked, quoted } from './records.js';

const report = (state: CheckoutState, payment: Payment) =>
  next(state, { type: 'reported', payment, now: Date.now() });
const creating: CheckoutState = { name: 'creating', preferred: {} };
const resuming: CheckoutState = { name: 'creating', paymentId: 'known', preferred: {} };
const choosing = report(creating, created());
const waiting = report(creating, locked());
const partial = report(waiting, inState('partially_paid', { amountSeen: 1 }));
const confirming = report(waiting, inState('confirming', { amountSeen: 3.246754 }));

const rows: [string, CheckoutState, CheckoutState, string[]][] = [
  ['a creation', creating, choosing, ['created']],
  ['a payment taken up again while it is chosen', resuming, choosing, []],
  ['a payment taken up again before the lock', resuming, report(resuming, quoted()), ['currency-set']],
  ['a payment taken up again in the middle', resuming, waiting, ['locked']],
  ['a payment taken up again at its end', resuming, report(resuming, inState('settled')), ['success']],
  ['a choice', choosing, report(creating, quoted()), ['currency-set']],
  ['the same choice', report(creating, quoted()), report(creating, quoted()), []],
  [
    'another network',
    report(creating, quoted()),
    report(creating, quoted({ currencyNetwork: 'base' })),
    ['currency-set'],
  ],
  ['a lock', report(creating, quoted()), waiting, ['locked']],
  ['nothing new', waiting, report(waiting, locked()), []],
  ['a part', waiting, partial, ['detected', 'partial']],
  ['the same part', partial, report(partial, inState('partially_paid', { amountSeen: 1 })), []],
  ['a further part', partial, report(partial, inState('partially_paid', { amountSeen: 2 })), ['partial']],
  ['all of it', waiting, confirming, ['detected', 'confirming']],
  [
    'one confirmation more',
    confirming,
    report(confirming, inState('confirming', { amountSeen: 3.246754, confirmations: 1 })),
    [],
  ],
  ['a fall back', confirming, report(confirming, inState('partially_paid', { amountSeen: 1 })), ['partial']],
  [
    'all of it at once',
    waiting,
    report(waiting, inState('settled', { amountSeen: 3.246754 })),
    ['detected', 'success'],
  ],
  [
    'base fields: all of it',
    report(creating, bare(locked())),
    report(waiting, bare(inState('settled', { amountReceived: 3.246754 }))),
    ['detected', 'success'],
  ],
  ['a deadline', waiting, report(waiting, inState('expired')), ['expired']],
  ['a cancel', waiting, report(waiting, inState('cancelled')), ['cancelled']],
  ['a reversal', report(waiting, inState('settled')), report(waiting, inState('reversed')), ['error']],
  ['a lost connection', waiting, next(waiting, { type: 'lost-connection' }), []],
];

describe('events of', () => {
  it.each(rows)('%s', (_name, from, to, types) => {
    const events = eventsOf(from, to);
    expect(events.map(({ type }) => type)).toEqual(types.map((type) => `checkout-${type}`));
    for (const event of events) {
      expect(event).toMatchObject({ bubbles: true, composed: true });
      expect(event.payment).toBe(to.payment);
    }
  });

  it('a failed creation: the error', () => {
    const problem = new NetworkError('Offline');
    const [event, ...more] = eventsOf(creating, next(creating, { type: 'failed', problem }));
    expect(more).toEqual([]);
    expect(event).toBeInstanceOf(CheckoutErrorEvent);
    expect(event).toMatchObject({ type: 'checkout-error', payment: undefined, error: problem });
  });
});
