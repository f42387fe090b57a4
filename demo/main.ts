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
  resetShop,
  simulateOrder,
  verifyOrder,
  type SimulationName,
} from './shop-client.js';
import { playEndings } from './endings.js';
import { tagText } from './tag.js';
import { builderView, counterView, orderView, workshopView, type Model, type ShopActions } from './views.js';

const counter = requireElement('counter');
const workshop = requireElement('workshop');
const builder = requireElement('builder');
const orderForm = requireElement('order');
const consoleLink = requireElement('console');
let model: Model = { look: { locale: payerLocale(), theme: '', mode: '' }, events: [], isBusy: false };
let playing: AbortController | undefined;

function update(change: Partial<Model>): void {
  model = { ...model, ...change };
  render(orderView(model, actions), orderForm);
  render(builderView(model, actions), builder);
  render(counterView(model), counter);
  render(workshopView(model, actions), workshop);
}

const actions: ShopActions = {
  order: (quantity, baseCurrency) => {
    playing?.abort();
    void run(() => place(quantity, baseCurrency));
  },
  look: (change) => update({ look: { ...model.look, ...change }, copied: undefined }),
  copyTag: () => void copyTag(),
  play: () => {
    if (playing) playing.abort();
    else void play();
  },
  verify: () => void run(verify),
  simulate: (name) => void run(() => runSimulation(name)),
  reset: () =>
    void run(async () => {
      await resetShop();
      // The order on the page no longer exists either.
      writeOrder(undefined);
      location.reload();
    }),
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

async function place(quantity: number, baseCurrency: string): Promise<void> {
  const placed = await placeOrder(quantity, baseCurrency);
  writeOrder({ id: placed.id });
  update({
    placed,
    events: [],
    payment: undefined,
    elsewhere: undefined,
    verification: undefined,
    done: undefined,
    claim: undefined,
    copied: undefined,
  });
}

async function copyTag(): Promise<void> {
  const { placed, config, look } = model;
  if (!placed || !config) return;
  const text = tagText(placed, config.publicKey, look, location.origin);
  const copied = await navigator.clipboard.writeText(text).then(
    () => 'Copied.',
    () => 'Copying is blocked here. Select the text instead.',
  );
  update({ copied });
}

/** One order after another, each to a different ending. */
async function play(): Promise<void> {
  const controller = new AbortController();
  playing = controller;
  try {
    await playEndings({
      signal: controller.signal,
      caption: (caption) => update({ caption }),
      simulate: runSimulation,
      async newCheckout() {
        await place(1, 'USD');
        const checkout = counter.querySelector('crypto-checkout');
        if (!checkout) throw new Error('The page has no checkout.');
        await checkout.updateComplete;
        return checkout;
      },
    });
  } catch (error) {
    if (!controller.signal.aborted)
      update({ failure: error instanceof Error ? error.message : 'Something went wrong.' });
  } finally {
    playing = undefined;
    update({ caption: undefined });
  }
}

async function verify(): Promise<void> {
  const { placed, payment, elsewhere } = model;
  const paymentId = (elsewhere ?? payment)?.id ?? placed?.paymentId;
  if (!placed || !paymentId) return;
  const verification = await verifyOrder(placed.id, paymentId);
  // Another order may have been placed meanwhile.
  if (model.placed?.id === placed.id) update({ verification });
}

async function runSimulation(name: SimulationName): Promise<void> {
  const { placed } = model;
  // Not every change of the payment fires an event, so ask the element first.
  const payment = model.elsewhere ?? document.querySelector('crypto-checkout')?.payment ?? model.payment;
  if (!placed || !payment) return;
  const { done, claim, clockAheadSeconds } = await simulateOrder(placed.id, payment.id, name);
  update({ done, claim, ...(model.config && { config: { ...model.config, clockAheadSeconds } }) });
  if (model.elsewhere) await lookElsewhere();
}

/** A visitor who copied the tag comes back from a page where they may have started the order's payment. */
async function lookElsewhere(): Promise<void> {
  const { placed } = model;
  if (!placed || playing) return;
  const newest = await fetchOrder(placed.id).then(
    ({ payment }) => payment,
    () => model.elsewhere,
  );
  const own = document.querySelector('crypto-checkout')?.payment ?? model.payment;
  if (model.placed?.id === placed.id) update({ elsewhere: newest?.id === own?.id ? undefined : newest });
}

/** A payment that the card has just started is the newest. */
function updatePayment(payment: Payment): void {
  update({ payment, ...(payment.id !== model.payment?.id && { elsewhere: undefined }) });
}

/** A payment that is resumed after a reload changes the element's status, but may fire no event. */
function onStatusChange(): void {
  const payment = counter.querySelector('crypto-checkout')?.payment;
  if (payment) updatePayment(payment);
  // On a phone, the card must stay above the sheet during the play.
  if (playing && matchMedia('(max-width: 47.99rem)').matches) counter.scrollIntoView();
}

function onEvent(event: CheckoutEvent): void {
  const { type, payment } = event;
  const events = [...model.events, { type, time: new Date(), detail: describe(event) }];
  update({ events });
  if (payment) {
    updatePayment(payment);
    savePayment(payment);
  }
  // A payment that was reversed must not be delivered any more.
  if (type === 'checkout-success' || (type === 'checkout-error' && payment)) void run(verify);
}

function savePayment(payment: Payment): void {
  const { placed } = model;
  if (!placed) return;
  writeOrder({ id: placed.id, paymentId: payment.id, isPaid: payment.status === 'success' });
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

/** Restores the order of the last visit, if the shop still has it, or takes a new one. */
async function openShop(): Promise<void> {
  const saved = readOrder();
  const config = await fetchConfig();
  update({ config });
  if (config.consoleUrl) {
    consoleLink.setAttribute('href', config.consoleUrl);
    consoleLink.hidden = false;
  }
  const [currency = 'USD'] = Object.keys(config.prices);
  if (!saved) return place(1, currency);
  try {
    const { payment, ...order } = await fetchOrder(saved.id);
    update({
      placed: { ...order, ...saved },
      elsewhere: payment?.id === saved.paymentId ? undefined : payment,
    });
  } catch (error) {
    if (!(error instanceof ShopError) || error.status !== 404) throw error;
    await place(1, currency);
  }
}

/**
 * The payer's language, for trying the checkout in it: this page itself is English. `?locale=` in the address takes
 * precedence.
 */
function payerLocale(): string {
  const { language } = navigator;
  return new URLSearchParams(location.search).get('locale') ?? (language.startsWith('en') ? '' : language);
}

function requireElement(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no element #${id}`);
  return found;
}

counter.replaceChildren();
// When they return to the tab or, if both windows are visible, move the pointer over it.
addEventListener('focus', () => void lookElsewhere());
workshop.addEventListener('pointerenter', () => void lookElsewhere());
for (const name of Object.keys(checkoutEvents) as CheckoutEventType[])
  counter.addEventListener(name, onEvent);
new MutationObserver(onStatusChange).observe(counter, { subtree: true, attributeFilter: ['status'] });
update({ isOpening: true });
await run(openShop);
update({ isOpening: false });
