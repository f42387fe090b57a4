/** Account names from Paystack, or from any service with the same `GET /bank/resolve`. */
import * as z from 'zod/mini';
import { Problem } from '../shared/problem.js';
import type { AccountNames } from './account-names.js';

export interface PaystackOptions {
  /** Without a trailing slash. */
  readonly url: string;
  /** Undefined if live mode has no provider. */
  readonly secretKey: string | undefined;
  readonly timeoutMs?: number;
}

const resolved = z.object({
  status: z.literal(true),
  data: z.object({
    account_number: z.optional(z.string()),
    account_name: z.string().check(z.trim(), z.minLength(1), z.maxLength(255)),
  }),
});

const refused = z.object({ status: z.literal(false) });

/** Paystack answers 422 for an account that it cannot find, and 400 for a bank that it does not know. */
const unknownAccount = new Set([400, 404, 422]);

export function createPaystackAccountNames(options: PaystackOptions): AccountNames {
  const { url, secretKey, timeoutMs = 10_000 } = options;

  async function get(path: string, signal: AbortSignal) {
    try {
      const response = await fetch(url + path, {
        headers: { Authorization: `Bearer ${secretKey}`, Accept: 'application/json' },
        // A redirect would send the key to another address than the configured one.
        redirect: 'error',
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      });
      const body: unknown = await response.json();
      return { status: response.status, retryAfter: response.headers.get('Retry-After'), body };
    } catch (error) {
      throw unavailable('did not answer, or not with JSON', null, error);
    }
  }

  return {
    message: 'Account name fetched',
    async resolve({ accountNumber, bank }, signal) {
      if (secretKey === undefined) {
        throw new Problem(
          'service_unavailable',
          'This server has no provider of account names in live mode: set PAYSTACK_SECRET_KEY',
          { retryAfterSeconds: 3600 },
        );
      }
      const query = new URLSearchParams({
        account_number: accountNumber,
        bank_code: bank.providerCode ?? bank.code,
      });
      const { status, retryAfter, body } = await get(`/bank/resolve?${query.toString()}`, signal);
      if (unknownAccount.has(status) && refused.safeParse(body).success) return undefined;
      if (status !== 200) throw unavailable(`answered ${status}`, retryAfter);
      const reply = resolved.safeParse(body);
      if (!reply.success) throw unavailable('answered with an unexpected body', retryAfter);
      const { account_name: name, account_number: number = accountNumber } = reply.data.data;
      if (number !== accountNumber) throw unavailable('answered about another account', retryAfter);
      return name;
    },
  };
}

/** The message only asks the caller to try again. The cause has the reason, for the log. */
function unavailable(what: string, retryAfter: string | null, cause?: unknown): Problem {
  const seconds = retryAfter !== null && /^\d{1,5}$/.test(retryAfter) ? Number(retryAfter) : 5;
  return new Problem(
    'service_unavailable',
    'The provider of account names is not available; try again shortly',
    { retryAfterSeconds: seconds },
    { cause: new Error(`The provider of account names ${what}`, { cause }) },
  );
}
