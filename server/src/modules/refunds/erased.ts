/** Erases the addresses of a customer's refunds. */
import type { RefundStatus } from 'crypto-checkout/contract';
import { inChunks } from '../../core/db/chunks.js';
import type { Reader, Transaction } from '../../core/db/engine.js';
import type { PersonalData } from '../../core/db/personal-data.js';
import { updateRow } from '../../core/db/rows.js';
import { invalidState } from '../../core/shared/problem.js';
import type { Transfers } from '../../core/withdrawals/transfers.js';
import { walletParts } from '../../core/withdrawals/waiting-transfers.js';
import { sealedRefunds } from './tables.js';

const setRefund = updateRow('refunds');
const open: readonly RefundStatus[] = ['awaiting_address', 'awaiting_approval', 'approved', 'processing'];

export interface EraseDeps {
  readonly personalData: PersonalData;
  readonly transfers: Pick<Transfers, 'forgetAddress'>;
}

/**
 * Of payments. Refunds that ended unpaid lose their address, and so does their transfer; those that were paid keep it: it is in the
 * books, and on the chain. So does a transfer that was given to a wallet: it may be paid anyway, and is known by its address.
 * Problem: `invalid_state` if a refund is open.
 * @returns the addresses
 */
export async function eraseAddresses(
  transaction: Transaction,
  paymentIds: readonly string[],
  { personalData, transfers }: EraseDeps,
): Promise<string[]> {
  const rows = await inChunks(paymentIds, (chunk) => listErasable(transaction, chunk));
  if (rows.some(({ status }) => open.includes(status))) {
    throw invalidState(
      'A refund of the customer is open. Pay or cancel it first: POST /v1/refunds/{id}/cancel. One that is approved ends with its transfer',
    );
  }
  for (const { id, transferId } of rows) {
    await setRefund(transaction, id, { address: null, same_wallet: null });
    if (transferId !== null) await transfers.forgetAddress(transaction, transferId);
  }
  return rows.flatMap((row) => personalData.openRow(sealedRefunds, row).address ?? []);
}

/** True if a refund of one of these payments is neither paid nor ended. */
export async function hasOpenRefund(reader: Reader, paymentIds: readonly string[]): Promise<boolean> {
  const found = await inChunks(paymentIds, (chunk) =>
    reader
      .selectFrom('refunds')
      .select('id')
      .where('payment_id', 'in', chunk)
      .where('status', 'in', open)
      .limit(1)
      .execute(),
  );
  return found.length > 0;
}

/** Refunds that are not paid or ended yet, and those that ended unpaid, with the transfer if there was one. */
const listErasable = (transaction: Transaction, paymentIds: readonly string[]) =>
  transaction
    .selectFrom('refunds')
    .leftJoin('transfers', 'transfers.refund_id', 'refunds.id')
    .select(['refunds.id', 'refunds.status', 'refunds.address', 'transfers.id as transferId'])
    .where('refunds.payment_id', 'in', paymentIds)
    .where((e) =>
      e.or([
        e('refunds.status', 'in', [...open, 'cancelled', 'expired']),
        e.and([
          e('refunds.status', '=', 'failed'),
          e('transfers.settled_at', 'is', null),
          ...walletParts(transaction).map(({ wasGiven }) => e.not(wasGiven())),
        ]),
      ]),
    )
    .execute();
