/** Requests as a client sends them, and the envelopes that come back. */

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON, or undefined where the body is empty. */
  readonly body: Envelope;
}

export interface Envelope {
  readonly status: string;
  readonly message: string;
  readonly data: Record<string, unknown> & { code?: string; requestId?: string; param?: string; errors?: unknown };
  readonly meta?: unknown;
}

export interface CallOptions {
  readonly key?: string | undefined;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** Sends a request: objects as JSON, text and bytes as they are. */
export async function call(url: string, method: string, path: string, options: CallOptions = {}): Promise<Answer> {
  const { key, body, headers } = options;
  const isRaw = typeof body === 'string' || body instanceof Uint8Array;
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(key !== undefined && { Authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: isRaw ? new Blob([body as BlobPart]).stream() : JSON.stringify(body) }),
    ...(isRaw && { duplex: 'half' }),
  } as RequestInit);
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: (text === '' ? undefined : JSON.parse(text)) as Envelope,
  };
}
