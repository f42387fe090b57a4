/** Turns errors into HTTP replies. This is the only place that does. */
import type { ErrorRequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import { isUnavailable } from '../db/errors.js';
import { NodesUnavailable } from '../chains/nodes-unavailable.js';
import { Problem } from '../shared/problem.js';
import { pathForLog, requestIdOf } from '../ops/request.js';
import { createRefusalLog } from '../ops/security-events.js';
import { callerOf, sendJson } from './reply.js';

const unavailable = 'The service is temporarily unavailable. Try again shortly';
const noNode = 'No node of the network can be asked right now. Try again shortly';
const internalError = 'Something went wrong on our side. Quote the request id when you report it';

type DocsUrl = (code: string) => string | undefined;

/**
 * The last Express handler: replies to any error with an error envelope, and logs the server's own errors.
 * @param docsUrl of the page that explains a code; undefined if the server has none
 */
export function createProblemHandler(log: Logger, docsUrl: DocsUrl): ErrorRequestHandler {
  const logRefusal = createRefusalLog(log);
  // Express recognizes error handlers by their four parameters.
  return (error: unknown, request, response, _next) => {
    // Don't reply to a disconnected client. Work that stopped because of the disconnect is not an error.
    if (response.destroyed && isAbort(error)) return;
    const problem = toProblem(error);
    const { ip, method } = request;
    const about = { requestId: requestIdOf(response), method, path: pathForLog(request, response) };
    logRefusal({ ...about, code: problem.code, ip });
    if (problem.status >= 500) {
      const level = problem.code === 'internal_error' ? 'error' : 'warn';
      log[level]({ ...about, err: error }, problem.code);
    }
    if (response.headersSent) {
      // The reply is already half sent. Cut the connection, so that the client does not take it for complete.
      response.destroy();
      return;
    }
    const refusal = fileRefusalOf(error);
    if (refusal) sendFileRefusal(response, refusal);
    else sendProblem(response, problem, docsUrl);
  };
}

function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (isMalformedRequest(error)) return new Problem('validation_error', 'The request is malformed');
  if (isUnavailable(error)) return new Problem('service_unavailable', unavailable, { retryAfterSeconds: 5 });
  if (error instanceof NodesUnavailable) {
    return new Problem('chain_unavailable', noNode, { retryAfterSeconds: 10 });
  }
  return new Problem('internal_error', internalError);
}

const isAbort = (error: unknown) => error instanceof Error && error.name === 'AbortError';

/**
 * Express and its file server refuse what they cannot use, such as a path that cannot be decoded, with errors of
 * their own. A client that disconnected while a file was sent, or sent something other than HTTP after its request, is no error of
 * ours either.
 */
function isMalformedRequest(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  if (error instanceof URIError || code === 'ECONNABORTED' || code.startsWith('HPE_')) return true;
  return 'expose' in error && error.expose === true;
}

interface FileRefusal {
  readonly status: 412 | 416;
  readonly contentRange: string | undefined;
}

/** The refusals of Express's file server for which HTTP has its own statuses: a file cannot be served as requested. */
function fileRefusalOf(error: unknown): FileRefusal | undefined {
  if (!(error instanceof Error && 'status' in error)) return undefined;
  const { status } = error;
  if (status !== 412 && status !== 416) return undefined;
  const headers = 'headers' in error ? (error.headers as Readonly<Record<string, string>>) : {};
  return { status, contentRange: headers['Content-Range'] };
}

/** The headers that a response already has belong to the file. */
function sendFileRefusal(response: Response, { status, contentRange }: FileRefusal): void {
  for (const name of ['Content-Encoding', 'ETag', 'Last-Modified']) response.removeHeader(name);
  if (contentRange !== undefined) response.setHeader('Content-Range', contentRange);
  const text =
    status === 416 ? 'The file does not have that range\n' : 'The file is not as the request expects it\n';
  response.status(status).set('Cache-Control', 'no-store').type('text').end(text);
}

function sendProblem(response: Response, { code, message, status, details }: Problem, docsUrl: DocsUrl) {
  const { param, errors, paymentId, retryAfterSeconds } = details;
  if (status === 401 && code !== 'session_required') response.setHeader('WWW-Authenticate', 'Bearer');
  if (status === 429 || status === 503) response.setHeader('Retry-After', String(retryAfterSeconds ?? 5));
  const data = {
    code,
    requestId: requestIdOf(response),
    docsUrl: docsUrl(code),
    param,
    errors,
    // Anybody can read a public key off a page, and one payer must not find another payer's payment.
    paymentId: callerOf(response)?.kind === 'secret' ? paymentId : undefined,
  };
  sendJson(response, status, JSON.stringify({ status: 'error', message, data }));
}
