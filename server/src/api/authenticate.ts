/** Identifies the caller by the API key in the `Authorization` header. */
import type { Keys } from '../merchants/keys.js';
import { Problem } from '../shared/problem.js';
import type { Caller } from '../shared/scope.js';

const bearer = /^bearer +([^\s]+) *$/i;

/** @throws Problem `missing_api_key` or `invalid_api_key` */
export async function authenticate(
  keys: Pick<Keys, 'authenticate'>,
  header: string | undefined,
): Promise<Caller> {
  if (header === undefined || header.trim() === '') {
    throw new Problem(
      'missing_api_key',
      'The API key is missing. Send it as Authorization: Bearer <API_KEY>',
    );
  }
  const key = bearer.exec(header)?.[1];
  const caller = key === undefined ? undefined : await keys.authenticate(key);
  if (caller) return caller;
  throw new Problem(
    'invalid_api_key',
    key === undefined
      ? 'The Authorization header must be: Bearer <API_KEY>'
      : 'The API key is unknown, has been revoked or has expired',
  );
}
