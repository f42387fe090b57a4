/** Quick docs: the API describes its own endpoints. */
import * as z from 'zod/mini';
import { countries } from './countries.js';
import { endpoint } from './endpoint.js';
import { described, id } from './fields.js';

const quickDocs = z.object({
  description: z.string(),
  /** Method and path. */
  endpoint: z.string(),
  /** Header names, each with a template of its value. */
  headers: z.record(z.string(), z.string()),
  /** The place of the parameters, and the description of each. */
  request_spec: z.object({ type: z.string(), spec: z.record(z.string(), z.string()) }),
  sample_request: z.string(),
  sample_response: z.object({
    status: z.string(),
    message: z.string(),
    data: z.optional(z.unknown()),
    meta: z.optional(z.unknown()),
  }),
});

export const meta = {
  retrieve: endpoint({
    method: 'GET',
    path: '/v1/meta/{*endpoint}',
    key: 'secret',
    description:
      'Describes an endpoint, given its path after /v1 with placeholders or real values. If the path has several methods, `method` selects one. Without a path, it describes all endpoints.',
    params: z.object({
      endpoint: described(
        id,
        'Path of an endpoint after /v1, such as customers/{customer_id}. Omit it for all endpoints.',
      ),
    }),
    query: z.object({
      method: described(
        z.optional(z.enum(['GET', 'POST', 'PATCH', 'DELETE'])),
        'HTTP method of the endpoint. Defaults to GET if the path has one.',
      ),
    }),
    data: z.union([quickDocs, z.array(quickDocs)]),
    sample: {
      params: { endpoint: 'countries' },
      message: 'Endpoint described',
      data: {
        description: countries.list.description,
        endpoint: `${countries.list.method} ${countries.list.path}`,
        headers: { Authorization: 'Bearer <API_KEY>', 'Content-Type': 'application/json' },
        request_spec: { type: 'none', spec: {} },
        sample_request: `curl "{base_url}${countries.list.path}" -H "Authorization: Bearer <API_KEY>" -H "Content-Type: application/json"`,
        sample_response: {
          status: 'success',
          message: countries.list.sample.message,
          data: countries.list.sample.data,
        },
      },
    },
  }),
};
