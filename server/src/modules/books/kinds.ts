/** The meaning of each kind of posting in a merchant's books. The compiler asks for a row for each. */
import type { BookingKind } from 'crypto-checkout/contract';
import type { PostingKind } from '../../core/ledger/posting-kinds.js';

interface InBooks {
  readonly kind: BookingKind;
  /** The record whose id its key has: it says reference, counterparty and more. */
  readonly of: 'receipt' | 'payment' | 'refund' | 'transfer' | 'payout';
  readonly note: string;
  /** The charge or return that comes with it, on a line of its own. */
  readonly fee?: { readonly kind: 'fee' | 'network_fee'; readonly note: string };
}

const serviceFee = { kind: 'fee', note: 'Service fee' } as const;
const serviceFeeBack = { kind: 'fee', note: 'Service fee given back' } as const;
const networkFee = { kind: 'network_fee', note: 'Network fee' } as const;
const networkFeeBack = { kind: 'network_fee', note: 'Network fee given back' } as const;

/** Null: it moves coins between places, or is a cost of the server, and changes no merchant's balance. */
export const inBooks: Readonly<Record<PostingKind, InBooks | null>> = {
  receipt: { kind: 'receipt', of: 'receipt', note: 'Received' },
  reversal: {
    kind: 'correction',
    of: 'receipt',
    note: 'Reverted by the network',
    fee: serviceFeeBack,
  },
  credit: { kind: 'credit', of: 'receipt', note: 'Credited', fee: serviceFee },
  settlement: { kind: 'credit', of: 'payment', note: 'Credited', fee: serviceFee },
  'refund-hold': { kind: 'refund', of: 'refund', note: 'Reserved for a refund' },
  'refund-void': { kind: 'refund', of: 'refund', note: 'No longer reserved for a refund' },
  'refund-fee': { kind: 'fee', of: 'refund', note: 'Service fee of what is refunded' },
  hold: { kind: 'transfer', of: 'transfer', note: 'Reserved' },
  post: { kind: 'transfer', of: 'transfer', note: 'Paid', fee: networkFee },
  void: { kind: 'transfer', of: 'transfer', note: 'No longer reserved' },
  undo: { kind: 'correction', of: 'transfer', note: 'Reserved again: it was paid after it had failed' },
  lost: {
    kind: 'correction',
    of: 'transfer',
    note: 'Given back: the network has lost the payment',
    fee: networkFeeBack,
  },
  back: {
    kind: 'correction',
    of: 'transfer',
    note: 'Reserved again: the network has dropped the payment',
    fee: networkFeeBack,
  },
  'network-fee': { kind: 'correction', of: 'transfer', note: 'Paid by another transaction' },
  bank: { kind: 'payout', of: 'payout', note: 'Paid out to a bank account' },
  'bank-return': { kind: 'correction', of: 'payout', note: 'Returned: the payout has failed' },
  sweep: null,
  unsweep: null,
  'treasury-fee': null,
  'treasury-fee-back': null,
  gas: null,
  ungas: null,
};
