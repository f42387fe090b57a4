/**
 * Notifies the pages of the console that their content has changed, in this process or another one: a payment, or the
 * home page.
 */
import { home as homeApi } from 'crypto-checkout/contract';
import type { Logger } from 'pino';
import * as z from 'zod/mini';
import type { Database } from '../../core/db/database.js';
import { Problem } from '../../core/shared/problem.js';
import type { Scope } from '../../core/shared/scope.js';
import type { createHome } from './home.js';
import { digestOf, readPaymentMarks } from './payment-marks.js';

/** A page that somebody looks at. */
export interface Watcher {
  readonly scope: Scope;
  readonly personId: string;
  readonly sessionId: string;
  /** Undefined: the home page. */
  readonly paymentId: string | undefined;
  /** The mark of the data that it has, or of older data; undefined if it may have none. */
  readonly seen: string | undefined;
  changed(): void;
  /** Called when there will be no more notifications. */
  end(): void;
}

export interface ChangesDeps {
  readonly database: Database;
  readonly log: Logger;
  readonly home: Pick<ReturnType<typeof createHome>, 'retrieve'>;
  /** The sessions among these that are open. */
  readonly openSessions: (ids: readonly string[]) => Promise<ReadonlySet<string>>;
}

export type Changes = ReturnType<typeof createChanges>;

/** As the dispatcher of webhooks: at once after a commit of this process, and for those of others each second. */
const pollMs = 1000;
/** Commits that come together are looked at together. */
const gatherMs = 100;
/** The home page counts lists, so it is read less often, and once for all who look at it. */
const homeMs = 3000;
const { data: homeData } = homeApi.retrieve;
/** Browsers have 6 connections to a server that speaks HTTP/1.1, and the pages need some. */
const maxPerSession = 4;
/** Each stream is work every second, so neither a person with many sessions nor a merchant with a large team can take all of them. */
const maxPerPerson = 12;
const maxPerMerchant = 100;
const maxInAll = 500;

export function createChanges({ database, log, home, openSessions }: ChangesDeps) {
  /** The watchers, each with the last mark that it was sent; undefined until the mark was looked up. */
  const watchers = new Map<Watcher, string | undefined>();
  /** By merchant and mode: a mark of the home page's content, and when it was read. */
  const homes = new Map<string, { readonly mark: string; readonly readAt: number }>();
  let timer: NodeJS.Timeout | undefined;
  let dueAt = Number.POSITIVE_INFINITY;
  let isRunning = false;
  /** True if another look must follow the running one. */
  let isAsked = false;
  let isStopped = false;

  function plan(delayMs: number): void {
    const at = performance.now() + delayMs;
    if (isStopped || watchers.size === 0 || at >= dueAt) return;
    clearTimeout(timer);
    dueAt = at;
    timer = setTimeout(() => void run(), delayMs);
  }

  async function run(): Promise<void> {
    dueAt = Number.POSITIVE_INFINITY;
    isAsked = isRunning;
    if (isRunning || watchers.size === 0) return;
    isRunning = true;
    try {
      await endClosed();
      await tellOfPayments();
      await tellOfHomes();
    } catch (error) {
      if (!isStopped) log.error({ err: error }, 'Looking for changes failed; retrying');
    }
    isRunning = false;
    plan(isAsked ? 0 : pollMs);
  }

  async function endClosed(): Promise<void> {
    const open = await openSessions([...new Set([...watchers.keys()].map(({ sessionId }) => sessionId))]);
    for (const watcher of watchers.keys()) {
      if (!open.has(watcher.sessionId)) end(watcher);
    }
  }

  async function tellOfPayments(): Promise<void> {
    const watched = [...watchers.keys()];
    const ids = new Set(watched.flatMap(({ paymentId }) => paymentId ?? []));
    const markOf = ids.size === 0 ? undefined : await readPaymentMarks(database.reader, [...ids]);
    for (const watcher of watched) {
      const { scope, paymentId } = watcher;
      if (paymentId !== undefined) tell(watcher, markOf?.(paymentId, scope) ?? '');
    }
  }

  async function tellOfHomes(): Promise<void> {
    const watched = [...watchers.keys()].filter(({ paymentId }) => paymentId === undefined);
    for (const watcher of watched) tell(watcher, await homeMark(watcher.scope));
    const keys = new Set(watched.map(({ scope }) => keyOf(scope)));
    for (const key of homes.keys()) if (!keys.has(key)) homes.delete(key);
  }

  async function homeMark(scope: Scope): Promise<string> {
    const key = keyOf(scope);
    const known = homes.get(key);
    if (known && performance.now() < known.readAt + homeMs) return known.mark;
    const readAt = performance.now();
    // As a page has it: in the order of the contract.
    const content = z.parse(homeData, await home.retrieve(scope));
    const mark = digestOf(content);
    homes.set(key, { mark, readAt });
    return mark;
  }

  /** The first mark is sent too, unless the page says that it has it: it may have been read before. */
  function tell(watcher: Watcher, mark: string): void {
    if (!watchers.has(watcher) || watchers.get(watcher) === mark) return;
    watchers.set(watcher, mark);
    watcher.changed();
  }

  function end(watcher: Watcher): void {
    if (watchers.delete(watcher)) watcher.end();
  }

  return {
    /** Problems: `rate_limited`, `service_unavailable`. @returns a function that ends it */
    watch(watcher: Watcher): () => void {
      if (isStopped) throw new Problem('service_unavailable', 'The server is stopping');
      const watching = [...watchers.keys()];
      const ofMerchant = watching.filter(({ scope }) => scope.merchantId === watcher.scope.merchantId);
      const ofPerson = ofMerchant.filter(({ personId }) => personId === watcher.personId);
      const ofSession = ofPerson.filter(({ sessionId }) => sessionId === watcher.sessionId);
      if (
        ofSession.length >= maxPerSession ||
        ofPerson.length >= maxPerPerson ||
        ofMerchant.length >= maxPerMerchant ||
        watching.length >= maxInAll
      ) {
        throw new Problem('rate_limited', 'Too many pages are open. They are read again from time to time', {
          retryAfterSeconds: 60,
        });
      }
      watchers.set(watcher, watcher.seen);
      plan(0);
      return () => watchers.delete(watcher);
    },

    /** The mark of a payment's page; undefined if the scope has no such payment. */
    markOf: async (scope: Scope, id: string) => (await readPaymentMarks(database.reader, [id]))(id, scope),

    /** Looks soon: something was committed. */
    wake: () => plan(gatherMs),

    /** Ends all, so that no open page keeps the server from stopping. */
    stop(): void {
      isStopped = true;
      clearTimeout(timer);
      for (const watcher of watchers.keys()) end(watcher);
    },
  };
}

const keyOf = ({ merchantId, mode }: Scope) => `${merchantId}/${mode}`;
