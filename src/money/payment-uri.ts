/** What a payment's QR code and its "open in wallet" link hold. */
import { decimalOf } from '../contract/decimal.js';

/** A way to be paid: the locked currency and network, the address, and the amount that is still due. */
export interface PaymentRequest {
  readonly currency: string;
  readonly network: string;
  readonly address: string;
  /** In `currency`, as the API gives it. */
  readonly amount: number;
}

export interface PaymentUri {
  /** The text for the QR code. */
  readonly text: string;
  /** True when the text carries the amount too; otherwise the payer must be told to type it in. */
  readonly holdsAmount: boolean;
}

const schemes = new Map([
  ['BTC on bitcoin', 'bitcoin'],
  ['LTC on litecoin', 'litecoin'],
]);

/**
 * A BIP-21 URI with the amount for Bitcoin and Litecoin, whose wallets agree on it; the bare address for
 * everything else.
 *
 * Not ERC-681 (`ethereum:<token>/transfer?address=…`), although it could hold the amount: in such a URI the
 * first address is the token's contract, and wallets that read only that one send the customer's money to
 * the contract, where it is lost. A bare address is understood by all of them and can only be right.
 *
 * @see https://github.com/bitcoin/bips/blob/master/bip-0021.mediawiki the amount is a plain decimal in whole coins
 * @see https://eips.ethereum.org/EIPS/eip-681
 */
export function paymentUri({ currency, network, address, amount }: PaymentRequest): PaymentUri {
  const scheme = schemes.get(`${currency} on ${network}`);
  if (scheme === undefined) return { text: address, holdsAmount: false };
  return { text: `${scheme}:${address}?amount=${decimalOf(amount)}`, holdsAmount: true };
}
