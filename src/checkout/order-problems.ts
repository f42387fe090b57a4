/** Describes mistakes in the tag's attributes, for the page's developer. */
import { CheckoutError } from '../errors.js';
import { isSecretKey, nothingIn, wrongAttribute, type Order } from './order.js';

interface Mistake {
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
}

/** The first mistake that keeps a payment from starting; undefined if there is none. */
export function findOrderProblem(order: Order): CheckoutError | undefined {
  const attribute = wrongAttribute(order);
  if (attribute === undefined) return undefined;
  const { message, ...rest } = mistakes[attribute](order);
  return new CheckoutError(message, { ...rest, apiUrl: order.apiUrl });
}

/**
 * Logs a mistake that differs from the last one, for the page's developer. @returns
 * false if it is the same
 */
export function tellOrderProblem(found: CheckoutError | undefined, last: CheckoutError | undefined): boolean {
  if (found?.message === last?.message) return false;
  // eslint-disable-next-line no-console -- the page's developer looks here
  console.error('<crypto-checkout>', found?.code, found);
  return true;
}

const mistakes: Record<NonNullable<ReturnType<typeof wrongAttribute>>, (order: Order) => Mistake> = {
  'public-key': ({ publicKey }) =>
    isSecretKey(publicKey)
      ? {
          code: 'secret_key_in_page',
          message: 'public-key holds a secret key, which everybody who opens this page can read.',
          remedy: 'Revoke it now: keys revoke. Put a public key (pk_test_… or pk_live_…) here.',
        }
      : {
          code: 'invalid_public_key',
          message: publicKey === '' ? 'public-key is missing.' : 'public-key is not a public key.',
          remedy: 'Set public-key to a key that starts with pk_test_ or pk_live_.',
        },
  nothing: (order) => {
    const [name = '', value = ''] = nothingIn(order) ?? [];
    const attribute = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    return {
      code: `invalid_${attribute.replaceAll('-', '_')}`,
      message: `${attribute} is "${value}": a script has written a value that it does not have.`,
      remedy: `Set ${attribute} when the value is known, or leave the attribute out.`,
    };
  },
  'api-url': ({ apiUrl }) => ({
    code: 'invalid_api_url',
    message: `api-url is not a web address: ${apiUrl}`,
    remedy: 'Set api-url to https://….',
  }),
  amount: ({ amount }) => ({
    code: 'invalid_amount',
    message: amount === undefined ? 'amount is missing.' : `amount is not a price: ${amount}`,
    remedy: 'Set amount to a decimal above 0, such as 49.90, or set payment-id.',
  }),
  'base-currency': ({ baseCurrency }) => ({
    code: 'invalid_base_currency',
    message:
      baseCurrency === undefined
        ? 'base-currency is missing.'
        : `base-currency is not a code: ${baseCurrency}`,
    remedy: 'Set base-currency to the code of the price, such as USD or NGN.',
  }),
  'tx-ref': ({ txRef }) => ({
    code: 'invalid_tx_ref',
    message: `tx-ref has characters that a reference cannot have, or too many: ${txRef}`,
    remedy: 'Set tx-ref to 1 to 100 of the characters A-Z a-z 0-9 . _ : -',
  }),
  'redirect-url': ({ redirectUrl }) => ({
    code: 'invalid_redirect_url',
    message: `redirect-url is not a web address: ${redirectUrl}`,
    remedy: 'Set redirect-url to https://…, or remove it.',
  }),
};
