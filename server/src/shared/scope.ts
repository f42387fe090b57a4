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

/** The caller that an API key identifies. */
export interface Caller extends Scope {
  readonly kind: 'secret' | 'public';
}
