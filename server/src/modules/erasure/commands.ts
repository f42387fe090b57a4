/** `customers …`: erases a customer's personal data. `data-key …`: the key that encrypts it and webhook secrets in the database. */
import { command, type Group } from '../../core/commands/command.js';
import type { CommandContext } from '../../core/commands/context.js';
import { UsageError } from '../../core/commands/errors.js';
import * as option from '../../core/commands/options.js';
import { counted } from '../../core/commands/records.js';
import { findLeftTables } from '../../core/db/removed-modules.js';
import { forgetOtherDataKeys } from '../../core/db/used-data-keys.js';
import type { Erasure } from './erasure.js';
import { rotatePersonalData } from './rotate-data-key.js';

/** @param rules finds the rules of a running command */
export const customerCommands = (rules: (context: CommandContext) => Erasure): Group => ({
  name: 'customers',
  summary: 'Personal data of customers.',
  commands: {
    erase: command({
      summary:
        "Erases a customer's personal data for good, in both modes: email, names and phone numbers, in customers, payments, descriptions, webhook payloads and stored replies.",
      details:
        'Amounts, transactions and references stay, so the books still add up. A blacklisted customer is no longer recognized afterwards. Exports and backups that were made before still contain the data. The audit log records the erasure.',
      args: { email: option.text('EMAIL', "the customer's email address, in any case") },
      options: {
        merchant: option.merchant('the merchant whose customer it is').required(),
      },
      async run(context, { email, merchant }) {
        const { database, actor } = context;
        const { erase } = rules(context);
        const erased = await database.write((transaction) => erase(transaction, merchant, email, actor));
        const { customers, payments, webhooks, storedReplies, replacedBy } = erased;
        const parts = [
          counted(customers, 'customer'),
          counted(payments, 'payment'),
          counted(webhooks, 'webhook'),
        ];
        const replies = counted(storedReplies, 'stored reply', 'stored replies');
        return {
          json: erased,
          text: `Erased: ${parts.join(', ')} and ${replies}. The email is now ${replacedBy}`,
        };
      },
    }),
  },
});

export const dataKeyCommands: Group = {
  name: 'data-key',
  summary: "The key that encrypts webhook secrets and payers' data in the database.",
  commands: {
    rotate: command({
      summary: "Encrypts all webhook secrets and payers' data with the first key in DATA_KEY_FILE.",
      details:
        'Also those that were stored before there was a key. The servers run meanwhile, and all of them need both keys in the file until it is done: docs/operations.md says in which order. If the command is interrupted, run it again: it continues where it stopped.',
      async run({ database, endpoints, dataKeys, personalData, progress }) {
        const key = dataKeys.current;
        if (key === undefined)
          throw new UsageError('DATA_KEY_FILE is not set: there is no key to encrypt with');
        const changed = await endpoints.rotateDataKey(database, (done, of) => {
          if (done % 100 === 0) progress(`${done} of ${of} endpoints`);
        });
        const values = await rotatePersonalData(database, personalData, (table, rows) => {
          if (rows % 10_000 === 0) progress(`${rows} rows of ${table}`);
        });
        const left = await findLeftTables(database.reader);
        // Values of removed modules may still be under the other keys.
        if (left.length === 0) await forgetOtherDataKeys(database, key);
        const kept =
          left.length === 0
            ? ''
            : `. Keep the other keys: tables of modules that this server does not have were left out (${left.join(', ')})`;
        const before = `The secrets of ${counted(changed, 'endpoint')} and ${counted(values, 'value')} of payers' data`;
        return {
          json: { key, changed, values, ...(left.length > 0 && { left }) },
          text: `All webhook secrets and payers' data are encrypted with the key ${key}. ${before} were not before${kept}`,
        };
      },
    }),
  },
};
