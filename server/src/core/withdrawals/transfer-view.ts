/** A transfer as the API shows it. */
import type { CoreApi, Data } from 'crypto-checkout/contract';
import { isoTime } from '../shared/clock.js';
import type { Currencies } from '../money/currencies.js';
import type { TransferRow } from '../db/schema.js';
import { unitsToNumber } from '../money/units.js';

export function viewTransfer(
  row: TransferRow,
  currencies: Currencies,
): Data<CoreApi['transfers']['retrieve']> {
  const currency = currencies.known(row.currency);
  return {
    id: row.id,
    mode: row.mode,
    status: row.status,
    amount: unitsToNumber(row.amount, currency),
    fee: unitsToNumber(row.fee, currency),
    currency: currency.code,
    walletAddress: row.address,
    walletNetwork: row.network,
    ...(row.tx_hash !== null && { txHash: row.tx_hash }),
    ...(row.failure_reason !== null && { failureReason: row.failure_reason }),
    ...(row.refund_id !== null && { refundId: row.refund_id }),
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  };
}
