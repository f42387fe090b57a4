/** The table of endpoints as rows, for the tests that walk it. */
import { api } from '../../src/contract/index.js';
import type { Endpoint } from '../../src/contract/endpoint.js';

export interface Row {
  /** `payments.create`. */
  readonly name: string;
  readonly endpoint: Endpoint;
}

export const rows: readonly Row[] = Object.entries(api).flatMap(([resource, verbs]) =>
  Object.entries(verbs).map(([verb, endpoint]: [string, Endpoint]) => ({
    name: `${resource}.${verb}`,
    endpoint,
  })),
);

/** Every path that an endpoint answers on. */
export const pathsOf = ({ path, aliases = [] }: Endpoint): readonly string[] => [path, ...aliases];

/** The names of a path's placeholders: `/a/{b}/{*c}` → b, c. */
export const placeholdersOf = (path: string): string[] =>
  [...path.matchAll(/\{\*?([a-zA-Z_]+)\}/g)].map(([, name = '']) => name);
