/** `balances …`: suspends and resumes withdrawals from a merchant's balance. */
import { modeOf, required, text, type Command } from './command.js';

const options = { merchant: text, currency: text, mode: text };

function change(verb: 'suspend' | 'resume', help: string): Command {
  return {
    usage: `balances ${verb} --merchant ID --currency CODE [--mode test|live]`,
    help: `${help} Repeating it changes nothing.\n\n  --mode test|live          (default live)`,
    options,
    positionals: [],
    async run({ database, merchants, balances }, given) {
      const merchantId = required(given, 'merchant');
      const scope = { merchantId, mode: modeOf(given) };
      const code = required(given, 'currency');
      const { code: currency } = await database.write(async (transaction) => {
        await merchants.retrieve(transaction, merchantId);
        return balances[verb](transaction, scope, code);
      });
      const isSuspended = verb === 'suspend';
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
