/** Polls the server for a payment's state: one request at a time, at the poller's pace. */
import type { CheckoutClient } from '../client/checkout-client.js';
import type { Reply } from '../client/request.js';
import type { Payment } from '../contract/checkout.js';
import { isTransient } from '../client/retry.js';
import { hasFunds } from '../money/amount-due.js';
import { Poller } from './poller.js';
import { ServerClock } from './server-clock.js';
import { isTracked, type Action, type CheckoutState } from './state.js';

/** The checkout whose payment is polled. */
export interface Polled {
  readonly state: CheckoutState;
  /** The payment that is shown, or that a changed price has just cancelled. */
  readonly followed: Payment | undefined;
  /** Aborted when the element leaves the page or gets another order. */
  readonly connection: AbortSignal;
  dispatch(action: Action): void;
  report(payment: Payment): void;
  fail(cause: unknown, signal: AbortSignal): void;
}

/** A reorganisation can revert a payment. An open page keeps polling for as long as that is likely. */
const reversalWatchMs = 60 * 60_000;
const reversalIntervalMs = 20_000;

export class Polling {
  readonly clock = new ServerClock();
  readonly #checkout: Polled;
  readonly #client: Pick<CheckoutClient, 'retrieve' | 'verify'>;
  readonly #poller = new Poller();
  #inFlight: Promise<boolean> | undefined;
  /**
   * Number of times that the payer's steps have changed the payment. A poll that started before the last one is out of
   * date.
   */
  #advances = 0;
  /** When the payment last changed, by `performance.now()`. */
  #changedAt = 0;
  #hasAskedAtDeadline = false;

  constructor(checkout: Polled, client: Pick<CheckoutClient, 'retrieve' | 'verify'>) {
    this.#checkout = checkout;
    this.#client = client;
  }

  /** The payment has changed: polls are frequent again. */
  restart(): void {
    this.#changedAt = performance.now();
    this.#hasAskedAtDeadline = false;
  }

  /** The payer's step has changed the payment. */
  recordAdvance(): void {
    this.#advances += 1;
  }

  /** The page is visible or online again. */
  wake(): void {
    this.#poller.wake();
  }

  /** Time is up: asks once before reporting that the payment has expired, and then frequently. */
  askAtDeadline(): void {
    if (this.#hasAskedAtDeadline) return;
    this.restart();
    this.#hasAskedAtDeadline = true;
    void this.refresh();
  }

  /** Polls now. Never rejects: a failure shows as reconnecting. Resolves to whether the server answered. */
  refresh(): Promise<boolean> {
    this.#inFlight ??= this.#poll(this.#checkout.connection).finally(() => {
      this.#inFlight = undefined;
    });
    return this.#inFlight;
  }

  /** Polls until it is aborted, or the payment has been final for long enough. */
  async run(signal: AbortSignal): Promise<void> {
    for (;;) {
      const elapsedMs = performance.now() - this.#changedAt;
      const { name } = this.#checkout.state;
      const isPaid = name === 'success';
      if ((isPaid || name === 'idle') && elapsedMs > reversalWatchMs) return;
      await this.#poller.wait(elapsedMs, signal, isPaid ? reversalIntervalMs : 0);
      if (signal.aborted) return;
      await this.refresh();
    }
  }

  /**
   * Makes another call, with retries.
   * @param onLost as in `Poller.retry`
   */
  async request<T>(
    signal: AbortSignal,
    call: () => Promise<Reply<T>>,
    onLost?: (error: unknown, retried: number) => void,
  ): Promise<T> {
    const sentAt = this.clock.now();
    try {
      const { data, serverTime } = await this.#poller.retry(call, signal, onLost);
      this.clock.synchronize(serverTime, sentAt);
      return data;
    } catch (error) {
      this.#poller.respectRetryAfter(error);
      throw error;
    }
  }

  async #poll(signal: AbortSignal): Promise<boolean> {
    const checkout = this.#checkout;
    const payment = checkout.followed;
    if (payment === undefined) return false;
    const { id, isCurrencyLocked } = payment;
    const advances = this.#advances;
    const sentAt = this.clock.now();
    if (!this.#poller.mayPoll) {
      checkout.dispatch({ type: 'lost-connection' });
      return false;
    }
    try {
      const reply = isCurrencyLocked
        ? await this.#client.verify(id, { signal })
        : await this.#client.retrieve(id, { signal });
      this.#poller.recordSuccess();
      this.clock.synchronize(reply.serverTime, sentAt);
      // The payer may have moved on to another payment.
      if (checkout.followed?.id !== id) return await this.#poll(signal);
      if (advances !== this.#advances) {
        this.#reportBranding(reply.data);
        return await this.#poll(signal);
      }
      // Coins may have been on their way to a payment that the page cancelled by changing the price.
      if (checkout.state.name !== 'idle' || hasFunds(reply.data)) checkout.report(reply.data);
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      this.#poller.recordFailure(error);
      if (checkout.followed?.id !== id) return await this.#poll(signal);
      checkout.dispatch({ type: 'lost-connection' });
      if (!isTransient(error) && isTracked(checkout.state)) checkout.fail(error, signal);
      return false;
    }
  }

  /** The server answered before the payer's last step. Only the fields that other replies lack are of use. */
  #reportBranding({ branding }: Payment): void {
    const { payment } = this.#checkout.state;
    if (branding && payment) this.#checkout.report({ ...payment, branding });
  }
}
