/** Fetches JSON from a source of exchange rates, with a limit on the time and on the size. */
import { parseRetryAfter } from 'crypto-checkout/contract';
import { errorMessage } from '../../shared/error-message.js';
import { parseExactJson } from './source.js';
import { RequestRefused, SourceFailed } from './source-failed.js';

/** The statuses of servers that do not know one of the things that they were asked for. */
const refusals: ReadonlySet<number> = new Set([400, 404, 422]);

const maxBytes = 4_000_000;
/** A source that wants more time than this is asked again anyway. */
const longestRetryMs = 3_600_000;

/** @throws SourceFailed, or its subclass RequestRefused */
export async function fetchJson(url: string, timeoutMs: number, signal: AbortSignal): Promise<unknown> {
  const timeout = AbortSignal.timeout(timeoutMs);
  let text: string;
  try {
    const response = await fetch(url, {
      headers: { Accept: 'application/json' },
      // A redirect leads to a server that nobody has configured.
      redirect: 'error',
      signal: AbortSignal.any([signal, timeout]),
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      const message = `It answered HTTP ${response.status}`;
      if (refusals.has(response.status)) throw new RequestRefused(message);
      throw new SourceFailed(message, {
        retryAfterMs: Math.min(
          parseRetryAfter(response.headers.get('Retry-After'), Date.now()) ?? 0,
          longestRetryMs,
        ),
      });
    }
    text = await readText(response);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof SourceFailed) throw error;
    if (timeout.aborted) throw new SourceFailed(`It did not answer within ${timeoutMs} ms`);
    throw new SourceFailed(`It could not be reached: ${reasonOf(error)}`);
  }
  try {
    return parseExactJson(text);
  } catch {
    throw new SourceFailed('It did not answer with JSON');
  }
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const body: AsyncIterable<Uint8Array> | Iterable<Uint8Array> = response.body ?? [];
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) throw new SourceFailed(`It answered with more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The code of a network error, such as ECONNREFUSED: messages of `fetch` can hold the URL. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const code: unknown = cause instanceof Error ? Reflect.get(cause, 'code') : undefined;
  return typeof code === 'string' ? code : errorMessage(cause).replace(/(?<!\S)\S*:\/\/\S*/g, 'the URL');
}
