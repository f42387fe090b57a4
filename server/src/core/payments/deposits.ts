/** Deposits to hosted wallets: payments without a request, each complete when its one transfer is confirmed. */
import type { PaymentState, PaymentStatus } from 'crypto-checkout/contract';
import type { Depth } from '../chains/networks.js';
import type { PersonalData } from '../db/personal-data.js';
import type { AddressTable } from '../db/schema.js';
import type { DepositTarget } from '../wallets/wallets.js';
import type { PaymentFacts } from './assess.js';
import { feeOf } from './quote.js';
import { unlocked, type LogEntry, type PaymentRow } from './store.js';
import type { Standing, Sums } from './log-messages.js';

/** A transfer to an address of a wallet. Its currency or network may differ from the wallet's. */
export interface DepositedTransfer {
  readonly address: Pick<AddressTable, 'id' | 'address'>;
  readonly network: string;
  readonly currency: string;
  /** In the smallest unit of the currency. */
  readonly amount: bigint;
}

/** A deposit's amount and currency are those that arrived. It starts locked, without a quote. */
export function newDeposit(
  id: string,
  { merchantId, mode, wallet }: DepositTarget,
  { address, network, currency, amount }: DepositedTransfer,
  feeBasisPoints: number,
  now: number,
  depth: Depth,
  personalData: PersonalData,
): PaymentRow {
  const fee = feeOf(amount, feeBasisPoints);
  return {
    id,
    merchant_id: merchantId,
    mode,
    state: 'confirming',
    created_by: 'secret',
    tx_ref: `deposit_${id}`,
    redirect_url: '',
    is_redirect_trusted: true,
    metadata: null,
    base_currency: currency,
    base_amount: amount,
    fee_basis_points: feeBasisPoints,
    accepted_currencies: null,
    ...personalData.payerColumns(
      { id, merchant_id: merchantId },
      { description: `Deposit to wallet ${wallet.label || wallet.id}` },
    ),
    ...unlocked,
    currency,
    network,
    address_id: address.id,
    address: address.address,
    amount,
    fee,
    required_confirmations: depth,
    locked_at: now,
    expires_at: now,
    wallet_id: wallet.id,
    created_at: now,
    updated_at: now,
  };
}

/** Derives the state of a deposit. It has no deadline, so neither the time nor the scan's progress matters. */
export function assessDeposit({
  receipts: [receipt],
  settledAt,
}: Pick<PaymentFacts, 'receipts' | 'settledAt'>): PaymentState {
  if (receipt?.isConfirmed) return 'settled';
  return receipt && settledAt === null ? 'confirming' : 'reversed';
}

/** The log entries for a change of a deposit's state. The entries about its transfer already cover the rest. */
export function logEntriesOfDeposit(
  { state: from }: Standing,
  { state: to }: Standing,
  sums: Pick<Sums, 'currency' | 'received'> | undefined,
): readonly LogEntry[] {
  if (from === to || to !== 'settled' || !sums) return [];
  return [
    {
      type: 'success',
      event: `Deposit complete: ${sums.received} ${sums.currency} received`,
      code: 'deposit_completed',
      values: { received: sums.received, currency: sums.currency },
    },
  ];
}

/** True if a change of status sends a webhook: when the deposit succeeds, is reversed or succeeds again. */
export function isReported(before: PaymentStatus, after: PaymentStatus): boolean {
  return before !== after && (before === 'success' || after === 'success');
}
