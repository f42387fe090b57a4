/** Access scope: a caller sees only the records of one merchant in one mode. */

/** Test mode uses simulated and public test networks, live mode real money. Their records never mix. */
export type Mode = 'test' | 'live';

export interface Scope {
  readonly merchantId: string;
  readonly mode: Mode;
}

/** The caller that an API key identifies. */
export interface Caller extends Scope {
  readonly kind: 'secret' | 'public';
}

/** What payments need to know of a caller: the kind of key decides what it may see and do. */
export type Actor = Scope & Pick<Caller, 'kind'>;
