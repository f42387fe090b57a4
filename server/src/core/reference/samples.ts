/** An endpoint's sample as sent over the wire: a curl command and the reply's envelope. */
import type { Endpoint } from 'crypto-checkout/contract';

/** The values to write into a sample. They may be placeholders for the reader to replace. */
interface SampleRequest {
  /** A URL, or a placeholder such as `{base_url}`. */
  readonly baseUrl: string;
  /** Either filled with the sample's values, or with its placeholders. */
  readonly path: string;
  /** Written between double quotes: `<API_KEY>`, `$SECRET_KEY`. */
  readonly key: string;
  /** Breaks the command into several lines. */
  readonly isPretty?: boolean;
}

/** The headers to send with a call, with placeholders for their values. */
export function headersOf(endpoint: Endpoint): Record<string, string> {
  const { method } = endpoint;
  if (endpoint.key === 'none') return { 'Content-Type': 'application/json' };
  return {
    Authorization: 'Bearer <API_KEY>',
    'Content-Type': 'application/json',
    ...((method === 'POST' || method === 'PATCH') && { 'Idempotency-Key': '<RANDOM_VALUE> (optional)' }),
  };
}

/** The path as the docs show it: `{*rest}` becomes `{rest}`. */
export const publicPath = ({ path }: Endpoint): string => path.replace('{*', '{');

/** The path, filled with the sample's values. */
export function samplePath({ path, sample }: Endpoint): string {
  return path.replace(/\{\*?(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(sample.params?.[name] ?? '').replaceAll('%2F', '/'),
  );
}

/** The sample as a curl command. */
export function sampleRequest(endpoint: Endpoint, request: SampleRequest): string {
  const { method, sample } = endpoint;
  const { baseUrl, path, key, isPretty = false } = request;
  const query = new URLSearchParams(sample.query).toString();
  const body = sample.body === undefined ? undefined : JSON.stringify(sample.body, null, isPretty ? 2 : 0);
  return [
    `curl ${method === 'GET' ? '' : `-X ${method} `}"${baseUrl}${path}${query === '' ? '' : `?${query}`}"`,
    ...(endpoint.key === 'none' ? [] : [`-H "Authorization: Bearer ${key}"`]),
    '-H "Content-Type: application/json"',
    ...(body === undefined ? [] : [`-d ${shellQuote(body)}`]),
  ].join(isPretty ? ' \\\n  ' : ' ');
}

export function sampleResponse({ sample, paginated }: Endpoint) {
  // A round trip through JSON drops undefined fields.
  const data = sample.data === undefined ? undefined : (JSON.parse(JSON.stringify(sample.data)) as unknown);
  const rows = Array.isArray(data) ? data.length : 0;
  return {
    status: 'success' as const,
    message: sample.message,
    ...(data !== undefined && { data }),
    ...(paginated && {
      meta: { pagination: { total: rows, count: rows, from: Math.min(rows, 1), to: rows } },
    }),
  };
}

/** Quotes text as a single word for a POSIX shell. */
function shellQuote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
