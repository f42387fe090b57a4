/**
 * Sends calls in requests of a size that a node accepts. Nodes and providers refuse batches in many forms: the whole, a
 * part, or by leaving calls unanswered. Any of them halves the size, down to single calls; answers are kept, and the
 * size grows again slowly.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { NodeError, RpcFailure } from './node-error.js';
import { isOfCall } from './refusals.js';

export interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

/**
 * Sends calls in one request.
 * @returns for each its result, the failure that the node answers it with, or a NodeError if it was left out
 * @throws NodeError if the node answers none of them
 */
export type SendCalls = (calls: readonly RpcCall[], signal: AbortSignal) => Promise<readonly unknown[]>;

/** After so many requests of the full size, a larger one is tried: twice as many after each refusal. */
const mostPatience = 64;
/** The longest time that a request may wait for a node that answered a part of it, and asked for a pause then. */
const longestWaitMs = 10_000;

const withoutNumbers = (text: string): string => text.replaceAll(/\d+/g, '');

/** @param onLimit called with the node's words when it turns out to take fewer calls at once for a reason that is new */
export function createBatching(
  most: number,
  send: SendCalls,
  onLimit: (size: number, words: string) => void,
) {
  let size = most;
  let patience = 1;
  let successes = 0;
  /** Requests in a row that the node refused as too many. */
  let limited = 0;
  let words: string | undefined;
  /** The largest request that was answered whole, as far as no smaller one was refused since. */
  let worked = 0;
  /** The size that was refused last. */
  let tooMany = Infinity;

  /** The size to try after a request of so many calls was refused. */
  function fewerThan(count: number): number {
    if (worked >= count) worked = 0;
    tooMany = count;
    return Math.max(1, worked, Math.floor(count / 2));
  }

  function shrink(to: number, { message }: Error): void {
    size = Math.min(size, to);
    patience = Math.min(mostPatience, patience * 2);
    successes = 0;
    // Some name the number of calls.
    const isKnown = words !== undefined && withoutNumbers(words) === withoutNumbers(message);
    words = message;
    if (!isKnown) onLimit(size, message);
  }

  function grow(): void {
    // It takes more than before.
    if (size >= tooMany) patience = 1;
    successes += 1;
    if (successes < patience || size >= most) return;
    size = Math.min(most, size + Math.max(1, Math.floor(size / 4)));
    successes = 0;
    if (size < most) return;
    patience = 1;
    words = undefined;
  }

  /** A request that failed as a whole. @throws it, if fewer calls at once are no help now */
  function halveOrThrow(error: unknown, count: number): NodeError {
    if (!(error instanceof NodeError) || count === 1) throw error;
    if (error.fault === 'limited') {
      // Once is a busy moment. When the same request is refused after the pause, too, it is too much at once.
      limited += 1;
      if (limited > 1 || (worked > 0 && count > worked)) shrink(fewerThan(count), error);
      throw error;
    }
    if (error.fewer === 'later') shrink(fewerThan(count), error);
    if (error.fewer !== 'now') throw error;
    return error;
  }

  async function run(calls: readonly RpcCall[], signal: AbortSignal): Promise<readonly unknown[]> {
    const results = new Array<unknown>(calls.length);
    /** The calls that the node did not answer in a request with others, and what it said. */
    const refused = new Map<number, NodeError | RpcFailure>();
    let waiting = calls.map((_, place) => place);
    let room = size;
    let hasAnswered = false;
    let waitedMs = 0;

    /** If a call is answered now, its error in a larger request was due to the size of that request. */
    function settle(place: number, answer: unknown): void {
      const before = refused.get(place);
      results[place] = answer;
      refused.delete(place);
      if (!(answer instanceof RpcFailure) || isOfCall(answer)) {
        hasAnswered = true;
        if (before) shrink(room, before);
        return;
      }
      if (hasAnswered) return;
      // The node refuses everything, single calls too: the others are not asked one by one.
      for (const [other, { message }] of refused) if (message === answer.message) results[other] = answer;
      waiting = waiting.filter((other) => results[other] === undefined);
      refused.clear();
    }

    while (waiting.length > 0) {
      const part = waiting.slice(0, room);
      const count = part.length;
      const failed: number[] = [];
      let pause: NodeError | undefined;
      try {
        const answers = await send(
          part.flatMap((place) => calls[place] ?? []),
          signal,
        );
        waiting = waiting.slice(count);
        for (const [index, place] of part.entries()) {
          const answer = answers[index];
          const isRefused =
            answer instanceof NodeError || (answer instanceof RpcFailure && !isOfCall(answer));
          if (!isRefused || (count === 1 && answer instanceof RpcFailure)) settle(place, answer);
          else if (count === 1) throw answer;
          else {
            failed.push(place);
            refused.set(place, answer);
            if (answer instanceof NodeError && answer.fault === 'limited') pause = answer;
          }
        }
      } catch (error) {
        const refusal = halveOrThrow(error, count);
        for (const place of part) refused.set(place, refusal);
        room = fewerThan(count);
        continue;
      }
      waiting = [...failed, ...waiting];
      if (failed.length < count) limited = 0;
      if (failed.length > 0) room = fewerThan(count);
      else {
        worked = Math.max(worked, count);
        if (count === size) grow();
      }
      if (refused.size === 0) room = size;
      if (!pause) continue;
      const pauseMs = (pause.retryAfterMs ?? 0) + 5;
      waitedMs += pauseMs;
      if (failed.length === count || waitedMs > longestWaitMs) halveOrThrow(pause, count);
      shrink(room, pause);
      await delay(pauseMs, undefined, { signal });
    }
    return results;
  }

  return {
    run,
    /** The most calls that are sent in one request now. */
    size: () => size,
    /** The node's words for taking fewer than it might; undefined if it takes as many. */
    words: () => (size < most ? words : undefined),
  };
}
