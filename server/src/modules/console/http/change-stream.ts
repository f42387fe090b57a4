/**
 * `GET /console/api/changes/{mode}`: an open reply that says when a page of the console has changed, and nothing of its
 * content.
 */
import { api, changesPath, type Endpoint } from 'crypto-checkout/contract';
import type { Request, RequestHandler, Response } from 'express';
import type { Changes } from '../changes.js';
import { setLabel } from '../../../core/ops/request.js';
import type { Permissions } from '../../../core/shared/permissions.js';
import { Problem } from '../../../core/shared/problem.js';
import { authenticate } from '../../../core/api/authenticate.js';
import type { StreamOptions } from '../../../core/api/express-app.js';

export const changesRoute = new RegExp(`^${changesPath}/(test|live)$`);

/** Proxies cut a connection that is silent, and a page learns by it that the server is still there. */
const beatMs = 15_000;
/** The time after which a browser reconnects. */
const retryMs = 3000;
/** Clients that do not read what they are sent are dropped. */
const mostUnread = 65_536;
const recordId = /^[0-9A-HJKMNP-TV-Z]{26}$/;

/** Serves the stream to signed-in people: of the payment in `?payment=`, or otherwise of the home page. */
export function changeStream(
  changes: Pick<Changes, 'watch'>,
  { mayCall }: Permissions,
  options: StreamOptions,
): RequestHandler {
  const { callerLimits, ipLimits } = options;
  return async (request, response) => {
    const caller = await authenticate({ ...options, isForPeople: true }, request, response).catch(
      async (error: unknown) => {
        await ipLimits?.failedKey(request, response);
        throw error;
      },
    );
    setLabel(response, '/console/api/changes/{mode}');
    await callerLimits?.check(request, response, caller, undefined);
    const { person, merchantId } = caller;
    const mode = request.params[0] === 'live' ? 'live' : 'test';
    const paymentId = paymentOf(request);
    const read: readonly [string, string, Endpoint] =
      paymentId === undefined
        ? ['home', 'retrieve', api.home.retrieve]
        : ['transactions', 'retrieve', api.transactions.retrieve];
    if (!person || !mayCall(person.role, ...read)) {
      throw new Problem('role_not_allowed', 'Your role may not read this page. Ask an owner');
    }
    // A client that has already left must not be watched: its reply does not close a second time, so the watch would
    // never end.
    if (response.destroyed) return;
    const scope = { merchantId, mode } as const;
    const seen = markIn(request);
    const stop = changes.watch({
      scope,
      paymentId,
      seen,
      personId: person.id,
      sessionId: person.sessionId,
      changed: () => send(response, 'changed'),
      end: () => response.end(),
    });
    response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store, no-transform',
      // nginx would keep what is sent until it has more of it.
      'X-Accel-Buffering': 'no',
    });
    response.write(`retry: ${retryMs}\n\n`);
    // There may be no change for long, and the page polls until it knows that the stream works.
    if (seen !== undefined) send(response, 'beat');
    const beat = setInterval(() => send(response, 'beat'), beatMs);
    response.once('close', () => {
      clearInterval(beat);
      stop();
    });
  };
}

/** Problem: `not_found`. */
function paymentOf({ query }: Request): string | undefined {
  const { payment } = query;
  if (payment === undefined) return undefined;
  if (typeof payment === 'string' && recordId.test(payment)) return payment;
  throw new Problem('not_found', 'No such payment');
}

const markIn = ({ query: { seen } }: Request): string | undefined =>
  typeof seen === 'string' && /^[0-9a-f]{64}$/.test(seen) ? seen : undefined;

function send(response: Response, event: 'changed' | 'beat'): void {
  if (response.writableLength > mostUnread) response.destroy();
  else response.write(`event: ${event}\ndata:\n\n`);
}
