/** What each endpoint may refuse with, and what each error code means. */
import type { Endpoint, ErrorCode } from 'crypto-checkout/contract';

/** One sentence each, the same as in docs/errors.md, which also says when it happens and what to do. */
export const errorMeanings: Readonly<Record<ErrorCode, string>> = {
  validation_error:
    'A path, query or body value is missing, of the wrong type, too long, or outside its range.',
  invalid_json: 'The body is not JSON.',
  unsupported_currency:
    "The currency, or its pair with the network, is unknown or not active in the key's mode.",
  amount_below_minimum:
    'The amount is worth less than the smallest payment that the currency and network allow.',
  insufficient_balance: 'The available balance is smaller than the amount plus the fee.',
  invalid_address: "The address is not one of the network's, or its checksum is wrong.",
  missing_api_key: 'The request has no API key.',
  invalid_api_key: 'The key is unknown or was revoked.',
  secret_key_required: 'The endpoint takes secret keys only, and a public key was sent.',
  customer_not_allowed: 'The customer is blacklisted.',
  not_found: 'There is no such record in this account and mode, or no such path.',
  method_not_allowed: 'The path exists, and not with this method.',
  invalid_state: 'The record is in a state in which this cannot be done.',
  currency_not_set: 'The payment has no currency yet.',
  currency_locked: "The payment's currency is locked: rate, amount and address stand.",
  duplicate_tx_ref: 'Another payment has this `txRef`.',
  customer_exists: 'Another customer has this email.',
  address_exists: 'The wallet address is saved already for this currency and network.',
  bank_account_exists: 'The account has this bank account already: same number, bank and currency.',
  plan_inactive: 'The payment plan is turned off.',
  already_subscribed: 'The customer has a subscription to this plan that has not ended.',
  balance_suspended: 'The balance of this currency is suspended.',
  webhook_not_configured: 'The account has no webhook URL, or its server answered 410 Gone.',
  idempotency_in_progress: 'The first request with this `Idempotency-Key` has not ended yet.',
  payload_too_large: 'The body is larger than 100 kB.',
  unsupported_media_type: "The body's type is not JSON.",
  idempotency_mismatch: 'The `Idempotency-Key` was used before with another payload.',
  rate_limited: 'Too many requests.',
  internal_error: 'The server has a bug.',
  rate_unavailable: 'No exchange rate is fresh enough: there is none, or it is older than 60 seconds.',
  chain_unavailable: "The network's node does not answer.",
  service_unavailable:
    'The database cannot be reached, the server is shutting down, or the provider that knows the holders of bank accounts does not answer or is not configured.',
};

/** All that a well-formed call of the endpoint may be refused with: what the endpoint declares, and what its form brings. */
export function errorsOf({ method, key, params, errors = [] }: Endpoint): ErrorCode[] {
  const isKeyed = method === 'POST' || method === 'PATCH';
  return [
    'validation_error',
    ...(method === 'GET' ? [] : (['invalid_json'] as const)),
    'missing_api_key',
    'invalid_api_key',
    ...(key === 'secret' ? (['secret_key_required'] as const) : []),
    ...(params ? (['not_found'] as const) : []),
    ...errors,
    ...(isKeyed ? (['idempotency_in_progress', 'idempotency_mismatch'] as const) : []),
    ...(method === 'GET' ? [] : (['payload_too_large', 'unsupported_media_type'] as const)),
    'rate_limited',
    'internal_error',
    'service_unavailable',
  ];
}
