/** The one place where an error becomes HTTP. */
import type { ErrorRequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import { isUnavailable } from '../db/errors.js';
import { Problem } from '../shared/problem.js';
import { pathForLog, requestIdOf } from '../ops/request.js';
import { callerOf, sendJson } from './reply.js';

const unavailable = 'The service is not available right now; try again shortly';
const broken = 'Something went wrong on our side; the request id helps to find out what';

/** Express's last handler: answers any error in the envelope, and logs those that are ours. */
export function createProblemHandler(log: Logger): ErrorRequestHandler {
  // Express knows an error handler by its four parameters.
  return (error: unknown, request, response, _next) => {
    const problem = toProblem(error);
    if (problem.status >= 500) {
      const level = problem.code === 'internal_error' ? 'error' : 'warn';
      log[level](
        {
          requestId: requestIdOf(response),
          method: request.method,
          path: pathForLog(request, response),
          err: error,
        },
        problem.code,
      );
    }
    if (response.headersSent) {
      // Half an answer cannot be mended: the client must see that it is broken.
      response.destroy();
      return;
    }
    sendProblem(response, problem);
  };
}

function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (isUnavailable(error)) return new Problem('service_unavailable', unavailable, { retryAfterSeconds: 5 });
  return new Problem('internal_error', broken);
}

function sendProblem(response: Response, { code, message, status, details }: Problem): void {
  const { param, errors, paymentId, retryAfterSeconds } = details;
  if (status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
  if (status === 429 || status === 503) response.setHeader('Retry-After', String(retryAfterSeconds ?? 5));
  const isSecret = callerOf(response)?.kind === 'secret';
  const data = {
    code,
    requestId: requestIdOf(response),
    ...(param !== undefined && { param }),
    ...(errors !== undefined && { errors }),
    // Whoever holds the public key is anybody: the page of one payer must not find the payment of another.
    ...(isSecret && paymentId !== undefined && { paymentId }),
  };
  sendJson(response, status, JSON.stringify({ status: 'error', message, data }));
}
