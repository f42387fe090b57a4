/** Remembers in this browser which payment belongs to an order, so that a reload or a second tab creates no second one. */

export interface Remembered {
  /** Counts the payments of one order: a new one after an expired one is the second attempt. */
  readonly attempt: number;
  /** Random, never made from anything that could be guessed. Kept from before the payment is created. */
  readonly idempotencyKey?: string | undefined;
  readonly paymentId?: string | undefined;
}

const nothing: Remembered = { attempt: 1 };

/** Of one order, in local storage; of this page alone where the browser keeps none. */
export class PaymentMemory {
  readonly #name: string;
  #fallback: string | null = null;

  /** @param scope what tells this order from all others: API, public key and reference */
  constructor(scope: readonly string[]) {
    this.#name = `crypto-checkout:${scope.join(':')}`;
  }

  read(): Remembered {
    try {
      const value: unknown = JSON.parse(this.#load() ?? 'null');
      if (typeof value !== 'object' || value === null) return nothing;
      const { attempt, idempotencyKey, paymentId } = value as Record<string, unknown>;
      return {
        attempt: Number.isSafeInteger(attempt) ? Number(attempt) : 1,
        ...(typeof idempotencyKey === 'string' && { idempotencyKey }),
        ...(typeof paymentId === 'string' && { paymentId }),
      };
    } catch {
      return nothing;
    }
  }

  write(remembered: Remembered): void {
    const text = JSON.stringify(remembered);
    this.#fallback = text;
    try {
      localStorage.setItem(this.#name, text);
    } catch {
      // Storage is full or forbidden: a reload forgets, everything else goes on.
    }
  }

  forget(): void {
    this.#fallback = null;
    try {
      localStorage.removeItem(this.#name);
    } catch {
      // Nothing could have been kept.
    }
  }

  #load(): string | null {
    try {
      return localStorage.getItem(this.#name) ?? this.#fallback;
    } catch {
      return this.#fallback;
    }
  }
}

/** 128 random bits as hexadecimal. `crypto.randomUUID` is missing on pages without https. */
export function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
