/** `balances …`: shows a merchant's balances, and suspends and resumes withdrawals from one. */
import { decimalOf, type CoreApi, type Data } from 'crypto-checkout/contract';
import { command, type Command, type Group } from './command.js';
import * as option from './options.js';
import { listInColumns, type Columns } from './records.js';

export const balanceCommands: Group = {
  name: 'balances',
  summary: "A merchant's balances.",
  commands: {
    list: command({
      summary: "Lists a merchant's balances as the API does, and on which networks the coins are held.",
      options: {
        merchant: option.merchant('the merchant').required(),
        mode: option.mode('the mode of the balances'),
      },
      async run({ balances }, { merchant: merchantId, mode }) {
        const listed = await balances.list({ merchantId, mode });
        return listInColumns(listed, (balance) => balance, columns, 'There are no balances');
      },
    }),
    suspend: change(
      'suspend',
      'Blocks new transfers and payouts from a balance.',
      'Those already accepted continue. ',
    ),
    resume: change('resume', 'Allows transfers and payouts from a balance again.'),
  },
};

const columns: Columns<Data<CoreApi['balances']['list']>[number]> = {
  CURRENCY: ({ currency }) => currency,
  AVAILABLE: ({ availableBalance }) => decimalOf(availableBalance),
  TOTAL: ({ totalBalance }) => decimalOf(totalBalance),
  HELD: ({ networks = [] }) =>
    networks.map(({ network, amount }) => `${decimalOf(amount)} on ${network}`).join(', ') || '-',
  STATE: ({ isSuspended }) => (isSuspended ? 'suspended' : 'active'),
};

function change(name: 'suspend' | 'resume', summary: string, details = ''): Command {
  const isSuspended = name === 'suspend';
  return command({
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
