/** Makes one webhook delivery attempt: signs the request, checks its target and enforces the time limit. */
import { parseRetryAfter } from 'crypto-checkout/contract';
import { Webhook } from 'standardwebhooks';
import type { Agent, Dispatcher } from 'undici';
import type { OutboxTable } from '../db/schema.js';
import { isoTime } from '../shared/clock.js';
import { errorMessage } from '../shared/error-message.js';
import type { Targets } from './targets.js';
import type { Mode } from '../shared/scope.js';

/** The body of a webhook: the same in every attempt, byte for byte. */
export function bodyOf({
  type,
  created_at,
  data,
}: Pick<OutboxTable, 'type' | 'created_at' | 'data'>): string {
  return `{"type":${JSON.stringify(type)},"timestamp":"${isoTime(created_at)}","data":${data}}`;
}

interface Delivery {
  readonly url: string;
  readonly mode: Mode;
  /** The `webhook-id`: the same in every attempt. */
  readonly id: string;
  /** The JSON to sign and send, byte for byte. */
  readonly body: string;
  /** The request is signed with each of them. */
  readonly secrets: readonly string[];
  /** Real time, epoch milliseconds. */
  readonly now: number;
}

export interface Outcome {
  /** The HTTP status; undefined if no response arrived. */
  readonly status: number | undefined;
  /** The beginning of the response body, with secrets redacted. */
  readonly excerpt: string;
  /** Why the delivery failed; undefined if it succeeded. */
  readonly error: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly durationMs: number;
}

export type Sender = ReturnType<typeof createSender>;

export interface SenderOptions {
  readonly targets: Targets;
  /** A certificate authority to trust instead of the default ones. */
  readonly certificateAuthority?: string | undefined;
  /** The longest duration of an attempt, 15 seconds by default. */
  readonly timeoutMs?: number | undefined;
}

/** Only the status decides. The body is only recorded, so little time and space is spent on it. */
const excerptTimeoutMs = 1000;
const excerptLimitBytes = 4096;
const excerptLimitCharacters = 500;

export function createSender(options: SenderOptions) {
  const { targets, certificateAuthority: ca, timeoutMs = 15_000 } = options;
  let client: ReturnType<typeof openClient> | undefined;

  /** Loads undici, which is large, and which most commands do not need. */
  async function openClient() {
    const { Agent, request } = await import('undici');
    const agentOf = (mode: Mode) =>
      new Agent({
        connect: { lookup: targets.lookup(mode), ...(ca !== undefined && { ca }) },
        // `send` has one timeout for the whole attempt.
        headersTimeout: 0,
        bodyTimeout: 0,
      });
    // One agent per mode, so that live mode never reuses a connection that only test mode may open.
    const agents = { test: agentOf('test'), live: agentOf('live') } satisfies Record<Mode, Agent>;
    return { request, agents };
  }

  const open = () => (client ??= openClient());

  async function post(delivery: Delivery, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const url = new URL(delivery.url);
    targets.check(url, delivery.mode);
    const { request, agents } = await open();
    return request(url, {
      dispatcher: agents[delivery.mode],
      method: 'POST',
      headers: headersOf(delivery),
      body: delivery.body,
      signal,
    });
  }

  return {
    /** Loads the HTTP client at the start. Loading it at the first attempt would block all requests. */
    async open(): Promise<void> {
      await open();
    },

    /** Never rejects, unless the signal aborts it. */
    async send(delivery: Delivery, signal: AbortSignal): Promise<Outcome> {
      signal.throwIfAborted();
      const startedAt = performance.now();
      const elapsedMs = () => Math.round(performance.now() - startedAt);
      const controller = new AbortController();
      const abort = () => controller.abort();
      signal.addEventListener('abort', abort);
      const timer = setTimeout(abort, timeoutMs);
      try {
        const { statusCode: status, headers, body } = await post(delivery, controller.signal);
        const excerpt = await readExcerpt(body);
        const waitMs = parseRetryAfter([headers['retry-after']].flat()[0], delivery.now);
        return {
          status,
          excerpt,
          error: describeFailure(status),
          retryAfterSeconds: waitMs && waitMs / 1000,
          durationMs: elapsedMs(),
        };
      } catch (error) {
        signal.throwIfAborted();
        const reason = controller.signal.aborted
          ? `No response within ${timeoutMs / 1000} seconds`
          : errorMessage(error);
        const none = { status: undefined, excerpt: '', retryAfterSeconds: undefined };
        return { ...none, error: reason, durationMs: elapsedMs() };
      } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
      }
    },

    async close(): Promise<void> {
      const agents = Object.values((await client)?.agents ?? {});
      await Promise.all(agents.map((agent) => agent.destroy()));
    },
  };
}

function headersOf({ id, body, secrets, now }: Delivery): Record<string, string> {
  const time = new Date(now);
  return {
    'content-type': 'application/json',
    'user-agent': 'crypto-checkout-server',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now / 1000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, time, body)).join(' '),
  };
}

function describeFailure(status: number): string | undefined {
  if (status >= 200 && status < 300) return undefined;
  if (status >= 300 && status < 400) return `Returned HTTP ${status}: redirects are not followed`;
  return `Returned HTTP ${status}`;
}

/** Reads the beginning of a response body, and stops reading if it is long or slow. */
async function readExcerpt(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  const stop = () => body.destroy();
  // Destroying the body may emit an error, which would be uncaught.
  body.on('error', () => {});
  const timer = setTimeout(stop, excerptTimeoutMs);
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= excerptLimitBytes) break;
    }
  } catch {
    // The body broke off or was stopped. Its status has arrived, and that is enough.
  } finally {
    clearTimeout(timer);
    stop();
  }
  return redact(Buffer.concat(chunks).toString('utf8')).slice(0, excerptLimitCharacters);
}

/** Removes keys, secrets and signatures, which a receiver may echo, and control characters. */
function redact(text: string): string {
  return text
    .replaceAll(/whsec_[\w+/=-]*|\b[sp]k_(live|test)_[\w-]*|\bv1,[\w+/=-]*/g, '[redacted]')
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim();
}
