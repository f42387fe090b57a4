/** Serves a table of endpoints: finds the endpoint and the caller of each request, and checks access. */
import { endpointsOf, pathsOf } from 'crypto-checkout/contract';
import type { Endpoint, Endpoints, KeyScope } from 'crypto-checkout/contract';
import type { RequestHandler } from 'express';
import type { Clock } from '../shared/clock.js';
import type { Keys } from '../merchants/keys.js';
import { Problem } from '../shared/problem.js';
import { authenticate, isKnownSecret } from './authenticate.js';
import type { NamedHandlers } from './handler.js';
import type { CallerLimits, IpLimits } from './limits.js';
import { createOperation, type RunOperation, type OperationDeps } from './operation.js';
import { setLabel, setRoute } from '../ops/request.js';
import { allowBrowsers, sendJson, sendPreflight, setCaller } from './reply.js';
import { createPathTree, type PathEntry } from './path-tree.js';
import type { Permissions } from '../shared/permissions.js';
import { proofMs, type Caller, type Mode } from '../shared/scope.js';

export interface MountOptions extends OperationDeps {
  readonly keys: Pick<Keys, 'authenticate' | 'isKnownSecret'>;
  readonly clock: Clock;
  readonly permissions: Pick<Permissions, 'mayCall'>;
  /** Undefined if rate limits are off. */
  readonly callerLimits: CallerLimits | undefined;
  /** Undefined if rate limits are off. */
  readonly ipLimits: IpLimits | undefined;
  /** Keys of any other mode get `not_found`. */
  readonly modes: readonly Mode[];
  /** True if only people call these endpoints, from the console's pages. */
  readonly isForPeople?: boolean;
}

/** An endpoint at one of its paths. */
interface Mounted {
  readonly resource: string;
  readonly verb: string;
  readonly endpoint: Endpoint;
  readonly path: string;
  readonly run: RunOperation;
}

/**
 * Handles every request under the path where it is mounted. The order of checks is: rate limit per IP address, key, rate
 * limit per key, path and method, kind and scope of the key, body, validation. Requests without a valid key learn nothing
 * about which paths exist. The few endpoints that need no key read none.
 */
export function mount(table: Endpoints, handlers: NamedHandlers, options: MountOptions): RequestHandler {
  const { clock, permissions, callerLimits, ipLimits, modes, sessions, isForPeople } = options;
  const find = createPathTree(mountedEndpoints(table, handlers, options));

  return async (request, response) => {
    const match = find(request.baseUrl + request.path);
    const mounted = match?.route.operations.get(request.method);
    if (match) setRoute(response, { pattern: mounted?.path ?? match.route.pattern, values: match.values });
    // A page can also read that its address is mistyped.
    const isForBrowsers = !isForPeople && match?.route.isPublic !== false;
    if (isForBrowsers) allowBrowsers(response);
    const endTurn = await ipLimits?.anyRequest(request, response, isKnownSecret(options, request));
    if (isForBrowsers && request.method === 'OPTIONS') return sendPreflight(response);
    if (isForPeople) sessions?.checkOrigin(request);
    if (match && mounted?.endpoint.key === 'none') {
      setLabel(response, mounted.path);
      const succeed = await ipLimits?.token(isForPeople ? 'sign-in' : mounted.resource, request, response);
      const { json } = await mounted
        .run({ request, response, values: match.values })
        .catch((error: unknown) => {
          // A server error says nothing about the token, so it does not count as a guess.
          if (!(error instanceof Problem) || error.status >= 500) succeed?.();
          throw error;
        });
      succeed?.();
      return sendJson(response, 200, json);
    }
    const caller = await authenticate(options, request, response).catch(async (error: unknown) => {
      const isWrong = error instanceof Problem && wrongCredentials.includes(error.code);
      if (isWrong) await ipLimits?.failedKey(request, response);
      throw error;
    });
    setCaller(response, caller, clock.now(caller));
    if (mounted) setLabel(response, mounted.path);
    await callerLimits?.check(request, response, caller, mounted?.endpoint);
    if (caller.kind === 'secret') endTurn?.();

    if (!match || !modes.includes(caller.mode)) {
      throw new Problem('not_found', 'There is no endpoint at this path');
    }
    if (!mounted) {
      response.setHeader('Allow', match.route.allow);
      throw new Problem('method_not_allowed', `This path accepts only ${match.route.allow}`);
    }
    if (mounted.endpoint.key === 'secret' && caller.kind !== 'secret') {
      throw new Problem(
        'secret_key_required',
        'This endpoint requires a secret key. Call it from your server, never from a page',
      );
    }

    checkPermission(permissions, caller, mounted, clock.real());

    const identify = async () => {
      const now = await authenticate(options, request, response);
      checkPermission(permissions, now, mounted, clock.real());
      return now;
    };
    const call = { request, response, caller, identify, values: match.values };
    const { json, isReplay } = await mounted.run(call);
    if (isReplay) response.setHeader('Idempotent-Replayed', 'true');
    // Set the date again: the request may have moved the clock.
    setCaller(response, caller, clock.now(caller));
    callerLimits?.charge(request, caller, mounted.endpoint, Buffer.byteLength(json));
    sendJson(response, 200, json);
  };
}

const wrongCredentials: readonly string[] = ['invalid_api_key', 'session_required'];

/** The methods that each scope of a secret key reaches. */
const reachOf: Readonly<Record<KeyScope, string>> = {
  full: 'it can do everything',
  read: 'it can read everything, and change nothing',
  verify: 'it can only get, list and verify payments and transactions',
  refunds: 'it can make refunds, and get, list and verify payments and transactions',
};

/**
 * Refuses what a restricted key or a person's role may not call, and what a person must sign in for again. Problems:
 * `secret_key_required`, `role_not_allowed`, `step_up_required`.
 */
function checkPermission(
  { mayCall }: MountOptions['permissions'],
  caller: Caller,
  { resource, verb, endpoint }: Mounted,
  now: number,
): void {
  const { person } = caller;
  if (!person) {
    const { keyScope } = caller;
    if (mayCall(keyScope, resource, verb, endpoint)) return;
    throw new Problem(
      'secret_key_required',
      `The scope of this secret key is "${keyScope}": ${reachOf[keyScope]}. Use a secret key with the scope "full"`,
    );
  }
  if (!mayCall(person.role, resource, verb, endpoint)) {
    throw new Problem('role_not_allowed', `Your role is ${person.role}, which may not do this. Ask an owner`);
  }
  if (endpoint.stepUp && now >= person.provedAt + proofMs) {
    throw new Problem(
      'step_up_required',
      'Sign in again first: this needs a passkey or a link of the last 10 minutes',
    );
  }
}

function* mountedEndpoints(
  table: Endpoints,
  handlers: NamedHandlers,
  deps: OperationDeps,
): Iterable<PathEntry<Mounted>> {
  for (const { name, resource, verb, endpoint } of endpointsOf(table)) {
    const handler = handlers[resource]?.[verb];
    if (!handler) throw new Error(`${name} has no handler`);
    for (const path of pathsOf(endpoint)) {
      const run = createOperation(name, endpoint, path, handler, deps);
      const { method, key, changesOnGet } = endpoint;
      yield { method, path, key, changesOnGet, operation: { resource, verb, endpoint, path, run } };
    }
  }
}
