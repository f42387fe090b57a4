/** Handlers of `/v1/meta`: the table of endpoints, described by the server that mounts it. */
import { api, type Endpoint } from 'crypto-checkout/contract';
import type { Handlers } from '../http/handler.js';
import { createRoutes } from '../http/routes.js';
import { notFound } from '../problems.js';
import { describe } from './meta.js';

const endpoints = Object.values(api).flatMap((verbs) => Object.values<Endpoint>(verbs));

/** The same look-up as the mount's: a placeholder matches `{name}` and `:name` as it matches a real value. */
const find = createRoutes(
  endpoints.flatMap((endpoint) =>
    [endpoint.path, ...(endpoint.aliases ?? [])].map((path) => ({ ...endpoint, path, operation: endpoint })),
  ),
);

export const metaHandlers = {
  async retrieve({ params, query }) {
    if (params.endpoint === '') return { message: 'Endpoints described', data: endpoints.map(describe) };
    const operations = find(`/v1/${params.endpoint}`)?.route.operations;
    const endpoint =
      query.method === undefined
        ? (operations?.get('GET') ?? operations?.values().next().value)
        : operations?.get(query.method);
    if (!endpoint) throw notFound('endpoint');
    return { message: 'Endpoint described', data: describe(endpoint) };
  },
} satisfies Handlers<Pick<typeof api, 'meta'>, unknown>['meta'];
