/** Whose records a caller may see: those of one merchant in one mode. */

/** Test mode runs on simulated and public test networks, live mode on real money. Their records never mix. */
export type Mode = 'test' | 'live';

export interface Scope {
  readonly merchantId: string;
  readonly mode: Mode;
}

/** Who calls, as the API key says. */
export interface Caller extends Scope {
  readonly kind: 'secret' | 'public';
}
