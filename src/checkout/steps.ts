/** The calls that bring a payment to its next state: create or retrieve it, set its currency, lock it, cancel it. */
import type { CheckoutClient } from '../client/checkout-client.js';
import { createIdempotencyKey } from '../client/idempotency-key.js';
import type { Reply } from '../client/request.js';
import type { Payment } from '../contract/checkout.js';
import { ApiError, CheckoutError, ReplyError } from '../errors.js';
import { hasFunds } from '../money/amount-due.js';
import { rememberChoice } from './last-choice.js';
import { createPaymentBody, hasReference, matchesOrder } from './order-payment.js';
import { isPayable, type Order } from './order.js';
import type { Polled, Polling } from './polling.js';
import type { StartedOrder } from './price-change.js';
import { isChoosing, type CreatingState } from './state.js';
import { withTabLock } from './tab-lock.js';
import { wasAsked } from './wallet-requests.js';

/** The checkout whose payment takes the steps. */
export interface Stepping extends Polled {
  /** The order as the page describes it now. */
  readonly order: Order;
  start(): void;
  /** Announces this order's payment to the browser's other tabs. */
  publish(paymentId: string): void;
  /** Says once that this tab joined a payment of another tab. */
  announceJoined(): void;
  /** Reports a problem to the page's developer, in the browser's console. */
  log(problem: CheckoutError): void;
}

/** Number of taken references to skip in one go. A payer may create only some payments in a minute. */
const maxTaken = 3;

/** Nine random digits: nobody can guess them, nor take so many references. */
function randomAttempt(): number {
  const [random = 0] = crypto.getRandomValues(new Uint32Array(1));
  return 100_000_000 + (random % 900_000_000);
}

export class Steps {
  readonly #checkout: Stepping;
  readonly #client: CheckoutClient;
  readonly #polling: Polling;
  readonly #order: StartedOrder;

  constructor(checkout: Stepping, client: CheckoutClient, polling: Polling, order: StartedOrder) {
    this.#checkout = checkout;
    this.#client = client;
    this.#polling = polling;
    this.#order = order;
  }

  async createOrRetrieve(signal: AbortSignal): Promise<void> {
    const { state } = this.#checkout;
    if (state.name !== 'creating') return;
    try {
      if (state.cancelsPrevious) {
        if (await this.#isKept(state.previous, signal)) return;
        // A failure from here on does not restore it.
        this.#checkout.dispatch({ type: 'started', creating: { ...state, cancelsPrevious: false } });
      }
      if (state.paymentId !== undefined) await this.#retrieve(state.paymentId, signal);
      else await this.#createOnce(state, signal);
    } catch (error) {
      this.#checkout.fail(error, signal);
    }
  }

  /** Cancels a payment, unless money has come for it. Then it is shown again. */
  async #isKept(payment: Payment | undefined, signal: AbortSignal): Promise<boolean> {
    if (payment === undefined) return false;
    const { id } = payment;
    const after = await this.close(id, signal);
    const isKept = after.status !== 'cancelled' || hasFunds(after);
    if (isKept) this.#checkout.report({ ...after, branding: after.branding ?? payment.branding });
    else this.#order.forget(id);
    return isKept;
  }

  /** Cancels a payment, unless it has ended. @returns its state then */
  async close(id: string, signal: AbortSignal): Promise<Payment> {
    try {
      await this.#polling.request(signal, () => this.#client.cancel(id, { signal }));
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 409)) throw error;
    }
    this.#polling.recordAdvance();
    return this.#polling.request(signal, () => this.#client.verify(id, { signal }));
  }

  async #retrieve(id: string, signal: AbortSignal): Promise<void> {
    const { order } = this.#checkout;
    let outdated: Payment | undefined;
    const { paymentId: rememberedId } = this.#order.memory.read();
    try {
      // A lost connection ends nothing: coins may be on their way. A wrong address or a blocked request looks the same, so the
      // payer sees the problem, and the developer does in the console.
      const payment = await this.#polling.request(
        signal,
        () => this.#client.retrieve(id, { signal }),
        (error, retried) => {
          const problem = retried >= 2 && error instanceof CheckoutError ? error : undefined;
          if (problem && retried === 2) this.#checkout.log(problem);
          this.#checkout.dispatch({ type: 'lost-connection', problem });
        },
      );
      if (!(await this.isOwn(payment, signal))) {
        if (id === rememberedId) this.#order.memory.forget();
        return this.#startAnew();
      }
      // Another price never hides money that has come, or may come.
      const isOpen = payment.status === 'in progress';
      const isSettled = payment.status === 'success' || hasFunds(payment) || (isOpen && wasAsked(payment));
      // A payment that the page cancelled by changing the price does not return with the previous price.
      const isSamePrice = matchesOrder(payment, order) && (isOpen || !this.#order.isTakenOver(id));
      if (isSettled || isSamePrice || !isPayable(order)) return this.#checkout.report(payment);
      if (isOpen && (await this.#isKept(payment, signal))) return;
      this.#order.forget(id);
      if (isOpen || this.#order.isTakenOver(id)) outdated = payment;
    } catch (error) {
      const isGone = error instanceof ApiError && error.status === 404 && id === rememberedId;
      if (!isGone || id === order.paymentId) throw error;
      this.#order.memory.forget();
    }
    this.#startAnew(outdated);
  }

  /**
   * The remembered payment is not this order's. Starts the one that the page names, if any; otherwise waits for the
   * payer.
   */
  #startAnew(outdated?: Payment): void {
    this.#checkout.dispatch({ type: 'reset', outdated });
    if (this.#checkout.order.paymentId !== undefined) this.#checkout.start();
  }

  /**
   * True if a payment that this browser remembers, or that another tab names, is the order's. Any script of the page's
   * origin can write there, and could make the payer pay for another order.
   */
  async isOwn(payment: Payment, signal: AbortSignal): Promise<boolean> {
    const { paymentId, txRef } = this.#checkout.order;
    if (paymentId === undefined) return txRef === undefined || hasReference(payment, txRef);
    if (payment.id === paymentId) return true;
    const named = await this.#polling.request(signal, () => this.#client.retrieve(paymentId, { signal }));
    return named.txRef !== undefined && hasReference(payment, named.txRef);
  }

  /** Two tabs in which the payer starts at the same moment share one payment: the second one finds that of the first. */
  #createOnce(state: CreatingState, signal: AbortSignal): Promise<void> {
    return withTabLock(this.#order.memory.name, signal, async () => {
      const { paymentId } = this.#order.memory.read();
      if (paymentId === undefined || paymentId === state.previous?.id) {
        return this.#createPayment(state, signal);
      }
      this.#checkout.announceJoined();
      return this.#retrieve(paymentId, signal);
    });
  }

  /** @param taken the number of references that were taken already */
  async #createPayment(state: CreatingState, signal: AbortSignal, taken = 0): Promise<void> {
    const { attempt, idempotencyKey = createIdempotencyKey() } = this.#order.memory.read();
    // Stored before the request: if the page is closed now, the next visit gets the same payment.
    this.#order.memory.write({ attempt, idempotencyKey });
    const body = createPaymentBody(this.#checkout.order, attempt, state.previous);
    try {
      const { payment } = await this.#polling.request(signal, () =>
        this.#client.create(body, { signal, idempotencyKey }),
      );
      this.#order.memory.write({ attempt, idempotencyKey, paymentId: payment.id });
      this.#checkout.report(payment);
      this.#checkout.publish(payment.id);
      // This reply has no branding. Fetch one that does, without delaying the flow.
      void this.#polling.refresh();
    } catch (error) {
      // The order changed after a create whose reply was lost, and nobody has seen that payment; or the reference belongs to
      // another device, or to a stranger. Continue with the next reference.
      const isTaken =
        error instanceof ApiError && /^(idempotency_mismatch|duplicate_tx_ref)$/.test(error.code);
      if (!isTaken || taken === maxTaken) throw error;
      // A stranger who has taken two can have taken the next thousand: nobody can take them all.
      this.#order.memory.write({ attempt: taken === 0 ? attempt + 1 : randomAttempt() });
      await this.#createPayment(state, signal, taken + 1);
    }
  }

  async setCurrency(signal: AbortSignal): Promise<void> {
    const { state } = this.#checkout;
    if (!isChoosing(state)) return;
    const { payment, currency = '', network = '' } = state;
    rememberChoice({ currency, network });
    await this.#advance(signal, () => this.#client.setCurrency(payment.id, currency, network, { signal }));
  }

  async lock(signal: AbortSignal): Promise<void> {
    const id = this.#checkout.state.payment?.id;
    // Set and lock follow each other, so `quoted` is only passed through.
    this.#checkout.dispatch({ type: 'continued' });
    if (id !== undefined) await this.#advance(signal, () => this.#client.lockCurrency(id, { signal }));
  }

  /** Makes a call that should bring the payment to its next state. */
  async #advance(signal: AbortSignal, call: () => Promise<Reply<Payment>>): Promise<void> {
    try {
      const payment = await this.#polling.request(signal, call);
      this.#polling.recordAdvance();
      this.#checkout.report(payment);
      this.#checkout.publish(payment.id);
      const { apiUrl } = this.#checkout.order;
      if (!signal.aborted) throw new ReplyError('The reply left the payment unchanged', { apiUrl });
    } catch (error) {
      this.#checkout.fail(error, signal);
      // The payment is in another state than this page assumed: another tab advanced it, or it ended.
      if (error instanceof ApiError && error.status === 409) await this.#polling.refresh();
    }
  }
}
