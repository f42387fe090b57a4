/** The content of a payment's QR code and of its "open in wallet" link. */
import { uriSchemes } from '../coins/uri-schemes.js';
import { decimalOf } from '../contract/decimal.js';

/** The address, and the amount still due. */
export interface PaymentRequest {
  readonly currency: string;
  readonly network: string;
  readonly address: string;
  /** In `currency`, as sent by the API. */
  readonly amount: number;
}

export interface PaymentUri {
  /** The content of the QR code. */
  readonly text: string;
  /** True if the content includes the amount. If not, ask the payer to type it in. */
  readonly holdsAmount: boolean;
}

/**
 * A BIP-21 URI with the amount for Bitcoin and Litecoin, where all wallets support it; the bare address for everything
 * else.
 *
 * ERC-681 (`ethereum:<token>/transfer?address=…`) could include the amount too, but is not safe: the first address in
 * such a URI is the token's contract, and wallets that read only that one send the payer's money to the contract, where
 * it is lost. Every wallet understands a bare address.
 *
 * @see https://github.com/bitcoin/bips/blob/master/bip-0021.mediawiki the amount is a plain decimal in whole coins
 * @see https://eips.ethereum.org/EIPS/eip-681
 */
export function paymentUri({ currency, network, address, amount }: PaymentRequest): PaymentUri {
  const scheme = uriSchemes[currency];
  // `bitcoin`, or a test network of it such as `bitcoin-testnet4`. A wallet recognizes a test network by its addresses: the scheme is
  // the same on all, as in Bitcoin Core.
  if (scheme === undefined || network.split('-')[0] !== scheme) return { text: address, holdsAmount: false };
  return { text: `${scheme}:${address}?amount=${decimalOf(amount)}`, holdsAmount: true };
}
