/** The parts that all operations of the OpenAPI document share: keys, headers and error replies. */
import { errorStatus, type ErrorCode } from 'crypto-checkout/contract';
import { apiErrors } from './errors.js';
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

/** Headers that only some replies have, by HTTP status. */
const extraHeaders: Readonly<Record<number, object>> = {
  401: { 'WWW-Authenticate': { description: 'Always `Bearer`.', schema: { const: 'Bearer' } } },
  429: retryAfter,
  503: retryAfter,
};

export const components = {
  securitySchemes: {
    secretKey: {
      type: 'http',
      scheme: 'bearer',
      description:
        'A secret key, `sk_test_…` or `sk_live_…`. It works on every endpoint. Keep it on your server, never in a page.',
    },
    publicKey: {
      type: 'http',
      scheme: 'bearer',
      description:
        'A public key, `pk_test_…` or `pk_live_…`. It works only on payments, and may be used in pages.',
    },
  },
  parameters: {
    IdempotencyKey: {
      name: 'Idempotency-Key',
      in: 'header',
      description:
        'A new random value for each change, and the same value for its retries. For 24 hours, a repeated request with the same key changes nothing and gets the first reply.',
      schema: { type: 'string', minLength: 1, maxLength: 255 },
    },
  },
  headers: {
    'X-Request-Id': { description: "Identifies the request in the server's log.", schema: text },
    'Retry-After': { description: 'Seconds to wait before the next attempt.', schema: { type: 'integer' } },
    'Idempotent-Replayed': {
      description: '`true` if this is the reply to an earlier request with the same Idempotency-Key.',
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
        message: { ...text, description: 'A sentence for developers. Its wording may change.' },
        data: {
          type: 'object',
          required: ['code', 'requestId'],
          properties: {
            code: { $ref: '#/components/schemas/ErrorCode' },
            requestId: { ...text, description: 'The same as in `X-Request-Id`.' },
            docsUrl: { ...text, format: 'uri', description: 'The page that explains the code.' },
            param: { ...text, description: 'The invalid field, with dots for nested fields.' },
            errors: {
              type: 'array',
              description: 'Every invalid field. Only with `validation_error`.',
              items: {
                type: 'object',
                required: ['path', 'message'],
                properties: { path: text, message: text },
              },
            },
            paymentId: {
              ...text,
              description:
                'Only with `duplicate_tx_ref` and a secret key: the payment that already has the reference.',
            },
          },
        },
      },
    },
    Pagination: {
      type: 'object',
      description: 'Row numbers start at 1. `from` and `to` are 0 if the page is empty.',
      required: ['total', 'count', 'from', 'to'],
      properties: {
        total: { type: 'integer', description: 'Number of rows that match.' },
        count: { type: 'integer', description: 'Number of rows in this reply.' },
        from: { type: 'integer', description: 'Row number of the first row in this reply.' },
        to: { type: 'integer', description: 'Row number of the last row in this reply.' },
      },
    },
  },
};

/** An operation's error replies, by HTTP status. */
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
    headers: { 'X-Request-Id': requestId, ...extraHeaders[status] },
    content: {
      'application/json': {
        schema: {
          $ref: '#/components/schemas/Error',
        },
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

function codesOf(status: number): ErrorCode[] {
  return (Object.keys(errorStatus) as ErrorCode[]).filter((code) => errorStatus[code] === status);
}

function listOf(codes: readonly ErrorCode[]): string {
  return codes.map((code) => `- \`${code}\`: ${apiErrors[code].meaning}`).join('\n');
}
