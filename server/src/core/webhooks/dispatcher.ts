/** Delivers webhooks: claims due events, sends them outside any transaction, and records the outcome of each attempt. */
import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { AuditLog } from '../merchants/audit-log.js';
import type { DataKeys } from '../shared/data-keys.js';
import { signingSecrets } from './endpoint-secrets.js';
import { bodyOf, type Outcome, type Sender } from './send.js';
import * as store from './store.js';
import type { Mode, Scope } from '../shared/scope.js';
import type { PersonalData } from '../db/personal-data.js';
import type { RoomDeps } from '../db/room-deps.js';
import type { Transaction } from '../db/engine.js';
import type { OutboxTable, WebhookEndpointTable } from '../db/schema.js';

interface DispatcherDeps extends RoomDeps {
  readonly sender: Sender;
  readonly auditLog: AuditLog;
  /** An endpoint keeps failing. */
  readonly onTrouble: (
    transaction: Transaction,
    trouble: Scope & { readonly code: 'webhooks_failing' },
  ) => Promise<void>;
  readonly dataKeys: DataKeys;
  readonly personalData: PersonalData;
}

/** An event that this process is delivering, and its endpoint. */
interface Claimed {
  readonly event: OutboxTable;
  readonly endpoint: WebhookEndpointTable;
}

/** An attempt that has ended, in real time. */
interface Attempt extends Claimed {
  readonly outcome: Outcome;
  readonly attemptedAt: number;
}

const pollMs = 1000;
/** The failed tries of an event, over five minutes, after which it is no passing fault. */
const troubleTries = 3;
/**
 * The duration of a claim. A process renews the claims of its running deliveries every second, however long they take.
 * If it dies, another one takes them over within 5 s: a claim's length, and the time until the next poll. The claim
 * outlasts the renewal by more than 2 s, so that slow commits and clocks that differ a little cause no double delivery.
 */
const claimMs = 3500;
const renewMs = 1000;
const graceMs = 2000;
/**
 * Limits of concurrent deliveries: in total, to failing endpoints together, and per endpoint. An endpoint whose last
 * delivery failed gets one at a time, and so does every endpoint once half the total is in use. So receivers that hang
 * take little capacity from the others.
 */
const limits = { total: 256, failing: 128, perEndpoint: 8, perEndpointWhenScarce: 1 };

export function createDispatcher(deps: DispatcherDeps) {
  const { database, clock, newId, sender, log, auditLog, dataKeys, personalData, onTrouble } = deps;
  const stopping = new AbortController();
  const aborting = new AbortController();
  // Every running delivery adds a listener.
  setMaxListeners(0, aborting.signal);
  /** Running deliveries. */
  const running = new Map<Promise<void>, Claimed>();
  /** Endpoints whose last delivery failed, by `endpointKey`. The next one may take long, so they get less capacity. */
  const failing = new Set<string>();
  let lastRenewedAt = performance.now();
  let loop: Promise<void> | undefined;
  let lastPolledAt = performance.now();
  /** Aborted when an event may be due: then it polls at once. */
  let waking = new AbortController();
  const wake = () => waking.abort();

  /** Decides how many more deliveries each endpoint may start. The order is random, so that nobody is always last. */
  function allocate(mode: Mode, merchants: readonly string[]): Map<string, number> {
    const busy = [...running.values()].map(({ event }) => endpointKey(event));
    let free = limits.total - busy.length;
    let freeForFailing = limits.failing - busy.filter((key) => failing.has(key)).length;
    const allocations = new Map<string, number>();
    for (const merchantId of shuffled(merchants)) {
      const key = endpointKey({ merchant_id: merchantId, mode });
      const isFailing = failing.has(key);
      const isScarce = isFailing || free <= limits.total / 2;
      const limit = isScarce ? limits.perEndpointWhenScarce : limits.perEndpoint;
      const unused = limit - busy.filter((busyKey) => busyKey === key).length;
      const count = Math.min(unused, free, isFailing ? freeForFailing : free);
      if (count <= 0) continue;
      allocations.set(merchantId, count);
      free -= count;
      if (isFailing) freeForFailing -= count;
    }
    return allocations;
  }

  /** Renews the claims of running deliveries, so that no other process takes them over while this one is alive. */
  async function renewClaims(): Promise<void> {
    const now = performance.now();
    if (running.size === 0 || now - lastRenewedAt < renewMs) return;
    lastRenewedAt = now;
    const events = [...running.values()].map(({ event }) => event);
    await database.write((transaction) => store.extendClaims(transaction, events, clock.real() + claimMs));
  }

  async function dispatch(mode: Mode): Promise<void> {
    const waiting = await store.waitingMerchants(database.reader, mode);
    const due = waiting
      .filter(({ merchantId, dueAt }) => dueAt <= clock.now({ merchantId, mode }))
      .map(({ merchantId }) => merchantId);
    const allocations = allocate(mode, due);
    if (allocations.size === 0) return;
    const claimed = await database.write((transaction) => claim(transaction, mode, allocations));
    for (const one of claimed) {
      const done = deliver(one).finally(() => {
        running.delete(done);
        wake();
      });
      running.set(done, one);
    }
  }

  async function claim(transaction: Transaction, mode: Mode, allocations: ReadonlyMap<string, number>) {
    const realNow = clock.real();
    const claimed: Claimed[] = [];
    for (const [merchantId, limit] of allocations) {
      const scope = { merchantId, mode };
      const endpoint = await store.findEndpoint(transaction, scope);
      if (endpoint?.disabled_at !== null) {
        // The endpoint was removed or disabled while the event was being written.
        await store.failPending(transaction, scope);
        continue;
      }
      const claim = { claim: newId(), claimed_until: realNow + claimMs };
      const events = await store.claimDue(transaction, scope, clock.now(scope), realNow, limit, claim);
      claimed.push(...events.map((event) => ({ event, endpoint })));
    }
    return claimed;
  }

  async function deliver(claimed: Claimed): Promise<void> {
    const { event, endpoint } = claimed;
    const { id, mode } = event;
    const key = endpointKey(event);
    const now = clock.real();
    try {
      const body = bodyOf({ ...event, data: personalData.openEvent(event) });
      const secrets = signingSecrets(dataKeys, endpoint, now);
      const outcome = await sender.send({ url: endpoint.url, mode, id, body, secrets, now }, aborting.signal);
      if (outcome.error === undefined) failing.delete(key);
      else failing.add(key);
      await record({ ...claimed, outcome, attemptedAt: now });
    } catch (error) {
      logFailure(error, id);
    }
  }

  /** The claim expires on its own, and then the event is delivered again. */
  function logFailure(error: unknown, event: string): void {
    if (aborting.signal.aborted) return;
    log.error({ err: error, event }, 'Recording a webhook attempt failed; it is repeated');
  }

  /** Attempts that have ended while others were recorded: they share the next commit. */
  const ended: Attempt[] = [];
  let recording: Promise<void> = Promise.resolve();

  function record(attempt: Attempt): Promise<void> {
    ended.push(attempt);
    recording = recording.then(() => recordAll(ended.splice(0)));
    return recording;
  }

  async function recordAll(attempts: readonly Attempt[]): Promise<void> {
    const [first, ...others] = attempts;
    if (!first) return;
    try {
      await database.write((transaction) => settleAll(transaction, attempts));
    } catch (error) {
      // One attempt, such as of an event deleted meanwhile, must not keep the others from being recorded.
      if (others.length > 0) for (const one of attempts) await recordAgain(one);
      else logFailure(error, first.event.id);
    }
  }

  /** The commit of all may have been lost, or only its answer. */
  async function recordAgain(attempt: Attempt): Promise<void> {
    const { event, attemptedAt } = attempt;
    try {
      await database.write(async (transaction) => {
        if (await store.isRecorded(transaction, event.id, attemptedAt)) return;
        await settleAll(transaction, [attempt]);
      });
    } catch (error) {
      logFailure(error, event.id);
    }
  }

  async function settleAll(transaction: Transaction, attempts: readonly Attempt[]): Promise<void> {
    await store.insertAttempts(
      transaction,
      attempts.map(({ event: { id }, outcome, attemptedAt }) => ({
        event_id: id,
        tried_at: attemptedAt,
        duration_ms: outcome.durationMs,
        response_status: outcome.status ?? null,
        response_excerpt: personalData.sealResponse(id, outcome.excerpt),
        error: outcome.error ?? null,
      })),
    );
    const delivered = attempts.filter(({ outcome }) => outcome.error === undefined);
    await store.markDelivered(
      transaction,
      delivered.map(({ event }) => event),
    );
    for (const attempt of attempts)
      if (attempt.outcome.error !== undefined) await retry(transaction, attempt);
  }

  /** Decides when a failed attempt is repeated, if it is. */
  async function retry(
    transaction: Transaction,
    { event, endpoint, outcome, attemptedAt }: Attempt,
  ): Promise<void> {
    const { id, merchant_id: merchantId, mode, type } = event;
    const done = { due_at: null, claim: null, claimed_until: null };
    if (outcome.status === 410 && (await disable(transaction, endpoint, attemptedAt))) return;
    const tries = event.tries + 1;
    const delayMs = nextDelayMs(tries, Math.random(), outcome.retryAfterSeconds);
    if (delayMs === undefined) {
      log.warn({ event: id, merchantId, type, tries }, 'Webhook given up after its last attempt');
      await store.updateClaimed(transaction, event, { ...done, tries, status: 'failed' });
    } else {
      const dueAt = clock.now({ merchantId, mode }) + delayMs;
      await store.updateClaimed(transaction, event, { ...done, tries, due_at: dueAt });
    }
    if (tries >= troubleTries) await onTrouble(transaction, { merchantId, mode, code: 'webhooks_failing' });
  }

  /** @returns false if the endpoint was changed since the attempt, so that the 410 was about the old one */
  async function disable(transaction: Transaction, used: WebhookEndpointTable, now: number) {
    const { merchant_id: merchantId, mode } = used;
    const endpoint = await store.lockEndpoint(transaction, { merchantId, mode });
    if (endpoint?.updated_at !== used.updated_at || endpoint.url !== used.url) return false;
    // Several deliveries can end with it at once.
    if (endpoint.disabled_at !== null) return true;
    await store.putEndpoint(transaction, { ...endpoint, disabled_at: now });
    await store.failPending(transaction, { merchantId, mode });
    await auditLog.record(transaction, {
      merchantId,
      mode,
      actor: 'server',
      action: 'webhook.disabled',
      subjectId: merchantId,
      after: { reason: 'It returned 410 Gone' },
    });
    log.warn(
      { merchantId, mode },
      'Webhook endpoint disabled: it returned 410 Gone. Set its URL again to enable it',
    );
    return true;
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      waking = new AbortController();
      try {
        await renewClaims();
        await dispatch('test');
        await dispatch('live');
        lastPolledAt = performance.now();
        await pause(waking.signal);
      } catch (error) {
        log.error({ err: error }, 'Claiming webhooks failed; retrying');
        await pause(stopping.signal);
      }
    }
  }

  /** Only one server uses a SQLite file, so any claim in it was left by a server that died. */
  async function releaseClaims(): Promise<void> {
    if (database.engine !== 'sqlite') return;
    await database
      .write((transaction) => store.releaseClaims(transaction))
      .catch((error: unknown) => log.error({ err: error }, 'Releasing old webhook claims failed'));
  }

  return {
    start(): void {
      loop ??= Promise.all([releaseClaims(), sender.open()]).then(run);
    },
    wake,
    /** The time since the last successful poll. */
    idleMs: (): number => performance.now() - lastPolledAt,
    /** Gives running deliveries a moment to finish, then aborts them and leaves them to the next process. */
    async stop(): Promise<void> {
      stopping.abort();
      wake();
      await loop;
      const all = Promise.all(running.keys());
      await Promise.race([all, delay(graceMs, undefined, { ref: false })]);
      aborting.abort();
      await all;
      await sender.close();
    },
  };
}

const pause = (signal: AbortSignal) => delay(pollMs, undefined, { signal }).catch(() => {});

function endpointKey({ merchant_id: merchantId, mode }: Pick<OutboxTable, 'merchant_id' | 'mode'>): string {
  return `${mode}/${merchantId}`;
}

function shuffled<T>(list: readonly T[]): T[] {
  return list
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

/** The delay after each failed attempt. As Standard Webhooks recommends: ten attempts over three days. */
const delaysSeconds = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];
const maxRetryAfterSeconds = 86_400;

/**
 * @param failedAttempts 1 or more
 * @param random from 0 to 1; shifts the delay by up to 10 % either way, so that events that failed together spread out
 * @param retryAfterSeconds the receiver's `Retry-After`; used if it is longer than the delay, up to a day
 * @returns milliseconds until the next attempt; undefined after the last one
 */
function nextDelayMs(failedAttempts: number, random: number, retryAfterSeconds = 0): number | undefined {
  const delaySeconds = delaysSeconds[failedAttempts - 1];
  if (delaySeconds === undefined) return undefined;
  const jitteredMs = delaySeconds * 1000 * (0.9 + 0.2 * random);
  return Math.round(Math.max(jitteredMs, Math.min(retryAfterSeconds, maxRetryAfterSeconds) * 1000));
}
