/** Rate limits. Each process counts its own requests, so behind a load balancer the limits apply per replica. */
import { api, type Endpoint } from 'crypto-checkout/contract';
import type { Request, Response } from 'express';
import { ipKeyGenerator, MemoryStore, rateLimit, type AugmentedRequest } from 'express-rate-limit';
import type { Limits } from '../config.js';
import { Problem } from '../shared/problem.js';
import type { Caller } from '../shared/scope.js';

/** The limits of a caller. */
export interface CallerLimits {
  /** Counts a request. Problem: `rate_limited`. */
  check(request: Request, response: Response, caller: Caller, endpoint: Endpoint | undefined): Promise<void>;
  /** Counts a long reply to a public key as more than one request: what it costs grows with its length. */
  charge(request: Request, caller: Caller, bytes: number): void;
}

/** Each time a reply has so many bytes, it costs as much as one more request. */
const bytesPerRequest = 16_384;

/** Limits per IP address that need no key. Each counts a request, and rejects with the problem `rate_limited`. */
export interface IpLimits {
  /** Any request. */
  readonly anyRequest: CountRequest;
  /** A request with a key that does not exist. */
  readonly failedKey: CountRequest;
  /** Pages, files, the demo shop and `/readyz`. */
  readonly page: CountRequest;
}

type CountRequest = (request: Request, response: Response) => Promise<void>;

export function createLimits(limits: Limits): CallerLimits {
  const byMode = { live: createLimiters(limits, 1), test: createLimiters(limits, limits.testFactor) };
  return {
    async check(request, response, caller, endpoint) {
      const { secret, anyPublic, creationByIp, creationByKey } = byMode[caller.mode];
      if (caller.kind === 'secret') return secret.count(request, response);
      await anyPublic.count(request, response);
      if (endpoint !== api.payments.create) return;
      await creationByIp.count(request, response);
      await creationByKey.count(request, response);
    },
    charge(request, { kind, mode }, bytes) {
      if (kind === 'secret') return;
      for (let more = bytesPerRequest; more <= bytes; more += bytesPerRequest) {
        byMode[mode].anyPublic.charge(request);
      }
    },
  };
}

export function createIpLimits(limits: Limits): IpLimits {
  return {
    anyRequest: createLimiter(limits.requestsPerSecondPerIp, 1, byIp).count,
    failedKey: createLimiter(limits.failedKeysPerSecondPerIp, 1, byIp).count,
    page: createLimiter(limits.pagesPerSecondPerIp, 1, byIp).count,
  };
}

function createLimiters(limits: Limits, factor: number) {
  return {
    // The two-second window allows bursts of twice the rate.
    secret: createLimiter(2 * limits.secretPerSecond * factor, 2, byKey),
    anyPublic: createLimiter(limits.publicPerSecond * factor, 1, byIp),
    creationByIp: createLimiter(limits.paymentsPerMinutePerIp * factor, 60, byIp),
    creationByKey: createLimiter(limits.paymentsPerMinutePerKey * factor, 60, byKey),
  };
}

/** The client's IP address. IPv6 addresses of one subnet count as one, because a single client gets the whole subnet. */
function byIp(request: Request): string {
  return ipKeyGenerator(request.ip ?? '');
}

/** The random part of the API key, which does not depend on how the header is spelled. */
function byKey(request: Request): string {
  return request.headers.authorization?.trim().slice(-43) ?? '';
}

interface Limiter {
  readonly count: CountRequest;
  /** Counts a request that was let through once more. */
  charge(request: Request): void;
}

function createLimiter(
  limit: number,
  windowSeconds: number,
  keyGenerator: (request: Request) => string,
): Limiter {
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
      next(
        new Problem(
          'rate_limited',
          `Too many requests: the limit is ${limit} in ${windowSeconds} s. Try again in ${retryAfterSeconds} s`,
          { retryAfterSeconds },
        ),
      );
    },
  });
  return {
    count: (request, response) =>
      new Promise((resolve, reject) => {
        void count(request, response, (error?: unknown) => {
          if (error === undefined) resolve();
          else
            reject(
              error instanceof Error ? error : new Error('Could not count the request', { cause: error }),
            );
        });
      }),
    charge: (request) => void store.increment(keyGenerator(request)),
  };
}
