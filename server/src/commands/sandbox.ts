/** `sandbox …`: wipes a merchant's test data. */
import { text, required, UsageError, type Command } from './command.js';

export const sandboxCommands: Readonly<Record<string, Command>> = {
  'sandbox reset': {
    usage: 'sandbox reset --merchant ID --yes',
    help: `Deletes all test data of a merchant, and puts its test clock back to the real time.
Its payments, customers, wallets, plans, transfers, balances and webhook events of test mode are gone for good. Its
account, its keys, its webhook URL and everything of live mode stay. Other merchants notice nothing.

Stop using the merchant's test keys meanwhile. If the command is interrupted, run it again.

  --merchant ID  the merchant, as "merchants list" shows it
  --yes          confirms it; without it, nothing is deleted`,
    options: { merchant: text, yes: { type: 'boolean' } },
    positionals: [],
    async run({ database, merchants, sandboxReset, auditLog, actor }, options) {
      const merchantId = required(options, 'merchant');
      const { name } = await merchants.retrieve(database.reader, merchantId);
      if (options['yes'] !== true) {
        throw new UsageError(`This deletes all test data of ${name} (${merchantId}). Add --yes to do it`);
      }
      const deleted = await sandboxReset(merchantId);
      await database.write((transaction) =>
        auditLog.record(transaction, {
          ...{ merchantId, mode: 'test', actor, action: 'sandbox.reset', subjectId: merchantId },
          after: { deleted },
        }),
      );
      const lines = Object.entries(deleted).map(
        ([table, count]) => `  ${String(count).padStart(8)}  ${table}`,
      );
      return {
        json: { merchantId, deleted },
        text: [`Deleted the test data of ${name} (${merchantId})`, ...lines].join('\n'),
      };
    },
  },
};
