/** The meaning and remedy of each error code, as in docs/errors.md, and the codes that each endpoint can return. */
import { readFileSync } from 'node:fs';
import { errorStatus, type Endpoint, type ErrorCode } from 'crypto-checkout/contract';
import * as z from 'zod/mini';

/**
 * The docs entry of an error code: its meaning in one sentence, when it happens, and what to do. Backticks mark code.
 */
const entry = z.object({ meaning: z.string(), cause: z.string(), remedy: z.string() });
type ErrorEntry = z.infer<typeof entry>;

export const apiErrors: Readonly<Record<ErrorCode, ErrorEntry>> = z
  .record(z.enum(Object.keys(errorStatus) as ErrorCode[]), entry)
  .parse(JSON.parse(readFileSync(new URL('../../../data/errors.json', import.meta.url), 'utf8')));

/** All codes that a call of the endpoint can fail with: those that it declares, and those of its method and key. */
export function errorsOf({ method, key, params, errors = [] }: Endpoint): ErrorCode[] {
  const isOpen = key === 'none';
  const isKeyed = !isOpen && (method === 'POST' || method === 'PATCH');
  return [
    'validation_error',
    ...(method === 'GET' ? [] : (['invalid_json'] as const)),
    ...(isOpen ? [] : (['missing_api_key', 'invalid_api_key'] as const)),
    // A restricted secret key is refused where a public one is not.
    ...(key === 'secret' || isKeyed || method === 'DELETE' ? (['secret_key_required'] as const) : []),
    ...(params || isOpen ? (['not_found'] as const) : []),
    ...errors,
    ...(isKeyed ? (['idempotency_in_progress', 'idempotency_mismatch'] as const) : []),
    ...(method === 'GET' ? [] : (['payload_too_large', 'unsupported_media_type'] as const)),
    'rate_limited',
    'internal_error',
    'service_unavailable',
  ];
}
