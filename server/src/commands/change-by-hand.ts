/** Changes a withdrawal that an operator carries out by hand, and shows a record. */
import type { AuditAction, AuditFields } from '../merchants/audit-log.js';
import type { Transaction } from '../db/engine.js';
import type { Mode } from '../shared/scope.js';
import type { Output } from './command.js';
import type { CommandContext } from './context.js';

/** A transfer or a payout, as it is stored. */
interface Withdrawal {
  readonly merchant_id: string;
  readonly mode: Mode;
}

interface ChangeByHand<Row extends Withdrawal> {
  readonly id: string;
  readonly action: AuditAction;
  find(transaction: Transaction): Promise<Row | undefined>;
  change(transaction: Transaction): Promise<Row>;
  /** What the audit log shows of it, before and after. */
  facts(row: Row): AuditFields;
  /** What the audit log says about the change itself. */
  readonly remarks?: AuditFields;
}

/** Changes a withdrawal, and records who did it. Repeating a change records nothing. */
export function changeByHand<Row extends Withdrawal>(
  { database, auditLog, actor }: CommandContext,
  { id, action, find, change, facts, remarks }: ChangeByHand<Row>,
): Promise<Row> {
  return database.write(async (transaction) => {
    const former = await find(transaction);
    const changed = await change(transaction);
    await auditLog.record(transaction, {
      merchantId: changed.merchant_id,
      mode: changed.mode,
      actor,
      action,
      subjectId: id,
      before: former && facts(former),
      after: { ...facts(changed), ...remarks },
    });
    return changed;
  });
}

/** A record with one field on each line. */
export function showRecord(json: Readonly<Record<string, unknown>>): Output {
  const lines = Object.entries(json).map(([name, value]) => `${name.padEnd(15)} ${String(value)}`);
  return { json, text: lines.join('\n') };
}
