/** `sandbox …`: wipes a merchant's test data. */
import { command, type Group } from './command.js';
import { UsageError } from './errors.js';
import * as option from './options.js';

export const sandboxCommands: Group = {
  name: 'sandbox',
  summary: 'Test data.',
  commands: {
    reset: command({
      summary: 'Deletes all test data of a merchant, and puts its test clock back to the real time.',
      details: `Its payments, customers, wallets, plans, transfers, balances and webhook events of test mode are gone for good. Its account, its keys, its webhook URL and everything of live mode stay. Other merchants notice nothing.

Stop using the merchant's test keys meanwhile. If the command is interrupted, run it again.`,
      options: {
        merchant: option.merchant('the merchant, as "merchants list" shows it').required(),
        yes: option.flag('confirms it; without it, nothing is deleted'),
      },
      async run({ database, merchants, sandboxReset, actor }, { merchant: merchantId, yes }) {
        const { name } = await merchants.retrieve(database.reader, merchantId);
        if (!yes) {
          throw new UsageError(`This deletes all test data of ${name} (${merchantId}). Add --yes to do it`);
        }
        const deleted = await sandboxReset(merchantId, actor);
        const lines = Object.entries(deleted).map(
          ([table, count]) => `  ${String(count).padStart(8)}  ${table}`,
        );
        return {
          json: { merchantId, deleted },
          text: [`Deleted the test data of ${name} (${merchantId})`, ...lines].join('\n'),
        };
      },
    }),
  },
};
