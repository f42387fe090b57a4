/** Drives a checkout: owns clock, polling and aborts, and feeds what happens to the state. */
import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { createCheckoutClient, type CheckoutClient } from './client/checkout-client.js';
import type { Reply } from './client/request.js';
import type { Payment } from './contract/checkout.js';
import { ApiError, CheckoutError, isTransient, ReplyError } from './errors.js';
import { eventsOf } from './events.js';
import { createBody, isPaymentOf, memoryOf, redirectTarget, type Order } from './order.js';
import { Pacer } from './pacer.js';
import { randomKey, type PaymentMemory } from './payment-memory.js';
import { ServerClock } from './server-clock.js';
import {
  hasEnded,
  isChoosing,
  isFollowed,
  isPaying,
  next,
  type CheckoutState,
  type CreatingState,
  type Happening,
} from './state.js';

export interface CheckoutHost extends ReactiveControllerHost, EventTarget {
  readonly order: Order;
  readonly noRedirect: boolean;
}

type Work = 'create' | 'set' | 'lock' | 'follow';

const redirectAfterMs = 8_000;

export class CheckoutController implements ReactiveController {
  state: CheckoutState = { name: 'idle' };
  readonly #host: CheckoutHost;
  readonly #client: CheckoutClient;
  readonly #memory: PaymentMemory;
  readonly #clock = new ServerClock();
  readonly #pacer = new Pacer();
  /** Aborted when the element leaves the page, or turns to another order. */
  #connection = new AbortController();
  #work: { readonly name: Work; readonly abort: AbortController } | undefined;
  #asking: Promise<void> | undefined;
  #ticker: ReturnType<typeof setInterval> | undefined;
  /** By `performance.now()`: when the payment last changed, and when to go back to the shop. */
  #changedAt = 0;
  #redirectAt: number | undefined;
  #hasAskedAtDeadline = false;

  constructor(host: CheckoutHost) {
    const { order } = host;
    this.#host = host;
    this.#client = createCheckoutClient({ apiUrl: order.apiUrl, publicKey: order.publicKey });
    this.#memory = memoryOf(order);
    host.addController(this);
  }

  hostConnected(): void {
    if (this.#connection.signal.aborted) this.#connection = new AbortController();
    document.addEventListener('visibilitychange', this.#pacer.wake);
    window.addEventListener('online', this.#pacer.wake);
    window.addEventListener('pageshow', this.#pacer.wake);
    this.#pursue();
  }

  hostDisconnected(): void {
    this.#connection.abort();
    document.removeEventListener('visibilitychange', this.#pacer.wake);
    window.removeEventListener('online', this.#pacer.wake);
    window.removeEventListener('pageshow', this.#pacer.wake);
    this.#pursue();
  }

  /** Ends all work for good: the element turned to another order. */
  dispose(): void {
    this.hostDisconnected();
    this.#host.removeController(this);
  }

  /** Milliseconds until the deadline by the server's clock, never below 0; undefined when there is none. */
  get remainingMs(): number | undefined {
    const expiresBy = this.state.payment?.expiresBy;
    return expiresBy === undefined ? undefined : Math.max(0, expiresBy - this.#clock.now());
  }

  /** Seconds until the page goes back to the shop; undefined when it stays. */
  get redirectSeconds(): number | undefined {
    if (this.#redirectAt === undefined) return undefined;
    return Math.max(0, Math.ceil((this.#redirectAt - performance.now()) / 1000));
  }

  /** Begins, goes on with the order's payment, tries again what failed, or replaces a payment that ended. */
  start(): void {
    const { state } = this;
    if (state.name === 'error' && state.payment === undefined) {
      this.dispatch({ type: 'started', creating: state.tried });
    } else if (state.name === 'idle' || (hasEnded(state) && state.name !== 'success')) {
      const { currency, network, paymentId } = this.#host.order;
      const { paymentId: remembered = state.payment ? undefined : paymentId } = this.#memory.read();
      const creating: CreatingState = {
        name: 'creating',
        paymentId: remembered,
        replaces: state.payment,
        preferred: { currency, network },
      };
      this.dispatch({ type: 'started', creating });
    }
  }

  async cancel(): Promise<void> {
    const { signal } = this.#connection;
    const { payment } = this.state;
    if (payment === undefined || hasEnded(this.state)) return;
    try {
      await this.#persist(signal, () => this.#client.cancel(payment.id, { signal }));
    } catch (error) {
      this.#fail(error, signal);
    }
    // A question that is under way may have been answered before the cancel was.
    await this.#asking;
    await this.refresh();
  }

  /** Asks the server how the payment stands. Never rejects: what fails shows as reconnecting. */
  refresh(): Promise<void> {
    this.#asking ??= this.#ask(this.#connection.signal).finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  /** Stays on this page after success. */
  stay(): void {
    this.#redirectAt = undefined;
    this.#pursue();
    this.#host.requestUpdate();
  }

  leave(): void {
    const url = redirectTarget(this.#host.order, this.state.payment);
    if (url !== undefined) location.assign(url);
  }

  dispatch(happening: Happening): void {
    const from = this.state;
    const to = next(from, happening);
    if (to === from) return;
    this.state = to;
    if (to.name !== from.name) this.#onChange(from, to);
    this.#host.requestUpdate();
    const events = eventsOf(from, to);
    if (events.length > 0) {
      // After the update, so that a listener finds the view that belongs to the event.
      void this.#host.updateComplete.then(() => events.forEach((event) => this.#host.dispatchEvent(event)));
    }
    this.#pursue();
  }

  #onChange(from: CheckoutState, to: CheckoutState): void {
    this.#changedAt = performance.now();
    this.#hasAskedAtDeadline = false;
    if (hasEnded(to)) this.#endMemory(to);
    // Only who saw the payment succeed is sent on, not who comes back to look at it.
    const mayRedirect = to.name === 'success' && from.name !== 'creating' && !this.#host.noRedirect;
    const target = mayRedirect ? redirectTarget(this.#host.order, to.payment) : undefined;
    this.#redirectAt = target === undefined ? undefined : performance.now() + redirectAfterMs;
  }

  /** Forgets the ended payment, all but the count that makes the next reference of this order unique. */
  #endMemory({ name, payment }: CheckoutState): void {
    const { attempt, paymentId } = this.#memory.read();
    if (paymentId !== undefined && paymentId !== payment?.id) return;
    const { txRef, paymentId: given } = this.#host.order;
    if (name === 'success' || (txRef ?? given) === undefined) this.#memory.forget();
    else if (paymentId !== undefined || attempt === 1) this.#memory.write({ attempt: attempt + 1 });
  }

  /** Begins the work that the state calls for, and ends what it no longer does. */
  #pursue(): void {
    const { state } = this;
    const isConnected = !this.#connection.signal.aborted;
    const name = isConnected ? workOf(state) : undefined;
    if (name !== this.#work?.name) {
      this.#work?.abort.abort();
      this.#work = name && { name, abort: new AbortController() };
      if (this.#work) void this.#begin(this.#work.name, this.#work.abort.signal);
    }
    const isTicking = isConnected && (isPaying(state) || this.#redirectAt !== undefined);
    if (!isTicking) {
      clearInterval(this.#ticker);
      this.#ticker = undefined;
    } else this.#ticker ??= setInterval(this.#tick, 1000);
  }

  #begin(name: Work, signal: AbortSignal): Promise<void> {
    switch (name) {
      case 'create':
        return this.#create(signal);
      case 'set':
        return this.#set(signal);
      case 'lock':
        return this.#lock(signal);
      case 'follow':
        return this.#follow(signal);
      default:
        return name satisfies never;
    }
  }

  async #create(signal: AbortSignal): Promise<void> {
    const { state } = this;
    if (state.name !== 'creating') return;
    try {
      if (state.paymentId !== undefined) await this.#retrieve(state.paymentId, signal);
      else await this.#createNew(state, signal);
    } catch (error) {
      this.#fail(error, signal);
    }
  }

  async #retrieve(id: string, signal: AbortSignal): Promise<void> {
    const { order } = this.#host;
    const { attempt, paymentId: remembered } = this.#memory.read();
    try {
      const payment = await this.#persist(signal, () => this.#client.retrieve(id, { signal }));
      if (isPaymentOf(order, payment)) return this.#report(payment);
      this.#memory.write({ attempt: attempt + 1 });
    } catch (error) {
      const isForgotten = error instanceof ApiError && error.status === 404 && id === remembered;
      if (!isForgotten || id === order.paymentId) throw error;
      this.#memory.forget();
    }
    // What was remembered is not this order's payment: the payer, not the page, decides on a new one.
    this.dispatch({ type: 'reset' });
    if (order.paymentId !== undefined) this.start();
  }

  async #createNew(state: CreatingState, signal: AbortSignal): Promise<void> {
    const { attempt, idempotencyKey = randomKey() } = this.#memory.read();
    // Before the request, so that a page that is closed in the middle of it asks for the same payment again.
    this.#memory.write({ attempt, idempotencyKey });
    const body = createBody(this.#host.order, attempt, state.replaces);
    try {
      const { payment } = await this.#persist(signal, () =>
        this.#client.create(body, { signal, idempotencyKey }),
      );
      this.#memory.write({ attempt, idempotencyKey, paymentId: payment.id });
      this.#report(payment);
      // This reply names no merchant; the flow does not wait for the one that does.
      void this.refresh();
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'idempotency_mismatch') throw error;
      // The order changed after a creation whose reply was lost; that payment was never shown to anyone.
      this.#memory.write({ attempt: attempt + 1 });
      await this.#createNew(state, signal);
    }
  }

  async #set(signal: AbortSignal): Promise<void> {
    const { state } = this;
    if (!isChoosing(state)) return;
    const { payment, currency = '', network = '' } = state;
    await this.#step(signal, () => this.#client.setCurrency(payment.id, currency, network, { signal }));
  }

  async #lock(signal: AbortSignal): Promise<void> {
    const id = this.state.payment?.id;
    if (id !== undefined) await this.#step(signal, () => this.#client.lockCurrency(id, { signal }));
  }

  async #step(signal: AbortSignal, call: () => Promise<Reply<Payment>>): Promise<void> {
    try {
      this.#report(await this.#persist(signal, call));
      if (!signal.aborted) throw new ReplyError('The payment came back as it was before');
    } catch (error) {
      this.#fail(error, signal);
      // The payment is not where this page thought: another tab went on with it, or it ended.
      if (error instanceof ApiError && error.status === 409) await this.refresh();
    }
  }

  /** Asks again and again, until the state calls for something else. */
  async #follow(signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#pacer.rest(performance.now() - this.#changedAt, signal);
      if (signal.aborted) return;
      if (this.#pacer.mayAsk) await this.refresh();
    }
  }

  async #ask(signal: AbortSignal): Promise<void> {
    const { payment } = this.state;
    if (payment === undefined) return;
    const { id, isCurrencyLocked } = payment;
    try {
      const reply = isCurrencyLocked
        ? await this.#client.verify(id, { signal })
        : await this.#client.retrieve(id, { signal });
      this.#pacer.succeed();
      this.#clock.synchronize(reply.serverTime);
      this.#report(reply.data);
    } catch (error) {
      if (signal.aborted) return;
      this.#pacer.fail(error);
      this.dispatch({ type: 'lost-connection' });
      if (!isTransient(error) && isFollowed(this.state)) this.#fail(error, signal);
    }
  }

  async #persist<T>(signal: AbortSignal, call: () => Promise<Reply<T>>): Promise<T> {
    const { data, serverTime } = await this.#pacer.persist(call, signal);
    this.#clock.synchronize(serverTime);
    return data;
  }

  #report(payment: Payment): void {
    const { state } = this;
    // A record from before the lock, overtaken on its way, is not believed: no lock is ever undone.
    const isOvertaken = isFollowed(state) && payment.status === 'in progress' && !payment.isCurrencyLocked;
    if (!isOvertaken) this.dispatch({ type: 'reported', payment, now: this.#clock.now() });
  }

  #fail(error: unknown, signal: AbortSignal): void {
    if (signal.aborted) return;
    const problem =
      error instanceof CheckoutError
        ? error
        : new CheckoutError('The checkout could not go on', {
            code: 'unexpected',
            remedy: 'See the cause.',
            cause: error,
          });
    // The payer reads what to do in the view; the developer reads why here.
    // eslint-disable-next-line no-console -- the one place for it
    console.error(`<crypto-checkout> ${problem.code}: ${problem.message}. ${problem.remedy}`, problem);
    this.dispatch({ type: 'failed', problem });
  }

  readonly #tick = (): void => {
    if (document.hidden) return;
    if (this.redirectSeconds === 0) {
      this.stay();
      this.leave();
    }
    if (isPaying(this.state) && this.remainingMs === 0 && !this.#hasAskedAtDeadline) {
      this.#hasAskedAtDeadline = true;
      this.#changedAt = performance.now();
      void this.refresh();
    }
    this.#host.requestUpdate();
  };
}

function workOf(state: CheckoutState): Work | undefined {
  if (state.name === 'creating') return 'create';
  if (state.name === 'locking') return 'lock';
  if (isChoosing(state)) return state.isSetting ? 'set' : undefined;
  return isFollowed(state) && state.name !== 'success' ? 'follow' : undefined;
}
