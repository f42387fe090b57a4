/** Polling of a payment: one request at a time, and no reply that the payer has overtaken. */
import { expect } from '@open-wc/testing';
import type { Reply } from '../../src/client/request.js';
import type { CheckoutClient } from '../../src/client/checkout-client.js';
import { Polling, type Polled } from '../../src/checkout/polling.js';
import type { Action, CheckoutState } from '../../src/checkout/state.js';
import type { Payment } from '../../src/contract/checkout.js';
import { NetworkError, ReplyError } from '../../src/errors.js';
import { lockedPayment } from '../support/payments.js';

function setUp(answer: () => Promise<Payment>) {
  const actions: Action['type'][] = [];
  const reported: string[] = [];
  const failures: unknown[] = [];
  const connection = new AbortController();
  const checkout = {
    state: { name: 'awaiting-funds', payment: lockedPayment(), isReconnecting: false } as CheckoutState,
    followed: lockedPayment() as Payment | undefined,
    connection: connection.signal,
    dispatch: ({ type }: Action) => void actions.push(type),
    report: ({ state }: Payment) => void reported.push(state ?? ''),
    fail: (cause: unknown) => void failures.push(cause),
  } satisfies Polled;
  let calls = 0;
  const ask = async (): Promise<Reply<Payment>> => {
    calls += 1;
    return { data: await answer(), serverTime: undefined };
  };
  const client: Pick<CheckoutClient, 'retrieve' | 'verify'> = { retrieve: ask, verify: ask };
  return {
    checkout,
    connection,
    actions,
    reported,
    failures,
    calls: () => calls,
    polling: new Polling(checkout, client),
  };
}

it('polling reports the server’s state, with one request for two callers', async () => {
  const { polling, reported, calls } = setUp(async () => lockedPayment({ state: 'confirming' }));
  expect(await Promise.all([polling.refresh(), polling.refresh()])).to.deep.equal([true, true]);
  expect(reported).to.deep.equal(['confirming']);
  expect(calls()).to.equal(1);
});

it('polling drops a reply from before the payer’s last step, and asks again', async () => {
  let count = 0;
  const { polling, reported } = setUp(async () => {
    count += 1;
    if (count === 1) polling.recordAdvance();
    return lockedPayment({ state: count === 1 ? 'awaiting_funds' : 'confirming' });
  });
  await polling.refresh();
  expect(reported).to.deep.equal(['confirming']);
});

it('a lost connection is no failure; a wrong reply is one', async () => {
  const errors = [new NetworkError('Offline'), new ReplyError('No JSON')];
  const { polling, actions, failures } = setUp(() => Promise.reject(errors.shift() ?? new Error('x')));
  expect(await polling.refresh()).to.equal(false);
  expect(failures).to.deep.equal([]);
  expect(await polling.refresh()).to.equal(false);
  expect(actions).to.deep.equal(['lost-connection', 'lost-connection']);
  expect(failures).to.have.length(1);
});

it('polling reports nothing once the element has left the page', async () => {
  const { polling, connection, actions, failures } = setUp(() => {
    connection.abort();
    return Promise.reject(new NetworkError('Aborted'));
  });
  expect(await polling.refresh()).to.equal(false);
  expect([actions, failures]).to.deep.equal([[], []]);
});

it('polling asks once when the time is up', async () => {
  const { polling, calls } = setUp(async () => lockedPayment());
  polling.askAtDeadline();
  await polling.refresh();
  polling.askAtDeadline();
  await polling.refresh();
  expect(calls()).to.equal(2);
});

it('polling asks nothing without a payment', async () => {
  const { polling, checkout, calls } = setUp(async () => lockedPayment());
  checkout.followed = undefined;
  expect(await polling.refresh()).to.equal(false);
  expect(calls()).to.equal(0);
});
