/** Walks the table of endpoints: the server, the docs, the scripts and the tests list it in this one way. */
import type { Endpoint, Endpoints } from './endpoint.js';

export interface NamedEndpoint {
  /** `payments.create`. */
  readonly name: string;
  readonly resource: string;
  readonly verb: string;
  readonly endpoint: Endpoint;
}

/** All endpoints of a table, in its order. */
export const endpointsOf = (table: Endpoints): readonly NamedEndpoint[] =>
  Object.entries(table).flatMap(([resource, verbs]) =>
    Object.entries(verbs).map(([verb, endpoint]) => ({
      name: `${resource}.${verb}`,
      resource,
      verb,
      endpoint,
    })),
  );

/** All paths of an endpoint, aliases included. */
export const pathsOf = ({ path, aliases = [] }: Endpoint): readonly string[] => [path, ...aliases];

/** The names of the placeholders in a path: `/a/{b}/{*c}` → b, c. */
export const placeholdersOf = (path: string): string[] =>
  [...path.matchAll(/\{\*?([a-zA-Z_]+)\}/g)].map(([, name = '']) => name);
