/** Security events for the log, at `info`: refused keys, refused access and limits, and what the audit log gains. */
import type { Logger } from 'pino';
import type { RoomDeps } from '../db/room-deps.js';
import type { AuditLog } from '../merchants/audit-log.js';
import type { Feature } from '../shared/feature.js';

const refusals: Readonly<Record<string, string>> = {
  invalid_api_key: 'Wrong key',
  session_required: 'Wrong session',
  secret_key_required: 'Access refused',
  role_not_allowed: 'Access refused',
  origin_not_allowed: 'Access refused',
  customer_not_allowed: 'Access refused',
  rate_limited: 'Limit hit',
};

/** The request that a caller was refused. */
export interface Refusal {
  /** The code of the problem. */
  readonly code: string;
  readonly requestId: string;
  readonly ip: string | undefined;
  readonly method: string;
  /** Safe to log. */
  readonly path: string;
}

const windowMs = 60_000;
/** However many addresses a flood comes from, it does not fill the disk. */
const maxLines = 100;

/**
 * Logs refusals of callers: each kind once a minute for an address. The next minute's entry has the number that were
 * left out.
 */
export function createRefusalLog(log: Logger, now: () => number = () => performance.now()) {
  const logged = new Set<string>();
  let since = Number.NEGATIVE_INFINITY;
  let leftOut = 0;
  return (refusal: Refusal): void => {
    const { code, ip } = refusal;
    const message = refusals[code];
    if (message === undefined) return;
    if (now() - since >= windowMs) {
      if (leftOut > 0) log.info({ leftOut }, 'More of the same refusals were not logged');
      logged.clear();
      leftOut = 0;
      since = now();
    }
    const kind = `${code} ${String(ip)}`;
    if (logged.has(kind) || logged.size >= maxLines) {
      leftOut += 1;
      return;
    }
    logged.add(kind);
    log.info(refusal, message);
  };
}

interface AuditTrailDeps extends Pick<RoomDeps, 'database' | 'clock' | 'log'> {
  readonly auditLog: Pick<AuditLog, 'listUnnamed'>;
}

/** Transactions that run at the same time do not commit in the order of their entries' times. */
const overlapMs = 60_000;

/**
 * Logs each new entry of the audit log, whichever process made it: keys made and revoked, deposit keys, webhooks. Values are
 * left out, since they can name people. The hashes show later whether the log in the database is still the one that was logged.
 */
export const createAuditTrail = (deps: AuditTrailDeps): Feature => ({
  jobs: () => [{ name: 'audit trail', intervalMs: 2000, run: followAuditLog(deps) }],
});

/** From now on. */
function followAuditLog({ database, auditLog, clock, log }: AuditTrailDeps) {
  let from = clock.real();
  let logged = new Set<number>();
  return async (): Promise<void> => {
    const startedAt = clock.real();
    const entries = await auditLog.listUnnamed(database.reader, { from });
    for (const { id, action, actor, subjectId, merchantId, mode, hash } of entries) {
      if (!logged.has(id)) log.info({ action, actor, subjectId, merchantId, mode, hash }, 'Audit');
    }
    logged = new Set(entries.map(({ id }) => id));
    from = Math.max(from, startedAt - overlapMs);
  };
}
