/** The demo shop: takes an order, shows its checkout, and lets the visitor play wallet, network and shop. */
import type { CheckoutEvent, CheckoutEventType, Payment } from 'crypto-checkout';
import { render } from 'lit';
import { readOrder, writeOrder } from './saved-order.js';
import { fetchConfig, fetchOrder, placeOrder, ShopError, verifyOrder } from './shop-client.js';
import { simulate, type SimulationName } from './simulator.js';
import { counterView, workshopView, type Model, type ShopActions } from './views.js';

const eventNames: readonly CheckoutEventType[] = [
  'checkout-ready',
  'checkout-created',
  'checkout-currency-set',
  'checkout-locked',
  'checkout-detected',
  'checkout-partial',
  'checkout-confirming',
  'checkout-success',
  'checkout-error',
  'checkout-expired',
  'checkout-cancelled',
];

const counter = element('counter');
const workshop = element('workshop');
let model: Model = { events: [], isBusy: false };

function update(change: Partial<Model>): void {
  model = { ...model, ...change };
  render(counterView(model, actions), counter);
  render(workshopView(model, actions), workshop);
}

const actions: ShopActions = {
  order: (quantity, baseCurrency, fullName, email) =>
    void attempt(async () => {
      const order = await placeOrder(quantity, baseCurrency);
      const placed = { ...order, email, fullName };
      writeOrder({ reference: order.reference, email, fullName });
      update({ placed, events: [], payment: undefined, verification: undefined, done: undefined });
      document.querySelector('crypto-checkout')?.scrollIntoView({ block: 'nearest' });
    }),
  leave: () => {
    writeOrder(undefined);
    update({ placed: undefined, events: [], payment: undefined, verification: undefined, done: undefined });
  },
  verify: () => void attempt(verify),
  simulate: (name) => void attempt(() => play(name)),
};

/** One thing at a time; what goes wrong is said on the page. */
async function attempt(work: () => Promise<void>): Promise<void> {
  update({ isBusy: true, failure: undefined });
  try {
    await work();
  } catch (error) {
    update({ failure: error instanceof Error ? error.message : 'Something went wrong.' });
  } finally {
    update({ isBusy: false });
  }
}

async function verify(): Promise<void> {
  const { placed, payment } = model;
  const paymentId = payment?.id ?? placed?.paymentId;
  if (placed && paymentId) update({ verification: await verifyOrder(placed.reference, paymentId) });
}

async function play(name: SimulationName): Promise<void> {
  const { config } = model;
  // The element knows more than its last event: amounts and confirmations change without one.
  const payment = document.querySelector('crypto-checkout')?.payment ?? model.payment;
  if (config && payment) update({ done: await simulate(name, payment, config) });
}

/** A payment that is taken up again after a reload changes the element's status, but fires no event of its own. */
function onStatus(): void {
  const payment = counter.querySelector('crypto-checkout')?.payment;
  if (payment) update({ payment });
}

function onEvent(event: CheckoutEvent): void {
  const { type, payment } = event;
  const events = [...model.events, { type, time: new Date(), detail: describe(event) }];
  update({ events, ...(payment && { payment }) });
  if (payment) remember(payment);
  if (type === 'checkout-success') void attempt(verify);
}

function remember(payment: Payment): void {
  const { placed } = model;
  if (!placed) return;
  const { reference, email, fullName } = placed;
  const isPaid = payment.status === 'success';
  writeOrder({ reference, email, fullName, paymentId: payment.id, isPaid });
}

function describe(event: CheckoutEvent): string {
  const { type, payment } = event;
  if ('error' in event && event.error instanceof Error) return event.error.message;
  if (!payment) return '';
  const { id, currency = '', networkName = '', amount = 0, amountSeen = 0, amountReceived = 0 } = payment;
  switch (type) {
    case 'checkout-created':
      return id;
    case 'checkout-currency-set':
      return `${currency} on ${networkName}`;
    case 'checkout-locked':
      return `${amount} ${currency}`;
    case 'checkout-detected':
    case 'checkout-partial':
    case 'checkout-confirming':
      return `${amountSeen} of ${amount} ${currency} seen`;
    case 'checkout-success':
      return `${amountReceived} ${currency} received`;
    default:
      return payment.state ?? payment.status;
  }
}

/** Shows the order of the last visit, if the shop still knows it. */
async function open(): Promise<void> {
  const config = await fetchConfig();
  const saved = readOrder();
  if (!saved) return update({ config });
  try {
    update({ config, placed: { ...(await fetchOrder(saved.reference)), ...saved } });
  } catch (error) {
    if (!(error instanceof ShopError) || error.status !== 404) throw error;
    writeOrder(undefined);
    update({ config, failure: error.message });
  }
}

function element(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no #${id}`);
  return found;
}

counter.replaceChildren();
for (const name of eventNames) counter.addEventListener(name, onEvent);
new MutationObserver(onStatus).observe(counter, { subtree: true, attributeFilter: ['status'] });
update({ isOpening: true });
await attempt(open);
update({ isOpening: false });
