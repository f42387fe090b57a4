/** Handlers take parsed input and a caller, and return a reply. They use no Express and no SQL. */
import type { CoreApi, Data, Endpoint, Input, Pagination, Endpoints } from 'crypto-checkout/contract';
import { paginate, type Page, type PageRequest } from '../shared/pagination.js';
import type { Cookies } from './cookies.js';
import type { Caller, PersonCaller, Visitor } from '../shared/scope.js';
import type { Transaction } from '../db/engine.js';

export interface Reply<D> {
  /** Only if it is not the contract's. */
  readonly message?: string;
  readonly data: D;
  /** Only for lists of records. */
  readonly pagination?: Pagination;
  /** True if `data` is the same object as long as nothing in it changes, so that its JSON is made once. */
  readonly isKept?: true;
}

export interface Context {
  readonly caller: Caller;
  readonly requestId: string;
  /** Aborted when the client disconnects or the server stops. */
  readonly signal: AbortSignal;
  /**
   * Runs a change in one transaction. With an Idempotency-Key, the reply is stored in the same transaction, so a
   * repeated request gets that reply and changes nothing. Call it at most once per request.
   */
  change<D>(work: (transaction: Transaction) => Promise<D>): Promise<Reply<D>>;
  /** The cookies that a page for payers keeps in its browser. */
  readonly cookies: Cookies;
  /** The browser that asks: the console's, or a page for payers. */
  readonly visitor: Visitor;
  /** Gives the browser a session, or takes away the one that it has. */
  setSession(token: string | undefined): void;
}

/** The context of endpoints that need no key: their caller is unknown. */
export type OpenContext = Omit<Context, 'caller'>;

/** The context of endpoints that only signed-in people can call. */
export interface PersonContext extends Context {
  readonly caller: PersonCaller;
}

type ContextOf<E extends Endpoint> = E extends { readonly key: 'none' }
  ? OpenContext
  : E extends { readonly key: 'session' }
    ? PersonContext
    : Context;

export type Handler<E extends Endpoint> = (input: Input<E>, context: ContextOf<E>) => Promise<Reply<Data<E>>>;

/** A handler for every endpoint of a table, by resource and verb. A missing handler does not compile. */
export type Handlers<Table extends Endpoints> = {
  readonly [Resource in keyof Table]: {
    readonly [Verb in keyof Table[Resource]]: Handler<Table[Resource][Verb]>;
  };
};

/** Handlers whose exact types are checked already, by plain strings. */
export type NamedHandlers = Readonly<Record<string, Readonly<Record<string, Handler<Endpoint>>>>>;

/** @returns the handlers of a table, by plain strings: they parse with the same endpoints as before */
export function named<const Table extends Endpoints>(
  _table: Table,
  handlers: Handlers<Table>,
): NamedHandlers {
  return handlers;
}

/** The handlers of one API resource. */
export type ApiHandlers<Resource extends keyof CoreApi> = Handlers<CoreApi>[Resource];

export async function replyWith<D>(data: Promise<D>): Promise<Reply<D>> {
  return { data: await data };
}

/** @param data the same object as long as nothing in it changes */
export async function replyWithKept<D>(data: Promise<D>): Promise<Reply<D>> {
  return { data: await data, isKept: true };
}

export async function replyWithPage<R>(request: PageRequest, page: Promise<Page<R>>): Promise<Reply<R[]>> {
  const { rows, total } = await page;
  return { data: rows, pagination: paginate(request, rows.length, total) };
}
