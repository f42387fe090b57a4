/** `balances …`: suspends and resumes withdrawals from a merchant's balance. */
import { modeOf, required, text, type Command } from './command.js';

const options = { merchant: text, currency: text, mode: text };

function change(verb: 'suspend' | 'resume', help: string): Command {
  return {
    usage: `balances ${verb} --merchant ID --currency CODE --mode test|live`,
    help: `${help} Repeating it changes nothing.

  --merchant ID      the merchant whose balance it is
  --currency CODE    currency of the balance
  --mode test|live   the balance's mode`,
    options,
    positionals: [],
    async run({ database, merchants, balances, auditLog, actor }, given) {
      const merchantId = required(given, 'merchant');
      const scope = { merchantId, mode: modeOf(given) };
      const code = required(given, 'currency');
      const isSuspended = verb === 'suspend';
      const { code: currency } = await database.write(async (transaction) => {
        await merchants.retrieve(transaction, merchantId);
        const currency = await balances[verb](transaction, scope, code);
        const action = isSuspended ? 'balance.suspended' : 'balance.resumed';
        const after = { currency: currency.code, isSuspended };
        await auditLog.record(transaction, { ...scope, actor, action, subjectId: currency.code, after });
        return currency;
      });
      return {
        json: { ...scope, currency, isSuspended },
        text: `The ${scope.mode} balance in ${currency} is ${isSuspended ? 'suspended' : 'active'}`,
      };
    },
  };
}

export const balanceCommands: Readonly<Record<string, Command>> = {
  'balances suspend': change(
    'suspend',
    'Blocks new transfers and payouts from a balance. Those already accepted continue.',
  ),
  'balances resume': change('resume', 'Allows transfers and payouts from a balance again.'),
};
