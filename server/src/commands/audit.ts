/** `audit …`: shows who changed keys, webhooks, settings and destinations of money. */
import { isoTime } from '../shared/clock.js';
import type { AuditEntry } from '../merchants/audit-log.js';
import { optional, rangeHelp, rangeOf, text, type Command } from './command.js';

export const auditCommands: Readonly<Record<string, Command>> = {
  'audit list': {
    usage: 'audit list [--merchant ID] [--from DATE] [--to DATE]',
    help: `Lists the audit log, oldest entry first: who changed what, when, and the values before and after. The log covers keys, webhooks, merchant settings, wallet addresses, suspended balances, erased customers, sandbox resets, and transfers and payouts that were settled by hand. It cannot be changed, and it contains no secret.

  --merchant ID   only entries of this merchant
${rangeHelp}`,
    options: { merchant: text, from: text, to: text },
    positionals: [],
    async run({ database, auditLog, merchants }, options) {
      const merchant = optional(options, 'merchant');
      if (merchant !== undefined) await merchants.retrieve(database.reader, merchant);
      const filter = { merchantId: merchant, ...rangeOf(options) };
      const entries = await auditLog.list(database.reader, filter);
      return {
        json: entries.map((entry) => ({ ...entry, time: isoTime(entry.time) })),
        text: entries.map(entryText).join('\n') || 'There are no entries',
      };
    },
  },
};

function entryText({ time, merchantId, mode, actor, action, subjectId, before, after }: AuditEntry): string {
  const where = mode === null ? merchantId : `${merchantId} ${mode}`;
  const change = [before, after].filter((fields) => fields !== null).map((fields) => JSON.stringify(fields));
  return `${isoTime(time)}  ${action}  ${subjectId}  of ${where}  by ${actor}\n    ${change.join(' -> ')}`;
}
