/** Identifies the caller of a request: by the API key in the `Authorization` header, or by a person's session. */
import type { Request, Response } from 'express';
import type { Keys } from '../merchants/keys.js';
import { Problem } from '../shared/problem.js';
import type { Caller } from '../shared/scope.js';
import { sessionRequired, type Sessions } from './session.js';

const bearer = /^bearer +([^\s]+) *$/i;

export interface AuthenticateOptions {
  readonly keys: Pick<Keys, 'authenticate'>;
  /** Undefined if nobody can sign in. */
  readonly sessions: Sessions | undefined;
  /** True if only people can call, in which case requests concern both modes. */
  readonly isForPeople?: boolean | undefined;
}

/** Problems: `missing_api_key`, `invalid_api_key`, `session_required`, `origin_not_allowed`. */
export async function authenticate(
  { keys, sessions, isForPeople = false }: AuthenticateOptions,
  request: Request,
  response: Response,
): Promise<Caller> {
  const header = request.headers.authorization ?? '';
  // A key is sent deliberately, a cookie automatically.
  const token = header === '' || isForPeople ? sessions?.tokenOf(request) : undefined;
  if (token !== undefined && sessions) return sessions.identify(request, response, token, isForPeople);
  if (isForPeople) throw sessionRequired();
  return authenticateKey(keys, header);
}

/** Checks that a request has a secret key that was used recently: no proof, but a stranger cannot invent one. */
export function isKnownSecret(
  { keys }: { readonly keys: Pick<Keys, 'isKnownSecret'> },
  request: Request,
): boolean {
  const key = bearer.exec(request.headers.authorization ?? '')?.[1];
  return key !== undefined && keys.isKnownSecret(key);
}

async function authenticateKey(keys: Pick<Keys, 'authenticate'>, header: string): Promise<Caller> {
  if (header.trim() === '') {
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
