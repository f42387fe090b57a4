/** The entries of a payment's time log about its receipts. */
import type { ReceiptTable } from '../../db/schema.js';
import type { Currencies } from '../../money/currencies.js';
import { formatUnits } from '../../money/units.js';
import { shownConfirmations } from '../depth.js';
import type { NewLogEntry } from '../store.js';

type Received = Pick<ReceiptTable, 'amount' | 'currency' | 'network'>;

export type ReceiptLog = ReturnType<typeof createReceiptLog>;

export function createReceiptLog(currencies: Currencies) {
  function entry(
    type: NewLogEntry['type'],
    code: NewLogEntry['code'],
    receipt: Received,
    event: (received: string) => string,
    more: NewLogEntry['values'] = {},
  ): NewLogEntry {
    const { network } = receipt;
    const currency = currencies.known(receipt.currency);
    const amount = formatUnits(BigInt(receipt.amount), currency);
    return {
      ...{ type, code },
      event: event(`${amount} ${currency.code} on ${network}`),
      values: { amount, currency: receipt.currency, network, ...more },
    };
  }

  return {
    /** @param doesCount whether it counts towards the payment */
    seen(receipt: ReceiptTable, doesCount: boolean) {
      const network = currencies.network(receipt.mode, receipt.network);
      const confirmations = String(network ? shownConfirmations(receipt.required_confirmations, network) : 0);
      return doesCount
        ? entry(
            'event',
            'transfer_seen',
            receipt,
            (received) => `Seen: ${received}, waiting for ${confirmations} confirmations`,
            { confirmations },
          )
        : entry(
            'event',
            'other_transfer_seen',
            receipt,
            (received) => `Seen: ${received}, which does not count towards this payment`,
          );
    },
    seenAgain: (receipt: Received) =>
      entry('event', 'transfer_seen_again', receipt, (received) => `Seen again: ${received}`),
    confirmed: (receipt: Received) =>
      entry('event', 'transfer_confirmed', receipt, (received) => `Received: ${received}, confirmed`),
    unconfirmed: (receipt: Received) =>
      entry(
        'error',
        'transfer_unconfirmed',
        receipt,
        (received) => `Confirmation lost: ${received} is no longer in its block`,
      ),
    dropped: (receipt: Received) =>
      entry('error', 'transfer_dropped', receipt, (received) => `Dropped from the network: ${received}`),
  };
}
