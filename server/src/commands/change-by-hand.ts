/** Changes a withdrawal that an operator carries out by hand. */
import type { AuditAction, AuditFields } from '../merchants/audit-log.js';
import type { Transaction } from '../db/engine.js';
import { scopeOf, type Mode } from '../shared/scope.js';
import type { Output } from './command.js';
import type { CommandContext } from './context.js';
import { showRecord } from './records.js';

/** A transfer or a payout, as it is stored. */
interface Withdrawal {
  readonly merchant_id: string;
  readonly mode: Mode;
}

interface Kind<Row extends Withdrawal> {
  find(context: CommandContext, transaction: Transaction, id: string): Promise<Row | undefined>;
  /** What the audit log shows of it, before and after. */
  facts(row: Row): AuditFields;
  json(row: Row): Readonly<Record<string, unknown>>;
}

/**
 * Makes the function that changes one kind of withdrawals, records who did it, and shows the result. Repeating a change
 * records nothing. Its `remarks` are what the audit log says about the change itself.
 */
export function changingByHand<Row extends Withdrawal>({ find, facts, json }: Kind<Row>) {
  return async (
    context: CommandContext,
    id: string,
    action: AuditAction,
    change: (transaction: Transaction) => Promise<Row>,
    remarks: AuditFields = {},
  ): Promise<Output> => {
    const { database, auditLog, actor } = context;
    const changed = await database.write(async (transaction) => {
      const former = await find(context, transaction, id);
      const row = await change(transaction);
      await auditLog.record(transaction, {
        ...{ ...scopeOf(row), actor, action, subjectId: id },
        before: former && facts(former),
        after: { ...facts(row), ...remarks },
      });
      return row;
    });
    return showRecord(json(changed));
  };
}
