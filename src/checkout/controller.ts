/** Runs a checkout: calls the API, polls, keeps the clock, and feeds the results to the state. */
import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { createCheckoutClient, type CheckoutClient } from '../client/checkout-client.js';
import { createIdempotencyKey } from '../client/idempotency-key.js';
import type { Reply } from '../client/request.js';
import type { Payment } from '../contract/checkout.js';
import { ApiError, CheckoutError, isTransient, ReplyError } from '../errors.js';
import { rememberChoice } from './last-choice.js';
import { createPaymentBody, isTrusted, matchesOrder, redirectTarget } from './order-payment.js';
import { isPayable, memoryFor, type Order } from './order.js';
import { hasFunds } from '../money/amount-due.js';
import type { PaymentMemory } from './payment-memory.js';
import { Poller } from './poller.js';
import { ServerClock } from './server-clock.js';
import { eventsOf } from './state-events.js';
import { withTabLock } from './tab-lock.js';
import { wasAsked } from './wallet-requests.js';
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
  readonly isConnected: boolean;
  readonly noRedirect: boolean;
  /** False while the modal is closed. */
  readonly isShown: boolean;
  /** Tells the browser's other tabs with this order about its payment. */
  readonly publish: (paymentId: string) => void;
}

type Work = 'create' | 'set-currency' | 'lock' | 'poll';

const redirectDelayMs = 8_000;
/** A reorganisation can take a payment back. An open page goes on asking for as long as that is likely. */
const reversalWatchMs = 60 * 60_000;
const reversalIntervalMs = 20_000;
/** Without a reference, the same order may come again, so its ending is shown for a day only. */
const rememberEndingMs = 24 * 60 * 60_000;
/** How many references to try in one go, fewer than the payments that a public key may create in a minute. */
const maxReferences = 8;

export class CheckoutController implements ReactiveController {
  state: CheckoutState = { name: 'idle' };
  readonly #host: CheckoutHost;
  readonly #announceJoined: () => void;
  readonly #client: CheckoutClient;
  /** What the page named when the payment was started. */
  #order: Order;
  #memory: PaymentMemory;
  /** Where a payment is remembered that this controller took over. */
  readonly #formerMemories: PaymentMemory[] = [];
  #takenOver: string | undefined;
  readonly #clock = new ServerClock();
  readonly #poller = new Poller();
  /** Aborted when the element leaves the page or gets another order. */
  #connection = new AbortController();
  #work: { readonly name: Work; readonly abort: AbortController } | undefined;
  #pollInFlight: Promise<boolean> | undefined;
  /** How often the payer's steps have changed the payment. A poll that began before the last one is out of date. */
  #advances = 0;
  #ticker: ReturnType<typeof setInterval> | undefined;
  /** When the payment last changed, and when to return to the shop: both by `performance.now()`. */
  #changedAt = 0;
  #redirectAt: number | undefined;
  #hasPolledAtDeadline = false;

  /** @param announceJoined says once that this tab joined a payment of another tab */
  constructor(host: CheckoutHost, announceJoined: () => void) {
    const { order } = host;
    this.#host = host;
    this.#announceJoined = announceJoined;
    this.#client = createCheckoutClient({ apiUrl: order.apiUrl, publicKey: order.publicKey });
    this.#order = order;
    this.#memory = memoryFor(order);
    host.addController(this);
  }

  hostConnected(): void {
    if (this.#connection.signal.aborted) this.#connection = new AbortController();
    const { signal } = this.#connection;
    document.addEventListener('visibilitychange', this.#wake, { signal });
    window.addEventListener('online', this.#wake, { signal });
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
    return expiresBy === undefined ? undefined : Math.max(0, expiresBy - this.#clock.now());
  }

  /** The server's time, in epoch milliseconds. */
  get now(): number {
    return this.#clock.now();
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
    this.#order = this.#host.order;
    this.#memory = memoryFor(this.#order);
    const { paymentId } = this.#order;
    if (state.name === 'error' && state.payment === undefined) {
      this.dispatch({ type: 'started', creating: state.attempted });
    } else if (state.name === 'idle') {
      this.#create({ paymentId: this.#memory.read().paymentId ?? paymentId });
    } else if (hasEnded(state) && this.canRestart) {
      const { attempt, ...remembered } = this.#memory.read();
      const id = state.payment?.id;
      // Another tab may have started the next payment already.
      const isOwn = remembered.paymentId === id || Object.keys(remembered).length === 0;
      if (isOwn) this.#memory.write({ attempt: attempt + 1 });
      this.#create({ paymentId: isOwn ? undefined : remembered.paymentId, previous: state.payment });
    }
  }

  /** True if the payer may start a new payment after this one. An order that is paid is not paid again. */
  get canRestart(): boolean {
    const { order } = this.#host;
    const { txRef, paymentId } = order;
    return (
      hasEnded(this.state) &&
      isPayable(order) &&
      (this.state.name !== 'success' || (txRef ?? paymentId) === undefined)
    );
  }

  /** Goes on with a payment that another tab of this browser started, unless that tab's page has another price. */
  async join(paymentId: string): Promise<void> {
    const { signal } = this.#connection;
    const { order } = this.#host;
    if (this.#isShown(paymentId)) return void this.refresh();
    try {
      const payment = await this.#request(signal, () => this.#client.retrieve(paymentId, { signal }));
      if (!isPayable(order) || !matchesOrder(payment, order)) return void this.refresh();
    } catch {
      // The payer can go on here, and finds that payment with the next press.
      return;
    }
    const { name, payment: shown } = this.state;
    const isPaid = name === 'success' || (isPaying(this.state) && shown !== undefined && hasFunds(shown));
    if (signal.aborted || isPaid || this.#isShown(paymentId)) return;
    this.#announceJoined();
    this.#create({ paymentId });
  }

  /**
   * Whether this payment stays although the page has changed the order: it is the same one, and is paid, partly paid, or all
   * that there is to show. If not, the caller disposes of this controller.
   */
  staysFor(next: Order): boolean {
    const { state } = this;
    const { payment } = state;
    const { amount, baseCurrency } = this.#order;
    if (!this.#isSameOrder(next)) return false;
    if (!isPayable(next) || (next.amount === amount && next.baseCurrency === baseCurrency)) return true;
    if (payment === undefined) return false;
    // Without a reference, a payment that has ended does not stand in the way of the next cart.
    const canStay = next.txRef !== undefined || !hasEnded(state);
    const isSettled = state.name === 'success' || hasFunds(payment);
    const mayCome = !hasEnded(state) && wasAsked(payment);
    return matchesOrder(payment, next) || (canStay && isSettled) || mayCome;
  }

  /** The payment that this controller has, asks for or has just cancelled, if the page only changed the order's price. */
  openPaymentFor(next: Order): string | undefined {
    const { state } = this;
    if (!this.#isSameOrder(next) || hasEnded(state)) return undefined;
    const asked = 'attempted' in state ? state.attempted : state;
    if (asked.name === 'idle') return asked.outdated?.id;
    if (asked.name !== 'creating') return asked.payment.id;
    return asked.paymentId ?? (asked.cancelsPrevious ? asked.previous?.id : undefined);
  }

  /** Goes on with the open payment of a former controller: it is cancelled, or shown if money has come. */
  takeOver(paymentId: string, former: CheckoutController): void {
    this.#formerMemories.push(former.#memory, ...former.#formerMemories);
    this.#takenOver = paymentId;
    // It runs when the element is back on the page.
    if (!this.#host.isConnected) this.hostDisconnected();
    this.#create({ paymentId });
  }

  #isSameOrder({ apiUrl, publicKey, paymentId, txRef }: Order): boolean {
    const own = this.#order;
    const isSameShop = apiUrl === own.apiUrl && publicKey === own.publicKey;
    return isSameShop && paymentId === own.paymentId && txRef === own.txRef;
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
      const after = await this.#close(payment.id, signal);
      // The payer may have gone on to another payment meanwhile, or the page to another order.
      if (!this.#isShown(payment.id) || signal.aborted) return;
      this.#report(after);
      this.#host.publish(payment.id);
    } catch (error) {
      // The element was moved.
      if (signal.aborted && !this.#connection.signal.aborted) return this.cancel();
      await this.refresh();
      if (this.#isShown(payment.id)) this.#fail(error, signal);
    }
  }

  /** Polls now. Never rejects: a failure shows as reconnecting. Resolves to whether the server answered. */
  refresh(): Promise<boolean> {
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

  /** Where the payer goes after success; undefined if the order names no place. */
  get redirectUrl(): string | undefined {
    return redirectTarget(this.#host.order, this.state.payment);
  }

  /** Returns to the shop. */
  leave(): void {
    const url = this.redirectUrl;
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
    const { attempt, paymentId } = this.#memory.read();
    const { txRef, paymentId: givenId } = this.#host.order;
    if (payment === undefined || paymentId !== payment.id || (txRef ?? givenId) !== undefined) return;
    this.#memory.write({ attempt, paymentId, forgetAt: Date.now() + rememberEndingMs });
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
      if (state.cancelsPrevious) {
        if (await this.#isKept(state.previous, signal)) return;
        // What fails from here on does not bring it back.
        this.dispatch({ type: 'started', creating: { ...state, cancelsPrevious: false } });
      }
      if (state.paymentId !== undefined) await this.#retrieve(state.paymentId, signal);
      else await this.#createOnce(state, signal);
    } catch (error) {
      this.#fail(error, signal);
    }
  }

  /** Cancels a payment, unless money has come for it. Then it is shown again. */
  async #isKept(payment: Payment | undefined, signal: AbortSignal): Promise<boolean> {
    if (payment === undefined) return false;
    const { id } = payment;
    const after = await this.#close(id, signal);
    const isKept = after.status !== 'cancelled' || hasFunds(after);
    if (isKept) this.#report({ ...after, branding: after.branding ?? payment.branding });
    else this.#forget(id);
    return isKept;
  }

  /** The order's next payment is another one. */
  #forget(id: string): void {
    for (const memory of [this.#memory, ...this.#formerMemories]) {
      const { attempt, idempotencyKey, paymentId } = memory.read();
      // A key alone is that of the next payment already.
      if ((paymentId ?? (idempotencyKey ? undefined : this.#order.paymentId)) === id)
        memory.write({ attempt: attempt + 1 });
    }
  }

  /** Cancels a payment, unless it has ended. @returns how it stands then */
  async #close(id: string, signal: AbortSignal): Promise<Payment> {
    try {
      await this.#request(signal, () => this.#client.cancel(id, { signal }));
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 409)) throw error;
    }
    this.#advances += 1;
    return this.#request(signal, () => this.#client.verify(id, { signal }));
  }

  async #retrieve(id: string, signal: AbortSignal): Promise<void> {
    const { order } = this.#host;
    let outdated: Payment | undefined;
    const { paymentId: rememberedId } = this.#memory.read();
    try {
      const payment = await this.#request(signal, () => this.#client.retrieve(id, { signal }));
      // Another price never hides money that has come, or may come.
      const isOpen = payment.status === 'in progress';
      const isSettled = payment.status === 'success' || hasFunds(payment) || (isOpen && wasAsked(payment));
      // One that the page cancelled by another price does not come back with the former price.
      const isOwn = matchesOrder(payment, order) && (isOpen || id !== this.#takenOver);
      if (isSettled || isOwn || !isPayable(order)) return this.#report(payment);
      if (isOpen && (await this.#isKept(payment, signal))) return;
      this.#forget(id);
      if (isOpen || id === this.#takenOver) outdated = payment;
    } catch (error) {
      const isGone = error instanceof ApiError && error.status === 404 && id === rememberedId;
      if (!isGone || id === order.paymentId) throw error;
      this.#memory.forget();
    }
    // The remembered payment is not this order's. Start the one that the page names, if any; else wait for the payer.
    this.dispatch({ type: 'reset', outdated });
    if (order.paymentId !== undefined) this.start();
  }

  /** Two tabs in which the payer starts at the same moment share one payment: the second one finds that of the first. */
  #createOnce(state: CreatingState, signal: AbortSignal): Promise<void> {
    return withTabLock(this.#memory.name, signal, async () => {
      const { paymentId } = this.#memory.read();
      if (paymentId === undefined || paymentId === state.previous?.id) {
        return this.#createPayment(state, signal);
      }
      this.#announceJoined();
      return this.#retrieve(paymentId, signal);
    });
  }

  async #createPayment(state: CreatingState, signal: AbortSignal, triesLeft = maxReferences): Promise<void> {
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
      this.#host.publish(payment.id);
      // This reply has no branding. Fetch the one that does, without holding up the flow.
      void this.refresh();
    } catch (error) {
      // The order changed after a create whose reply was lost, and nobody has seen that payment; or the reference belongs
      // to another device, or to a stranger. Go on with the next reference.
      const isTaken =
        error instanceof ApiError && /^(idempotency_mismatch|duplicate_tx_ref)$/.test(error.code);
      if (!isTaken || triesLeft < 2) throw error;
      this.#memory.write({ attempt: attempt + 1 });
      await this.#createPayment(state, signal, triesLeft - 1);
    }
  }

  async #setCurrency(signal: AbortSignal): Promise<void> {
    const { state } = this;
    if (!isChoosing(state)) return;
    const { payment, currency = '', network = '' } = state;
    rememberChoice({ currency, network });
    await this.#advance(signal, () => this.#client.setCurrency(payment.id, currency, network, { signal }));
  }

  async #lock(signal: AbortSignal): Promise<void> {
    const id = this.state.payment?.id;
    // Set and lock follow each other, so `quoted` only passes by.
    this.dispatch({ type: 'continued' });
    if (id !== undefined) await this.#advance(signal, () => this.#client.lockCurrency(id, { signal }));
  }

  /** Makes a call that should bring the payment to its next state. */
  async #advance(signal: AbortSignal, call: () => Promise<Reply<Payment>>): Promise<void> {
    try {
      const payment = await this.#request(signal, call);
      this.#advances += 1;
      this.#report(payment);
      this.#host.publish(payment.id);
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
      const elapsedMs = performance.now() - this.#changedAt;
      const { name } = this.state;
      const isPaid = name === 'success';
      if ((isPaid || name === 'idle') && elapsedMs > reversalWatchMs) return;
      await this.#poller.wait(elapsedMs, signal, isPaid ? reversalIntervalMs : 0);
      if (signal.aborted) return;
      await this.refresh();
    }
  }

  async #poll(signal: AbortSignal): Promise<boolean> {
    const payment = this.#followed;
    if (payment === undefined) return false;
    const { id, isCurrencyLocked } = payment;
    const advances = this.#advances;
    const sentAt = this.#clock.now();
    if (!this.#poller.mayPoll) {
      this.dispatch({ type: 'lost-connection' });
      return false;
    }
    try {
      const reply = isCurrencyLocked
        ? await this.#client.verify(id, { signal })
        : await this.#client.retrieve(id, { signal });
      this.#poller.recordSuccess();
      this.#clock.synchronize(reply.serverTime, sentAt);
      // The payer may have gone on to another payment meanwhile.
      if (!this.#isShown(id)) return await this.#poll(signal);
      if (advances !== this.#advances) {
        // The server answered before the payer's last step. All of use is what other replies do not have.
        const { branding } = reply.data;
        const { payment: shown } = this.state;
        if (branding && shown) this.#report({ ...shown, branding });
        return await this.#poll(signal);
      }
      // Coins may have been on their way to a payment that the page cancelled by another price.
      if (this.state.name !== 'idle' || hasFunds(reply.data)) this.#report(reply.data);
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      this.#poller.recordFailure(error);
      if (!this.#isShown(id)) return await this.#poll(signal);
      this.dispatch({ type: 'lost-connection' });
      if (!isTransient(error) && isTracked(this.state)) this.#fail(error, signal);
      return false;
    }
  }

  /** Makes a call with retries. */
  async #request<T>(signal: AbortSignal, call: () => Promise<Reply<T>>): Promise<T> {
    const sentAt = this.#clock.now();
    try {
      const { data, serverTime } = await this.#poller.retry(call, signal);
      this.#clock.synchronize(serverTime, sentAt);
      return data;
    } catch (error) {
      this.#poller.respectRetryAfter(error);
      throw error;
    }
  }

  /** The payment that is polled. */
  get #followed(): Payment | undefined {
    const { state } = this;
    return state.name === 'idle' ? state.outdated : state.payment;
  }

  #isShown(paymentId: string): boolean {
    return this.#followed?.id === paymentId;
  }

  #report(payment: Payment): void {
    this.dispatch({ type: 'reported', payment, now: this.#clock.now() });
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

  readonly #wake = (): void => {
    this.#poller.wake();
    const { state } = this;
    const isUnknown = state.name === 'error' && state.payment === undefined && state.attempted.paymentId;
    if (isUnknown && isTransient(state.problem) && !document.hidden) this.start();
    // The time left goes on while the page is hidden.
    this.#host.requestUpdate();
  };

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
  if (state.name === 'locking' || (state.name === 'quoted' && !state.problem)) return 'lock';
  if (isChoosing(state)) return state.isSetting ? 'set-currency' : undefined;
  return isTracked(state) || (state.name === 'idle' && state.outdated?.isCurrencyLocked) ? 'poll' : undefined;
}
