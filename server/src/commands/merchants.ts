/** `merchants …`: accounts, and where they are told of events. */
import { isoTime } from '../shared/clock.js';
import type { Merchant, MerchantChange } from '../merchants/merchants.js';
import type { Endpoint } from '../webhooks/endpoints.js';
import {
  required,
  text,
  UsageError,
  type Answer,
  type Command,
  type Options,
  type CommandContext,
} from './command.js';
import type { Transaction } from '../db/engine.js';

const accountOptions = {
  name: text,
  'business-name': text,
  logo: text,
  'fee-basis-points': text,
  'webhook-url': text,
};
const accountUsage = '[--business-name NAME] [--logo URL] [--fee-basis-points N] [--webhook-url URL]';
const accountHelp = `  --name NAME               of the account
  --business-name NAME      what payers see (default: the name)
  --logo URL                https, shown to payers
  --fee-basis-points N      service fee, 100 is 1 % (default 100)
  --webhook-url URL         where events are sent, in test and in live mode; http is for test
                            mode alone. Empty removes it. The secret that signs is made with
                            the first URL and shown this once`;

export const merchantCommands: Readonly<Record<string, Command>> = {
  'merchants create': {
    usage: `merchants create --name NAME ${accountUsage}`,
    help: `Makes a merchant account.\n\n${accountHelp}`,
    options: accountOptions,
    positionals: [],
    async run(context, options) {
      const name = required(options, 'name');
      return context.database.write(async (transaction) => {
        const merchant = await context.merchants.create(transaction, { ...accountChange(options), name });
        return showMerchant(context, transaction, merchant, options);
      });
    },
  },
  'merchants update': {
    usage: `merchants update ID [--name NAME] ${accountUsage} [--rotate-webhook-secret]`,
    help: `Changes what is given. A new fee counts for new payments.\n\n${accountHelp}
  --rotate-webhook-secret   makes a new secret and shows it; the former one signs beside it
                            for another 24 hours`,
    options: { ...accountOptions, 'rotate-webhook-secret': { type: 'boolean' } },
    positionals: ['ID'],
    async run(context, options, [id = '']) {
      if (Object.keys(options).every((name) => name === 'json')) {
        throw new UsageError('Nothing to change is given');
      }
      const change = accountChange(options);
      return context.database.write(async (transaction) => {
        const merchant =
          Object.keys(change).length === 0
            ? await context.merchants.retrieve(transaction, id)
            : await context.merchants.update(transaction, id, change);
        return showMerchant(context, transaction, merchant, options);
      });
    },
  },
  'merchants list': {
    usage: 'merchants list',
    help: 'Lists the merchant accounts, oldest first.',
    options: {},
    positionals: [],
    async run({ database, merchants, endpoints }) {
      const accounts = await merchants.list(database.reader);
      const all = new Map((await endpoints.list(database.reader)).map((one) => [one.merchantId, one]));
      const lines = accounts.map(({ id, name, feeBasisPoints }) => `${id}  ${feeBasisPoints} bp  ${name}`);
      return {
        json: accounts.map((account) => merchantJson(account, all.get(account.id))),
        text: lines.join('\n') || 'There are no accounts',
      };
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

/** What is said of a merchant that was changed, with the secret if one is made now. */
async function showMerchant(
  { endpoints }: CommandContext,
  transaction: Transaction,
  merchant: Merchant,
  options: Options,
): Promise<Answer> {
  const { 'webhook-url': url, 'rotate-webhook-secret': isRotated } = options;
  let secret = typeof url === 'string' ? await endpoints.set(transaction, merchant.id, url) : undefined;
  if (isRotated === true && secret === undefined) {
    secret = await endpoints.rotateSecret(transaction, merchant.id);
  }
  const endpoint = await endpoints.find(transaction, merchant.id);
  const json = {
    ...merchantJson(merchant, endpoint),
    ...(secret !== undefined && { webhookSecret: secret }),
  };
  const lines = Object.entries(json).map(([name, value]) => `${name.padEnd(17)} ${value}`);
  return { json, text: lines.join('\n') };
}

function merchantJson({ createdAt, updatedAt, ...merchant }: Merchant, endpoint: Endpoint | undefined) {
  return {
    ...merchant,
    webhookUrl: endpoint?.url ?? '',
    ...(typeof endpoint?.disabledAt === 'number' && { webhookDisabledAt: isoTime(endpoint.disabledAt) }),
    createdAt: isoTime(createdAt),
    updatedAt: isoTime(updatedAt),
  };
}
