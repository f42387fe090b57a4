/** Quick docs: the description of one endpoint under `/v1/meta`. */
import type { api, Data, Endpoint } from 'crypto-checkout/contract';
import { parametersOf, type Place } from './parameters.js';
import { headersOf, publicPath, sampleRequest, sampleResponse } from './samples.js';

type QuickDocs = Exclude<Data<typeof api.meta.retrieve>, readonly unknown[]>;

const kinds: Readonly<Record<Place, string>> = { path: 'path-params', query: 'query-params', body: 'body' };

export function describe(endpoint: Endpoint): QuickDocs {
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
