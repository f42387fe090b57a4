/** `balances …`: suspends and resumes withdrawals from a merchant's balance. */
import { command, type Command, type Group } from './command.js';
import * as option from './options.js';

export const balanceCommands: Group = {
  name: 'balances',
  summary: "Withdrawals from a merchant's balance, suspended and resumed.",
  commands: [
    change(
      'suspend',
      'Blocks new transfers and payouts from a balance.',
      'Those already accepted continue. ',
    ),
    change('resume', 'Allows transfers and payouts from a balance again.'),
  ],
};

function change(name: 'suspend' | 'resume', summary: string, details = ''): Command {
  const isSuspended = name === 'suspend';
  return command({
    name,
    summary,
    details: `${details}Repeating it changes nothing.`,
    options: {
      merchant: option.merchant('the merchant whose balance it is').required(),
      currency: option.code('currency of the balance').required(),
      mode: option.mode("the balance's mode"),
    },
    async run({ database, balances, auditLog, actor }, { merchant: merchantId, mode, currency: given }) {
      const scope = { merchantId, mode };
      const currency = await database.write(async (transaction) => {
        const { code } = await balances[name](transaction, scope, given);
        const action = isSuspended ? 'balance.suspended' : 'balance.resumed';
        const after = { currency: code, isSuspended };
        await auditLog.record(transaction, { ...scope, actor, action, subjectId: code, after });
        return code;
      });
      return {
        json: { ...scope, currency, isSuspended },
        text: `The ${mode} balance in ${currency} is ${isSuspended ? 'suspended' : 'active'}`,
      };
    },
  });
}
