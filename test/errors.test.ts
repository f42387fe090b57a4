/** The texts of the typed errors, and finding a cause in them. */
import { describe, expect, it } from 'vitest';
import { isTransient } from '../src/client/retry.js';
import { ApiError, CheckoutError, NetworkError, ReplyError } from '../src/errors.js';

const apiUrl = 'https://pay.example.com/';

const apiError = (status: number, code: string) =>
  new ApiError('Refused', { code, status, remedy: 'Ask.', requestId: '' });

describe('the message', () => {
  it('The message of an error names the problem and the remedy, and links to the docs', () => {
    const error = new NetworkError('GET /v1/currencies got no response', { apiUrl });
    expect(String(error)).toBe(
      [
        'NetworkError: GET /v1/currencies got no response',
        '',
        'Check the connection, `api-url` and the page’s Content-Security-Policy.',
        'Docs: https://pay.example.com/docs/errors#network_error',
      ].join('\n'),
    );
    expect(error).toMatchObject({
      shortMessage: 'GET /v1/currencies got no response',
      remedy: expect.stringContaining('connection') as string,
      docsUrl: 'https://pay.example.com/docs/errors#network_error',
    });
  });

  it('The message of an error has no link when no server is known', () => {
    const error = new CheckoutError('The key is missing', { code: 'missing', remedy: 'Set it.' });
    expect(error.message).toBe('The key is missing\n\nSet it.');
    expect(error.docsUrl).toBe(undefined);
  });

  it('The message of an error prefers the link that the server sent', () => {
    const docsUrl = 'https://docs.example.com/#code';
    const error = new CheckoutError('Refused', { code: 'x', remedy: 'Ask.', apiUrl, docsUrl });
    expect(error.docsUrl).toBe(docsUrl);
    expect(error.message).toMatch(/\nDocs: https:\/\/docs\.example\.com\/#code$/);
  });
});

it('An error does not expose its cause and its server as enumerable properties', () => {
  const error = new NetworkError('No response', { apiUrl, cause: new Error('Offline') });
  expect(Object.keys(error).sort()).toEqual(['code', 'docsUrl', 'name', 'remedy', 'shortMessage']);
});

it.each([
  [new NetworkError('Offline'), true],
  [apiError(429, 'rate_limited'), true],
  [apiError(503, 'rate_unavailable'), true],
  [apiError(409, 'idempotency_in_progress'), true],
  [apiError(409, 'duplicate_tx_ref'), false],
  [apiError(401, 'invalid_api_key'), false],
  [new ReplyError('Invalid'), false],
  [new TypeError('A bug'), false],
])('%s may succeed when it is retried: %s', (error, expected) => {
  expect(isTransient(error)).toBe(expected);
});
