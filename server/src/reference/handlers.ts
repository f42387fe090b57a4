/** Handlers of `/v1/meta`: the API describes its own endpoints. */
import { api, type Endpoint } from 'crypto-checkout/contract';
import type { ApiHandlers } from '../api/handler.js';
import { notFound } from '../shared/problem.js';
import { describe } from './meta.js';

const endpoints = Object.values(api).flatMap((verbs) => Object.values<Endpoint>(verbs));

/** Returns the endpoints at a path, by method. Placeholders may be real values, `{name}` or `:name`. */
export type FindEndpoints = (path: string) => ReadonlyMap<string, Endpoint> | undefined;

export function createMetaHandlers(findEndpoints: FindEndpoints): ApiHandlers<'meta'> {
  return {
    async retrieve({ params, query }) {
      if (params.endpoint === '') return { message: 'Endpoints described', data: endpoints.map(describe) };
      const operations = findEndpoints(`/v1/${params.endpoint}`);
      const endpoint =
        query.method === undefined
          ? (operations?.get('GET') ?? operations?.values().next().value)
          : operations?.get(query.method);
      if (!endpoint) throw notFound('endpoint');
      return { data: describe(endpoint) };
    },
  };
}
