/** Sends API requests as a client does, and returns the reply's envelope. */
import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON; undefined if the body is empty. */
  readonly body: Envelope;
}

export interface Envelope {
  readonly status: string;
  readonly message: string;
  readonly data: Record<string, unknown> & {
    code?: string;
    requestId?: string;
    param?: string;
    errors?: unknown;
  };
  readonly meta?: unknown;
}

export interface CallOptions {
  readonly key?: string | undefined;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

const agent = new Agent({ keepAlive: true });

/**
 * Sends a request. Objects are sent as JSON with their length, text and bytes as they are, in chunks. It does not use
 * `fetch`, whose streams take as long as the server.
 */
export async function call(
  url: string,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<Answer> {
  const { key, body, headers } = options;
  const isRaw = typeof body === 'string' || body instanceof Uint8Array;
  const json = isRaw || body === undefined ? undefined : JSON.stringify(body);
  const sent = request(new URL(url + path), {
    agent,
    method,
    headers: {
      ...(key !== undefined && { Authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(json !== undefined && { 'Content-Length': Buffer.byteLength(json) }),
      ...(isRaw && { 'Transfer-Encoding': 'chunked' }),
      ...headers,
    },
  });
  if (isRaw) sent.write(body);
  sent.end(json);
  const replied = (await once(sent, 'response').catch((error: unknown) => {
    // The server closed the idle connection at the same moment, so that it has not seen the request.
    if (sent.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET') return undefined;
    throw error;
  })) as [IncomingMessage] | undefined;
  if (replied === undefined) return call(url, method, path, options);
  const [response] = replied;
  // The server may answer and hang up before it has read everything.
  sent.on('error', () => undefined);
  const received = await text(response);
  return {
    status: response.statusCode ?? 0,
    get headers() {
      return new Headers(
        Object.entries(response.headersDistinct).map(([name, values = []]) => [name, values.join(', ')]),
      );
    },
    body: (received === '' ? undefined : JSON.parse(received)) as Envelope,
  };
}
