/** Maps error codes to the texts that tell the payer what to do. */
import type { MessageKey } from './en.js';

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
  // Trying again goes on with the next references.
  duplicate_tx_ref: 'problemBusy',
  not_found: 'problemNotFound',
  invalid_state: 'problemState',
  currency_locked: 'problemState',
  currency_not_set: 'problemState',
};

/** The text for an error code. Errors that the payer can do nothing about are for the shop to fix. */
export function problemKey(code: string): MessageKey {
  return keys[code] ?? 'problemShop';
}
