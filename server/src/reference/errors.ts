/** What each error code means and what to do about it, and which codes each endpoint can return. */
import type { Endpoint, ErrorCode } from 'crypto-checkout/contract';

/** The docs entry of an error code. Backticks mark code. */
export interface ErrorEntry {
  /** One sentence. docs/errors.md has the same one. */
  readonly meaning: string;
  /** When it happens. */
  readonly cause: string;
  /** What to do about it. */
  readonly remedy: string;
}

export const apiErrors: Readonly<Record<ErrorCode, ErrorEntry>> = {
  validation_error: {
    meaning: 'A path, query or body value is missing, of the wrong type, too long, or out of range.',
    cause:
      'Any endpoint can return it. Lists return it for a `page` or `skip` below 1, and for a `from` after `to`.',
    remedy: 'Correct every field listed in `data.errors`.',
  },
  invalid_json: {
    meaning: 'The body is not valid JSON.',
    cause:
      'Usually a form or plain text was sent, the JSON was put together by hand, or the connection closed early.',
    remedy: 'Send the output of a JSON serializer.',
  },
  unsupported_currency: {
    meaning:
      "The currency, or its combination with the network, is unknown or not available in the key's mode.",
    cause:
      'You created a payment in an unknown base currency, set a paying currency that the payment does not offer, or saved a bank account or wallet address in a currency that it cannot hold.',
    remedy: "Use a code from `GET /v1/currencies`, or one of the payment's own `currencyOptions`.",
  },
  amount_below_minimum: {
    meaning: 'The amount is below the minimum for this currency and network.',
    cause: 'It is checked when the currency is set, because each network has a minimum of its own.',
    remedy:
      'Offer another currency or network, or raise the amount. `currencyOptions` shows the `minAmount` of each.',
  },
  insufficient_balance: {
    meaning: 'The available balance is smaller than the amount plus the fee.',
    cause: 'You created a transfer that the balance does not cover.',
    remedy: 'Ask `POST /v1/transfers/fee` for the fee and `GET /v1/balances` for the available balance.',
  },
  invalid_address: {
    meaning: 'The address is not valid on this network, or its checksum is wrong.',
    cause: 'You saved a wallet address or created a transfer.',
    remedy: 'Copy the address again, and check that it is for this currency and network.',
  },
  missing_api_key: {
    meaning: 'The request has no API key.',
    cause: 'The `Authorization` header is missing or empty.',
    remedy: 'Send `Authorization: Bearer <API_KEY>`.',
  },
  invalid_api_key: {
    meaning: 'The API key is unknown, has been revoked or has expired.',
    cause:
      'The key was revoked or has expired, belongs to another server, or was cut off when it was copied. A header that does not read `Bearer <API_KEY>` is refused in the same way.',
    remedy:
      "Check the key and the header. If the key is gone, create a new one with `keys create` on the server's command line; a key is shown only once.",
  },
  secret_key_required: {
    meaning:
      'The endpoint requires a secret key, but a public key was sent, or a secret key whose scope does not include it.',
    cause:
      "Public keys work only on a payment's own endpoints and on `verify/checkout`. A secret key with the scope `read` changes nothing, and one with the scope `verify` only gets, lists and verifies payments and transactions. The message names the scope.",
    remedy:
      'Make this call from your server, with a secret key that may do it. Never put that key in a page.',
  },
  customer_not_allowed: {
    meaning: 'The customer is blacklisted.',
    cause:
      'You created a payment or a subscription for the email of a blacklisted customer. Payments that were already locked continue.',
    remedy: 'If that is a mistake, set `isBlacklisted` to `false` with `PATCH /v1/customers/{customer_id}`.',
  },
  not_found: {
    meaning: 'There is no such record in this account and mode, or no such path.',
    cause:
      'The id is unknown, or its record was archived or deleted, belongs to another merchant, or was created in the other mode. The reply is the same in each case.',
    remedy: "Check the id, the key's mode and the path.",
  },
  method_not_allowed: {
    meaning: 'The path exists, but it does not accept this method.',
    cause: 'For example, a payment is cancelled with PATCH, not with POST.',
    remedy: 'Use one of the methods in the `Allow` header.',
  },
  invalid_state: {
    meaning: "The record's current state does not allow this.",
    cause: 'For example, you cancelled a payment that had ended, or set or locked its currency.',
    remedy: 'Fetch the record again and continue from its current state.',
  },
  currency_not_set: {
    meaning: 'The payment has no currency yet.',
    cause: 'You locked the currency before setting it.',
    remedy: 'Call `PATCH /v1/payments/{payment_id}/currency/set/{currency}/{network}` first.',
  },
  currency_locked: {
    meaning: "The payment's currency is locked: its rate, amount and address are final.",
    cause: 'You set the currency after locking it.',
    remedy: 'Continue with the current quote, or cancel the payment and create a new one.',
  },
  duplicate_tx_ref: {
    meaning: 'Another payment already has this `txRef`.',
    cause:
      'You sent an order twice without an `Idempotency-Key`, or your references started over. A reference can be used once per merchant, mode and kind of key, and is never released.',
    remedy:
      'Continue with the existing payment, or use a new reference. With a secret key, `data.paymentId` is the id of the existing payment.',
  },
  customer_exists: {
    meaning: 'Another customer already has this email.',
    cause: 'You created a customer with an email that is taken, or changed one to it. Case is ignored.',
    remedy: 'Find the customer with `GET /v1/customers?email=…` and update that record.',
  },
  address_exists: {
    meaning: 'This wallet address is already saved for this currency and network.',
    cause: 'You saved the same address twice.',
    remedy: 'Use the saved one: `GET /v1/wallet-addresses?address=…`.',
  },
  bank_account_exists: {
    meaning: 'This bank account is already saved: same number, bank and currency.',
    cause: 'You added the same account twice.',
    remedy: 'Use the saved one: `GET /v1/bank-accounts`.',
  },
  plan_inactive: {
    meaning: 'The payment plan is inactive.',
    cause: 'You subscribed a customer to it.',
    remedy:
      'Set its `isActive` to `true` with `PATCH /v1/payment-plans/{payment_plan_id}`, or use another plan.',
  },
  already_subscribed: {
    meaning: 'The customer already has a subscription to this plan that has not ended.',
    cause: 'You subscribed the same email twice.',
    remedy: 'There is nothing to do. To start over, remove the subscriber first.',
  },
  balance_suspended: {
    meaning: 'The balance in this currency is suspended.',
    cause: 'You created a transfer from a balance with `isSuspended: true`.',
    remedy: 'Ask the operator of the server.',
  },
  webhook_not_configured: {
    meaning: 'The account has no webhook URL, or its endpoint was disabled by a 410 Gone response.',
    cause: 'You asked for a webhook to be sent again.',
    remedy:
      "Set the URL on the server's command line: `merchants update ID --webhook-url URL --mode test` (or `live`).",
  },
  idempotency_in_progress: {
    meaning: 'The first request with this `Idempotency-Key` is still in progress.',
    cause: 'You retried while the original request was running.',
    remedy: 'Wait a moment, then send the same request again. It gets the reply of the first one.',
  },
  payload_too_large: {
    meaning: 'The body is larger than 100 kB.',
    cause: 'A field holds far more than it may.',
    remedy: 'Send only the documented fields.',
  },
  unsupported_media_type: {
    meaning: 'The body was not sent as JSON.',
    cause:
      'The request has a body, but its `Content-Type` is missing or not JSON, its charset is not UTF-8, or it is compressed.',
    remedy: 'Send uncompressed JSON with `Content-Type: application/json`.',
  },
  idempotency_mismatch: {
    meaning: 'The `Idempotency-Key` was already used with a different body.',
    cause: 'One key was used for two different requests to the same method and path.',
    remedy: 'Generate a new random key for each change, and reuse it only to retry that change.',
  },
  rate_limited: {
    meaning: 'Too many requests.',
    cause:
      'An API key or an IP address exceeded its limit, or one payment was changed too often with a public key. The request was not carried out.',
    remedy: 'Wait for the seconds in `Retry-After`, then send the request again.',
  },
  internal_error: {
    meaning: 'The server has a bug.',
    cause: 'A change commits completely or not at all, so nothing is left half done.',
    remedy: 'Retry with the same `Idempotency-Key`. If it happens again, report the `requestId`.',
  },
  rate_unavailable: {
    meaning: 'There is no exchange rate, or the latest one is older than 60 seconds.',
    cause: 'You created a payment, or set or locked its currency. A stale rate is never used.',
    remedy: 'Retry after the seconds in `Retry-After`.',
  },
  chain_unavailable: {
    meaning: "The network's node is not responding, or the account has no deposit key in this mode.",
    cause:
      'The request needs a network that cannot be reached right now. Payments in progress are not affected: they continue when the node is back.',
    remedy: 'Retry after the seconds in `Retry-After`. If it persists, ask the operator of the server.',
  },
  service_unavailable: {
    meaning:
      'The database cannot be reached or written, the server is starting or shutting down, or the provider that looks up bank account holders is unavailable or not configured.',
    cause: 'It happens during an outage or a restart, and when the name on a bank account is checked.',
    remedy: 'Retry after the seconds in `Retry-After`; for a POST or PATCH, with the same `Idempotency-Key`.',
  },
};

/**
 * Codes that the API never returns. The widget and `crypto-checkout/client` use them for errors of their own, which link
 * to the same docs page.
 */
export const clientErrors: Readonly<Record<string, ErrorEntry>> = {
  network_error: {
    meaning: 'No complete response arrived: the connection failed, or the call took longer than 15 seconds.',
    cause:
      "The device is offline, `api-url` is wrong, the page's Content-Security-Policy blocks the call, or a proxy cut the connection. The request may have taken effect.",
    remedy: 'Retry with the same `Idempotency-Key`. The widget does so by itself.',
  },
  malformed_reply: {
    meaning: 'A response arrived that does not come from the API.',
    cause: '`api-url` points to another server, or a proxy changes responses or replaces them with its own.',
    remedy: 'Check `api-url`, then call the API without the proxy and compare the responses.',
  },
  unexpected: {
    meaning: 'The widget failed with an error that it does not know.',
    cause:
      "It is a bug, in the widget or in a script that changes the page's built-in functions. No payment is lost: after a reload the widget finds it again.",
    remedy: 'Report it together with its `cause`, which the `checkout-error` event carries.',
  },
  secret_key_in_page: {
    meaning: '`public-key` holds a secret key, which everybody who opens the page can read.',
    cause: 'The tag was given `sk_…`. Nothing was sent.',
    remedy: 'Revoke the key now, with `keys revoke`, and put a public key into the page.',
  },
  invalid_public_key: {
    meaning: '`public-key` is missing, or is not a public key.',
    cause: 'The tag has none, or a framework has not set it yet.',
    remedy: 'Set it to a key that starts with `pk_test_` or `pk_live_`.',
  },
  invalid_api_url: {
    meaning: '`api-url` is not a web address.',
    cause: 'It lacks `https://`, or is not a path that starts with `/`.',
    remedy: 'Set it to the address of your server, or remove it if the script comes from there.',
  },
  invalid_amount: {
    meaning: '`amount` is missing, or is not a price above 0.',
    cause: 'It has a comma, a currency sign or an exponent, or the cart is empty.',
    remedy: 'Set it to a plain decimal such as `49.90`, or set `payment-id`.',
  },
  invalid_base_currency: {
    meaning: '`base-currency` is missing, or is not a currency code.',
    cause: 'The tag has no code, or a sign such as `$`.',
    remedy: 'Set it to the code of the price, such as `USD` or `NGN`.',
  },
  invalid_tx_ref: {
    meaning: '`tx-ref` has characters that a reference cannot have, or too many of them.',
    cause: 'It has a space, a `#` or a `/`, for instance.',
    remedy: 'Use 1 to 100 of the characters `A-Z a-z 0-9 . _ : -`.',
  },
  invalid_redirect_url: {
    meaning: '`redirect-url` is not a web address.',
    cause: 'It is a path, or has another scheme than http and https.',
    remedy: 'Set it to an absolute address, or remove it. The API takes https only.',
  },
  webhook_signature_missing: {
    meaning:
      'The request lacks `webhook-id`, `webhook-timestamp` or `webhook-signature`, or has one of them twice.',
    cause: 'Somebody else called your webhook URL, or a proxy drops headers.',
    remedy: 'Reply 400 and do nothing else. If the API sent the request, let the headers through.',
  },
  webhook_timestamp_invalid: {
    meaning:
      "The `webhook-timestamp` is more than five minutes, or your own `toleranceSeconds`, from your server's clock.",
    cause: 'Somebody replayed a recorded webhook, or the clock is wrong.',
    remedy:
      'Reply 400, and synchronize the clock with NTP. The API signs each attempt with a new timestamp, so its own late retries are never too old.',
  },
  webhook_signature_invalid: {
    meaning: 'None of your secrets signed this id, timestamp and body.',
    cause:
      'The webhook is forged, the secret belongs to another account, or the body was parsed and serialized again.',
    remedy:
      'Reply 400. If the API sent the request, check the secret, and verify the raw body, before any JSON parser.',
  },
  webhook_body_invalid: {
    meaning: 'The signature is valid, but the body is not an event of the contract.',
    cause:
      'Another sender signs with the same secret, or the versions of the API and `crypto-checkout` do not match.',
    remedy: 'Reply 400, and update the package.',
  },
  webhook_type_unknown: {
    meaning: 'The signature is valid, but this version of the package does not know the type of the event.',
    cause: 'The API is newer than the package.',
    remedy: 'Reply 204 and ignore the event. To use it, update the package.',
  },
};

/** All codes that a call of the endpoint can fail with: those that it declares, and those of its method and key. */
export function errorsOf({ method, key, params, errors = [] }: Endpoint): ErrorCode[] {
  const isKeyed = method === 'POST' || method === 'PATCH';
  return [
    'validation_error',
    ...(method === 'GET' ? [] : (['invalid_json'] as const)),
    'missing_api_key',
    'invalid_api_key',
    // A restricted secret key is refused where a public one is not.
    ...(key === 'secret' || method !== 'GET' ? (['secret_key_required'] as const) : []),
    ...(params ? (['not_found'] as const) : []),
    ...errors,
    ...(isKeyed ? (['idempotency_in_progress', 'idempotency_mismatch'] as const) : []),
    ...(method === 'GET' ? [] : (['payload_too_large', 'unsupported_media_type'] as const)),
    'rate_limited',
    'internal_error',
    'service_unavailable',
  ];
}
