/** `balances …`: whether money may leave a merchant's balance. */
import { modeOf, required, text, type Command } from './command.js';

const options = { merchant: text, currency: text, mode: text };

function change(verb: 'suspend' | 'resume', help: string): Command {
  return {
    usage: `balances ${verb} --merchant ID --currency CODE [--mode test|live]`,
    help: `${help} Again changes nothing.\n\n  --mode test|live          (default live)`,
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
        text: `The ${scope.mode} balance in ${currency} is ${isSuspended ? 'suspended' : 'not suspended'}`,
      };
    },
  };
}

export const balanceCommands: Readonly<Record<string, Command>> = {
  'balances suspend': change(
    'suspend',
    'Lets no transfer or payout be made from a balance. What was accepted before goes on.',
  ),
  'balances resume': change('resume', 'Lets transfers and payouts be made from a balance again.'),
};
