/** The checkout's states: which one a record stands for, and where each happening leads. */
import { describe, expect, it } from 'vitest';
import type { Payment } from '../src/contract/checkout.js';
import { CheckoutError } from '../src/errors.js';
import {
  next,
  previousChoice,
  type CheckoutState,
  type CheckoutStatus,
  type Happening,
  type Preferred,
} from '../src/state.js';
import { bare, bitcoin, created, inState, locked, quoted, usdtOnBase, usdtOnTron } from './records.js';

const now = Date.now();
const problem = new CheckoutError('No', { code: 'no', remedy: 'None.' });

const report = (state: CheckoutState, payment: Payment) => next(state, { type: 'reported', payment, now });
const opened = (payment: Payment, preferred: Preferred = {}) =>
  report({ name: 'creating', preferred }, payment);
const run = (state: CheckoutState, ...happenings: Happening[]) => happenings.reduce(next, state);

describe('a record stands for a state', () => {
  const rows: [string, Payment, CheckoutStatus][] = [
    ['created', created(), 'choosing-currency'],
    ['set', quoted(), 'quoted'],
    ['locked', locked(), 'awaiting-funds'],
    ['underpaid', inState('partially_paid'), 'partially-paid'],
    ['confirming', inState('confirming'), 'confirming'],
    ['settled', inState('settled'), 'success'],
    ['overpaid', inState('settled_over'), 'success'],
    ['accepted late', inState('settled_late'), 'success'],
    ['expired', inState('expired'), 'expired'],
    ['expired with a part', inState('expired_partial'), 'expired'],
    ['paid too late', inState('expired_late'), 'expired'],
    ['paid in another asset', inState('invalid'), 'error'],
    ['reversed', inState('reversed'), 'error'],
    ['cancelled', inState('cancelled'), 'cancelled'],
    ['cancelled, then paid', inState('cancelled_paid'), 'cancelled'],
    ['base fields: locked', bare(locked()), 'awaiting-funds'],
    ['base fields: a part received', bare(locked({ amountReceived: 1 })), 'partially-paid'],
    ['base fields: success', bare(locked({ status: 'success' })), 'success'],
    [
      'base fields: error past the deadline',
      bare(locked({ status: 'error', expiresBy: now - 1 })),
      'expired',
    ],
    [
      'base fields: error before the deadline',
      bare(locked({ status: 'error', expiresBy: now + 1 })),
      'error',
    ],
    ['base fields: cancelled', bare(locked({ status: 'cancelled' })), 'cancelled'],
  ];
  it.each(rows)('%s', (_name, payment, status) => {
    expect(opened(payment).name).toBe(status);
    // The way there does not matter: an open page that hears of it ends up in the same state.
    if (payment.isCurrencyLocked) expect(report(opened(locked()), payment).name).toBe(status);
  });
});

describe('choosing begins past what is decided', () => {
  const oneCoin = created({ currencyOptions: [usdtOnTron, usdtOnBase] });
  const onePair = created({ currencyOptions: [bitcoin] });
  const many = created();
  const rows: [string, Payment, Preferred, object][] = [
    [
      'nothing is picked at first',
      many,
      {},
      { name: 'choosing-currency', currency: undefined, isSetting: false },
    ],
    [
      'the only coin needs no picker',
      oneCoin,
      {},
      { name: 'choosing-network', currency: 'USDT', isSetting: false },
    ],
    [
      'the only pair needs none at all',
      onePair,
      {},
      { currency: 'BTC', network: 'bitcoin', isSetting: true },
    ],
    [
      'a preferred coin is picked already',
      many,
      { currency: 'btc' },
      { name: 'choosing-currency', currency: 'BTC', isSetting: false },
    ],
    [
      'a preferred pair needs no picker',
      many,
      { currency: 'usdt', network: 'TRON' },
      { currency: 'USDT', network: 'tron', isSetting: true },
    ],
    [
      'an unknown preference is not followed',
      many,
      { currency: 'DOGE', network: 'doge' },
      { name: 'choosing-currency', currency: undefined, isSetting: false },
    ],
    [
      'a preferred network waits for its coin',
      oneCoin,
      { network: 'base' },
      { currency: 'USDT', network: 'base', isSetting: true },
    ],
    [
      'codes alone get the page’s network',
      bare(created({ currencies: ['BTC'] })),
      { network: 'bitcoin' },
      { currency: 'BTC', network: 'bitcoin', isSetting: true },
    ],
  ];
  it.each(rows)('%s', (_name, payment, preferred, expected) => {
    expect(opened(payment, preferred)).toMatchObject(expected);
  });
});

describe('the payer’s steps', () => {
  const choosing = opened(created());
  const pickUsdt: Happening = { type: 'picked', currency: 'USDT' };
  const pickTron: Happening = { type: 'picked', network: 'tron' };
  const on: Happening = { type: 'continued' };

  it('lead from coin to network to quote to lock', () => {
    const network = run(choosing, pickUsdt, on);
    expect(network).toMatchObject({ name: 'choosing-network', currency: 'USDT', isSetting: false });
    const setting = run(network, pickTron, on);
    expect(setting).toMatchObject({ currency: 'USDT', network: 'tron', isSetting: true });
    const quote = report(setting, quoted());
    expect(quote.name).toBe('quoted');
    const locking = run(quote, on);
    expect(locking.name).toBe('locking');
    expect(report(locking, locked()).name).toBe('awaiting-funds');
  });

  it('skip the network picker for a coin with one network', () => {
    expect(run(choosing, { type: 'picked', currency: 'BTC' }, on)).toMatchObject({
      network: 'bitcoin',
      isSetting: true,
    });
  });

  it('go nowhere before something is picked', () => {
    expect(run(choosing, on)).toBe(choosing);
    expect(run(choosing, pickUsdt, on, on)).toMatchObject({ name: 'choosing-network', isSetting: false });
  });

  it('change nothing while the server is asked', () => {
    const setting = run(choosing, pickUsdt, on, pickTron, on);
    expect(run(setting, { type: 'picked', network: 'base' }, on, { type: 'went-back' })).toBe(setting);
  });

  it('lead back with what was chosen still picked', () => {
    const quote = report(run(choosing, pickUsdt, on, pickTron, on), quoted());
    const network = run(quote, { type: 'went-back' });
    expect(network).toMatchObject({ name: 'choosing-network', currency: 'USDT', network: 'tron' });
    const currency = run(network, { type: 'went-back' });
    expect(currency).toMatchObject({ name: 'choosing-currency', currency: 'USDT' });
    expect(run(currency, { type: 'went-back' })).toBe(currency);
  });

  it('have no way back where there is nothing else to choose, or after the lock', () => {
    expect(previousChoice(opened(quoted({ currencyOptions: [bitcoin], currency: 'BTC' })))).toBe(undefined);
    expect(previousChoice(opened(locked()))).toBe(undefined);
  });

  it('are kept when a record of the former choice comes in between', () => {
    const back = run(opened(quoted()), { type: 'went-back' });
    expect(report(back, quoted())).toMatchObject({ name: 'choosing-network' });
    const setting = run(back, { type: 'picked', network: 'base' }, on);
    expect(report(setting, quoted())).toMatchObject({ network: 'base', isSetting: true });
    expect(report(setting, quoted({ currencyNetwork: 'base' })).name).toBe('quoted');
  });
});

describe('a failure', () => {
  it('of the creation can be tried again as it was', () => {
    const creating: CheckoutState = { name: 'creating', preferred: { currency: 'BTC' } };
    expect(next(creating, { type: 'failed', problem })).toEqual({ name: 'error', problem, tried: creating });
  });

  it('of a step leaves the payer where it was pressed, and is gone with the next one', () => {
    const setting = run(opened(created()), { type: 'picked', currency: 'BTC' }, { type: 'continued' });
    const failed = next(setting, { type: 'failed', problem });
    expect(failed).toMatchObject({ name: 'choosing-currency', currency: 'BTC', isSetting: false, problem });
    expect(next(failed, { type: 'continued' })).toMatchObject({ isSetting: true, problem: undefined });
    const unlocked = run(opened(quoted()), { type: 'continued' }, { type: 'failed', problem });
    expect(unlocked).toMatchObject({ name: 'quoted', problem });
  });

  it('of polling is a reconnecting, never an ending', () => {
    const waiting = opened(locked());
    const lost = next(waiting, { type: 'lost-connection' });
    expect(lost).toMatchObject({ name: 'awaiting-funds', isReconnecting: true });
    expect(report(lost, locked())).toMatchObject({ name: 'awaiting-funds', isReconnecting: false });
    const choosing = opened(created());
    expect(next(choosing, { type: 'lost-connection' })).toBe(choosing);
  });
});

it('keeps the merchant’s branding and the options that later replies leave out', () => {
  const branding = {
    id: 'm',
    businessName: 'Example Shop',
    name: 'Example Shop',
    logo: '',
    createdAt: '',
    updatedAt: '',
  };
  const { payment } = report(opened(quoted({ branding })), locked());
  expect(payment).toMatchObject({ branding, currencyOptions: [usdtOnTron, usdtOnBase, bitcoin] });
  expect(report(opened(quoted({ branding })), locked({ id: 'another' })).payment?.branding).toBe(undefined);
});
