/** `customers …`: erases a customer's personal data. */
import { required, text, type Command } from './command.js';
import { counted } from './counted.js';

export const customerCommands: Readonly<Record<string, Command>> = {
  'customers erase': {
    usage: 'customers erase --merchant ID EMAIL',
    help: `Erases a customer's personal data for good, in both modes: email, names and phone numbers, in customers, payments, descriptions, webhook payloads and stored replies. Amounts, transactions and references stay, so the books still add up. A blacklisted customer is no longer recognized afterwards. Exports and backups that were made before still contain the data.

  EMAIL           the customer's email address, in any case
  --merchant ID   the merchant whose customer it is`,
    options: { merchant: text },
    positionals: ['EMAIL'],
    async run({ database, merchants, erasure, actor }, options, [email = '']) {
      const merchantId = required(options, 'merchant');
      const erased = await database.write(async (transaction) => {
        await merchants.retrieve(transaction, merchantId);
        return erasure.erase(transaction, merchantId, email, actor);
      });
      const { customers, payments, webhooks, storedReplies, replacedBy } = erased;
      const parts = [
        counted(customers, 'customer'),
        counted(payments, 'payment'),
        counted(webhooks, 'webhook'),
      ];
      return {
        json: erased,
        text: `Erased: ${parts.join(', ')} and ${counted(storedReplies, 'stored reply', 'stored replies')}. The email is now ${replacedBy}`,
      };
    },
  },
};
