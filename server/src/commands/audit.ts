/** `audit …`: shows who changed keys, webhooks, settings and destinations of money. */
import { isoTime } from '../shared/clock.js';
import type { AuditEntry } from '../merchants/audit-log.js';
import { command, type Group } from './command.js';
import * as option from './options.js';
import { listRecords } from './records.js';

export const auditCommands: Group = {
  name: 'audit',
  summary: 'The audit log.',
  commands: [
    command({
      name: 'list',
      summary:
        'Lists the audit log, oldest entry first: who changed what, when, and the values before and after.',
      details:
        'The log covers keys, webhooks, merchant settings, wallet addresses, suspended balances, erased customers, sandbox resets, and transfers and payouts that were settled by hand. It cannot be changed, and it contains no secret.',
      options: {
        merchant: option.merchant('only entries of this merchant'),
        ...option.range,
      },
      async run({ database, auditLog }, { merchant: merchantId, ...range }) {
        const filter = { merchantId, ...option.checkedRange(range) };
        const entries = await auditLog.list(database.reader, filter);
        return listRecords(entries, entryJson, entryText, 'There are no entries');
      },
    }),
  ],
};

const entryJson = (entry: AuditEntry) => ({ ...entry, time: isoTime(entry.time) });

function entryText({ time, merchantId, mode, actor, action, subjectId, before, after }: AuditEntry): string {
  const where = mode === null ? merchantId : `${merchantId} ${mode}`;
  const change = [before, after].filter((fields) => fields !== null).map((fields) => JSON.stringify(fields));
  return `${isoTime(time)}  ${action}  ${subjectId}  of ${where}  by ${actor}\n    ${change.join(' -> ')}`;
}
