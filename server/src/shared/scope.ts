/** Access scope: a caller sees only the records of one merchant in one mode. */

/** Test mode uses simulated and public test networks, live mode real money. Their records never mix. */
export type Mode = 'test' | 'live';

export interface Scope {
  readonly merchantId: string;
  readonly mode: Mode;
}

/** The scope that a database row belongs to. */
export function scopeOf(row: { readonly merchant_id: string; readonly mode: Mode }): Scope {
  return { merchantId: row.merchant_id, mode: row.mode };
}

/** Whom an API key belongs to. */
export interface KeyOwner extends Scope {
  readonly kind: 'secret' | 'public';
}

/**
 * What a secret key may do: everything, read (GET alone), get, list and verify payments and transactions (`verify`), or that and
 * all that is done with refunds.
 */
export const keyScopes = ['full', 'read', 'verify', 'refunds'] as const;
export type KeyScope = (typeof keyScopes)[number];

/** The caller that an API key identifies. */
export interface Caller extends KeyOwner {
  readonly keyScope: KeyScope;
  /** The key's last 4 characters, for the audit log. */
  readonly keyLast4: string;
}
/** What payments need to know of a caller: the kind of key decides what it may see and do. */
export type Actor = Scope & Pick<Caller, 'kind'>;
