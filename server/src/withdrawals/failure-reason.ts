/** Why an operator gives up on a transfer or a payout: the merchant reads it. */
import { invalidField } from '../shared/problem.js';

/** Problem: `validation_error`. */
export function parseFailureReason(text: string): string {
  const reason = text.trim();
  if (reason === '' || reason.length > 255) throw invalidField('reason', 'Must be 1 to 255 characters');
  return reason;
}
