/** Access scope: a caller sees only the records of one merchant in one mode. */

import type { KeyScope, Role } from 'crypto-checkout/contract';

/** Test mode uses simulated and public test networks, live mode real money. Their records never mix. */
export type Mode = 'test' | 'live';
export const modes: readonly Mode[] = ['test', 'live'];

export interface Scope {
  readonly merchantId: string;
  readonly mode: Mode;
}

/** The owner of records; those of all merchants and modes if it is empty. */
export interface Within {
  readonly merchantId?: string | undefined;
  readonly mode?: Mode | undefined;
}

/** The scope that a database row belongs to. */
export function scopeOf(row: { readonly merchant_id: string; readonly mode: Mode }): Scope {
  return { merchantId: row.merchant_id, mode: row.mode };
}

export const isWithin = (
  row: { readonly merchant_id: string; readonly mode: Mode },
  { merchantId = row.merchant_id, mode = row.mode }: Within,
): boolean => row.merchant_id === merchantId && row.mode === mode;

/** The owner of an API key. */
export interface KeyOwner extends Scope {
  readonly kind: 'secret' | 'public';
}

interface KeyCaller extends KeyOwner {
  readonly keyScope: KeyScope;
  /** The key's last 4 characters, for the audit log. */
  readonly keyLast4: string;
  readonly person?: undefined;
}

/** Somebody who is signed in to the console. */
export interface Person {
  readonly id: string;
  readonly email: string;
  readonly role: Role;
  readonly sessionId: string;
  /** When the person last showed a passkey or a fresh link: real time, epoch milliseconds. */
  readonly provedAt: number;
  /** When the session ends however much it is used. */
  readonly expiresAt: number;
  /** The origin of the request. */
  readonly address: string;
  readonly requestId: string;
}

/** The time for which a passkey or a link proves a person's identity. */
export const proofMs = 10 * 60_000;

/** The browser of a sign-in. */
export interface Visitor {
  readonly address: string;
  readonly userAgent: string;
  readonly requestId: string;
  /** The token of the session that the browser had. */
  readonly session: string | undefined;
}

/** A person sees what a secret key sees, and may do what the role may do. */
export interface PersonCaller extends KeyOwner {
  readonly kind: 'secret';
  readonly person: Person;
}

/** The caller of a request: the holder of an API key, or a person. */
export type Caller = KeyCaller | PersonCaller;
/**
 * The facts about a caller that decide what it may see and do with payments: its kind of key, or that it is a person.
 */
export type Actor = Scope & Pick<Caller, 'kind'> & { readonly person?: Person | undefined };
