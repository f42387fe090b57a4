/** Rate limits. Each process counts its own requests, so behind a load balancer the limits apply per replica. */
import { coreApi, type Endpoint } from 'crypto-checkout/contract';
import type { Request, Response } from 'express';
import { ipKeyGenerator, MemoryStore, rateLimit, type AugmentedRequest } from 'express-rate-limit';
import type { Limits } from '../config.js';
import { Problem } from '../shared/problem.js';
import type { Caller } from '../shared/scope.js';

/** The limits of a caller. */
export type CallerLimits = ReturnType<typeof createLimits>;

/** Limits per IP address that need no key. Each counts a request, and rejects with the problem `rate_limited`. */
export type IpLimits = ReturnType<typeof createIpLimits>;

/** Each time a reply has so many bytes, it costs as much as one more request. */
const bytesPerRequest = 16_384;

export function createLimits(limits: Limits) {
  const byMode = { live: createLimiters(limits, 1), test: createLimiters(limits, limits.testFactor) };
  const stored = createStoredLimit(limits.storedMegabytesPerDay * 1_000_000);
  return {
    /** Counts a request. Problem: `rate_limited`. */
    async check(request: Request, response: Response, caller: Caller, endpoint: Endpoint | undefined) {
      const { secret, anyPublic, creationByIp, creationByKey, lookupByIp, lookupByKey } = byMode[caller.mode];
      if (caller.kind === 'secret') return secret.count(request, response);
      await anyPublic.count(request, response);
      if (endpoint && endpoint.method !== 'GET') stored.check(caller);
      if (endpoint === coreApi.payments.checkTransfer) {
        await lookupByIp.count(request, response);
        await lookupByKey.count(request, response);
      }
      if (endpoint !== coreApi.payments.create) return;
      await creationByIp.count(request, response);
      await creationByKey.count(request, response);
    },
    /**
     * Counts what a request with a public key has stored, and a long reply as more than one request: what it costs grows with its
     * length. Call it for requests that succeeded.
     */
    charge(request: Request, caller: Caller, endpoint: Endpoint, replyBytes: number): void {
      const { kind, mode } = caller;
      if (kind === 'secret') return;
      if (endpoint.method !== 'GET') stored.add(caller, storedBytes(request, endpoint));
      for (let more = bytesPerRequest; more <= replyBytes; more += bytesPerRequest) {
        byMode[mode].anyPublic.charge(request);
      }
    },
  };
}

const dayMs = 86_400_000;

/** The largest part of a body that is stored, however long the body is. */
const mostOfBody = 6000;

/** The approximate number of bytes that a payer's request leaves in the database for longer than an hour, with indexes. */
function storedBytes({ headers }: Request, endpoint: Endpoint): number {
  if (endpoint !== coreApi.payments.create) return 110;
  return 3000 + Math.min(mostOfBody, Number(headers['content-length'] ?? mostOfBody));
}

/** Counts what the payers of each merchant store in a day, so that no number of IP addresses fills the disk. */
function createStoredLimit(limit: number) {
  const days = new Map<string, { bytes: number; readonly since: number }>();
  const dayOf = ({ merchantId, mode }: Caller) => {
    const key = `${mode} ${merchantId}`;
    const known = days.get(key);
    if (known && performance.now() - known.since < dayMs) return known;
    const day = { bytes: 0, since: performance.now() };
    days.set(key, day);
    return day;
  };
  return {
    check(caller: Caller): void {
      const { bytes, since } = dayOf(caller);
      if (bytes < limit) return;
      const retryAfterSeconds = Math.ceil((since + dayMs - performance.now()) / 1000);
      throw new Problem(
        'rate_limited',
        `This merchant's payers have stored ${limit / 1_000_000} MB within a day. Try again in ${retryAfterSeconds} s`,
        { retryAfterSeconds },
      );
    },
    add(caller: Caller, bytes: number): void {
      dayOf(caller).bytes += bytes;
    },
  };
}

/** A longer request is itself waiting (for a node or a slow client), so the next one may start. */
const longestTurnMs = 20;

/** About how long the last one in a line waits, however long the line is. */
const longestWaitMs = 1000;

/**
 * Lets the requests of an IP address run one by one, and those of other addresses in between. Otherwise a hundred that
 * come at once would all be answered before anybody else's. A refusal takes processor time too, so after a 429 the
 * address's next request waits until it would be due at the limit.
 * @param perSecond the limit of an address. As many wait at most: a waiting request takes memory, and Node.js reads on
 * as long as nothing is answered
 */
function createTurns(perSecond: number) {
  /** The requests that wait, at each address that has one running. */
  const lines = new Map<string, (() => void)[]>();
  return async (request: Request, response: Response): Promise<() => void> => {
    const ip = byIp(request);
    const line = lines.get(ip);
    if (line && line.length >= perSecond) throw tooMany(`${perSecond} of your requests wait already`, 1);
    if (line) await new Promise<void>((resolve) => line.push(resolve));
    else lines.set(ip, []);
    let isOver = false;
    const letNextRun = () => {
      if (isOver) return;
      isOver = true;
      const next = lines.get(ip)?.shift();
      if (next) next();
      else lines.delete(ip);
    };
    const waiting = lines.get(ip)?.length ?? 0;
    const late = setTimeout(letNextRun, Math.min(longestTurnMs, longestWaitMs / (waiting + 1)));
    const end = () => {
      clearTimeout(late);
      letNextRun();
    };
    const endLater = () => {
      // Requests that other addresses sent in the meantime are read before an immediate runs.
      if (response.statusCode !== 429) return setImmediate(end);
      clearTimeout(late);
      return setTimeout(end, 1000 / perSecond);
    };
    if (response.destroyed) endLater();
    else response.once('close', endLater);
    return end;
  };
}

/**
 * The number of strangers' requests that are processed at once. Enough to keep the processor and the database busy,
 * and few enough that all of them finish soon.
 */
const mostStrangers = 8;

/**
 * Lets callers with a secret key overtake strangers, however many addresses these come from: few requests of
 * strangers are processed at once, and only one while a secret key's is. The others wait, one of each address, in
 * order of arrival.
 */
function createGate() {
  const waiting: (() => void)[] = [];
  let strangers = 0;
  let overtaking = 0;

  const admit = () => {
    while (waiting.length > 0 && strangers < (overtaking > 0 ? 1 : mostStrangers)) {
      strangers += 1;
      waiting.shift()?.();
    }
  };

  return {
    /** A request that overtakes begins. @returns ends it */
    overtake(): () => void {
      overtaking += 1;
      return () => {
        overtaking -= 1;
        admit();
      };
    },
    /** Resolves when a stranger's request may proceed. @returns ends it */
    async wait(): Promise<() => void> {
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        admit();
      });
      return () => {
        strangers -= 1;
        admit();
      };
    },
  };
}

/** Ends something once: when the reply is sent or the client has left, at the latest after a turn's time, or before if it is called. */
function endWith(response: Response, end: () => void): () => void {
  let isOver = false;
  const once = () => {
    if (isOver) return;
    isOver = true;
    end();
  };
  const late = setTimeout(once, longestTurnMs);
  const endNow = () => {
    clearTimeout(late);
    once();
  };
  // Requests that others sent in the meantime are read before an immediate runs.
  const soon = () => setImmediate(endNow);
  if (response.destroyed) soon();
  else response.once('close', soon);
  return endNow;
}

/** A page that follows a refund asks six times a minute, and many people can share an address. */
const readsPerFailure = 12;

export function createIpLimits(limits: Limits) {
  const takeTurn = createTurns(limits.requestsPerSecondPerIp);
  const gate = createGate();
  const anyRequest = createLimiter(limits.requestsPerSecondPerIp, 1, byIp);
  const tokens = new Map<string, Record<'any' | 'failed', Limiter>>();
  return {
    /**
     * Any request. First waits for its turn among those of its address, and then, unless it overtakes them, among strangers:
     * see `createTurns` and `createGate`.
     * @param overtakes true if its caller has a secret key
     * @returns ends its turn early, for a caller whose requests may run at the same time
     */
    async anyRequest(request: Request, response: Response, overtakes = false): Promise<() => void> {
      if (isForMachines(request)) {
        await anyRequest.count(request, response);
        return () => {};
      }
      const endTurn = await takeTurn(request, response);
      const endPlace = endWith(response, overtakes ? gate.overtake() : await gate.wait());
      await anyRequest.count(request, response);
      return () => {
        endTurn();
        if (!overtakes) endPlace();
      };
    },
    /** A request with a key that does not exist. */
    failedKey: createLimiter(limits.failedKeysPerSecondPerIp, 1, byIp).count,
    /** Pages, files and `/readyz`. */
    page: createLimiter(limits.pagesPerSecondPerIp, 1, byIp).count,
    /**
     * A request with the token of a refund's claim or of a link to sign in, whose holder has no key. Each surface has limits of its
     * own: those who follow a refund do not keep anybody from signing in.
     * @returns to be called if it succeeds: only what fails counts as a guess
     */
    async token(surface: string, request: Request, response: Response): Promise<() => void> {
      const { any, failed } = tokens.get(surface) ?? addTokenLimits(surface);
      await any.count(request, response);
      // Before it has failed, so that guesses that are made at once count too.
      await failed.count(request, response);
      return () => failed.uncount(request);
    },
  };

  function addTokenLimits(surface: string) {
    const { tokensPerMinutePerIp: failures } = limits;
    const added = {
      any: createLimiter(readsPerFailure * failures, 60, byIp),
      failed: createLimiter(failures, 60, byIp),
    };
    tokens.set(surface, added);
    return added;
  }
}

function createLimiters(limits: Limits, factor: number) {
  return {
    // The two-second window allows bursts of twice the rate.
    secret: createLimiter(2 * limits.secretPerSecond * factor, 2, byKey),
    anyPublic: createLimiter(limits.publicPerSecond * factor, 1, byIp),
    creationByIp: createLimiter(limits.paymentsPerMinutePerIp * factor, 60, byIp),
    creationByKey: createLimiter(limits.paymentsPerMinutePerKey * factor, 60, byKey),
    // Each asks a node for a whole block, and a payer has one hash to ask about.
    lookupByIp: createLimiter(10 * factor, 60, byIp),
    lookupByKey: createLimiter(60 * factor, 60, byKey),
  };
}

/** The client's IP address. IPv6 addresses of one subnet count as one, because a single client gets the whole subnet. */
function byIp(request: Request): string {
  return ipKeyGenerator(request.ip ?? '');
}

/** Supervisors and scrapers ask often, must not wait, and their replies cost nothing that a page limit would protect. */
export function isForMachines({ baseUrl, path }: Pick<Request, 'baseUrl' | 'path'>): boolean {
  return /^\/(healthz|metrics)$/.test(baseUrl + path);
}

/** The random part of the API key, which does not depend on how the header is spelled. People in the console have none. */
function byKey(request: Request): string {
  return request.headers.authorization?.trim().slice(-43) ?? byIp(request);
}

function tooMany(why: string, retryAfterSeconds: number): Problem {
  const message = `Too many requests: ${why}. Try again in ${retryAfterSeconds} s`;
  return new Problem('rate_limited', message, { retryAfterSeconds });
}

type Limiter = ReturnType<typeof createLimiter>;

function createLimiter(limit: number, windowSeconds: number, keyGenerator: (request: Request) => string) {
  const store = new MemoryStore();
  const count = rateLimit({
    store,
    windowMs: windowSeconds * 1000,
    limit,
    keyGenerator,
    standardHeaders: false,
    legacyHeaders: false,
    // Its warnings about proxies go to the console, and quote headers of the request.
    validate: false,
    handler(request, _response, next) {
      const resetTime = (request as AugmentedRequest).rateLimit?.resetTime?.getTime() ?? Date.now();
      const retryAfterSeconds = Math.max(1, Math.ceil((resetTime - Date.now()) / 1000));
      next(tooMany(`the limit is ${limit} in ${windowSeconds} s`, retryAfterSeconds));
    },
  });
  return {
    count: (request: Request, response: Response) =>
      new Promise<void>((resolve, reject) => {
        void count(request, response, (error?: unknown) => {
          if (error === undefined) resolve();
          else
            reject(
              error instanceof Error ? error : new Error('Could not count the request', { cause: error }),
            );
        });
      }),
    /** Counts a request that was let through once more. */
    charge: (request: Request) => void store.increment(keyGenerator(request)),
    /** Counts a request that was let through as if it had not come. */
    uncount: (request: Request) => void store.decrement(keyGenerator(request)),
  };
}
