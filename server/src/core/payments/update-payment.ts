/** Brings a payment's state, log and ledger up to date with its facts. Receipts change a payment only through here. */
import { statusOf } from 'crypto-checkout/contract';
import { scopeOf, type Actor } from '../shared/scope.js';
import type { Announcements } from './announcements.js';
import { assess, findingsOf, isTakenShort, totals, type PaymentFacts } from './assess.js';
import { creditReceipts, type ChangedReceipts } from './credit.js';
import { shownConfirmations } from './depth.js';
import { nowFor, readFacts, readUntilOf } from './payment-facts.js';
import type { PaymentsDeps } from './payments-deps.js';
import { assessDeposit, logEntriesOfDeposit } from './deposits.js';
import { isDust } from './dust.js';
import { formatUnits } from '../money/units.js';
import * as store from './store.js';
import type { PaymentRow } from './store.js';
import { logEntriesOfChange, type Sums } from './log-messages.js';
import { createLogEntryOf } from './receipts/log.js';
import { countChanges } from './receipts/receipt-store.js';
import { newlyUnaccepted } from './unaccepted.js';
import type { Transaction } from '../db/engine.js';
import { tables } from '../db/schema.js';

const { findings: findingsColumn } = tables.payments.columns;

const noReceipts: ChangedReceipts = { postings: [], confirmed: [], isChanged: false, log: [] };

export type UpdatePayment = ReturnType<typeof createUpdatePayment>;

export function createUpdatePayment(deps: PaymentsDeps, announcements: Announcements) {
  const { clock, currencies, ledger, onStatusChange } = deps;
  const logEntryOf = createLogEntryOf(currencies);

  function sumsOf(row: PaymentRow, facts: PaymentFacts): Sums | undefined {
    if (row.currency === null) return undefined;
    const currency = currencies.known(row.currency);
    const network = currencies.network(row.mode, row.network ?? '');
    const { confirmed, seen } = totals(facts);
    const amount = facts.amount ?? 0n;
    return {
      currency: currency.code,
      amount: formatUnits(amount, currency),
      received: formatUnits(confirmed, currency),
      excess: confirmed > amount ? formatUnits(confirmed - amount, currency) : '0',
      seen: formatUnits(seen, currency),
      confirmations: String(network ? shownConfirmations(row.required_confirmations, network) : 0),
    };
  }

  /**
   * @param payment locked, as it is stored
   * @param cancelledBy the kind of key that has just cancelled the payment
   * @param changed what the caller has changed of its receipts. All others are stored
   */
  return async (
    transaction: Transaction,
    payment: PaymentRow,
    cancelledBy?: Actor['kind'],
    changed: ChangedReceipts = noReceipts,
  ): Promise<void> => {
    const { id } = payment;
    const scope = scopeOf(payment);
    const now = nowFor(payment, clock);
    const facts = await readFacts(transaction, payment, now, deps.factsOf, changed.confirmed);
    const isDeposit = payment.wallet_id !== null;
    // The height that the chain was read to matters only after the deadline.
    const readUntil = clock.at(
      scope,
      now < payment.expires_at ? Number.NEGATIVE_INFINITY : await readUntilOf(transaction, payment),
    );
    const state = isDeposit ? assessDeposit(facts) : assess(facts, now, readUntil);
    const isTooSmall = (sum: Parameters<typeof isDust>[2]) => isDust(currencies, payment, sum);
    const before = { state: payment.state, findings: payment.findings };
    // A deposit is whatever arrived.
    const after = {
      state,
      findings: isDeposit ? [] : findingsOf(facts, state, isTooSmall),
      isTakenShort: isTakenShort(facts, now, readUntil),
    };
    const { findings } = after;
    const logEntriesOf = isDeposit ? logEntriesOfDeposit : logEntriesOfChange;
    const ofChange = logEntriesOf(before, after, sumsOf(payment, facts));
    const isFirstSuccess = statusOf(state) === 'success' && payment.settled_at === null;
    const changes = { state, findings, updated_at: now, ...(isFirstSuccess && { settled_at: now }) };
    const hasChanged =
      state !== payment.state || findingsColumn.write(findings) !== findingsColumn.write(payment.findings);
    if (hasChanged) await store.updatePayment(transaction, id, changes);
    const credited = await creditReceipts(
      transaction,
      ledger,
      { ...payment, state },
      facts.receipts,
      changed,
    );
    const haveReceiptsChanged = changed.isChanged || changed.confirmed.length > 0 || credited.length > 0;
    // A change of the payment itself is counted with it.
    if (!hasChanged && haveReceiptsChanged) await countChanges(transaction, [id]);
    const unaccepted = isDeposit ? [] : newlyUnaccepted(facts, state, credited, isTooSmall);
    const ofUnaccepted = unaccepted.map(({ amount, ...asset }) =>
      logEntryOf('unaccepted', { ...asset, mode: payment.mode, amount }),
    );
    await store.appendLog(transaction, id, now, [...changed.log, ...ofUnaccepted, ...ofChange]);
    const status = statusOf(state);
    if (status !== statusOf(payment.state)) {
      await onStatusChange(transaction, { ...payment, ...changes, status, cancelledBy });
    }
    if (!hasChanged && unaccepted.length === 0) return;
    await announcements.publish(transaction, before, { ...payment, ...changes }, after, unaccepted);
  };
}
