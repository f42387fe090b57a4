/** The console's sessions in HTTP: the cookie that holds a token, and which pages may send it. */
import type { Request, Response } from 'express';
import { requestIdOf } from '../ops/request.js';
import type { SignedIn, Visitor } from '../people/sessions.js';
import { localHosts } from '../shared/local-hosts.js';
import { invalidField, Problem } from '../shared/problem.js';
import { retention } from '../shared/retention.js';
import type { Mode, PersonCaller } from '../shared/scope.js';
import { cookieOf } from './cookies.js';
import { setCookie } from './reply.js';

export type SessionCookies = ReturnType<typeof createSessionCookies>;

/** Says who holds a token; undefined if nobody does, or no longer. */
export type Authenticate = (token: string) => Promise<SignedIn | undefined>;

/** @param publicUrl where clients reach the server */
export function createSessionCookies(publicUrl: string, authenticate: Authenticate) {
  const { protocol, origin, port } = new URL(publicUrl);
  const isHttps = protocol === 'https:';
  // Over https, browsers accept a `__Host-` cookie only from this host. A cookie of localhost is shared by all its
  // ports, so its name has the port.
  const name = isHttps ? '__Host-checkout-console' : `checkout-console-${port || '80'}`;
  const attributes = `Path=/; HttpOnly; SameSite=Strict${isHttps ? '; Secure' : ''}`;
  // Without https, a session is only for browsers on this machine.
  const localOrigins = [...localHosts].map((host) => new URL(`http://${host}:${port || '80'}`).origin);
  const origins = new Set(isHttps ? [origin] : localOrigins);

  /** The token that a request sends. */
  const tokenOf = (request: Request) => cookieOf(request, name);

  /** Refuses what the page of another site sends. Problem: `origin_not_allowed`. */
  function checkOrigin({ headers }: Request): void {
    const site = headers['sec-fetch-site'];
    // Browsers set it, and no page can. Those that do not know it send the origin with all that changes something.
    const isOwn = site === undefined ? origins.has(headers.origin ?? '') : site === 'same-origin';
    if (isOwn) return;
    throw new Problem(
      'origin_not_allowed',
      "Only the console's own pages can call this with a session. Other programs send an API key",
    );
  }

  return {
    tokenOf,
    checkOrigin,
    /** Gives the browser a token with the reply, or takes away the one that it has. */
    send(response: Response, token: string | undefined): void {
      const value = token === undefined ? '; Max-Age=0' : `${token}; Max-Age=${retention.sessionMs / 1000}`;
      setCookie(response, `${name}=${value}; ${attributes}`);
    },
    visitorOf: (request: Request, response: Response): Visitor => ({
      address: request.ip ?? '',
      userAgent: request.headers['user-agent'] ?? '',
      requestId: requestIdOf(response),
      session: tokenOf(request),
    }),
    /**
     * Finds the sender of a token. Problems: `origin_not_allowed`, `session_required`.
     * @param isOfBothModes true if the request need not name a mode
     */
    async identify(
      request: Request,
      response: Response,
      token: string,
      isOfBothModes: boolean,
    ): Promise<PersonCaller> {
      checkOrigin(request);
      const signedIn = await authenticate(token);
      if (!signedIn) throw sessionRequired('The session has ended. Sign in again');
      const { merchantId, person } = signedIn;
      return {
        ...{ kind: 'secret', merchantId, mode: modeOf(request, isOfBothModes) },
        person: { ...person, address: request.ip ?? '', requestId: requestIdOf(response) },
      };
    },
  };
}

export function sessionRequired(message = 'Sign in first'): Problem {
  return new Problem('session_required', message);
}

/** Each request of a page says which records it means, so that test and live are never mixed up. */
function modeOf({ headers }: Request, isOfBothModes: boolean): Mode {
  const mode = headers['x-checkout-mode'];
  if (mode === 'test' || mode === 'live') return mode;
  if (mode === undefined && isOfBothModes) return 'test';
  throw invalidField('X-Checkout-Mode', 'With a session, this header must be test or live');
}
