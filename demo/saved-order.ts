/** Saves the placed order in this browser, so that a reload shows it again. */
import * as z from 'zod/mini';

const savedOrder = z.object({
  id: z.string(),
  /** The order's latest payment. */
  paymentId: z.optional(z.string()),
  /** True if that payment succeeded. */
  isPaid: z.optional(z.boolean()),
});

export type SavedOrder = z.output<typeof savedOrder>;

const storageKey = 'nightjar-order';

export function readOrder(): SavedOrder | undefined {
  try {
    return z.parse(savedOrder, JSON.parse(localStorage.getItem(storageKey) ?? ''));
  } catch {
    return undefined;
  }
}

export function writeOrder(order: SavedOrder | undefined): void {
  try {
    if (order) localStorage.setItem(storageKey, JSON.stringify(order));
    else localStorage.removeItem(storageKey);
  } catch {
    // Storage is full or forbidden, so a reload forgets the order.
  }
}
