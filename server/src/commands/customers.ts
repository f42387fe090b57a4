/** `customers …`: erases a customer's personal data. */
import { command, type Group } from './command.js';
import * as option from './options.js';
import { counted } from './records.js';

export const customerCommands: Group = {
  name: 'customers',
  summary: 'Personal data of customers.',
  commands: {
    erase: command({
      summary:
        "Erases a customer's personal data for good, in both modes: email, names and phone numbers, in customers, payments, descriptions, webhook payloads and stored replies.",
      details:
        'Amounts, transactions and references stay, so the books still add up. A blacklisted customer is no longer recognized afterwards. Exports and backups that were made before still contain the data.',
      args: { email: option.text('EMAIL', "the customer's email address, in any case") },
      options: {
        merchant: option.merchant('the merchant whose customer it is').required(),
      },
      async run({ database, erasure, actor }, { email, merchant }) {
        const erased = await database.write((transaction) =>
          erasure.erase(transaction, merchant, email, actor),
        );
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
};
