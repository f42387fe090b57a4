/** A payout as the API shows it. */
import type { Api, Data } from 'crypto-checkout/contract';
import { isoTime } from '../shared/clock.js';
import type { Currencies } from '../money/currencies.js';
import type { PayoutTable } from '../db/schema.js';
import { unitsToNumber } from '../money/units.js';

export function viewPayout(row: PayoutTable, currencies: Currencies): Data<Api['payouts']['retrieve']> {
  const currency = currencies.known(row.currency);
  return {
    id: row.id,
    mode: row.mode,
    status: row.status,
    amount: unitsToNumber(BigInt(row.amount), currency),
    fee: unitsToNumber(BigInt(row.fee), currency),
    currency: currency.code,
    ...(row.bank_account_id !== null && { bankAccount: row.bank_account_id }),
    ...(row.wallet_address_id !== null && { address: row.wallet_address_id }),
    destination: row.destination,
    ...(row.transfer_id !== null && { transfer: row.transfer_id }),
    ...(row.reference !== null && { reference: row.reference }),
    ...(row.tx_hash !== null && { txHash: row.tx_hash }),
    ...(row.failure_reason !== null && { failureReason: row.failure_reason }),
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  };
}
