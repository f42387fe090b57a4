/** Reads a JSON body, at most 100 kB of it. */
import type { IncomingMessage } from 'node:http';
import { invalidField, Problem } from '../shared/problem.js';

const limitBytes = 100 * 1024;
const utf8 = new TextDecoder('utf-8', { fatal: true });
/** `\u0000` where the backslash is not itself escaped. */
const nulEscape = /(?<!\\)(?:\\\\)*\\u0000/;

/**
 * The parsed body, and `{}` where there is none.
 * @throws Problem `payload_too_large`, `unsupported_media_type`, `invalid_json`, or `validation_error` for text
 *   with U+0000, which PostgreSQL cannot keep
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
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    // The connection has to stay for the answer when reading ends early.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      const bytes = chunk as Buffer;
      length += bytes.length;
      if (length > limitBytes) break;
      chunks.push(bytes);
    }
  } catch (error) {
    throw new Problem('invalid_json', 'The body did not arrive whole', {}, { cause: error });
  }
  if (length > limitBytes) {
    // The rest is read and thrown away: what the connection brings next stands behind it.
    request.resume();
    throw tooLarge();
  }
  return Buffer.concat(chunks);
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
  return new Problem('payload_too_large', 'The body may have at most 100 kB');
}
