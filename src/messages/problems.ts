/** Maps error codes to the payer's instructions. */
import { ApiError, type CheckoutError } from '../errors.js';
import type { MessageKey } from './en.js';
import type { TextValues } from './plural.js';

const keys: Readonly<Record<string, MessageKey>> = {
  network_error: 'problemNetwork',
  malformed_reply: 'problemReply',
  rate_limited: 'problemBusy',
  rate_unavailable: 'problemBusy',
  chain_unavailable: 'problemBusy',
  service_unavailable: 'problemBusy',
  internal_error: 'problemBusy',
  idempotency_in_progress: 'problemBusy',
  amount_below_minimum: 'problemBelowMinimum',
  unsupported_currency: 'problemUnsupported',
  // Trying again continues with the next references.
  duplicate_tx_ref: 'problemBusy',
  not_found: 'problemNotFound',
  invalid_state: 'problemState',
  sold_out: 'problemSoldOut',
  currency_locked: 'problemState',
  currency_not_set: 'problemState',
};

/** The steps that the payer has behind and before them. */
export interface Standing {
  readonly hasPayment: boolean;
  /** Another coin or network can be chosen instead. */
  readonly hasOthers: boolean;
}

/** The text of a problem. With a test key, the developer reads all of it; a payer reads only the remedy. */
export function problemOf(
  problem: CheckoutError,
  standing: Standing,
  {
    text,
    isTest,
  }: {
    readonly text: (key: MessageKey, values?: TextValues) => string;
    readonly isTest: boolean;
  },
): { readonly text: string; readonly details?: string; readonly reference?: string } {
  if (!(problem instanceof ApiError)) return { text: text(keyOf(problem, standing)) };
  const { status, shortMessage, requestId } = problem;
  // A 503 names the missing part, such as a key or a rate; a 500 explains nothing.
  const details = isTest && (status < 500 || status === 503) && { details: shortMessage };
  const reference = requestId && text('problemReference', { requestId });
  return { text: text(keyOf(problem, standing)), ...details, reference };
}

/** Errors that the payer can do nothing about are for the shop to fix: before there is a payment, the price's currency too. */
function keyOf({ code }: CheckoutError, { hasPayment, hasOthers }: Standing): MessageKey {
  // A network whose node is down may stay so for long.
  if (code === 'chain_unavailable' && hasOthers) return 'problemUnsupported';
  const isPrice = code === 'unsupported_currency' && !hasPayment;
  return (isPrice ? undefined : keys[code]) ?? 'problemShop';
}
