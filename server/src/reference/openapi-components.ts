/** What the operations of the OpenAPI document share: keys, headers, and the answers to what went wrong. */
import { errorStatus, type ErrorCode } from 'crypto-checkout/contract';
import { errorMeanings } from './errors.js';
import { recordSchemas } from './openapi-schemas.js';

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

const text = { type: 'string' };
const requestId = { $ref: '#/components/headers/X-Request-Id' };
const retryAfter = { 'Retry-After': { $ref: '#/components/headers/Retry-After' } };

/** Headers that only some answers have. */
const furtherHeaders: Readonly<Record<number, object>> = {
  401: { 'WWW-Authenticate': { description: 'Always `Bearer`.', schema: { const: 'Bearer' } } },
  429: retryAfter,
  503: retryAfter,
};

export const components = {
  securitySchemes: {
    secretKey: {
      type: 'http',
      scheme: 'bearer',
      description: 'A secret key, `sk_test_…` or `sk_live_…`. It opens everything and belongs on servers.',
    },
    publicKey: {
      type: 'http',
      scheme: 'bearer',
      description:
        'A public key, `pk_test_…` or `pk_live_…`. It may stand in pages, and opens payments alone.',
    },
  },
  parameters: {
    IdempotencyKey: {
      name: 'Idempotency-Key',
      in: 'header',
      description:
        'A new random value for each change, kept for its retries: the same request with the same key happens once, for 24 hours.',
      schema: { type: 'string', minLength: 1, maxLength: 255 },
    },
  },
  headers: {
    'X-Request-Id': { description: "Names the request in the server's log.", schema: text },
    'Retry-After': { description: 'Seconds to wait before the next try.', schema: { type: 'integer' } },
    'Idempotent-Replayed': {
      description: '`true` where this is the reply of an earlier request with the same Idempotency-Key.',
      schema: text,
    },
  },
  responses: Object.fromEntries(
    Object.entries(titles).map(([status, title]) => [title, failure(Number(status))]),
  ),
  schemas: {
    ...recordSchemas,
    ErrorCode: {
      type: 'string',
      description: `The closed list of error codes:\n\n${listOf(Object.keys(errorStatus) as ErrorCode[])}`,
      enum: Object.keys(errorStatus),
    },
    Error: {
      type: 'object',
      required: ['status', 'message', 'data'],
      properties: {
        status: { const: 'error' },
        message: { ...text, description: 'A sentence for a developer; its wording may change.' },
        data: {
          type: 'object',
          required: ['code', 'requestId'],
          properties: {
            code: { $ref: '#/components/schemas/ErrorCode' },
            requestId: { ...text, description: 'The same as in `X-Request-Id`.' },
            param: { ...text, description: 'The field at fault, with dots for nested ones.' },
            errors: {
              type: 'array',
              description: 'Every field that did not parse.',
              items: {
                type: 'object',
                required: ['path', 'message'],
                properties: { path: text, message: text },
              },
            },
            paymentId: {
              ...text,
              description: 'With `duplicate_tx_ref`, for secret keys: the payment that has the reference.',
            },
          },
        },
      },
    },
    Pagination: {
      type: 'object',
      description: 'Row numbers count from 1, and are 0 where the page is empty.',
      required: ['total', 'count', 'from', 'to'],
      properties: {
        total: { type: 'integer', description: 'Rows that match.' },
        count: { type: 'integer', description: 'Rows in this reply.' },
        from: { type: 'integer', description: 'Number of the first one.' },
        to: { type: 'integer', description: 'Number of the last one.' },
      },
    },
  },
};

/** An operation's answers to what goes wrong, by HTTP status. */
export function failureResponses(codes: readonly ErrorCode[]): Record<string, { $ref: string }> {
  const statuses = [...new Set(codes.map((code) => errorStatus[code]))].sort((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => [String(status), { $ref: `#/components/responses/${titles[status] ?? ''}` }]),
  );
}

function failure(status: number): object {
  const codes = codesOf(status);
  const [first] = codes;
  return {
    description: listOf(codes),
    headers: { 'X-Request-Id': requestId, ...furtherHeaders[status] },
    content: {
      'application/json': {
        schema: {
          $ref: '#/components/schemas/Error',
        },
        example: {
          status: 'error',
          message: first && errorMeanings[first],
          data: { code: first, requestId: '0f6c1a2b3d4e-1' },
        },
      },
    },
  };
}

function codesOf(status: number): ErrorCode[] {
  return (Object.keys(errorStatus) as ErrorCode[]).filter((code) => errorStatus[code] === status);
}

function listOf(codes: readonly ErrorCode[]): string {
  return codes.map((code) => `- \`${code}\`: ${errorMeanings[code]}`).join('\n');
}
