/** Sessions of people in HTTP, as the API asks about them. A module begins and ends them: without one, only a key names a caller. */
import type { Request, Response } from 'express';
import type { AuditAction } from '../merchants/audit-log.js';
import { Problem } from '../shared/problem.js';
import type { PersonCaller, Visitor } from '../shared/scope.js';

export interface Sessions {
  /** The audit action of a person's change that records nothing more specific. */
  readonly auditAction: AuditAction;
  /** The token that a request sends. */
  tokenOf(request: Request): string | undefined;
  /** Refuses requests from pages of other sites. Problem: `origin_not_allowed`. */
  checkOrigin(request: Request): void;
  /** Gives the browser a token with the reply, or takes away the one that it has. */
  send(response: Response, token: string | undefined): void;
  visitorOf(request: Request, response: Response): Visitor;
  /**
   * Finds the sender of a token. Problems: `origin_not_allowed`, `session_required`.
   * @param isOfBothModes true if the request need not name a mode
   */
  identify(
    request: Request,
    response: Response,
    token: string,
    isOfBothModes: boolean,
  ): Promise<PersonCaller>;
}

export function sessionRequired(message = 'Sign in first'): Problem {
  return new Problem('session_required', message);
}
