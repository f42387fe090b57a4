/** The parts that all operations of the OpenAPI document share: keys, headers and error replies. */
import { errorStatus, type ErrorCode } from 'crypto-checkout/contract';
import { apiErrors } from './errors.js';
import parts from './openapi-components.json' with { type: 'json' };
import type { Schemas } from './openapi-schemas.js';

const titles: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  413: 'PayloadTooLarge',
  415: 'UnsupportedMediaType',
  422: 'IdempotencyMismatch',
  429: 'RateLimited',
  500: 'InternalError',
  503: 'Unavailable',
};

const requestId = { $ref: '#/components/headers/X-Request-Id' };
const retryAfter = { 'Retry-After': { $ref: '#/components/headers/Retry-After' } };

/** Headers that only some replies have, by HTTP status. */
const extraHeaders: Readonly<Record<number, object>> = {
  401: { 'WWW-Authenticate': { description: 'Always `Bearer`.', schema: { const: 'Bearer' } } },
  429: retryAfter,
  503: retryAfter,
};

const { schemas, ...shared } = parts;
const allCodes = Object.keys(errorStatus) as ErrorCode[];

export const componentsOf = ({ named }: Schemas) => ({
  ...shared,
  responses: Object.fromEntries(
    Object.entries(titles).map(([status, title]) => [title, failure(Number(status))]),
  ),
  schemas: {
    ...named,
    ErrorCode: {
      type: 'string',
      description: `The closed list of error codes:\n\n${listOf(allCodes)}`,
      enum: allCodes,
    },
    ...schemas,
  },
});

/** An operation's error replies, by HTTP status. */
export function failureResponses(codes: readonly ErrorCode[]): Record<string, { $ref: string }> {
  const statuses = [...new Set(codes.map((code) => errorStatus[code]))].sort((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => [String(status), { $ref: `#/components/responses/${titles[status] ?? ''}` }]),
  );
}

function failure(status: number): object {
  const codes = allCodes.filter((code) => errorStatus[code] === status);
  const [first] = codes;
  return {
    description: listOf(codes),
    headers: { 'X-Request-Id': requestId, ...extraHeaders[status] },
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        example: {
          status: 'error',
          message: first && apiErrors[first].meaning,
          data: {
            code: first,
            requestId: '0f6c1a2b3d4e-1',
            docsUrl: `https://pay.example.com/docs/errors#${first}`,
          },
        },
      },
    },
  };
}

function listOf(codes: readonly ErrorCode[]): string {
  return codes.map((code) => `- \`${code}\`: ${apiErrors[code].meaning}`).join('\n');
}
