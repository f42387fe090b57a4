/** Runs a checkout: starts the work that its state needs, and feeds the results to the state. */
import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { createCheckoutClient, type CheckoutClient } from '../client/checkout-client.js';
import type { Payment } from '../contract/checkout.js';
import { isTransient } from '../client/retry.js';
import { CheckoutError } from '../errors.js';
import { hasFunds } from '../money/amount-due.js';
import { hasRoomForNext, isTrusted, matchesOrder, redirectTarget } from './order-payment.js';
import { isPayable, type Order } from './order.js';
import { Polling } from './polling.js';
import { StartedOrder } from './price-change.js';
import {
  askedOf,
  hasEnded,
  isChoosing,
  isPaying,
  isTracked,
  reduce,
  type Action,
  type CheckoutState,
  type CreatingState,
} from './state.js';
import { eventsOf } from './state-events.js';
import { Steps, type Stepping } from './steps.js';

export interface CheckoutHost extends ReactiveControllerHost, EventTarget {
  readonly order: Order;
  readonly isConnected: boolean;
  readonly noRedirect: boolean;
  /** True unless the modal is closed. */
  readonly isShown: boolean;
  /** Announces this order's payment to the browser's other tabs. */
  readonly publish: (paymentId: string) => void;
}

type Work = 'create' | 'set-currency' | 'lock' | 'poll';

const redirectDelayMs = 8_000;
/** Without a reference, the same order may come again, so its ending is shown for a day only. */
const rememberEndingMs = 24 * 60 * 60_000;
export class CheckoutController implements ReactiveController, Stepping {
  readonly #host: CheckoutHost;
  readonly #client: CheckoutClient;
  readonly #order: StartedOrder;
  readonly #polling: Polling;
  readonly #steps: Steps;
  /** Shows once that this tab joined a payment of another tab. */
  readonly announceJoined: () => void;

  // All mutable parts: the state, changed only by `reduce`, and the work it starts, which pauses while the element is off
  // the page.
  state: CheckoutState = { name: 'idle' };
  /** Aborted when the element leaves the page or gets another order. */
  #connection = new AbortController();
  #work: { readonly name: Work; readonly abort: AbortController } | undefined;
  #ticker: ReturnType<typeof setInterval> | undefined;
  /** Time of the return to the shop, by `performance.now()`. */
  #redirectAt: number | undefined;

  constructor(host: CheckoutHost, announceJoined: () => void) {
    const { apiUrl, publicKey } = host.order;
    this.#host = host;
    this.announceJoined = announceJoined;
    this.#client = createCheckoutClient({ apiUrl, publicKey });
    this.#order = new StartedOrder(host.order);
    this.#polling = new Polling(this, this.#client);
    this.#steps = new Steps(this, this.#client, this.#polling, this.#order);
    host.addController(this);
  }

  hostConnected(): void {
    if (this.#connection.signal.aborted) this.#connection = new AbortController();
    const { signal } = this.#connection;
    document.addEventListener('visibilitychange', this.#wake, { signal });
    window.addEventListener('online', this.#comeOnline, { signal });
    window.addEventListener('pageshow', this.#wake, { signal });
    this.#syncWork();
  }

  hostDisconnected(): void {
    this.#connection.abort();
    this.#syncWork();
  }

  /** Stops for good: the element has another order now. */
  dispose(): void {
    this.hostDisconnected();
    this.#host.removeController(this);
  }

  /** Milliseconds until the deadline by the server's clock, at least 0; undefined if there is no deadline. */
  get remainingMs(): number | undefined {
    const expiresBy = this.state.payment?.expiresBy;
    return expiresBy === undefined ? undefined : Math.max(0, expiresBy - this.#polling.clock.now());
  }

  /** The server's time, in epoch milliseconds. */
  get now(): number {
    return this.#polling.clock.now();
  }

  /** Seconds until the page returns to the shop; undefined if it stays. */
  get redirectSeconds(): number | undefined {
    if (this.#redirectAt === undefined) return undefined;
    return Math.max(0, Math.ceil((this.#redirectAt - performance.now()) / 1000));
  }

  /** Starts a payment or resumes the order's. Retries a failed start, and replaces a payment that has ended. */
  start(): void {
    const { state } = this;
    // The page may have changed the order while the payment stayed.
    const { order } = this;
    this.#order.update(order);
    if (state.name === 'creating') {
      this.#polling.wake();
    } else if (state.name === 'error' && state.payment === undefined) {
      this.dispatch({ type: 'started', creating: state.attempted });
    } else if (state.name === 'idle') {
      this.#create({ paymentId: this.#order.memory.read().paymentId ?? order.paymentId });
    } else if (hasEnded(state) && this.canRestart) {
      const { attempt, ...remembered } = this.#order.memory.read();
      const { id } = state.payment;
      // Another tab may have started the next payment already.
      const isOwn = remembered.paymentId === id || Object.keys(remembered).length === 0;
      if (isOwn) this.#order.memory.write({ attempt: attempt + 1 });
      this.#create({ paymentId: isOwn ? undefined : remembered.paymentId, previous: state.payment });
    }
  }

  /** True if the payer may start a new payment after this one. An order that is paid is not paid again. */
  get canRestart(): boolean {
    const { order } = this.#host;
    const { txRef, paymentId } = order;
    return (
      hasEnded(this.state) &&
      this.hasNext &&
      isPayable(order) &&
      (this.state.name !== 'success' || (txRef ?? paymentId) === undefined)
    );
  }

  /** True if the order can have another payment after this one. */
  get hasNext(): boolean {
    const { payment } = this.state;
    return payment !== undefined && hasRoomForNext(this.#host.order, payment);
  }

  /** Continues a payment that another tab of this browser started, unless that tab's page has another price. */
  async join(paymentId: string): Promise<void> {
    const { signal } = this.#connection;
    const { order } = this.#host;
    if (this.#isShown(paymentId)) return void this.refresh();
    let payment: Payment;
    try {
      payment = await this.#polling.request(signal, () => this.#client.retrieve(paymentId, { signal }));
      const isOwn = isPayable(order) && matchesOrder(payment, order);
      if (!isOwn || !(await this.#steps.isOwn(payment, signal))) return void this.refresh();
    } catch {
      // The payer can continue here, and finds that payment with the next press.
      return;
    }
    const { state } = this;
    const { payment: shown } = state;
    if (signal.aborted || state.name === 'success' || this.#isShown(paymentId)) return;
    const isPaid = shown !== undefined && hasFunds(shown);
    if (isPaid && (isPaying(state) || !hasFunds(payment))) return;
    const left = this.#left;
    // Money that this tab does not know of is shown, whatever the payer has left.
    const isNews = hasFunds(payment) && !(left && hasFunds(left));
    if (left && !isNews && isOlder(payment, left, state)) return;
    this.announceJoined();
    // A look-up of the previous payment may still be waiting for the server.
    this.#work?.abort.abort();
    this.#work = undefined;
    this.#create({ paymentId, previous: left });
  }

  /** The payment that the payer sees, or is leaving for the next one. */
  get #left(): Payment | undefined {
    const { state } = this;
    const asked = askedOf(state);
    return asked.name === 'creating' ? asked.previous : this.followed;
  }

  /**
   * True if this payment stays although the page has changed the order. If not, the caller disposes of this controller.
   */
  staysFor(next: Order): boolean {
    return this.#order.keeps(this.state, next);
  }

  /** The payment that this controller has, asks for or has just cancelled, if the page only changed the order's price. */
  openPaymentFor(next: Order): string | undefined {
    return this.#order.openPayment(this.state, next);
  }

  /** Takes over the open payment of a previous controller: it is cancelled, or shown if money has come. */
  takeOver(paymentId: string, previous: CheckoutController): void {
    this.#order.takeOver(paymentId, previous.#order);
    // It starts when the element is back on the page.
    if (!this.#host.isConnected) this.hostDisconnected();
    this.#create({ paymentId });
  }

  /** Cancels the payment and starts another one for the same order: the payer wants another coin. */
  restart(): void {
    const { payment } = this.state;
    if (payment === undefined || hasEnded(this.state)) return;
    this.dispatch({
      type: 'started',
      creating: { name: 'creating', previous: payment, cancelsPrevious: true, preselected: {} },
    });
  }

  async cancel(): Promise<void> {
    const { signal } = this.#connection;
    const { payment } = this.state;
    if (payment === undefined || hasEnded(this.state)) return;
    try {
      const after = await this.#steps.close(payment.id, signal);
      // The payer may have moved on to another payment, or the page to another order.
      if (!this.#isShown(payment.id) || signal.aborted) return;
      this.report(after);
      this.#host.publish(payment.id);
    } catch (error) {
      // The element was moved.
      if (signal.aborted && !this.#connection.signal.aborted) return this.cancel();
      await this.refresh();
      if (this.#isShown(payment.id)) this.fail(error, signal);
    }
  }

  /** Polls now. Never rejects: a failure shows as reconnecting. Resolves to whether the server answered. */
  refresh(): Promise<boolean> {
    return this.#polling.refresh();
  }

  /** Stays on this page after success. */
  stay(): void {
    this.#redirectAt = undefined;
    this.#syncWork();
    this.#host.requestUpdate();
  }

  /** The URL that the payer goes to after success; undefined if the order has none. */
  get redirectUrl(): string | undefined {
    return redirectTarget(this.#host.order, this.state.payment);
  }

  /** Returns to the shop. */
  leave(): void {
    const url = this.redirectUrl;
    // A shop in a frame would stay in it, unless the frame may not leave the page.
    if (url !== undefined && !open(url, '_top')) location.assign(url);
  }

  dispatch(action: Action): void {
    const from = this.state;
    const to = reduce(from, action);
    if (to === from) return;
    this.state = to;
    if (to.name !== from.name) this.#onStateChange(from, to);
    this.#host.requestUpdate();
    const events = eventsOf(from, to);
    if (events.length > 0) {
      // After the update, so that listeners find the new view.
      void this.#host.updateComplete.then(() => events.forEach((event) => this.#host.dispatchEvent(event)));
    }
    this.#syncWork();
  }

  #onStateChange(from: CheckoutState, to: CheckoutState): void {
    this.#polling.restart();
    if (hasEnded(to)) this.#rememberEnding(to);
    // Only redirect payers who saw the payment succeed, not those who come back to it later.
    const { order, noRedirect, isShown } = this.#host;
    const mayRedirect = isShown && !noRedirect && to.name === 'success' && from.name !== 'creating';
    const canRedirect = mayRedirect && isTrusted(order, to.payment);
    const target = canRedirect ? this.redirectUrl : undefined;
    this.#redirectAt = target === undefined ? undefined : performance.now() + redirectDelayMs;
  }

  /** Keeps the ended payment, so that a later visit shows how it ended and pays nothing twice. */
  #rememberEnding({ payment }: CheckoutState): void {
    const { attempt, paymentId } = this.#order.memory.read();
    const { txRef, paymentId: givenId } = this.#host.order;
    if (payment === undefined || paymentId !== payment.id || (txRef ?? givenId) !== undefined) return;
    this.#order.memory.write({ attempt, paymentId, forgetAt: Date.now() + rememberEndingMs });
  }

  #create(creating: Omit<CreatingState, 'name' | 'preselected'>): void {
    const { currency, network } = this.#host.order;
    const preselected = { currency, network };
    this.dispatch({ type: 'started', creating: { name: 'creating', ...creating, preselected } });
  }

  /** Starts the work that the state needs, and stops any other. */
  #syncWork(): void {
    const { state } = this;
    const isConnected = !this.#connection.signal.aborted;
    const name = isConnected ? workFor(state) : undefined;
    if (name !== this.#work?.name) {
      this.#work?.abort.abort();
      this.#work = name && { name, abort: new AbortController() };
      if (this.#work) void this.#run(this.#work.name, this.#work.abort.signal);
    }
    const isTicking = isConnected && (isPaying(state) || this.#redirectAt !== undefined);
    if (!isTicking) {
      clearInterval(this.#ticker);
      this.#ticker = undefined;
    } else this.#ticker ??= setInterval(this.#tick, 1000);
  }

  #run(name: Work, signal: AbortSignal): Promise<void> {
    switch (name) {
      case 'create':
        return this.#steps.createOrRetrieve(signal);
      case 'set-currency':
        return this.#steps.setCurrency(signal);
      case 'lock':
        return this.#steps.lock(signal);
      case 'poll':
        return this.#polling.run(signal);
      default:
        return name satisfies never;
    }
  }

  /** The payment that is polled. */
  get followed(): Payment | undefined {
    const { state } = this;
    return state.name === 'idle' ? state.outdated : state.payment;
  }

  get connection(): AbortSignal {
    return this.#connection.signal;
  }

  /** The order as the page describes it now. */
  get order(): Order {
    return this.#host.order;
  }

  publish(paymentId: string): void {
    this.#host.publish(paymentId);
  }

  #isShown(paymentId: string): boolean {
    return this.followed?.id === paymentId;
  }

  report(payment: Payment): void {
    this.dispatch({ type: 'reported', payment, now: this.now });
  }

  fail(cause: unknown, signal: AbortSignal): void {
    if (signal.aborted) return;
    const { apiUrl } = this.#host.order;
    const problem =
      cause instanceof CheckoutError
        ? cause
        : new CheckoutError('The checkout hit an unexpected error', {
            code: 'unexpected',
            remedy: 'This is a bug. Report it with the cause.',
            apiUrl,
            cause,
          });
    this.log(problem);
    this.dispatch({ type: 'failed', problem });
  }

  log(problem: CheckoutError): void {
    // The view is for the payer. This is for the developer.
    // eslint-disable-next-line no-console -- the only place that logs
    console.error('<crypto-checkout>', problem.code, problem);
  }

  readonly #comeOnline = (): void => {
    // A payer who pressed the button without a connection waits for it, and creates one payment: the request uses the same
    // key.
    const { state } = this;
    if (state.name === 'error' && !state.payment && isTransient(state.problem)) this.start();
    this.#wake();
  };

  readonly #wake = (): void => {
    this.#polling.wake();
    // The time left keeps counting down while the page is hidden.
    this.#host.requestUpdate();
  };

  readonly #tick = (): void => {
    if (document.hidden) return;
    if (this.redirectSeconds === 0) {
      this.stay();
      this.leave();
    }
    if (isPaying(this.state) && this.remainingMs === 0) this.#polling.askAtDeadline();
    this.#host.requestUpdate();
  };
}

/** True if a message about a payment came late: the payer has left it for a newer one. */
function isOlder(payment: Payment, left: Payment, state: CheckoutState): boolean {
  if (payment.id === left.id) return true;
  const isOver = payment.status !== 'in progress';
  const isOpen = left.status === 'in progress' && state.name !== 'idle';
  return (isOver || isOpen) && payment.createdAt < left.createdAt;
}

function workFor(state: CheckoutState): Work | undefined {
  if (state.name === 'creating') return 'create';
  if (state.name === 'locking' || (state.name === 'quoted' && !state.problem)) return 'lock';
  if (isChoosing(state)) return state.isSetting ? 'set-currency' : undefined;
  return isTracked(state) || (state.name === 'idle' && state.outdated?.isCurrencyLocked) ? 'poll' : undefined;
}
