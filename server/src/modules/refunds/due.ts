/**
 * Checks that a payment still owes what a refund gives back: the chain, or the payer, can have changed that since it
 * began.
 */
import { statusOf } from 'crypto-checkout/contract';
import type { Reader } from '../../core/db/engine.js';
import type { PaymentRow } from '../../core/db/schema.js';
import type { CreditedCoins, PaymentRefunds } from '../../core/payments/refundable.js';
import { hasTaken } from '../../core/payments/has-taken.js';
import { invalidState } from '../../core/shared/problem.js';
import { liveSums, mostOf, takenBefore, type Refundable } from './amounts.js';
import { listOfPayment } from './store.js';
import type { RefundRow } from './tables.js';

export const isSuccess = ({ state }: Pick<PaymentRow, 'state'>) => statusOf(state) === 'success';

/** @param rows all refunds of the coin */
export function refundableOf(
  payment: PaymentRow,
  coins: CreditedCoins,
  rows: readonly RefundRow[],
): Refundable {
  const price = payment.amount ?? 0n;
  const kept = coins.amount - takenBefore(rows);
  const isOver = coins.counts && isSuccess(payment) && price > 0n && kept > price;
  return {
    credited: coins.amount,
    fee: coins.fee,
    excess: isOver ? kept - price : 0n,
    ...liveSums(rows),
  };
}

/** @returns why nothing may be given back now; undefined if all of it may */
export async function whyNotDue(
  reader: Reader,
  payments: Pick<PaymentRefunds, 'creditedCoins'>,
  payment: PaymentRow,
  row: RefundRow,
): Promise<string | undefined> {
  const { payment_id, currency, network } = row;
  const others = (await listOfPayment(reader, { payment_id, currency, network })).filter(
    ({ id }) => id !== row.id,
  );
  const coins = (await payments.creditedCoins(reader, payment)).find(
    (one) => one.currency === currency && one.network === network,
  );
  const isAccepted =
    row.kind === 'unaccepted' && coins?.counts === true && isSuccess(payment) && !hasTaken(row.status);
  if (isAccepted) return 'The payment was accepted since: its money is not refunded as "unaccepted"';
  const isLeftBy = (rows: readonly RefundRow[]) =>
    coins !== undefined && row.used <= mostOf(row.kind, refundableOf(payment, coins, rows));
  if (isLeftBy(others)) return undefined;
  const end = row.transfer_id === null ? 'cancel it' : 'fail its transfer';
  // One that had failed can be paid after all, while this one waits.
  return isLeftBy([])
    ? `Another refund has given back what this one would. If it stays so, ${end}`
    : `The network reverted the coins that this refund would give back. Wait for them, or ${end}`;
}

/** Problem: `invalid_state` if not all of a refund may be given back now. */
export async function ensureDue(
  reader: Reader,
  payments: Pick<PaymentRefunds, 'creditedCoins'>,
  { row, payment }: { readonly row: RefundRow; readonly payment: PaymentRow },
): Promise<void> {
  const reason = await whyNotDue(reader, payments, payment, row);
  if (reason !== undefined) throw invalidState(reason);
}
