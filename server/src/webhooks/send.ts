/** Sends one webhook once: signed, checked on where it goes, and never waiting longer than it may. */
import { Webhook } from 'standardwebhooks';
import { Agent, request, type Dispatcher } from 'undici';
import { errorMessage } from '../shared/error-message.js';
import type { Targets } from './targets.js';
import type { Mode } from '../shared/scope.js';

export interface Delivery {
  readonly url: string;
  readonly mode: Mode;
  /** The same at every try. */
  readonly id: string;
  /** The JSON to be signed and sent, byte for byte. */
  readonly body: string;
  /** Each signs. */
  readonly secrets: readonly string[];
  /** Real time, epoch milliseconds. */
  readonly now: number;
}

export interface Outcome {
  /** Of the answer's head; undefined where none came. */
  readonly status: number | undefined;
  /** How the answer began, without anything secret. */
  readonly excerpt: string;
  /** Why it did not arrive; undefined where it did. */
  readonly error: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly durationMs: number;
}

export interface Sender {
  /** Never rejects, unless the signal aborts it. */
  send(delivery: Delivery, signal: AbortSignal): Promise<Outcome>;
  close(): Promise<void>;
}

export interface SenderOptions {
  readonly targets: Targets;
  /** A certificate authority to trust in place of the usual ones. */
  readonly certificateAuthority?: string | undefined;
}

const timeoutMs = 15_000;
/** The status decides; what the answer says beside it is only for the log. */
const excerptMs = 1000;
const excerptBytes = 4096;
const excerptCharacters = 500;

export function createSender({ targets, certificateAuthority: ca }: SenderOptions): Sender {
  // One for each mode: a connection that test mode may have must never serve live mode.
  const agents = { test: agentOf('test'), live: agentOf('live') } satisfies Record<Mode, Agent>;

  function agentOf(mode: Mode): Agent {
    return new Agent({
      connect: { lookup: targets.lookup(mode), ...(ca !== undefined && { ca }) },
      // The one timeout of `send` bounds all of them.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  async function post(delivery: Delivery, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const url = new URL(delivery.url);
    targets.check(url, delivery.mode);
    return request(url, {
      dispatcher: agents[delivery.mode],
      method: 'POST',
      headers: headersOf(delivery),
      body: delivery.body,
      signal,
    });
  }

  return {
    async send(delivery, signal) {
      signal.throwIfAborted();
      const started = performance.now();
      const elapsed = () => Math.round(performance.now() - started);
      const timer = new AbortController();
      const stop = () => timer.abort();
      signal.addEventListener('abort', stop);
      const timeout = setTimeout(stop, timeoutMs);
      try {
        const { statusCode: status, headers, body } = await post(delivery, timer.signal);
        const excerpt = await readExcerpt(body);
        return {
          status,
          excerpt,
          error: describeFailure(status),
          retryAfterSeconds: readRetryAfter(headers['retry-after'], delivery.now),
          durationMs: elapsed(),
        };
      } catch (error) {
        signal.throwIfAborted();
        const reason = timer.signal.aborted
          ? `No answer within ${timeoutMs / 1000} seconds`
          : errorMessage(error);
        return {
          status: undefined,
          excerpt: '',
          error: reason,
          retryAfterSeconds: undefined,
          durationMs: elapsed(),
        };
      } finally {
        clearTimeout(timeout);
        signal.removeEventListener('abort', stop);
      }
    },

    async close() {
      await Promise.all(Object.values(agents).map((agent) => agent.destroy()));
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
  if (status >= 300 && status < 400) return `Answered ${status}: redirects are not followed`;
  return `Answered ${status}`;
}

/** The beginning of an answer. One that does not end is left. */
async function readExcerpt(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  const leave = () => body.destroy();
  // To leave is an error to whoever still listens: nobody.
  body.on('error', () => {});
  const timeout = setTimeout(leave, excerptMs);
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= excerptBytes) break;
    }
  } catch {
    // The answer broke off or was left; its status has come all the same.
  } finally {
    clearTimeout(timeout);
    leave();
  }
  return redact(Buffer.concat(chunks).toString('utf8')).slice(0, excerptCharacters);
}

/** A receiver may answer with what it knows: nothing that opens or signs anything is kept, and no control characters. */
function redact(text: string): string {
  return text
    .replaceAll(/whsec_[\w+/=-]*|\b[sp]k_(live|test)_[\w-]*|\bv1,[\w+/=-]*/g, '[redacted]')
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim();
}

/** Seconds, or a date. */
function readRetryAfter(header: string | string[] | undefined, now: number): number | undefined {
  if (typeof header !== 'string') return undefined;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header);
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, (at - now) / 1000);
}
