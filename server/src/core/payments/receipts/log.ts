/** The log entries of a payment about its receipts. */
import type { ReceiptRow } from '../../db/schema.js';
import type { Currencies } from '../../money/currencies.js';
import { formatUnits } from '../../money/units.js';
import { shownConfirmations } from '../depth.js';
import type { LogEntry } from '../store.js';

/** Messages by code. `{sum}` is the amount, its currency and its network. */
const messages = {
  transfer_seen: 'Seen: {sum}, waiting for {confirmations} confirmations',
  other_transfer_seen: 'Seen: {sum}, which does not count towards this payment',
  transfer_seen_again: 'Seen again: {sum}',
  transfer_confirmed: 'Received: {sum}, confirmed',
  transfer_unconfirmed: 'Confirmation lost: {sum} is no longer in its block',
  transfer_dropped: 'Dropped from the network: {sum}',
  unaccepted: 'Not accepted: {sum}, which goes to the merchant',
} as const;

/** A receipt, or several of one asset. */
type LoggedSum = Pick<ReceiptRow, 'mode' | 'network' | 'currency' | 'amount'> &
  Partial<Pick<ReceiptRow, 'required_confirmations'>>;

export type LogEntryOf = ReturnType<typeof createLogEntryOf>;

export function createLogEntryOf(currencies: Currencies) {
  return (code: keyof typeof messages, receipt: LoggedSum): LogEntry => {
    const currency = currencies.known(receipt.currency);
    const amount = formatUnits(receipt.amount, currency);
    const network = currencies.network(receipt.mode, receipt.network);
    const { required_confirmations: required = null } = receipt;
    const confirmations = String(network ? shownConfirmations(required, network) : 0);
    const event = messages[code]
      .replace('{sum}', `${amount} ${currency.code} on ${receipt.network}`)
      .replace('{confirmations}', confirmations);
    const isLost = code === 'transfer_unconfirmed' || code === 'transfer_dropped';
    return {
      type: isLost ? 'error' : 'event',
      code,
      event,
      values: {
        amount,
        currency: receipt.currency,
        network: receipt.network,
        ...(code === 'transfer_seen' && { confirmations }),
      },
    };
  };
}
