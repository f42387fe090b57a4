/** What a handler is: parsed input and a caller in, a reply out. It knows no Express and no SQL. */
import type { Api, Data, Endpoint, Input, Pagination } from 'crypto-checkout/contract';
import type { Caller } from '../shared/scope.js';
import type { Transaction } from '../db/engine.js';

export interface Reply<D> {
  readonly message: string;
  readonly data: D;
  /** For lists of records. */
  readonly pagination?: Pagination;
}

export interface Context {
  readonly caller: Caller;
  readonly requestId: string;
  /** Aborted when the client goes away or the server stops. */
  readonly signal: AbortSignal;
  /**
   * Runs a change in one transaction. With an Idempotency-Key, the reply is kept in that same
   * transaction, so that a repeat gets it and changes nothing. At most one call for each request.
   */
  change<D>(work: (transaction: Transaction) => Promise<Reply<D>>): Promise<Reply<D>>;
}

export type Handler<E extends Endpoint> = (input: Input<E>, context: Context) => Promise<Reply<Data<E>>>;

/** Handlers for a table of endpoints, resource by resource and verb by verb: one that is missing does not compile. */
export type Handlers<Table extends Record<string, Record<string, Endpoint>>> = {
  readonly [Resource in keyof Table]: {
    readonly [Verb in keyof Table[Resource]]: Handler<Table[Resource][Verb]>;
  };
};

/** The handlers of one resource of the API. */
export type ApiHandlers<Resource extends keyof Api> = Handlers<Api>[Resource];
