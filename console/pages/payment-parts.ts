/** Parts shared by the pages of payments. */
import type { TemplateResult } from 'lit';
import type { PaymentFinding, PaymentRecord } from '../../src/contract/payment-record.js';
import { isInGroup, type PaymentState } from '../../src/contract/payment-states.js';
import { texts } from '../messages/payments.js';
import { tag } from '../ui/details.js';

/** Facts about its money that the state does not say already. */
export function findingTags({ state, findings = [] }: PaymentRecord): TemplateResult[] {
  const stated = new Set(state ? (statedBy[state] ?? []) : []);
  return findings.filter((finding) => !stated.has(finding)).map((one) => tag(texts.findings[one], 'caution'));
}

const statedBy: Readonly<Partial<Record<PaymentState, readonly PaymentFinding[]>>> = {
  settled_over: ['over'],
  settled_late: ['late'],
  expired_partial: ['short'],
  expired_late: ['late'],
  invalid: ['wrong_coin', 'wrong_network'],
};

export function stateTag({ state, status }: PaymentRecord): TemplateResult {
  const label = state ? texts.states[state] : status;
  if (state === 'settled') return tag(label, 'good');
  if (isInGroup(state, 'success')) return tag(label, 'caution');
  if (isInGroup(state, 'failed')) return tag(label, 'bad');
  const isUnusual = state === 'expired_partial' || state === 'expired_late' || state === 'cancelled_paid';
  return tag(label, isUnusual ? 'caution' : 'plain');
}
