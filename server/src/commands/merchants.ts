/** `merchants …`: accounts. */
import { isoTime } from '../clock.js';
import type { Merchant, MerchantChange } from '../merchants/merchants.js';
import { required, text, UsageError, type Answer, type Command, type Options } from './command.js';

const accountOptions = { name: text, 'business-name': text, logo: text, 'fee-basis-points': text };
const accountHelp = `  --name NAME               of the account
  --business-name NAME      what payers see (default: the name)
  --logo URL                https, shown to payers
  --fee-basis-points N      service fee, 100 is 1 % (default 100)`;

export const merchantCommands: Readonly<Record<string, Command>> = {
  'merchants create': {
    usage: 'merchants create --name NAME [--business-name NAME] [--logo URL] [--fee-basis-points N]',
    help: `Makes a merchant account.\n\n${accountHelp}`,
    options: accountOptions,
    positionals: [],
    async run({ database, merchants }, options) {
      const name = required(options, 'name');
      const account = await database.write((transaction) =>
        merchants.create(transaction, { ...accountChange(options), name }),
      );
      return showMerchant(account);
    },
  },
  'merchants update': {
    usage: 'merchants update ID [--name NAME] [--business-name NAME] [--logo URL] [--fee-basis-points N]',
    help: `Changes what is given. A new fee counts for new payments.\n\n${accountHelp}`,
    options: accountOptions,
    positionals: ['ID'],
    async run({ database, merchants }, options, [id = '']) {
      const change = accountChange(options);
      if (Object.keys(change).length === 0) throw new UsageError('Nothing to change is given');
      return showMerchant(await database.write((transaction) => merchants.update(transaction, id, change)));
    },
  },
  'merchants list': {
    usage: 'merchants list',
    help: 'Lists the merchant accounts, oldest first.',
    options: {},
    positionals: [],
    async run({ database, merchants }) {
      const accounts = await merchants.list(database.reader);
      const lines = accounts.map(({ id, name, feeBasisPoints }) => `${id}  ${feeBasisPoints} bp  ${name}`);
      return { json: accounts.map(merchantJson), text: lines.join('\n') || 'There are no accounts' };
    },
  },
};

function accountChange(options: Options): MerchantChange {
  const { name, 'business-name': businessName, logo, 'fee-basis-points': fee } = options;
  if (typeof fee === 'string' && !/^\d{1,6}$/.test(fee)) {
    throw new UsageError(`--fee-basis-points must be an integer, not "${fee}"`);
  }
  return {
    ...(typeof name === 'string' && { name }),
    ...(typeof businessName === 'string' && { businessName }),
    ...(typeof logo === 'string' && { logo }),
    ...(typeof fee === 'string' && { feeBasisPoints: Number(fee) }),
  };
}

function showMerchant(merchant: Merchant): Answer {
  const json = merchantJson(merchant);
  const lines = Object.entries(json).map(([name, value]) => `${name.padEnd(15)} ${value}`);
  return { json, text: lines.join('\n') };
}

function merchantJson({ createdAt, updatedAt, ...merchant }: Merchant) {
  return { ...merchant, createdAt: isoTime(createdAt), updatedAt: isoTime(updatedAt) };
}
