/** How many requests a caller may make. Counted in this process: behind a balancer, each replica counts its own. */
import { api, type Endpoint } from 'crypto-checkout/contract';
import type { Request, Response } from 'express';
import { ipKeyGenerator, rateLimit, type AugmentedRequest } from 'express-rate-limit';
import type { Limits } from '../config.js';
import { Problem } from '../shared/problem.js';
import type { Caller } from '../shared/scope.js';

/** Counts a request. Problem: `rate_limited`. */
export type CheckLimits = (
  request: Request,
  response: Response,
  caller: Caller,
  endpoint: Endpoint | undefined,
) => Promise<void>;

type Limiter = (request: Request, response: Response) => Promise<void>;

export function createLimits(limits: Limits): CheckLimits {
  const byMode = { live: multiplied(limits, 1), test: multiplied(limits, limits.testFactor) };
  return async (request, response, caller, endpoint) => {
    const { secret, anyPublic, creationByIp, creationByKey } = byMode[caller.mode];
    if (caller.kind === 'secret') return secret(request, response);
    await anyPublic(request, response);
    if (endpoint !== api.payments.create) return;
    await creationByIp(request, response);
    await creationByKey(request, response);
  };
}

function multiplied(limits: Limits, factor: number) {
  return {
    // Counting over two seconds lets a burst of twice the rate through.
    secret: limiter(2 * limits.secretPerSecond * factor, 2, byKey),
    anyPublic: limiter(limits.publicPerSecond * factor, 1, byIp),
    creationByIp: limiter(limits.paymentsPerMinutePerIp * factor, 60, byIp),
    creationByKey: limiter(limits.paymentsPerMinutePerKey * factor, 60, byKey),
  };
}

/** An IPv6 customer has a whole network, so all its addresses count as one. */
function byIp(request: Request): string {
  return ipKeyGenerator(request.ip ?? '');
}

/** The random part of the key, however the header around it is written. */
function byKey(request: Request): string {
  return request.headers.authorization?.trim().slice(-43) ?? '';
}

function limiter(limit: number, windowSeconds: number, keyGenerator: (request: Request) => string): Limiter {
  const count = rateLimit({
    windowMs: windowSeconds * 1000,
    limit,
    keyGenerator,
    standardHeaders: false,
    legacyHeaders: false,
    handler(request, _response, next) {
      const resetTime = (request as AugmentedRequest).rateLimit?.resetTime?.getTime() ?? Date.now();
      const retryAfterSeconds = Math.max(1, Math.ceil((resetTime - Date.now()) / 1000));
      next(
        new Problem('rate_limited', `Too many requests: at most ${limit} in ${windowSeconds} s`, {
          retryAfterSeconds,
        }),
      );
    },
  });
  return (request, response) =>
    new Promise((resolve, reject) => {
      void count(request, response, (error?: unknown) => {
        if (error === undefined) resolve();
        else
          reject(
            error instanceof Error ? error : new Error('The request could not be counted', { cause: error }),
          );
      });
    });
}
