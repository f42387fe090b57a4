/**
 * The routes of a contract, each with a call of the right form: the tests that send something to all of them list them in this one
 * way. In `valid-calls.ts` are calls of records that exist.
 */
import {
  type Endpoint,
  type Endpoints,
  endpointsOf,
  type NamedEndpoint,
  pathsOf,
  placeholdersOf,
} from 'crypto-checkout/contract';

export interface Route extends NamedEndpoint {
  readonly method: Endpoint['method'];
  /** One of the endpoint's paths, with its placeholders. */
  readonly path: string;
  /** `POST /v1/payments/checkout`. */
  readonly title: string;
  readonly placeholders: readonly string[];
  /** The placeholders that are record ids. */
  readonly idNames: readonly string[];
  /** The names of its parameters in the query. */
  readonly parameters: readonly string[];
  /** The names of the fields of its body. */
  readonly fields: readonly string[];
  /** The sample's body. */
  readonly body: unknown;
  /** The path with values for its placeholders, by default those of the sample. */
  readonly url: (valueOf?: (name: string) => string | undefined) => string;
}

/** Bodies in place of samples that would change other calls: they would move the clock, or send events to another host. */
const harmless: Readonly<Record<string, unknown>> = {
  '/sandbox/clock': { advanceSeconds: 0 },
  '/console/api/webhook': { url: '' },
};

/** All routes of a table, in its order, aliases included. */
export const routesOf = (table: Endpoints): readonly Route[] =>
  endpointsOf(table).flatMap((named) => pathsOf(named.endpoint).map((path) => routeOf(named, path)));

/** The first route of each endpoint, without its aliases. */
export const mainRoutesOf = (table: Endpoints): readonly Route[] =>
  endpointsOf(table).map((named) => routeOf(named, named.endpoint.path));

function routeOf(named: NamedEndpoint, path: string): Route {
  const { method, sample, query, body } = named.endpoint;
  const placeholders = placeholdersOf(path);
  return {
    ...named,
    method,
    path,
    title: `${method} ${path}`,
    placeholders,
    idNames: placeholders.filter((name) => name.endsWith('_id')),
    parameters: Object.keys(query?.def.shape ?? {}),
    fields: Object.keys(body?.def.shape ?? {}),
    body: path in harmless ? harmless[path] : sample.body,
    url: (valueOf = () => undefined) =>
      fillPath(path, (name) => encodePath(valueOf(name) ?? sample.params?.[name] ?? name)),
  };
}

/** For `it.each` with `%s`: Vitest cuts a `$title`. */
export const titled = (routes: readonly Route[]) => routes.map((route) => [route.title, route] as const);

/** Ids that no record has. */
export const nobody = () => 'nobody';

/** A path with a value in the place of each placeholder. */
export const fillPath = (path: string, valueOf: (name: string) => string): string =>
  path.replace(/\{\*?(\w+)\}/g, (_placeholder, name: string) => valueOf(name));

/** The last placeholder of a path can match several segments. */
export const encodePath = (value: string): string => value.split('/').map(encodeURIComponent).join('/');
