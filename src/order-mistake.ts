/** The page's mistake in an order: shown in the card, and logged once for the page's developer. */
import { isPayable, isSecretKey, type Order } from './checkout/order.js';
import type { CheckoutError } from './errors.js';
import { fetchCode } from './fetch-code.js';
import type { Shown } from './views/frame.js';
import type { FirstContext } from './views/view.js';

export class OrderMistake {
  /** The last mistake found. */
  #found: CheckoutError | undefined;

  /** True if a payment can start, or if nothing has been checked yet. */
  allows(order: Order): boolean {
    return this.#found === undefined || isPayable(order);
  }

  /**
   * Looks for the mistake. @returns true if it differs from the last one
   */
  async find(order: Order): Promise<boolean> {
    if (isPayable(order)) {
      this.#found = undefined;
      return false;
    }
    const problems = await fetchCode(() => import('./checkout/order-problems.js')).catch(() => undefined);
    // Without a connection, the pay button stays, and the next press tries again.
    const problem = problems?.findOrderProblem(order);
    if (!problems?.tellOrderProblem(problem, this.#found)) return false;
    this.#found = problem;
    return true;
  }

  /** The card's text about it; undefined if there is none. */
  shown(order: Order, text: FirstContext['text']): Shown['problem'] {
    const { publicKey } = order;
    if (isSecretKey(publicKey)) return { text: text('secretKey') };
    if (!this.#found || isPayable(order)) return undefined;
    if (publicKey.startsWith('pk_live_')) return { text: text('problemShop') };
    return { text: this.#found.shortMessage, details: this.#found.remedy };
  }
}
