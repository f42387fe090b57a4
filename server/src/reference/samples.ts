/** An endpoint's sample as it goes over the wire: the call as a line of curl, and the reply's envelope. */
import type { Endpoint, Pagination } from 'crypto-checkout/contract';

export interface SampleEnvelope {
  readonly status: 'success';
  readonly message: string;
  readonly data?: unknown;
  readonly meta?: { readonly pagination: Pagination };
}

/** What a reader of a sample puts in place of the placeholders. */
export interface SampleRequest {
  /** Such as `{base_url}`. */
  readonly baseUrl: string;
  /** With the values of the sample in it, or the endpoint's own with placeholders. */
  readonly path: string;
  /** As it stands between double quotes, such as `<API_KEY>` or `$SECRET_KEY`. */
  readonly key: string;
  /** Over several lines, for people; else one line. */
  readonly isPretty?: boolean;
}

/** Headers that a call is sent with, and templates of their values. */
export function headersOf({ method }: Endpoint, key = '<API_KEY>'): Record<string, string> {
  return {
    Authorization: `Bearer ${key}`,
    'Content-Type': 'application/json',
    ...((method === 'POST' || method === 'PATCH') && { 'Idempotency-Key': '<RANDOM_VALUE> (optional)' }),
  };
}

/** The path as people write it: `{*rest}` is a notation of the table. */
export const publicPath = ({ path }: Endpoint): string => path.replace('{*', '{');

/** The path of the sample's own call. */
export function samplePath({ path, sample }: Endpoint): string {
  return path.replace(/\{\*?(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(sample.params?.[name] ?? '').replaceAll('%2F', '/'),
  );
}

/** The sample as a command of curl. */
export function sampleRequest(endpoint: Endpoint, request: SampleRequest): string {
  const { method, sample } = endpoint;
  const { baseUrl, path, key, isPretty = false } = request;
  const query = new URLSearchParams(sample.query).toString();
  const body = sample.body === undefined ? undefined : JSON.stringify(sample.body, null, isPretty ? 2 : 0);
  return [
    `curl ${method === 'GET' ? '' : `-X ${method} `}"${baseUrl}${path}${query === '' ? '' : `?${query}`}"`,
    `-H "Authorization: Bearer ${key}"`,
    '-H "Content-Type: application/json"',
    ...(body === undefined ? [] : [`-d ${inQuotes(body)}`]),
  ].join(isPretty ? ' \\\n  ' : ' ');
}

export function sampleResponse({ sample, paginated }: Endpoint): SampleEnvelope {
  // Over the wire and back, which leaves out what is undefined.
  const data = sample.data === undefined ? undefined : (JSON.parse(JSON.stringify(sample.data)) as unknown);
  const rows = Array.isArray(data) ? data.length : 0;
  return {
    status: 'success',
    message: sample.message,
    ...(data !== undefined && { data }),
    ...(paginated && {
      meta: { pagination: { total: rows, count: rows, from: Math.min(rows, 1), to: rows } },
    }),
  };
}

/** One word for a POSIX shell. */
function inQuotes(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
