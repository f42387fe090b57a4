/** Remembers in this browser which order was placed, so that a reload shows it again. */
import * as z from 'zod/mini';

const savedOrder = z.object({
  reference: z.string(),
  email: z.string(),
  fullName: z.string(),
  /** The order's latest payment. */
  paymentId: z.optional(z.string()),
  /** True once that payment was a success. */
  isPaid: z.optional(z.boolean()),
});

export type SavedOrder = z.output<typeof savedOrder>;

const name = 'nightjar-order';

export function readOrder(): SavedOrder | undefined {
  try {
    return z.parse(savedOrder, JSON.parse(localStorage.getItem(name) ?? ''));
  } catch {
    return undefined;
  }
}

export function writeOrder(order: SavedOrder | undefined): void {
  try {
    if (order) localStorage.setItem(name, JSON.stringify(order));
    else localStorage.removeItem(name);
  } catch {
    // Storage is full or forbidden: a reload forgets the order.
  }
}
