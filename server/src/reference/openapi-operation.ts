/** Describes one endpoint as an operation of the OpenAPI document. */
import type { Endpoint, Sample } from 'crypto-checkout/contract';
import type * as z from 'zod/mini';
import { errorsOf } from './errors.js';
import { inputSchema } from './parameters.js';
import { sampleResponse } from './samples.js';
import { failureResponses } from './openapi-components.js';
import { replySchema } from './openapi-schemas.js';

export interface OperationOptions {
  /** Unique, and a valid identifier in most languages, such as `customersCreate`. */
  readonly id: string;
  readonly tag: string;
  /** The operation's path in the document. Its placeholders may have other names than the endpoint's. */
  readonly path: string;
}

export function operation(endpoint: Endpoint, { id, tag, path }: OperationOptions): object {
  const { method, key, description, params, query, body, sample, aliases = [] } = endpoint;
  const hasKey = key !== 'none' && (method === 'POST' || method === 'PATCH');
  const parameters = [
    ...pathParameters(path, params, sample.params),
    ...parametersIn('query', query, sample.query),
    ...(hasKey ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
  ];
  const alsoAt = aliases.map((alias) => `Also at \`${alias}\`.`);
  return {
    operationId: id,
    tags: [tag],
    summary: summaryOf(description),
    description: [description, ...alsoAt].join('\n\n'),
    security: key === 'none' ? [] : [{ secretKey: [] }, ...(key === 'public' ? [{ publicKey: [] }] : [])],
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: true,
        content: { 'application/json': { schema: inputSchema(body), example: sample.body } },
      },
    }),
    responses: { '200': success(endpoint, hasKey), ...failureResponses(errorsOf(endpoint)) },
  };
}

/** The first sentence, without its final period. */
function summaryOf(description: string): string {
  return description.replace(/\.( .*)?$/s, '');
}

function parametersIn(
  place: 'path' | 'query',
  schema: z.ZodMiniObject | undefined,
  sample: Sample['params'] = {},
): { name: string }[] {
  if (!schema) return [];
  const { properties = {}, required = [] } = inputSchema(schema);
  return Object.entries(properties).map(([name, field]) => {
    const { description, ...rest } = typeof field === 'boolean' ? {} : field;
    const example = sample[name];
    return {
      name,
      in: place,
      description,
      required: place === 'path' || required.includes(name),
      schema: rest,
      ...(example !== undefined && { example }),
    };
  });
}

function pathParameters(
  path: string,
  schema: z.ZodMiniObject | undefined,
  sample?: Sample['params'],
): object[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  return parametersIn('path', schema, sample).map((parameter) =>
    names.includes(parameter.name) ? parameter : { ...parameter, name: 'id' },
  );
}

function success(endpoint: Endpoint, isKeyed: boolean): object {
  const { data, paginated, sample } = endpoint;
  return {
    description: sample.message,
    headers: {
      'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' },
      ...(isKeyed && { 'Idempotent-Replayed': { $ref: '#/components/headers/Idempotent-Replayed' } }),
    },
    content: {
      'application/json': {
        schema: {
          type: 'object',
          required: ['status', 'message', ...(data ? ['data'] : []), ...(paginated ? ['meta'] : [])],
          properties: {
            status: { const: 'success' },
            message: { type: 'string', description: 'A short text for people. Its wording may change.' },
            ...(data && { data: replySchema(data) }),
            ...(paginated && {
              meta: {
                type: 'object',
                required: ['pagination'],
                properties: { pagination: { $ref: '#/components/schemas/Pagination' } },
              },
            }),
          },
        },
        example: sampleResponse(endpoint),
      },
    },
  };
}
