/** Makes the receipt of a transfer: what it is worth now, and since when it counts. */
import type { ReceiptTable } from '../../db/schema.js';
import type { Currencies } from '../../money/currencies.js';
import { convert, unitRate, type Denomination, type RateSource } from '../../money/rates.js';
import type { Clock } from '../../shared/clock.js';
import type { NewId } from '../../shared/ids.js';
import { scopeOf } from '../../shared/scope.js';
import type { IncomingTransfer } from './new-receipts.js';
import { writeFraction } from './base-rate.js';
import type { PaymentRow } from '../store.js';

export interface NewReceiptsDeps {
  readonly clock: Clock;
  readonly newId: NewId;
  readonly rates: RateSource;
  readonly currencies: Currencies;
}

export type NewReceipts = ReturnType<typeof createNewReceipts>;

export function createNewReceipts({ clock, newId, rates, currencies }: NewReceiptsDeps) {
  /** Two currencies at their latest rates; undefined if a rate is unknown. */
  function pair(from: string, to: string): [Denomination, Denomination] | undefined {
    const fromRate = rates.latest(from);
    const toRate = rates.latest(to);
    return (
      fromRate &&
      toRate && [
        { rate: fromRate, decimals: currencies.known(from).decimals },
        { rate: toRate, decimals: currencies.known(to).decimals },
      ]
    );
  }

  /** What a transfer is worth now, and since when it counts. */
  function firstSeen({ transfer, block, seenAt }: IncomingTransfer, payment: PaymentRow) {
    const { currency, amount } = transfer;
    const offset = clock.now(scopeOf(payment)) - clock.real();
    const now = seenAt + offset;
    const value = (to: string) => {
      const rated = pair(currency, to);
      return rated ? convert(amount, ...rated, 'nearest').toString() : null;
    };
    const base = pair(currency, payment.base_currency);
    return {
      // A block's time is real; the receipt's is on the merchant's clock.
      first_seen_at: block ? Math.min(now, block.time + offset) : now,
      naira_value: value('NGN'),
      dollar_value: value('USD'),
      base_rate: base ? writeFraction(unitRate(...base)) : null,
    };
  }

  function newReceipt(found: IncomingTransfer, network: string, payment: PaymentRow): ReceiptTable {
    const { transfer, block, address } = found;
    return {
      id: newId(),
      payment_id: payment.id,
      merchant_id: payment.merchant_id,
      mode: payment.mode,
      network,
      address: address.address,
      currency: transfer.currency,
      tx_hash: transfer.txHash,
      output_index: transfer.outputIndex,
      amount: transfer.amount.toString(),
      senders: JSON.stringify(transfer.senders),
      block_height: block?.height ?? null,
      block_hash: block?.hash ?? null,
      status: 'seen',
      confirmed_at: null,
      reversals: 0,
      is_credited: 0,
      credited_fee: '0',
      ...firstSeen(found, payment),
    };
  }

  return { firstSeen, newReceipt };
}
