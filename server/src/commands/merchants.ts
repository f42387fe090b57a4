/** `merchants …`: merchant accounts and their webhook endpoints. */
import { isoTime } from '../shared/clock.js';
import type { Merchant, MerchantChange } from '../merchants/merchants.js';
import type { Endpoint } from '../webhooks/endpoints.js';
import {
  required,
  text,
  UsageError,
  type Command,
  type CommandContext,
  type Options,
  type Output,
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
const accountHelp = `  --name NAME               name of the account
  --business-name NAME      name that payers see (default: the account's name)
  --logo URL                https URL of a logo that payers see
  --fee-basis-points N      service fee in basis points; 100 is 1 % (default 100)
  --webhook-url URL         where webhooks are sent, in test and live mode; http works only in
                            test mode. An empty URL removes it. The first URL creates a signing
                            secret, which is shown only once`;

export const merchantCommands: Readonly<Record<string, Command>> = {
  'merchants create': {
    usage: `merchants create --name NAME ${accountUsage}`,
    help: `Creates a merchant account.\n\n${accountHelp}`,
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
    help: `Changes the given fields. A new fee applies to new payments only.\n\n${accountHelp}
  --rotate-webhook-secret   creates a new secret and shows it. For another 24 hours webhooks are
                            signed with the former one as well`,
    options: { ...accountOptions, 'rotate-webhook-secret': { type: 'boolean' } },
    positionals: ['ID'],
    async run(context, options, [id = '']) {
      if (Object.keys(options).every((name) => name === 'json')) {
        throw new UsageError('Nothing to change: give at least one option');
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
      const endpointOf = new Map(
        (await endpoints.list(database.reader)).map((endpoint) => [endpoint.merchantId, endpoint]),
      );
      const lines = accounts.map(({ id, name, feeBasisPoints }) => `${id}  ${feeBasisPoints} bp  ${name}`);
      return {
        json: accounts.map((account) => merchantJson(account, endpointOf.get(account.id))),
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

/** The output for a merchant that was created or updated, with the webhook secret if a new one was created. */
async function showMerchant(
  { endpoints }: CommandContext,
  transaction: Transaction,
  merchant: Merchant,
  options: Options,
): Promise<Output> {
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
