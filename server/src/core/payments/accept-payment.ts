/** A shop takes a payment as paid that got less than was due, or got it too late. */
import { statusOf, type PaymentRecord } from 'crypto-checkout/contract';
import type { Transaction } from '../db/engine.js';
import type { AuditActor } from '../merchants/audit-log.js';
import { formatUnits } from '../money/units.js';
import { invalidState } from '../shared/problem.js';
import type { Scope } from '../shared/scope.js';
import { totals } from './assess.js';
import { nowFor, readFacts } from './payment-facts.js';
import type { PaymentReader } from './payment-reader.js';
import type { PaymentsDeps } from './payments-deps.js';
import * as store from './store.js';
import type { PaymentRow } from './store.js';
import type { UpdatePayment } from './update-payment.js';

export interface Acceptance {
  /** The sum received that the caller has seen, as a plain decimal. */
  readonly amount: string;
  readonly note: string;
}

const acceptable: readonly PaymentRow['state'][] = ['partially_paid', 'expired_partial', 'expired_late'];

export function createAcceptPayment(deps: PaymentsDeps, reader: PaymentReader, updatePayment: UpdatePayment) {
  const { clock, currencies, auditLog } = deps;
  /** Does nothing if it was accepted before. Problems: `not_found`, `invalid_state`. */
  return async (
    transaction: Transaction,
    scope: Scope,
    id: string,
    { amount, note }: Acceptance,
    actor: AuditActor,
  ): Promise<PaymentRecord> => {
    const row = await reader.lock(transaction, scope, id);
    if (row.accepted_at !== null && statusOf(row.state) === 'success') return reader.view('secret', row);
    const now = nowFor(row, clock);
    const received = totals(await readFacts(transaction, row, now, deps.factsOf)).confirmed;
    if (!acceptable.includes(row.state) || row.currency === null || row.amount === null || received <= 0n) {
      throw invalidState(
        'Only a payment that got less than was due, or got it too late, can be accepted, and only for money that is confirmed and that no refund holds',
      );
    }
    const currency = currencies.known(row.currency);
    const seen = formatUnits(received, currency);
    // Both are written without trailing zeros, and `seen` as the record shows it.
    if (seen !== amount) {
      throw invalidState(`${seen} ${currency.code} were received, not ${amount}. Look at the payment again`);
    }
    const accepted = { accepted_at: now, accepted_amount: received };
    await store.updatePayment(transaction, id, accepted);
    await updatePayment(transaction, { ...row, ...accepted });
    await auditLog.record(transaction, {
      merchantId: scope.merchantId,
      mode: scope.mode,
      actor,
      action: 'payment.accepted',
      subjectId: id,
      after: { amount: seen, due: formatUnits(row.amount, currency), currency: currency.code, note },
    });
    return reader.view('secret', await reader.find(transaction, scope, id));
  };
}
