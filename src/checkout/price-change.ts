/**
 * The fate of a payment when the page changes the order's price: it stays if money has come, or may come; otherwise it
 * is cancelled.
 */
import { hasFunds } from '../money/amount-due.js';
import { matchesOrder } from './order-payment.js';
import { isPayable, memoryFor, type Order } from './order.js';
import type { PaymentMemory } from './payment-memory.js';
import { askedOf, hasEnded, type CheckoutState } from './state.js';
import { wasAsked } from './wallet-requests.js';

/** The order that a payment was started for, and the storage key of the payment. */
export class StartedOrder {
  #order: Order;
  #memory: PaymentMemory;
  /** Storage key of a payment that was taken over from a previous price. */
  #previousMemories: readonly PaymentMemory[] = [];
  #takenOver: string | undefined;

  constructor(order: Order) {
    this.#order = order;
    this.#memory = memoryFor(order);
  }

  get memory(): PaymentMemory {
    return this.#memory;
  }

  /** The page may have changed the order although the payment stayed. */
  update(order: Order): void {
    this.#order = order;
    this.#memory = memoryFor(order);
  }

  /**
   * True if the payment stays although the page has changed the order: it is the same payment, and is paid, partly
   * paid, or the only one to show.
   */
  keeps(state: CheckoutState, next: Order): boolean {
    const { payment } = state;
    const { amount, baseCurrency } = this.#order;
    if (!this.#isSame(next)) return false;
    if (!isPayable(next) || (next.amount === amount && next.baseCurrency === baseCurrency)) return true;
    if (payment === undefined) return false;
    // Without a reference, a payment that has ended does not block the next cart.
    const canStay = next.txRef !== undefined || !hasEnded(state);
    const isSettled = state.name === 'success' || hasFunds(payment);
    const mayCome = !hasEnded(state) && wasAsked(payment);
    return matchesOrder(payment, next) || (canStay && isSettled) || mayCome;
  }

  /** The payment that is shown, asked for or just cancelled, if the page only changed the order's price. */
  openPayment(state: CheckoutState, next: Order): string | undefined {
    if (!this.#isSame(next) || hasEnded(state)) return undefined;
    const asked = askedOf(state);
    if (asked.name === 'idle') return asked.outdated?.id;
    if (asked.name !== 'creating') return asked.payment.id;
    return asked.paymentId ?? (asked.cancelsPrevious ? asked.previous?.id : undefined);
  }

  /** Takes over the open payment of the order's previous price. */
  takeOver(paymentId: string, previous: StartedOrder): void {
    this.#takenOver = paymentId;
    this.#previousMemories = [previous.#memory, ...previous.#previousMemories];
  }

  isTakenOver(paymentId: string): boolean {
    return paymentId === this.#takenOver;
  }

  /** The order's next payment is another one. */
  forget(paymentId: string): void {
    for (const memory of [this.#memory, ...this.#previousMemories]) {
      const { attempt, idempotencyKey, paymentId: remembered } = memory.read();
      // A stored key without a payment belongs to the next payment.
      if ((remembered ?? (idempotencyKey ? undefined : this.#order.paymentId)) === paymentId)
        memory.write({ attempt: attempt + 1 });
    }
  }

  #isSame({ apiUrl, publicKey, paymentId, txRef }: Order): boolean {
    const own = this.#order;
    const isSameShop = apiUrl === own.apiUrl && publicKey === own.publicKey;
    return isSameShop && paymentId === own.paymentId && txRef === own.txRef;
  }
}
