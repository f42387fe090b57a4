/** Remembers an order's payment in this browser, so that a reload or a second tab does not create another one. */

export interface RememberedPayment {
  /** Numbers the payments of one order, from 1: a new payment after an expired one is attempt 2. */
  readonly attempt: number;
  /** Random, and stored before the payment is created. */
  readonly idempotencyKey?: string | undefined;
  readonly paymentId?: string | undefined;
  /** When to forget the payment, in epoch milliseconds by this device's clock. */
  readonly forgetAt?: number | undefined;
}

const firstAttempt: RememberedPayment = { attempt: 1 };
/** For browsers that do not allow storage. A tag that a framework draws again finds its payment here. */
const fallback = new Map<string, string>();

/** Keeps one order's entry in local storage, or in memory where the browser does not allow storage. */
export class PaymentMemory {
  /** Identifies the order in this browser. */
  readonly name: string;

  /** @param scope what identifies the order: API, public key and reference */
  constructor(scope: readonly string[]) {
    this.name = `crypto-checkout:${scope.join(':')}`;
  }

  read(): RememberedPayment {
    try {
      const value: unknown = JSON.parse(this.#load() ?? 'null');
      if (typeof value !== 'object' || value === null) return firstAttempt;
      const { attempt, idempotencyKey, paymentId, forgetAt } = value as Record<string, unknown>;
      if (typeof forgetAt === 'number' && forgetAt < Date.now()) return firstAttempt;
      return {
        attempt: Number.isSafeInteger(attempt) ? Number(attempt) : 1,
        ...(typeof idempotencyKey === 'string' && { idempotencyKey }),
        ...(typeof paymentId === 'string' && { paymentId }),
        ...(typeof forgetAt === 'number' && { forgetAt }),
      };
    } catch {
      return firstAttempt;
    }
  }

  write(remembered: RememberedPayment): void {
    const text = JSON.stringify(remembered);
    try {
      localStorage.setItem(this.name, text);
      fallback.delete(this.name);
    } catch {
      // Storage is full or forbidden. The checkout works, but a reload forgets the payment.
      fallback.set(this.name, text);
    }
  }

  forget(): void {
    fallback.delete(this.name);
    try {
      localStorage.removeItem(this.name);
    } catch {
      // Storage is forbidden, so nothing was stored.
    }
  }

  #load(): string | null {
    // What could not be stored is newer than what is.
    const kept = fallback.get(this.name);
    return kept ?? localStorage.getItem(this.name);
  }
}
