/** The ledger postings of a receipt that is confirmed, and of one that is lost again. */
import type { ReceiptRow } from '../../db/schema.js';
import type { AccountName, CurrencyAccount, Posting } from '../../ledger/ledger.js';
import type { PostingKey } from '../../ledger/posting-kinds.js';

/** The posting of a confirmed receipt: debits custody and credits unallocated. */
export function confirmation(receipt: ReceiptRow): Posting {
  const { merchant_id: merchantId, network, currency, mode, amount } = receipt;
  return {
    key: receiptKey('receipt', receipt),
    mode,
    currency,
    paymentId: receipt.payment_id,
    entries: [
      { account: { kind: 'custody', network, merchantId }, debit: amount },
      { account: { kind: 'unallocated', merchantId }, credit: amount },
    ],
  };
}

/**
 * Undoes the posting of a confirmed receipt that the chain lost, and its credit if it had one.
 * @param available the merchant's balance before this posting
 */
export function reversal(receipt: ReceiptRow, available: bigint): { posting: Posting; taken: bigint } {
  const { merchant_id: merchantId, network, currency, mode, amount } = receipt;
  const { is_credited: isCredited, credited_fee: fee } = receipt;
  const share = isCredited ? amount - fee : 0n;
  // Money that the merchant has already withdrawn cannot be recovered. It becomes a debt that later credits repay.
  const taken = share < available ? share : available;
  const posting = {
    key: receiptKey('reversal', receipt),
    mode,
    currency,
    paymentId: receipt.payment_id,
    entries: [
      { account: { kind: 'available', merchantId }, debit: taken },
      { account: { kind: 'unallocated', merchantId, isDebt: true }, debit: share - taken },
      { account: { kind: 'fee_income' }, debit: fee },
      { account: { kind: 'unallocated', merchantId }, debit: isCredited ? 0n : amount },
      { account: { kind: 'custody', network, merchantId }, credit: amount },
    ],
  } as const satisfies Posting;
  return { posting, taken };
}

/** The accounts that confirming, crediting or reversing receipts posts to. */
export function accountsOf(receipts: readonly ReceiptRow[]): CurrencyAccount[] {
  const accounts = new Map<string, CurrencyAccount>();
  for (const { merchant_id: merchantId, network, currency } of receipts) {
    const names: AccountName[] = [
      { kind: 'custody', network, merchantId },
      { kind: 'unallocated', merchantId },
      { kind: 'available', merchantId },
      { kind: 'fee_income' },
    ];
    for (const account of names)
      accounts.set(`${currency}/${account.kind}/${merchantId}`, { currency, account });
  }
  return [...accounts.values()];
}

/** A receipt that was lost and confirmed again needs a new key to be posted again. */
export function receiptKey(kind: 'receipt' | 'reversal' | 'credit', receipt: ReceiptRow): PostingKey {
  return receipt.reversals === 0 ? `${kind}:${receipt.id}` : `${kind}:${receipt.id}:${receipt.reversals}`;
}
