/** The demo shop: takes an order, shows its checkout, and lets visitors play the wallet, the network and the shop. */
import {
  checkoutEvents,
  type CheckoutErrorEvent,
  type CheckoutEvent,
  type CheckoutEventType,
  type Payment,
} from 'crypto-checkout';
import { render } from 'lit';
import { readOrder, writeOrder } from './saved-order.js';
import {
  fetchConfig,
  fetchOrder,
  placeOrder,
  ShopError,
  simulateOrder,
  verifyOrder,
  type SimulationName,
} from './shop-client.js';
import { counterView, workshopView, type Model, type ShopActions } from './views.js';

const counter = requireElement('counter');
const workshop = requireElement('workshop');
let model: Model = { events: [], isBusy: false };

function update(change: Partial<Model>): void {
  model = { ...model, ...change };
  render(counterView(model, actions), counter);
  render(workshopView(model, actions), workshop);
}

const actions: ShopActions = {
  order: (quantity, baseCurrency, fullName, email) =>
    void run(async () => {
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
  verify: () => void run(verify),
  simulate: (name) => void run(() => runSimulation(name)),
};

/** Disables the buttons while `work` runs, and shows its error on the page. */
async function run(work: () => Promise<void>): Promise<void> {
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

async function runSimulation(name: SimulationName): Promise<void> {
  const { placed } = model;
  // Not every change of the payment fires an event, so ask the element first.
  const payment = document.querySelector('crypto-checkout')?.payment ?? model.payment;
  if (placed && payment) update({ done: await simulateOrder(placed.reference, payment.id, name) });
}

/** A payment that is resumed after a reload changes the element's status, but may fire no event. */
function onStatusChange(): void {
  const payment = counter.querySelector('crypto-checkout')?.payment;
  if (payment) update({ payment });
}

function onEvent(event: CheckoutEvent): void {
  const { type, payment } = event;
  const events = [...model.events, { type, time: new Date(), detail: describe(event) }];
  update({ events, ...(payment && { payment }) });
  if (payment) savePayment(payment);
  if (type === 'checkout-success') void run(verify);
}

function savePayment(payment: Payment): void {
  const { placed } = model;
  if (!placed) return;
  const { reference, email, fullName } = placed;
  const isPaid = payment.status === 'success';
  writeOrder({ reference, email, fullName, paymentId: payment.id, isPaid });
}

function describe(event: CheckoutEvent): string {
  const { type, payment } = event;
  const { error } = event as Partial<CheckoutErrorEvent>;
  if (error) return error.shortMessage;
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

/** Restores the order of the last visit, if the shop still has it. */
async function openShop(): Promise<void> {
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

function requireElement(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no element #${id}`);
  return found;
}

counter.replaceChildren();
for (const name of Object.keys(checkoutEvents) as CheckoutEventType[])
  counter.addEventListener(name, onEvent);
new MutationObserver(onStatusChange).observe(counter, { subtree: true, attributeFilter: ['status'] });
update({ isOpening: true });
await run(openShop);
update({ isOpening: false });
