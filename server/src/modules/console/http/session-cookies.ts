/** The console's sessions in HTTP: the cookie that holds a token, and which pages may send it. */
import { cookieOf } from '../../../core/api/cookies.js';
import { setCookie } from '../../../core/api/reply.js';
import { sessionRequired, type Sessions } from '../../../core/api/session.js';
import { requestIdOf } from '../../../core/ops/request.js';
import { localHosts } from '../../../core/shared/local-hosts.js';
import { invalidField, Problem } from '../../../core/shared/problem.js';
import { retention } from '../../../core/shared/retention.js';
import type { Mode } from '../../../core/shared/scope.js';
import type { SignedIn } from '../sessions.js';

/** Says who holds a token; undefined if nobody does, or no longer. */
type Authenticate = (token: string) => Promise<SignedIn | undefined>;

/** @param publicUrl the URL at which clients reach the server */
export function createSessionCookies(publicUrl: string, authenticate: Authenticate): Sessions {
  const { protocol, origin, port } = new URL(publicUrl);
  const isHttps = protocol === 'https:';
  // Over https, browsers accept a `__Host-` cookie only from this host. A cookie of localhost is shared by all its
  // ports, so its name has the port.
  const name = isHttps ? '__Host-checkout-console' : `checkout-console-${port || '80'}`;
  const attributes = `Path=/; HttpOnly; SameSite=Strict${isHttps ? '; Secure' : ''}`;
  // Without https, a session is only for browsers on this machine.
  const localOrigins = [...localHosts].map((host) => new URL(`http://${host}:${port || '80'}`).origin);
  const origins = new Set(isHttps ? [origin] : localOrigins);

  const tokenOf: Sessions['tokenOf'] = (request) => cookieOf(request, name);

  const checkOrigin: Sessions['checkOrigin'] = ({ headers }) => {
    const site = headers['sec-fetch-site'];
    // Browsers set it, and no page can. Those that do not know it send the origin with all that changes something.
    const isOwn = site === undefined ? origins.has(headers.origin ?? '') : site === 'same-origin';
    if (isOwn) return;
    throw new Problem(
      'origin_not_allowed',
      "Only the console's own pages can call this with a session. Other programs send an API key",
    );
  };

  return {
    auditAction: 'console.change',
    tokenOf,
    checkOrigin,
    send(response, token) {
      const value = token === undefined ? '; Max-Age=0' : `${token}; Max-Age=${retention.sessionMs / 1000}`;
      setCookie(response, `${name}=${value}; ${attributes}`);
    },
    visitorOf: (request, response) => ({
      address: request.ip ?? '',
      userAgent: request.headers['user-agent'] ?? '',
      requestId: requestIdOf(response),
      session: tokenOf(request),
    }),
    async identify(request, response, token, isOfBothModes) {
      checkOrigin(request);
      const signedIn = await authenticate(token);
      if (!signedIn) throw sessionRequired('The session has ended. Sign in again');
      const { merchantId, person } = signedIn;
      return {
        kind: 'secret',
        merchantId,
        mode: modeOf(request.headers['x-checkout-mode'], isOfBothModes),
        person: { ...person, address: request.ip ?? '', requestId: requestIdOf(response) },
      };
    },
  };
}

/** Each request of a page says which records it means, so that test and live are never mixed up. */
function modeOf(mode: string | readonly string[] | undefined, isOfBothModes: boolean): Mode {
  if (mode === 'test' || mode === 'live') return mode;
  if (mode === undefined && isOfBothModes) return 'test';
  throw invalidField('X-Checkout-Mode', 'With a session, this header must be test or live');
}
