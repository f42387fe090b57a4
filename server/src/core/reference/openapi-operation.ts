/** Describes one endpoint as an operation of the OpenAPI document. */
import type { Endpoint, Sample } from 'crypto-checkout/contract';
import { errorsOf } from './errors.js';
import { inputSchema, parametersOf, type Parameter } from './parameters.js';
import { sampleResponse } from './samples.js';
import { failureResponses } from './openapi-components.js';
import type { Schemas } from './openapi-schemas.js';

export interface OperationOptions {
  /** Unique, and a valid identifier in most languages, such as `customersCreate`. */
  readonly id: string;
  readonly tag: string;
  /** The operation's path in the document. Its placeholders may have other names than the endpoint's. */
  readonly path: string;
  readonly schemas: Schemas;
}

export function operation(endpoint: Endpoint, { id, tag, path, schemas }: OperationOptions): object {
  const { method, key, description, body, sample, aliases = [] } = endpoint;
  const hasKey = key !== 'none' && (method === 'POST' || method === 'PATCH');
  const parameters = [
    ...parametersOf(endpoint).flatMap((parameter) => parameterObject(parameter, path, sample)),
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
    responses: { '200': success(endpoint, hasKey, schemas), ...failureResponses(errorsOf(endpoint)) },
  };
}

/** The first sentence, without its final period. */
function summaryOf(description: string): string {
  return description.split(/\.(?: |$)/, 1)[0] ?? '';
}

/** A parameter of the path or of the query; the body has a schema of its own. */
function parameterObject(
  { name, place, isRequired, schema: { description, ...schema } }: Parameter,
  path: string,
  { params, query }: Sample,
): object[] {
  if (place === 'body') return [];
  const example = (place === 'path' ? params : query)?.[name];
  return [
    {
      name: place === 'query' || path.includes(`{${name}}`) ? name : 'id',
      in: place,
      description,
      required: place === 'path' || isRequired,
      schema,
      ...(example !== undefined && { example }),
    },
  ];
}

function success(endpoint: Endpoint, isKeyed: boolean, schemas: Schemas): object {
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
            ...(data && { data: schemas.reply(data) }),
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
