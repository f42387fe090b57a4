/** All endpoints as rows, for table-driven tests. */
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

/** All paths of an endpoint, including its aliases. */
export const pathsOf = ({ path, aliases = [] }: Endpoint): readonly string[] => [path, ...aliases];

/** The placeholder names in a path: `/a/{b}/{*c}` → b, c. */
export const placeholdersOf = (path: string): string[] =>
  [...path.matchAll(/\{\*?([a-zA-Z_]+)\}/g)].map(([, name = '']) => name);
