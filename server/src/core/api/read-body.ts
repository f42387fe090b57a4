/** Reads a JSON body of at most 100 kB. */
import type { IncomingMessage } from 'node:http';
import getRawBody from 'raw-body';
import { invalidField, Problem } from '../shared/problem.js';

const limitBytes = 100 * 1024;
const utf8 = new TextDecoder('utf-8', { fatal: true });
/** `\u0000`, unless its backslash is itself escaped. */
const nulEscape = /(?<!\\)(?:\\\\)*\\u0000/;

/**
 * Returns the parsed body, or `{}` if the request has none.
 * @throws Problem `payload_too_large`, `unsupported_media_type`, `invalid_json`, or `validation_error` for text that
 *   contains U+0000, which PostgreSQL cannot store
 */
export async function readBody(request: IncomingMessage): Promise<unknown> {
  const { headers } = request;
  const length = headers['content-length'];
  if (headers['transfer-encoding'] === undefined && (length === undefined || length === '0')) return {};
  if (length !== undefined && Number(length) > limitBytes) throw tooLarge();
  const bytes = await readBytes(request);
  if (bytes.length === 0) return {};
  if (!isUtf8Json(headers)) {
    throw new Problem(
      'unsupported_media_type',
      'The body must be uncompressed JSON in UTF-8, sent with Content-Type: application/json',
    );
  }
  return parse(bytes);
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  try {
    return await getRawBody(request, { limit: limitBytes });
  } catch (error) {
    const isTooLarge = error instanceof Error && 'type' in error && error.type === 'entity.too.large';
    if (!isTooLarge) {
      throw new Problem(
        'invalid_json',
        'The body is incomplete: the connection closed early',
        {},
        { cause: error },
      );
    }
    // Discard the rest, so that the connection can be used for the next request.
    request.resume();
    throw tooLarge();
  }
}

function parse(bytes: Buffer): unknown {
  let text: string;
  let value: unknown;
  try {
    text = utf8.decode(bytes);
    value = JSON.parse(text);
  } catch (error) {
    throw new Problem('invalid_json', 'The body is not valid JSON', {}, { cause: error });
  }
  if (nulEscape.test(text)) throw invalidField('body', 'Must not contain the character U+0000');
  return value;
}

function isUtf8Json(headers: IncomingMessage['headers']): boolean {
  const [type = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';');
  const charset = parameters.map((parameter) => parameter.trim()).find((text) => text.startsWith('charset='));
  const isJson = type.trim() === 'application/json' || type.trim().endsWith('+json');
  const isUtf8 = charset === undefined || /^charset="?utf-?8"?$/.test(charset);
  return isJson && isUtf8 && (headers['content-encoding'] ?? 'identity') === 'identity';
}

function tooLarge(): Problem {
  return new Problem('payload_too_large', 'The body must be at most 100 kB');
}
