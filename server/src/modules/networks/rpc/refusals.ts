/** The messages of nodes and providers that do not answer: each in a form of its own. */
import type { RpcFailure } from './node-error.js';

type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export interface Refusal {
  /** The JSON-RPC error code, such as -32000; 0 if there is none. */
  readonly code: number;
  /** The node's own words. */
  readonly text: string;
}

const longestWords = 300;

/**
 * The error in an answer, undefined if it is none. JSON-RPC has an object with code and message. Gateways in front of nodes leave
 * out the code, put a text in the place of the object, or answer in a form of their own: `{"Error":"…"}`, `{"message":"…"}`.
 */
export function refusalIn(answer: JsonObject): Refusal | undefined {
  const { error } = answer;
  if (isObject(error)) {
    const { code, message } = error;
    const text = typeof message === 'string' && message !== '' ? message : 'without a message';
    return { code: typeof code === 'number' ? code : 0, text };
  }
  if (error === null || error === undefined) {
    const other = answer['Error'] ?? ('result' in answer ? undefined : answer['message']);
    return typeof other === 'string' ? { code: numberIn(answer), text: other } : undefined;
  }
  return { code: numberIn(answer), text: typeof error === 'string' ? error : JSON.stringify(error) };
}

const numberIn = ({ code }: JsonObject): number => (typeof code === 'number' ? code : 0);

/** The refusal in the body of an HTTP error, without the pages that proxies send; its words are empty if there is none. */
export function refusalInBody(text: string, value: unknown): Refusal {
  const refusal = isObject(value) ? refusalIn(value) : undefined;
  if (refusal) return refusal;
  const isText = value === undefined && !/[<>]/.test(text);
  return { code: 0, text: isText ? text.replaceAll(/\s+/g, ' ').trim() : '' };
}

export const quote = (words: string): string => words.slice(0, longestWords);

const limits = [
  /rate.?limit|\brps\b|too many request|(request|rate|credits?) (limit|limited|rate)/i,
  /requests? per (second|minute)|(request|call) rate|request limit reached|work queue depth/i,
  /(capacity|quota|credits?|throughput|request count).{0,20}exceed|exceeded.{0,30}(capacity|quota|credits?|throughput)/i,
  /request too quickly|requests? too (quickly|fast|often)/i,
];

/** A call that failed in a contract: 3 at Geth and those like it, -32015 at Nethermind and OpenEthereum, often without a reason. */
const codesOfContracts: ReadonlySet<number> = new Set([3, -32015]);

/**
 * True if a call failed in a contract, and not in the node. The rest of the text is then the contract's own: anybody can
 * write a contract that reverts in the words of a node, so nothing about the node follows from it.
 */
export const isRevert = ({ code, text }: Refusal): boolean =>
  codesOfContracts.has(code) || /revert/i.test(text);

/** True if a node asks for a pause. -32005 also means that a query has too many results, so the text decides. */
export const isRateLimit = (refusal: Refusal): boolean =>
  refusal.code === 429 || (!isRevert(refusal) && limits.some((limit) => limit.test(refusal.text)));

/** The time for which a node refuses everything, as in "suspended for 5 s"; undefined if it names none. */
export function pauseIn(text: string): number | undefined {
  const found = /(?:suspended|retry|again|wait)\D{0,20}?(\d{1,4}) ?(ms|s|seconds?|minutes?)\b/i.exec(text);
  if (!found) return undefined;
  const [, amount = '', unit = ''] = found;
  const unitMs = unit === 'ms' ? 1 : unit.startsWith('m') ? 60_000 : 1000;
  return Number(amount) * unitMs;
}

/** Bitcoin Core's own codes, each of which is about a single call, except for -28: the node is starting. */
const isOfBitcoin = (code: number): boolean => code < 0 && code > -100 && code !== -28;

const ofOneCall =
  /revert|out of gas|not found|not exist|unknown|canonical|missing trie|historical|state|nonce|underpriced|insufficient|already|indexing/i;

/** True if a failure is about the call itself, so that it would fail on its own too: it is not asked again. */
export const isOfCall = ({ code, message }: RpcFailure): boolean =>
  codesOfContracts.has(code) ||
  code === -32601 ||
  code === -32602 ||
  isOfBitcoin(code) ||
  ofOneCall.test(message);
