/** Remembers what wallets were asked to send for a payment, so that a second press, a reload or another tab does not send it twice. */
import { loadItem, removeItem, storedNames, storeItem } from '../platform.js';
import { requestsPrefix } from '../checkout/wallet-requests.js';
import type { Payment } from '../contract/checkout.js';
import { decimalOf } from '../contract/decimal.js';
import { toUnits } from '../contract/units.js';
import { amountDue } from '../money/amount-due.js';
import { isSafeCount, readHash } from './provider.js';

export interface SentTransfer {
  /** Undefined while the wallet has not answered, or if its answer was invalid. */
  readonly hash: string | undefined;
}

/** One request to a wallet. A wallet can hold several, and answers each of them, in any order. */
interface Entry extends SentTransfer {
  /** Identifies the request. */
  readonly key: string;
  /**
   * The amount that the server had seen before, and the amount that it will have seen with this transfer, in units of
   * 18 decimals.
   */
  readonly expected: string;
  /** When the wallet was asked, or has returned the hash: epoch milliseconds by the device's clock. */
  readonly at: number;
  /** Number of entries in the time log at that time. */
  readonly position: number;
}

/** A wallet's answer to one request. */
export interface AskedTransfer {
  /** The wallet has sent it. */
  remember(hash: string): void;
  /** The wallet has refused, and nothing was sent. */
  forget(): void;
}

/** Enough for every coin: amounts are compared in it. */
const decimals = 18;
/** Longer than the life of any payment. */
const keptMs = 7 * 24 * 60 * 60_000;
const nameOf = ({ id }: Payment) => requestsPrefix + id;
const unitsOf = (amount: number) => toUnits(decimalOf(amount), decimals);

/** The transfer that was sent for the payment and that the server has not seen yet; undefined if there is none. */
export function readSent(payment: Payment): SentTransfer | undefined {
  const seen = unitsOf(seenOf(payment));
  return load(nameOf(payment)).findLast(({ expected }) => seen < BigInt(expected));
}

/** The last hash that a wallet returned for the payment, as an entry of its time log; undefined if there is none. */
export function readSentLog(payment: Payment): { hash: string; at: number; position: number } | undefined {
  const { hash, at = 0, position = 0 } = load(nameOf(payment)).findLast((entry) => entry.hash) ?? {};
  return hash === undefined ? undefined : { hash, at, position };
}

/** Call it right before the wallet is asked, without waiting in between. */
export function rememberAsked(payment: Payment): AskedTransfer {
  const name = nameOf(payment);
  const key = `${Date.now()} ${Math.random()}`;
  const expected = String(unitsOf(seenOf(payment)) + unitsOf(amountDue(payment)));
  const position = payment.transactionTimeLog.length;
  const entry: Entry = { key, expected, hash: undefined, at: Date.now(), position };
  const others = () => load(name).filter((one) => one.key !== key);
  forgetOld();
  store(name, [...others(), entry]);
  return {
    remember: (hash) => store(name, [...others(), { ...entry, hash, at: Date.now() }]),
    forget: () => store(name, others()),
  };
}

const seenOf = ({ amountSeen, amountReceived = 0 }: Payment) => amountSeen ?? amountReceived;

function load(name: string): Entry[] {
  try {
    const value: unknown = JSON.parse(loadItem(name) ?? '[]');
    return Array.isArray(value) ? value.map(readEntry).filter((entry) => entry !== undefined) : [];
  } catch {
    return [];
  }
}

function readEntry(value: unknown): Entry | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { key, expected, hash, at, position } = value as Record<string, unknown>;
  if (typeof expected !== 'string' || !/^\d+$/.test(expected)) return undefined;
  const count = (number: unknown) => (isSafeCount(number) ? number : 0);
  return { key: String(key), expected, hash: readHash(hash), at: count(at), position: count(position) };
}

function store(name: string, entries: readonly Entry[]): void {
  storeItem(name, JSON.stringify(entries));
}

/** Removes the entries of old payments. */
function forgetOld(): void {
  for (const name of storedNames().filter((one) => one.startsWith(requestsPrefix))) {
    if (load(name).every(({ at }) => at < Date.now() - keptMs)) removeItem(name);
  }
}
