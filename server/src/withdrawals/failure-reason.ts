/** The reason that an operator gives for failing a transfer or a payout. The merchant sees it. */
import { invalidField } from '../shared/problem.js';

/** Problem: `validation_error`. */
export function parseFailureReason(text: string): string {
  const reason = text.trim();
  if (reason === '' || reason.length > 255) throw invalidField('reason', 'Must be 1 to 255 characters');
  return reason;
}
