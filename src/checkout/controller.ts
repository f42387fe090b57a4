/** Runs a checkout: calls the API, polls, keeps the clock, and feeds the results to the state. */
import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { createCheckoutClient, type CheckoutClient } from '../client/checkout-client.js';
import { createIdempotencyKey } from '../client/idempotency-key.js';
import type { Reply } from '../client/request.js';
import type { Payment } from '../contract/checkout.js';
import { ApiError, CheckoutError, isTransient, ReplyError } from '../errors.js';
import { eventsOf } from '../events.js';
import {
  createPaymentBody,
  isTrusted,
  matchesOrder,
  memoryFor,
  redirectTarget,
  type Order,
} from './order.js';
import type { PaymentMemory } from './payment-memory.js';
import { Poller } from './poller.js';
import { ServerClock } from './server-clock.js';
import {
  hasEnded,
  isChoosing,
  isPaying,
  isTracked,
  reduce,
  type Action,
  type CheckoutState,
  type CreatingState,
} from './state.js';

export interface CheckoutHost extends ReactiveControllerHost, EventTarget {
  readonly order: Order;
  readonly noRedirect: boolean;
}

type Work = 'create' | 'set-currency' | 'lock' | 'poll';

const redirectDelayMs = 8_000;
/** How many references to try in one go, fewer than the payments that a public key may create in a minute. */
const maxReferences = 8;

export class CheckoutController implements ReactiveController {
  state: CheckoutState = { name: 'idle' };
  readonly #host: CheckoutHost;
  readonly #client: CheckoutClient;
  readonly #memory: PaymentMemory;
  readonly #clock = new ServerClock();
  readonly #poller = new Poller();
  /** Aborted when the element leaves the page or gets another order. */
  #connection = new AbortController();
  #work: { readonly name: Work; readonly abort: AbortController } | undefined;
  #pollInFlight: Promise<void> | undefined;
  #ticker: ReturnType<typeof setInterval> | undefined;
  /** When the payment last changed, and when to return to the shop: both by `performance.now()`. */
  #changedAt = 0;
  #redirectAt: number | undefined;
  #hasPolledAtDeadline = false;

  constructor(host: CheckoutHost) {
    const { order } = host;
    this.#host = host;
    this.#client = createCheckoutClient({ apiUrl: order.apiUrl, publicKey: order.publicKey });
    this.#memory = memoryFor(order);
    host.addController(this);
  }

  hostConnected(): void {
    if (this.#connection.signal.aborted) this.#connection = new AbortController();
    const { signal } = this.#connection;
    document.addEventListener('visibilitychange', this.#poller.wake, { signal });
    window.addEventListener('online', this.#poller.wake, { signal });
    window.addEventListener('pageshow', this.#poller.wake, { signal });
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
    return expiresBy === undefined ? undefined : Math.max(0, expiresBy - this.#clock.now());
  }

  /** Seconds until the page returns to the shop; undefined if it stays. */
  get redirectSeconds(): number | undefined {
    if (this.#redirectAt === undefined) return undefined;
    return Math.max(0, Math.ceil((this.#redirectAt - performance.now()) / 1000));
  }

  /** Starts a payment or resumes the order's. Retries a failed start, and replaces a payment that was not paid. */
  start(): void {
    const { state } = this;
    if (state.name === 'error' && state.payment === undefined) {
      this.dispatch({ type: 'started', creating: state.attempted });
    } else if (state.name === 'idle' || (hasEnded(state) && state.name !== 'success')) {
      const { currency, network, paymentId } = this.#host.order;
      const { paymentId: remembered = state.payment ? undefined : paymentId } = this.#memory.read();
      const creating: CreatingState = {
        name: 'creating',
        paymentId: remembered,
        previous: state.payment,
        preselected: { currency, network },
      };
      this.dispatch({ type: 'started', creating });
    }
  }

  async cancel(): Promise<void> {
    const { signal } = this.#connection;
    const { payment } = this.state;
    if (payment === undefined || hasEnded(this.state)) return;
    try {
      await this.#request(signal, () => this.#client.cancel(payment.id, { signal }));
    } catch (error) {
      this.#fail(error, signal);
    }
    // A poll that is in flight may have been answered before the cancel.
    await this.#pollInFlight;
    await this.refresh();
  }

  /** Polls now. Never rejects: a failure shows as reconnecting. */
  refresh(): Promise<void> {
    this.#pollInFlight ??= this.#poll(this.#connection.signal).finally(() => {
      this.#pollInFlight = undefined;
    });
    return this.#pollInFlight;
  }

  /** Stays on this page after success. */
  stay(): void {
    this.#redirectAt = undefined;
    this.#syncWork();
    this.#host.requestUpdate();
  }

  /** Returns to the shop. */
  leave(): void {
    const url = redirectTarget(this.#host.order, this.state.payment);
    if (url !== undefined) location.assign(url);
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
    this.#changedAt = performance.now();
    this.#hasPolledAtDeadline = false;
    if (hasEnded(to)) this.#forgetPayment(to);
    // Only redirect payers who saw the payment succeed, not those who come back to it later.
    const { order, noRedirect } = this.#host;
    const canRedirect =
      to.name === 'success' && from.name !== 'creating' && !noRedirect && isTrusted(order, to.payment);
    const target = canRedirect ? redirectTarget(order, to.payment) : undefined;
    this.#redirectAt = target === undefined ? undefined : performance.now() + redirectDelayMs;
  }

  /** Forgets the payment that ended, but keeps the attempt number, so that the order's next reference is new. */
  #forgetPayment({ name, payment }: CheckoutState): void {
    const { attempt, paymentId } = this.#memory.read();
    if (paymentId !== undefined && paymentId !== payment?.id) return;
    const { txRef, paymentId: givenId } = this.#host.order;
    if (name === 'success' || (txRef ?? givenId) === undefined) this.#memory.forget();
    else if (paymentId !== undefined || attempt === 1) this.#memory.write({ attempt: attempt + 1 });
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
        return this.#createOrRetrieve(signal);
      case 'set-currency':
        return this.#setCurrency(signal);
      case 'lock':
        return this.#lock(signal);
      case 'poll':
        return this.#keepPolling(signal);
      default:
        return name satisfies never;
    }
  }

  async #createOrRetrieve(signal: AbortSignal): Promise<void> {
    const { state } = this;
    if (state.name !== 'creating') return;
    try {
      if (state.paymentId !== undefined) await this.#retrieve(state.paymentId, signal);
      else await this.#create(state, signal);
    } catch (error) {
      this.#fail(error, signal);
    }
  }

  async #retrieve(id: string, signal: AbortSignal): Promise<void> {
    const { order } = this.#host;
    const { attempt, paymentId: rememberedId } = this.#memory.read();
    try {
      const payment = await this.#request(signal, () => this.#client.retrieve(id, { signal }));
      if (matchesOrder(payment, order)) return this.#report(payment);
      this.#memory.write({ attempt: attempt + 1 });
    } catch (error) {
      const isGone = error instanceof ApiError && error.status === 404 && id === rememberedId;
      if (!isGone || id === order.paymentId) throw error;
      this.#memory.forget();
    }
    // The remembered payment is not this order's. Start the one that the page names, if any; else wait for the payer.
    this.dispatch({ type: 'reset' });
    if (order.paymentId !== undefined) this.start();
  }

  async #create(state: CreatingState, signal: AbortSignal, triesLeft = maxReferences): Promise<void> {
    const { attempt, idempotencyKey = createIdempotencyKey() } = this.#memory.read();
    // Stored before the request: if the page is closed now, the next visit gets the same payment.
    this.#memory.write({ attempt, idempotencyKey });
    const body = createPaymentBody(this.#host.order, attempt, state.previous);
    try {
      const { payment } = await this.#request(signal, () =>
        this.#client.create(body, { signal, idempotencyKey }),
      );
      this.#memory.write({ attempt, idempotencyKey, paymentId: payment.id });
      this.#report(payment);
      // This reply has no branding. Fetch the one that does, without holding up the flow.
      void this.refresh();
    } catch (error) {
      // The order changed after a create whose reply was lost, and nobody has seen that payment; or the reference belongs
      // to another device, or to a stranger. Go on with the next reference.
      const isTaken =
        error instanceof ApiError && /^(idempotency_mismatch|duplicate_tx_ref)$/.test(error.code);
      if (!isTaken || triesLeft < 2) throw error;
      this.#memory.write({ attempt: attempt + 1 });
      await this.#create(state, signal, triesLeft - 1);
    }
  }

  async #setCurrency(signal: AbortSignal): Promise<void> {
    const { state } = this;
    if (!isChoosing(state)) return;
    const { payment, currency = '', network = '' } = state;
    await this.#advance(signal, () => this.#client.setCurrency(payment.id, currency, network, { signal }));
  }

  async #lock(signal: AbortSignal): Promise<void> {
    const id = this.state.payment?.id;
    if (id !== undefined) await this.#advance(signal, () => this.#client.lockCurrency(id, { signal }));
  }

  /** Makes a call that should bring the payment to its next state. */
  async #advance(signal: AbortSignal, call: () => Promise<Reply<Payment>>): Promise<void> {
    try {
      this.#report(await this.#request(signal, call));
      const { apiUrl } = this.#host.order;
      if (!signal.aborted) throw new ReplyError('The reply left the payment unchanged', { apiUrl });
    } catch (error) {
      this.#fail(error, signal);
      // The payment is in another state than this page thought: another tab advanced it, or it ended.
      if (error instanceof ApiError && error.status === 409) await this.refresh();
    }
  }

  async #keepPolling(signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#poller.wait(performance.now() - this.#changedAt, signal);
      if (signal.aborted) return;
      if (this.#poller.mayPoll) await this.refresh();
    }
  }

  async #poll(signal: AbortSignal): Promise<void> {
    const { payment } = this.state;
    if (payment === undefined) return;
    const { id, isCurrencyLocked } = payment;
    try {
      const reply = isCurrencyLocked
        ? await this.#client.verify(id, { signal })
        : await this.#client.retrieve(id, { signal });
      this.#poller.recordSuccess();
      this.#clock.synchronize(reply.serverTime);
      this.#report(reply.data);
    } catch (error) {
      if (signal.aborted) return;
      this.#poller.recordFailure(error);
      this.dispatch({ type: 'lost-connection' });
      if (!isTransient(error) && isTracked(this.state)) this.#fail(error, signal);
    }
  }

  /** Makes a call with retries. */
  async #request<T>(signal: AbortSignal, call: () => Promise<Reply<T>>): Promise<T> {
    const { data, serverTime } = await this.#poller.retry(call, signal);
    this.#clock.synchronize(serverTime);
    return data;
  }

  #report(payment: Payment): void {
    const { state } = this;
    // A reply from before the lock that arrives after it is stale: a lock is never undone.
    const isStale = isTracked(state) && payment.status === 'in progress' && !payment.isCurrencyLocked;
    if (!isStale) this.dispatch({ type: 'reported', payment, now: this.#clock.now() });
  }

  #fail(cause: unknown, signal: AbortSignal): void {
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
    // The view tells the payer what to do. This tells the developer what happened.
    // eslint-disable-next-line no-console -- the only place that logs
    console.error('<crypto-checkout>', problem.code, problem);
    this.dispatch({ type: 'failed', problem });
  }

  readonly #tick = (): void => {
    if (document.hidden) return;
    if (this.redirectSeconds === 0) {
      this.stay();
      this.leave();
    }
    if (isPaying(this.state) && this.remainingMs === 0 && !this.#hasPolledAtDeadline) {
      this.#hasPolledAtDeadline = true;
      this.#changedAt = performance.now();
      void this.refresh();
    }
    this.#host.requestUpdate();
  };
}

function workFor(state: CheckoutState): Work | undefined {
  if (state.name === 'creating') return 'create';
  if (state.name === 'locking') return 'lock';
  if (isChoosing(state)) return state.isSetting ? 'set-currency' : undefined;
  return isTracked(state) && state.name !== 'success' ? 'poll' : undefined;
}
