/** Delivers what is due: claims events, sends them outside of any transaction, and writes down what came of it. */
import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isoTime, type Clock } from '../shared/clock.js';
import type { Database } from '../db/database.js';
import type { NewId } from '../shared/ids.js';
import { signingSecrets } from './endpoints.js';
import { nextDelay } from './schedule.js';
import type { Outcome, Sender } from './send.js';
import * as store from './store.js';
import type { EndpointRow, EventRow } from './store.js';
import type { Mode } from '../shared/scope.js';
import type { Transaction } from '../db/engine.js';

export interface DispatcherOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly sender: Sender;
  readonly log: Logger;
}

export interface Dispatcher {
  start(): void;
  /** Something may be due: look now. */
  wake(): void;
  /** How long ago it last looked for what is due, and could. */
  idleMs(): number;
  /** Gives deliveries under way a moment, then breaks them off and leaves them to whoever runs next. */
  stop(): Promise<void>;
}

/** An event that this process delivers now, and where to. */
interface Claimed {
  readonly event: EventRow;
  readonly endpoint: EndpointRow;
  readonly claim: string;
}

const pollMs = 1000;
/** Longer than a delivery can take; then the claim of a process that died is taken over. */
const claimMs = 20_000;
const graceMs = 2000;
/**
 * How many deliveries run at once: altogether, to merchants whose last one failed, and to one merchant. Failing ones get one
 * each, and so does everybody once half the room is taken: who hangs then takes little from the others.
 */
const most = { altogether: 256, toFailing: 128, toMerchant: 8, toMerchantInNeed: 1 };

export function createDispatcher({ database, clock, newId, sender, log }: DispatcherOptions): Dispatcher {
  const stopping = new AbortController();
  const breakingOff = new AbortController();
  // Each delivery listens.
  setMaxListeners(0, breakingOff.signal);
  /** Deliveries under way, and whose they are. */
  const running = new Map<Promise<void>, string>();
  /** Merchants whose last delivery failed: they may wait long, so they get little. */
  const failing = new Set<string>();
  let loop: Promise<void> | undefined;
  let isWoken = false;
  let lookedAt = performance.now();
  let endPause = () => {};

  function wake(): void {
    isWoken = true;
    endPause();
  }

  /** How many more may be sent to each of these merchants, in a random order so that none is always last. */
  function share(merchants: readonly string[]): Map<string, number> {
    const busy = [...running.values()];
    let free = most.altogether - busy.length;
    let freeToFailing = most.toFailing - busy.filter((merchantId) => failing.has(merchantId)).length;
    const shares = new Map<string, number>();
    for (const merchantId of shuffled(merchants)) {
      const isFailing = failing.has(merchantId);
      const isNeed = isFailing || free <= most.altogether / 2;
      const limit = isNeed ? most.toMerchantInNeed : most.toMerchant;
      const own = limit - busy.filter((busyId) => busyId === merchantId).length;
      const given = Math.min(own, free, isFailing ? freeToFailing : free);
      if (given <= 0) continue;
      shares.set(merchantId, given);
      free -= given;
      if (isFailing) freeToFailing -= given;
    }
    return shares;
  }

  async function dispatch(mode: Mode): Promise<void> {
    const now = clock.now(mode);
    const waiting = await store.waitingMerchants(database.reader, mode);
    const shares = share(waiting.filter(({ dueAt }) => dueAt <= now).map(({ merchantId }) => merchantId));
    if (shares.size === 0) return;
    const claimed = await database.write((transaction) => claim(transaction, mode, now, shares));
    for (const one of claimed) {
      const done = deliver(one).finally(() => {
        running.delete(done);
        wake();
      });
      running.set(done, one.event.merchant_id);
    }
  }

  async function claim(
    transaction: Transaction,
    mode: Mode,
    now: number,
    shares: ReadonlyMap<string, number>,
  ): Promise<Claimed[]> {
    const realNow = clock.now('live');
    const claimed: Claimed[] = [];
    for (const [merchantId, limit] of shares) {
      const endpoint = await store.findEndpoint(transaction, merchantId);
      if (endpoint?.disabled_at !== null) {
        // It was removed or disabled while the event was written.
        await store.failPending(transaction, merchantId);
        continue;
      }
      const id = newId();
      const events = await store.claimDue(transaction, {
        mode,
        merchantId,
        now,
        realNow,
        limit,
        claim: id,
        until: realNow + claimMs,
      });
      claimed.push(...events.map((event) => ({ event, endpoint, claim: id })));
    }
    return claimed;
  }

  async function deliver(claimed: Claimed): Promise<void> {
    const { event, endpoint } = claimed;
    const { id, mode, merchant_id: merchantId } = event;
    const now = clock.now('live');
    try {
      const outcome = await sender.send(
        { url: endpoint.url, mode, id, body: bodyOf(event), secrets: signingSecrets(endpoint, now), now },
        breakingOff.signal,
      );
      if (outcome.error === undefined) failing.delete(merchantId);
      else failing.add(merchantId);
      await database.write((transaction) => settle(transaction, claimed, outcome, now));
    } catch (error) {
      // Its claim ends by itself, and then it is tried again.
      if (!breakingOff.signal.aborted) log.error({ err: error, event: id }, 'A webhook was not settled');
    }
  }

  async function settle(
    transaction: Transaction,
    { event, endpoint, claim: claimId }: Claimed,
    outcome: Outcome,
    triedAt: number,
  ): Promise<void> {
    const { id, merchant_id: merchantId, mode, type } = event;
    const done = { due_at: null, claim: null, claimed_until: null };
    await store.insertTry(transaction, {
      event_id: id,
      tried_at: triedAt,
      duration_ms: outcome.durationMs,
      response_status: outcome.status ?? null,
      response_excerpt: outcome.excerpt,
      error: outcome.error ?? null,
    });
    if (outcome.error === undefined) {
      await store.updateEvent(transaction, id, { ...done, status: 'delivered' });
      return;
    }
    if (outcome.status === 410 && (await disable(transaction, endpoint, triedAt))) return;
    const tries = event.tries + 1;
    const wait = nextDelay(tries, Math.random(), outcome.retryAfterSeconds);
    if (wait === undefined) {
      log.warn({ event: id, merchantId, type, tries }, 'A webhook was given up');
      await store.updateEvent(transaction, id, { ...done, tries, status: 'failed' }, claimId);
    } else {
      const dueAt = clock.now(mode) + wait;
      await store.updateEvent(transaction, id, { ...done, tries, due_at: dueAt }, claimId);
    }
  }

  /** @returns false where the endpoint was set anew since: then the answer was another one's */
  async function disable(transaction: Transaction, used: EndpointRow, now: number): Promise<boolean> {
    const { merchant_id: merchantId } = used;
    const endpoint = await store.lockEndpoint(transaction, merchantId);
    if (endpoint?.updated_at !== used.updated_at || endpoint.url !== used.url) return false;
    await store.putEndpoint(transaction, { ...endpoint, disabled_at: now });
    await store.failPending(transaction, merchantId);
    log.warn({ merchantId }, 'A webhook endpoint answered 410 Gone: nothing is sent until it is set anew');
    return true;
  }

  /** Until something may be due. */
  async function pause(): Promise<void> {
    if (isWoken || stopping.signal.aborted) return;
    await new Promise<void>((resolve) => {
      const timeout = setTimeout(resolve, pollMs);
      endPause = () => {
        clearTimeout(timeout);
        resolve();
      };
    });
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      isWoken = false;
      try {
        await dispatch('test');
        await dispatch('live');
        lookedAt = performance.now();
      } catch (error) {
        log.error({ err: error }, 'Webhooks could not be claimed; it is tried again');
        await delay(pollMs, undefined, { signal: stopping.signal }).catch(() => {});
      }
      await pause();
    }
  }

  async function start(): Promise<void> {
    // A SQLite file has one server, so a claim in it was left by one that died.
    if (database.engine === 'sqlite') {
      await database
        .write((transaction) => store.releaseClaims(transaction))
        .catch((error: unknown) => log.error({ err: error }, 'Claims of webhooks were not released'));
    }
    await run();
  }

  return {
    start() {
      loop ??= start();
    },
    wake,
    idleMs: () => performance.now() - lookedAt,
    async stop() {
      stopping.abort();
      endPause();
      await loop;
      const all = Promise.all(running.keys());
      await Promise.race([all, delay(graceMs, undefined, { ref: false })]);
      breakingOff.abort();
      await all;
      await sender.close();
    },
  };
}

/** The body is the same at every try, byte for byte. */
function bodyOf({ type, created_at: createdAt, data }: EventRow): string {
  return `{"type":${JSON.stringify(type)},"timestamp":"${isoTime(createdAt)}","data":${data}}`;
}

function shuffled<T>(list: readonly T[]): T[] {
  return list
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
