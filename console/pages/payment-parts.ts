/** What the pages of payments share. */
import type { TemplateResult } from 'lit';
import type { PaymentRecord } from '../../src/contract/payment-record.js';
import { isInGroup } from '../../src/contract/payment-states.js';
import { texts } from '../messages/payments.js';
import { tag } from '../ui/details.js';

export function stateTag({ state, status }: PaymentRecord): TemplateResult {
  const label = state ? texts.states[state] : status;
  if (state === 'settled') return tag(label, 'good');
  if (isInGroup(state, 'success')) return tag(label, 'caution');
  if (isInGroup(state, 'failed')) return tag(label, 'bad');
  const isUnusual = state === 'expired_partial' || state === 'expired_late' || state === 'cancelled_paid';
  return tag(label, isUnusual ? 'caution' : 'plain');
}
