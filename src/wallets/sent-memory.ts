/** Remembers what a wallet was asked to send for a payment, so that a second press or a reload does not send it twice. */
import type { Payment } from '../contract/checkout.js';
import { decimalOf } from '../contract/decimal.js';
import { toUnits } from '../contract/units.js';
import { amountDue } from '../money/amount-due.js';
import { isSafeCount, readHash } from './provider.js';

export interface SentTransfer {
  /** Undefined while the wallet has not answered, or if its answer made no sense. */
  readonly hash: string | undefined;
}

interface Entry extends SentTransfer {
  /** What the server had seen before, and what it will have seen once the transfer is there: plain decimals. */
  readonly expected: string;
  /** When the wallet returned the hash: epoch milliseconds by the device's clock. */
  readonly at: number;
  /** How many entries the time log had then. */
  readonly position: number;
}

/** Enough for every coin: amounts are compared in it. */
const decimals = 18;
/** For browsers that forbid storage, and so that nothing is forgotten where it is full. */
const fallback = new Map<string, string>();
const nameOf = (id: string) => `crypto-checkout:sent:${id}`;
const unitsOf = (amount: number) => toUnits(decimalOf(amount), decimals);

/** What was sent for the payment and the server has not seen yet; undefined if nothing was. */
export function readSent(payment: Payment): SentTransfer | undefined {
  const entry = load(payment.id);
  return entry && unitsOf(seenOf(payment)) < BigInt(entry.expected) ? entry : undefined;
}

/** The last hash that a wallet returned for the payment, as an entry of its time log; undefined if there is none. */
export function readSentLog({ id }: Payment): { hash: string; at: number; position: number } | undefined {
  const { hash, at = 0, position = 0 } = load(id) ?? {};
  return hash === undefined ? undefined : { hash, at, position };
}

/**
 * Call it right before the wallet is asked, without waiting in between.
 * @returns puts back what was remembered before: for a wallet that refused
 */
export function rememberAsked(payment: Payment): () => void {
  const name = nameOf(payment.id);
  const previous = loadText(name);
  const expected = String(unitsOf(seenOf(payment)) + unitsOf(amountDue(payment)));
  store(name, JSON.stringify({ expected }));
  return () => {
    if (previous === null) remove(name);
    else store(name, previous);
  };
}

export function rememberHash(payment: Payment, hash: string): void {
  const entry = load(payment.id);
  const position = payment.transactionTimeLog.length;
  if (entry) store(nameOf(payment.id), JSON.stringify({ ...entry, hash, at: Date.now(), position }));
}

const seenOf = ({ amountSeen, amountReceived = 0 }: Payment) => amountSeen ?? amountReceived;

function load(id: string): Entry | undefined {
  try {
    const value: unknown = JSON.parse(loadText(nameOf(id)) ?? 'null');
    if (typeof value !== 'object' || value === null) return undefined;
    const { expected, hash, at, position } = value as Record<string, unknown>;
    if (typeof expected !== 'string' || !/^\d+$/.test(expected)) return undefined;
    const count = (number: unknown) => (isSafeCount(number) ? number : 0);
    return { expected, hash: readHash(hash), at: count(at), position: count(position) };
  } catch {
    return undefined;
  }
}

function loadText(name: string): string | null {
  try {
    return sessionStorage.getItem(name) ?? fallback.get(name) ?? null;
  } catch {
    return fallback.get(name) ?? null;
  }
}

function store(name: string, text: string): void {
  fallback.set(name, text);
  try {
    sessionStorage.setItem(name, text);
  } catch {
    // Storage is full or forbidden: a reload forgets it.
  }
}

function remove(name: string): void {
  fallback.delete(name);
  try {
    sessionStorage.removeItem(name);
  } catch {
    // Storage is forbidden, so nothing was stored.
  }
}
