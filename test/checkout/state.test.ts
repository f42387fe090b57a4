/** The checkout's states: which state each payment is in, and where each action leads. */
import { describe, expect, it } from 'vitest';
import type { Payment } from '../../src/contract/checkout.js';
import { CheckoutError } from '../../src/errors.js';
import {
  previousChoice,
  reduce,
  type Action,
  type CheckoutState,
  type CheckoutStatus,
  type Preselection,
} from '../../src/checkout/state.js';
import {
  baseFieldsOnly,
  bitcoin,
  createdPayment,
  paymentInState,
  lockedPayment,
  quotedPayment,
  usdtOnBase,
  usdtOnTron,
} from '../support/payments.js';

const now = Date.now();
const problem = new CheckoutError('No', { code: 'no', remedy: 'None.' });

const report = (state: CheckoutState, payment: Payment) => reduce(state, { type: 'reported', payment, now });
const resume = (payment: Payment, preselected: Preselection = {}) =>
  report({ name: 'creating', preselected }, payment);
const apply = (state: CheckoutState, ...actions: Action[]) => actions.reduce(reduce, state);

describe('the state of a payment', () => {
  const rows: [string, Payment, CheckoutStatus][] = [
    ['created', createdPayment(), 'choosing-currency'],
    ['set', quotedPayment(), 'quoted'],
    ['locked', lockedPayment(), 'awaiting-funds'],
    ['underpaid', paymentInState('partially_paid'), 'partially-paid'],
    ['confirming', paymentInState('confirming'), 'confirming'],
    ['settled', paymentInState('settled'), 'success'],
    ['overpaid', paymentInState('settled_over'), 'success'],
    ['accepted late', paymentInState('settled_late'), 'success'],
    ['expired', paymentInState('expired'), 'expired'],
    ['expired, partially paid', paymentInState('expired_partial'), 'expired'],
    ['paid too late', paymentInState('expired_late'), 'expired'],
    ['paid in the wrong asset', paymentInState('invalid'), 'error'],
    ['reversed', paymentInState('reversed'), 'error'],
    ['cancelled', paymentInState('cancelled'), 'cancelled'],
    ['cancelled, then paid', paymentInState('cancelled_paid'), 'cancelled'],
    ['base fields: locked', baseFieldsOnly(lockedPayment()), 'awaiting-funds'],
    ['base fields: partially paid', baseFieldsOnly(lockedPayment({ amountReceived: 1 })), 'partially-paid'],
    ['base fields: success', baseFieldsOnly(lockedPayment({ status: 'success' })), 'success'],
    [
      'base fields: error past the deadline',
      baseFieldsOnly(lockedPayment({ status: 'error', expiresBy: now - 1 })),
      'expired',
    ],
    [
      'base fields: error before the deadline',
      baseFieldsOnly(lockedPayment({ status: 'error', expiresBy: now + 1 })),
      'error',
    ],
    ['base fields: cancelled', baseFieldsOnly(lockedPayment({ status: 'cancelled' })), 'cancelled'],
  ];
  it.each(rows)('The state of the checkout follows the payment: %s', (_name, payment, status) => {
    expect(resume(payment).name).toBe(status);
    // An open page that polls the payment ends up in the same state as one that loads it.
    if (payment.isCurrencyLocked) expect(report(resume(lockedPayment()), payment).name).toBe(status);
  });
});

describe('Choices that are already made are skipped', () => {
  const oneCoin = createdPayment({ currencyOptions: [usdtOnTron, usdtOnBase] });
  const onePair = createdPayment({ currencyOptions: [bitcoin] });
  const many = createdPayment();
  const rows: [string, Payment, Preselection, object][] = [
    [
      'nothing is picked at first',
      many,
      {},
      { name: 'choosing-currency', currency: undefined, isSetting: false },
    ],
    [
      'the only coin is picked',
      oneCoin,
      {},
      { name: 'choosing-network', currency: 'USDT', isSetting: false },
    ],
    [
      'the only coin and network are set right away',
      onePair,
      {},
      { currency: 'BTC', network: 'bitcoin', isSetting: true },
    ],
    [
      'a preselected coin on one network is set right away',
      many,
      { currency: 'btc' },
      { currency: 'BTC', network: 'bitcoin', isSetting: true },
    ],
    [
      'a preselected coin on several networks asks for the network',
      many,
      { currency: 'usdt' },
      { name: 'choosing-network', currency: 'USDT', network: undefined, isSetting: false },
    ],
    [
      'a preselected coin and network are set right away',
      many,
      { currency: 'usdt', network: 'TRON' },
      { currency: 'USDT', network: 'tron', isSetting: true },
    ],
    [
      'an unknown preselection is ignored',
      many,
      { currency: 'DOGE', network: 'doge' },
      { name: 'choosing-currency', currency: undefined, isSetting: false },
    ],
    [
      'a preselected network of the only coin is set right away',
      oneCoin,
      { network: 'base' },
      { currency: 'USDT', network: 'base', isSetting: true },
    ],
    [
      'a server that sends only codes gets the page’s network',
      baseFieldsOnly(createdPayment({ currencies: ['BTC'] })),
      { network: 'bitcoin' },
      { currency: 'BTC', network: 'bitcoin', isSetting: true },
    ],
  ];
  it.each(rows)('%s', (_name, payment, preselected, expected) => {
    expect(resume(payment, preselected)).toMatchObject(expected);
  });
});

describe('the payer', () => {
  const choosing = resume(createdPayment());
  const pickUsdt: Action = { type: 'picked', currency: 'USDT' };
  const pickTron: Action = { type: 'picked', network: 'tron' };
  const next: Action = { type: 'continued' };

  it('The payer goes from coin to network to quote to lock', () => {
    const network = apply(choosing, pickUsdt, next);
    expect(network).toMatchObject({ name: 'choosing-network', currency: 'USDT', isSetting: false });
    const setting = apply(network, pickTron, next);
    expect(setting).toMatchObject({ currency: 'USDT', network: 'tron', isSetting: true });
    const quote = report(setting, quotedPayment());
    expect(quote.name).toBe('quoted');
    const locking = apply(quote, next);
    expect(locking.name).toBe('locking');
    expect(report(locking, lockedPayment()).name).toBe('awaiting-funds');
  });

  it('The payer skips the network picker for a coin with one network', () => {
    expect(apply(choosing, { type: 'picked', currency: 'BTC' }, next)).toMatchObject({
      network: 'bitcoin',
      isSetting: true,
    });
  });

  it('The payer cannot continue before picking something', () => {
    expect(apply(choosing, next)).toBe(choosing);
    expect(apply(choosing, pickUsdt, next, next)).toMatchObject({
      name: 'choosing-network',
      isSetting: false,
    });
  });

  it('The payer cannot change the choice while it is being set', () => {
    const setting = apply(choosing, pickUsdt, next, pickTron, next);
    expect(apply(setting, { type: 'picked', network: 'base' }, next, { type: 'went-back' })).toBe(setting);
  });

  it('The payer goes back and finds the choice still picked', () => {
    const quote = report(apply(choosing, pickUsdt, next, pickTron, next), quotedPayment());
    const network = apply(quote, { type: 'went-back' });
    expect(network).toMatchObject({ name: 'choosing-network', currency: 'USDT', network: 'tron' });
    const currency = apply(network, { type: 'went-back' });
    expect(currency).toMatchObject({ name: 'choosing-currency', currency: 'USDT' });
    expect(apply(currency, { type: 'went-back' })).toBe(currency);
  });

  it('The payer cannot go back if there is only one choice, or after the lock', () => {
    expect(previousChoice(resume(quotedPayment({ currencyOptions: [bitcoin], currency: 'BTC' })))).toBe(
      undefined,
    );
    expect(previousChoice(resume(lockedPayment()))).toBe(undefined);
  });

  it('A new choice is kept when the server still reports the old one', () => {
    const back = apply(resume(quotedPayment()), { type: 'went-back' });
    expect(report(back, quotedPayment())).toMatchObject({ name: 'choosing-network' });
    const setting = apply(back, { type: 'picked', network: 'base' }, next);
    expect(report(setting, quotedPayment())).toMatchObject({ network: 'base', isSetting: true });
    expect(report(setting, quotedPayment({ currencyNetwork: 'base' })).name).toBe('quoted');
  });
});

describe('a failure', () => {
  it('A failure to create the payment can be retried with the same state', () => {
    const creating: CheckoutState = { name: 'creating', preselected: { currency: 'BTC' } };
    expect(reduce(creating, { type: 'failed', problem })).toEqual({
      name: 'error',
      problem,
      attempted: creating,
    });
  });

  it('A failure of a step leaves the payer there, and disappears with the next step', () => {
    const setting = apply(
      resume(createdPayment()),
      { type: 'picked', currency: 'BTC' },
      { type: 'continued' },
    );
    const failed = reduce(setting, { type: 'failed', problem });
    expect(failed).toMatchObject({ name: 'choosing-currency', currency: 'BTC', isSetting: false, problem });
    expect(reduce(failed, { type: 'continued' })).toMatchObject({ isSetting: true, problem: undefined });
    const unlocked = apply(resume(quotedPayment()), { type: 'continued' }, { type: 'failed', problem });
    expect(unlocked).toMatchObject({ name: 'quoted', problem });
  });

  it('A failure of a poll shows as reconnecting and does not end the payment', () => {
    const waiting = resume(lockedPayment());
    const lost = reduce(waiting, { type: 'lost-connection' });
    expect(lost).toMatchObject({ name: 'awaiting-funds', isReconnecting: true });
    expect(report(lost, lockedPayment())).toMatchObject({ name: 'awaiting-funds', isReconnecting: false });
    const choosing = resume(createdPayment());
    expect(reduce(choosing, { type: 'lost-connection' })).toBe(choosing);
  });
});

it('The checkout keeps the branding and the currency options that later replies leave out', () => {
  const branding = {
    id: 'm',
    businessName: 'Example Shop',
    name: 'Example Shop',
    logo: '',
    createdAt: '',
    updatedAt: '',
  };
  const { payment } = report(resume(quotedPayment({ branding })), lockedPayment());
  expect(payment).toMatchObject({ branding, currencyOptions: [usdtOnTron, usdtOnBase, bitcoin] });
  expect(
    report(resume(quotedPayment({ branding })), lockedPayment({ id: 'another' })).payment?.branding,
  ).toBe(undefined);
});
