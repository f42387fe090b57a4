/** `audit …`: shows who changed keys, webhooks, settings and destinations of money. */
import { auditLogQuery } from 'crypto-checkout/contract';
import type { AuditCheck } from '../merchants/audit-chain.js';
import type { AuditEntry } from '../merchants/audit-log.js';
import { command, type Group } from './command.js';
import * as option from './options.js';
import { listCommand } from './read-commands.js';
import { counted } from './records.js';

export const auditCommands: Group = {
  name: 'audit',
  summary: 'The audit log.',
  commands: {
    list: listCommand(auditLogQuery, {
      summary:
        'Lists the audit log, oldest entry first: who changed what, when, and the values before and after.',
      details:
        'The log covers keys, webhooks, merchant settings, wallet addresses, suspended balances, sandbox resets, and transfers and payouts that were settled by hand. Where people can sign in, it has their sign-ins and all that they change. The database refuses to change it, "audit check" shows whether it was changed anyway, and it contains no secret.',
      what: 'entries',
      rows: ({ database, auditLog }, filter) => auditLog.list(database.reader, filter),
      line: entryText,
    }),
    check: command({
      summary: 'Checks that no entry was changed, added or removed past the server.',
      details: `Each entry holds a hash of itself and of the entry before. Prints how many entries there are and the hash of the last one, or the first entry that is wrong, and exits with 1.

A person who can write to the database could compute all hashes again, or cut off the end. Store the last hash elsewhere from time to time: the log line of each entry has it too. With --noted, the check fails unless an entry still has that hash.`,
      options: {
        noted: option.text('HASH', 'a hash from an earlier check or a log line'),
      },
      async run({ database, auditLog }, { noted }) {
        const check = await database.snapshot((reader) => auditLog.check(reader, noted?.trim()));
        return { json: check, text: checkText(check), hasFailed: check.broken !== null };
      },
    }),
  },
};

function checkText({ entries, lastHash, broken }: AuditCheck): string {
  const count = counted(entries, 'entry', 'entries');
  if (broken === null) return `${count}, unbroken. The last hash: ${lastHash === '' ? 'none' : lastHash}`;
  const where = broken.entry === null ? 'The end of the log' : `Entry ${broken.entry}`;
  return `${where} is wrong. ${broken.reason}. ${count} before it ${entries === 1 ? 'is' : 'are'} unbroken`;
}

function entryText({ time, merchantId, mode, actor, action, subjectId, before, after }: AuditEntry): string {
  const where = mode === null ? merchantId : `${merchantId} ${mode}`;
  const change = [before, after].filter((fields) => fields !== null).map((fields) => JSON.stringify(fields));
  return `${time}  ${action}  ${subjectId}  of ${where}  by ${actor}\n    ${change.join(' -> ')}`;
}
