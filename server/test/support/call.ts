/** Sends API requests as a client does, and returns the reply's envelope. */

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

/** Sends a request. Objects are sent as JSON, text and bytes as they are. */
export async function call(
  url: string,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<Answer> {
  const { key, body, headers } = options;
  const raw = rawBody(body);
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(key !== undefined && { Authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    // A stream is sent in chunks, without a Content-Length.
    ...(raw && { body: new Blob([raw]).stream(), duplex: 'half' }),
    ...(!raw && body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: (text === '' ? undefined : JSON.parse(text)) as Envelope,
  };
}

function rawBody(body: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (typeof body === 'string') return new TextEncoder().encode(body);
  return body instanceof Uint8Array ? Uint8Array.from(body) : undefined;
}
