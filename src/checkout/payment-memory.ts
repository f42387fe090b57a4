/** Remembers an order's payment in this browser, so that a reload or a second tab does not create another one. */
import { loadItem, removeItem, storeItem } from '../platform.js';

export interface RememberedPayment {
  /** Numbers the payments of one order, from 1: a new payment after an expired one is attempt 2. */
  readonly attempt: number;
  /** Random, and stored before the payment is created. */
  readonly idempotencyKey?: string | undefined;
  readonly paymentId?: string | undefined;
  /** Expiry of this entry, in epoch milliseconds by this device's clock. */
  readonly forgetAt?: number | undefined;
}

const firstAttempt: RememberedPayment = { attempt: 1 };

/** Keeps one order's entry. */
export class PaymentMemory {
  /** Identifies the order in this browser. */
  readonly name: string;

  /** @param scope the identity of the order: API, public key and reference */
  constructor(scope: readonly string[]) {
    this.name = `crypto-checkout:${scope.join(':')}`;
  }

  read(): RememberedPayment {
    try {
      const value: unknown = JSON.parse(loadItem(this.name) ?? 'null');
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
    storeItem(this.name, JSON.stringify(remembered));
  }

  forget(): void {
    removeItem(this.name);
  }
}
