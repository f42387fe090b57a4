/** Talks JSON-RPC to one node over HTTP: timeouts, batches of a size that the node bears, and waiting when it asks for it. */
import { parseRetryAfter } from 'crypto-checkout/contract';
import { errorMessage } from '../shared/error-message.js';
import { NodeError, RpcFailure } from './node-error.js';
import { readNodeUrl, type NodeTarget } from './node-url.js';
import type { RequestBudget } from './request-budget.js';

export interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

export type NodeClient = ReturnType<typeof createNodeClient>;

export interface NodeClientOptions {
  readonly name: string;
  /** Can contain credentials. */
  readonly url: string;
  /** Sent with each request, such as a provider's key. Never shown. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Adds to the URL what a node is logged in to with, before each request: it can change when the node is started. @throws NodeError */
  readonly logIn?: ((url: URL, name: string) => URL) | undefined;
  /** How long one request may take, 15 seconds by default. */
  readonly timeoutMs?: number | undefined;
  /** The most calls in one request, 50 by default. Fewer are sent to nodes that refuse as many. */
  readonly maxBatch?: number | undefined;
  /** What all nodes of the network may be asked; no limit by default. */
  readonly budget?: RequestBudget | undefined;
  /** Epoch milliseconds; real time by default. */
  readonly now?: (() => number) | undefined;
}

/** The most calls in one request. */
export const usualBatch = 50;
/** A block of a busy network has a few megabytes. Whatever is longer is not an answer. */
const longestAnswerBytes = 128 * 1024 * 1024;
/** For a node that refuses requests without saying for how long. */
const defaultPauseMs = 1000;
/** A mistake in `Retry-After` must not turn a node off for days. */
const longestPauseMs = 10 * 60_000;

export function createNodeClient(options: NodeClientOptions) {
  const { name, timeoutMs = 15_000, maxBatch = usualBatch, now = Date.now, budget, logIn } = options;
  let target = readNodeUrl(options.url, options.headers);
  const used = {
    /** HTTP requests. */
    requests: 0,
    /** JSON-RPC calls; a batch has several. Most providers charge for these. */
    calls: 0,
    /** Requests that failed, those included that the node refused as too many. */
    failures: 0,
    /** Requests that the node refused as too many. */
    limited: 0,
    /** How long all requests took together, until the whole answer was there or they failed. */
    durationMs: 0,
  };
  let pausedUntil = 0;
  let refusals = 0;
  let size = maxBatch;
  let nextId = 1;

  const fail = (fault: NodeError['fault'], what: string, retryAfterMs?: number) =>
    new NodeError(fault, `${name} ${target.redact(what)}`, retryAfterMs);

  function currentTarget(): NodeTarget {
    if (logIn) target = readNodeUrl(logIn(new URL(options.url), name).href, options.headers);
    return target;
  }

  function pause(header: string | null): NodeError {
    refusals += 1;
    used.limited += 1;
    const asked = parseRetryAfter(header, now());
    const pauseMs = Math.min(asked ?? defaultPauseMs * 2 ** Math.min(refusals - 1, 6), longestPauseMs);
    pausedUntil = Math.max(pausedUntil, now() + pauseMs);
    return fail('limited', `takes no more requests for ${seconds(pauseMs)}`, pauseMs);
  }

  async function exchange({ url, headers }: NodeTarget, body: unknown, signal: AbortSignal) {
    // Not AbortSignal.any: on a signal that lives as long as the scanner, Node 20 keeps every signal made from it.
    const controller = new AbortController();
    const abort = () => controller.abort();
    signal.addEventListener('abort', abort);
    const isLate = () => controller.abort(fail('timeout', `did not answer within ${seconds(timeoutMs)}`));
    const timer = setTimeout(isLate, timeoutMs);
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
        body: JSON.stringify(body),
        // A redirect would send the credentials to another address than the configured one.
        redirect: 'error',
        signal: controller.signal,
      });
      const chunks: Uint8Array[] = [];
      let length = 0;
      for await (const chunk of response.body ?? []) {
        const bytes = chunk as Uint8Array;
        length += bytes.length;
        if (length > longestAnswerBytes) throw fail('too-large', 'answered with too much');
        chunks.push(bytes);
      }
      const retryAfter = response.headers.get('retry-after');
      return { status: response.status, retryAfter, text: Buffer.concat(chunks).toString('utf8') };
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      controller.abort();
    }
  }

  async function send(to: NodeTarget, body: unknown, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    const waitMs = pausedUntil - now();
    if (waitMs > 0) throw fail('limited', `takes no more requests for ${seconds(waitMs)}`, waitMs);
    // Providers count each call of a batch.
    if (budget) await budget.take(Array.isArray(body) ? body.length : 1, signal);
    signal.throwIfAborted();
    used.requests += 1;
    const startedAt = performance.now();
    try {
      const answer = await exchange(to, body, signal);
      if (answer.status === 429 || (answer.status === 503 && answer.retryAfter !== null)) {
        throw pause(answer.retryAfter);
      }
      const value = parseJson(answer.text);
      if (answer.status >= 200 && answer.status < 300) {
        if (value === undefined) throw fail('garbage', 'answered with something that is not JSON');
        return value;
      }
      // Some providers send a JSON-RPC error with a status of its own.
      if (isObject(value) && isObject(value['error'])) return value;
      if (answer.status === 413) throw fail('too-large', 'answered HTTP 413: the request is too large');
      throw fail('refused', describeStatus(answer.status));
    } catch (error) {
      signal.throwIfAborted();
      used.failures += 1;
      if (error instanceof NodeError) throw error;
      throw fail('unreachable', `cannot be reached: ${to.redact(describe(error))}`);
    } finally {
      used.durationMs += performance.now() - startedAt;
    }
  }

  /** The result of one answer, or the error that the node answers the call with. @throws NodeError for all other errors */
  function readAnswer(answer: Readonly<Record<string, unknown>>): unknown {
    const { error } = answer;
    if (isObject(error)) {
      const code = typeof error['code'] === 'number' ? error['code'] : 0;
      const text = typeof error['message'] === 'string' ? error['message'] : 'without a message';
      if (isRateLimit(code, text)) throw pause(null);
      return new RpcFailure(code, `${name} answered: ${target.redact(text).slice(0, 300)} (${code})`);
    }
    if (!('result' in answer)) throw fail('garbage', 'answered without a result');
    return answer['result'];
  }

  async function sendCall(call: RpcCall, signal: AbortSignal): Promise<unknown> {
    const id = nextId++;
    const answer = await send(currentTarget(), { jsonrpc: '2.0', id, ...call }, signal);
    // An answer that is an error can lack the id: the node could not read it.
    if (!isObject(answer) || (answer['id'] !== id && !isObject(answer['error']))) {
      throw fail('garbage', 'did not answer the call');
    }
    return readAnswer(answer);
  }

  async function sendBatch(calls: readonly RpcCall[], signal: AbortSignal): Promise<unknown[]> {
    const requests = calls.map((call) => ({ jsonrpc: '2.0', id: nextId++, ...call }));
    const answers = await send(currentTarget(), requests, signal);
    if (!Array.isArray(answers)) {
      // It may be too many requests, and not too many calls in one.
      if (isObject(answers) && isObject(answers['error'])) readAnswer(answers);
      throw fail('too-large', 'refused a batch of calls');
    }
    const byId = new Map(answers.filter(isObject).map((answer) => [answer['id'], answer]));
    return requests.map(({ id }) => {
      const answer = byId.get(id);
      if (!answer) throw fail('garbage', 'left calls of a batch unanswered');
      return readAnswer(answer);
    });
  }

  /**
   * Makes several calls in as few requests as the node bears. Answers in the order of the calls; a call that the node
   * answers with an error has an RpcFailure as its answer.
   * @throws NodeError
   */
  async function batch(calls: readonly RpcCall[], signal: AbortSignal): Promise<readonly unknown[]> {
    const results: unknown[] = [];
    while (results.length < calls.length) {
      const part = calls.slice(results.length, results.length + size);
      const [only] = part;
      if (!only) break;
      used.calls += part.length;
      try {
        // Alone, a call is not sent as a batch: some nodes refuse those.
        results.push(...(part.length === 1 ? [await sendCall(only, signal)] : await sendBatch(part, signal)));
      } catch (error) {
        const isTooLarge =
          error instanceof NodeError && (error.fault === 'too-large' || error.fault === 'refused');
        if (!isTooLarge || part.length === 1) throw error;
        size = Math.max(1, Math.floor(part.length / 2));
        continue;
      }
      refusals = 0;
      if (part.length === size && size < maxBatch) size += 1;
    }
    return results;
  }

  return {
    /** `node 1` for the first of the configuration. */
    name,

    batch,

    /** Makes one call. @throws NodeError, or RpcFailure if the node answers with an error */
    async call(method: string, params: readonly unknown[], signal: AbortSignal): Promise<unknown> {
      const [result] = await batch([{ method, params }], signal);
      if (result instanceof RpcFailure) throw result;
      return result;
    },

    /** Posts JSON to a path beside the node's own, such as one of Tron's HTTP API. @throws NodeError */
    async post(path: string, body: unknown, signal: AbortSignal): Promise<unknown> {
      const url = new URL(path, options.url);
      url.search = new URL(options.url).search;
      return send(readNodeUrl(url.href, options.headers), body, signal);
    },

    /** What was asked of it since the start, for the metrics. */
    usage: () => ({ ...used }),
    /** The most calls that are sent in one request now. */
    batchSize: () => size,
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** -32005 also means that a query has too many results, so the text decides. */
function isRateLimit(code: number, text: string): boolean {
  if (code === 429) return true;
  return /rate.?limit|too many requests|requests? per (second|minute)|(capacity|quota|credits?|throughput).{0,20}exceed|exceeded.{0,30}(capacity|quota|credits?|throughput)/i.test(
    text,
  );
}

function describeStatus(status: number): string {
  if (status === 401 || status === 403) return `answered HTTP ${status}: check the key in its URL`;
  return `answered HTTP ${status}`;
}

/** `fetch` itself says nothing but "fetch failed". The reason is its cause. */
function describe(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return errorMessage(cause) || 'the connection failed';
}

function seconds(durationMs: number): string {
  return `${Math.ceil(durationMs / 100) / 10} s`;
}
