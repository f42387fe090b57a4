/** Finds mistakes in the tag's attributes before any request is made. */
import { parseDecimal } from '../contract/decimal.js';
import { CheckoutError } from '../errors.js';
import { isSecretKey, type Order } from './order.js';

/** The first mistake that keeps a payment from starting; undefined if there is none. The texts are for developers. */
export function findOrderProblem(order: Order): CheckoutError | undefined {
  const { publicKey, paymentId, amount, baseCurrency, txRef, apiUrl, redirectUrl } = order;
  const problem = (code: string, message: string, remedy: string) =>
    new CheckoutError(message, { code, remedy, apiUrl });
  if (isSecretKey(publicKey)) {
    return problem(
      'secret_key_in_page',
      'public-key holds a secret key, which everybody who opens this page can read.',
      'Revoke it now: keys revoke. Put a public key (pk_test_… or pk_live_…) here.',
    );
  }
  if (!/^pk_(test|live)_[!-~]+$/.test(publicKey)) {
    return problem(
      'invalid_public_key',
      publicKey === '' ? 'public-key is missing.' : 'public-key is not a public key.',
      'Set public-key to a key that starts with pk_test_ or pk_live_.',
    );
  }
  if (!/^https?:\/\/./.test(apiUrl)) {
    return problem('invalid_api_url', `api-url is not a web address: ${apiUrl}`, 'Set api-url to https://….');
  }
  if (paymentId !== undefined) return undefined;
  const decimal = amount === undefined ? undefined : parseDecimal(amount);
  if (decimal === undefined || !/[1-9]/.test(decimal) || decimal.startsWith('-')) {
    return problem(
      'invalid_amount',
      amount === undefined ? 'amount is missing.' : `amount is not a price: ${amount}`,
      'Set amount to a decimal above 0, such as 49.90, or set payment-id.',
    );
  }
  if (!/^[a-z]{3,10}$/i.test(baseCurrency ?? '')) {
    return problem(
      'invalid_base_currency',
      baseCurrency === undefined
        ? 'base-currency is missing.'
        : `base-currency is not a code: ${baseCurrency}`,
      'Set base-currency to the code of the price, such as USD or NGN.',
    );
  }
  if (txRef !== undefined && !/^[\w.:-]{1,100}$/.test(txRef)) {
    return problem(
      'invalid_tx_ref',
      `tx-ref has characters that a reference cannot have, or too many: ${txRef}`,
      'Set tx-ref to 1 to 100 of the characters A-Z a-z 0-9 . _ : -',
    );
  }
  if (redirectUrl !== undefined && !/^https?:\/\/./.test(redirectUrl)) {
    return problem(
      'invalid_redirect_url',
      `redirect-url is not a web address: ${redirectUrl}`,
      'Set redirect-url to https://…, or remove it.',
    );
  }
  return undefined;
}
