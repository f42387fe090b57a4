/** Handlers of `/v1/meta`: the API describes its own endpoints. */
import type { CoreApi, Data, Endpoint } from 'crypto-checkout/contract';
import type { ApiHandlers } from '../api/handler.js';
import { notFound } from '../shared/problem.js';
import { parametersOf, type Place } from './parameters.js';
import { headersOf, publicPath, sampleRequest, sampleResponse } from './samples.js';

/** Returns the endpoints at a path, by method. Placeholders may be real values, `{name}` or `:name`. */
export type FindEndpoints = (path: string) => ReadonlyMap<string, Endpoint> | undefined;

export function createMetaHandlers(
  endpoints: readonly Endpoint[],
  findEndpoints: FindEndpoints,
): ApiHandlers<'meta'> {
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

type QuickDocs = Exclude<Data<CoreApi['meta']['retrieve']>, readonly unknown[]>;

const kinds: Readonly<Record<Place, string>> = { path: 'path-params', query: 'query-params', body: 'body' };

function describe(endpoint: Endpoint): QuickDocs {
  const { method, description } = endpoint;
  const path = publicPath(endpoint);
  const parameters = parametersOf(endpoint);
  const places = new Set(parameters.map(({ place }) => kinds[place]));
  return {
    description,
    endpoint: `${method} ${path}`,
    headers: headersOf(endpoint),
    request_spec: {
      type: [...places].join(', ') || 'none',
      spec: Object.fromEntries(parameters.map((parameter) => [parameter.name, parameter.description])),
    },
    sample_request: sampleRequest(endpoint, { baseUrl: '{base_url}', path, key: '<API_KEY>' }),
    sample_response: sampleResponse(endpoint),
  };
}
