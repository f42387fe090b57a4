/** `merchants …`: merchant accounts and their webhook endpoints. */
import { isoTime } from '../shared/clock.js';
import { retention, spellPeriod } from '../shared/retention.js';
import type { Merchant, MerchantChange } from '../merchants/merchants.js';
import type { Endpoint } from '../webhooks/endpoints.js';
import { command, type Group, type Output } from './command.js';
import type { CommandContext } from './context.js';
import { UsageError } from './errors.js';
import * as option from './options.js';
import { listInColumns, type Columns } from './records.js';
import type { Reader } from '../db/engine.js';
import type { Mode } from '../shared/scope.js';

const settings = {
  businessName: option.text('NAME', "name that payers see (default: the account's name)"),
  logo: option.text('URL', 'https URL of a logo that payers see'),
  supportUrl: option.text(
    'URL',
    'where payers get help: an https URL, or mailto: and an email. An empty one removes it',
  ),
  feeBasisPoints: option.integer('N', 'service fee in basis points; a new account has 100, which is 1 %', {
    max: 10_000,
  }),
  redirectOrigins: option.text(
    'LIST',
    'where payments that a page created with the public key may send the payer afterwards, such as https://shop.example,https://www.shop.example. An empty list removes it',
  ),
  booksCurrency: option.code(
    'the currency in which exports say what bookings were worth (default: USD). Exports of months that are over change with it',
  ),
  timeZone: option.text(
    'NAME',
    "the time zone in which the merchant's people see times and count days, such as Europe/Berlin (default: UTC)",
  ),
  transfers: option.oneOf(
    ['any', 'saved'],
    'where transfers may go: any address (default), or only wallet addresses that were saved more than 24 hours ago',
  ),
  dailyLimit: option.currencyAmounts(
    'the most that may be transferred of a currency within 24 hours, without fees, such as USDT=1000. Repeat it for more currencies; CODE=none removes a limit',
  ),
  dailyRefunds: option.currencyAmounts(
    'the most that may be refunded within 24 hours, written in the same way: USDT=500 of this coin, USD=500 of all coins by their value. Refunds do not count as transfers, and may go to any address',
  ),
  autoRefund: option.currencyAmounts(
    'up to how much a refund of an excess, or of unaccepted money, is approved as soon as it has an address for which the wallet that paid has signed: USD=20 for all coins by their value, USDT=20 for only this coin. Ten times as much in 24 hours, unless --daily-refunds says how much. Written in the same way (default: none)',
  ),
};

const webhook = {
  webhookUrl: option.text(
    'URL',
    'where webhooks of a mode are sent; http works only in test mode. An empty URL removes it. The first URL creates a signing secret, which is shown only once',
  ),
  mode: option.mode('the mode of the webhook: each has its own URL'),
};

export const merchantCommands: Group = {
  name: 'merchants',
  summary: 'Merchant accounts and their webhook URLs.',
  commands: {
    create: command({
      summary: 'Creates a merchant account.',
      options: {
        name: option.text('NAME', 'name of the account').required(),
        ...settings,
        ...webhook,
      },
      async run(context, { name, mode, webhookUrl, ...given }) {
        const change = accountChange(given);
        return context.database.write(async (transaction) => {
          const { accountChanges, actor } = context;
          const merchant = await accountChanges.createMerchant(transaction, { ...change, name }, actor);
          const scope = { merchantId: merchant.id, mode };
          const secret = await accountChanges.changeWebhook(transaction, scope, actor, { url: webhookUrl });
          return showMerchant(context, transaction, merchant, secret);
        });
      },
    }),
    update: command({
      summary: 'Changes the given fields.',
      details: 'A new fee applies to new payments only.',
      args: { id: option.id('the merchant, as "merchants list" shows it') },
      options: {
        name: option.text('NAME', 'name of the account'),
        ...settings,
        ...webhook,
        rotateWebhookSecret: option.flag(
          `creates a new secret for the webhooks of --mode and shows it. For another ${spellPeriod(retention.previousSecretMs)} they are signed with the old one as well`,
        ),
      },
      async run(context, { id, name, mode, webhookUrl, rotateWebhookSecret, ...given }) {
        const change = { ...accountChange(given), ...(name !== undefined && { name }) };
        const isChanged = Object.values(change).some((value) => value !== undefined);
        if (!isChanged && webhookUrl === undefined && !rotateWebhookSecret) {
          throw new UsageError('Nothing to change: give at least one option');
        }
        return context.database.write(async (transaction) => {
          const { accountChanges, merchants, actor } = context;
          const merchant = isChanged
            ? await accountChanges.updateMerchant(transaction, id, change, actor)
            : await merchants.retrieve(transaction, id);
          const scope = { merchantId: id, mode };
          const changed = { url: webhookUrl, rotateSecret: rotateWebhookSecret };
          const secret = await accountChanges.changeWebhook(transaction, scope, actor, changed);
          return showMerchant(context, transaction, merchant, secret);
        });
      },
    }),
    list: command({
      summary: 'Lists the merchant accounts, oldest first.',
      details: 'With --json it shows all their settings.',
      options: { merchant: option.merchant('only this merchant') },
      async run({ database: { reader }, merchants, endpoints }, { merchant }) {
        const accounts =
          merchant === undefined
            ? await merchants.list(reader)
            : [await merchants.retrieve(reader, merchant)];
        const allEndpoints = await endpoints.list(reader);
        const columns: Columns<Merchant> = {
          ID: ({ id }) => id,
          FEE: ({ feeBasisPoints }) => `${feeBasisPoints} bp`,
          NAME: ({ name }) => name,
        };
        const json = (account: Merchant) => merchantJson(account, allEndpoints);
        return listInColumns(accounts, json, columns, 'There are no accounts');
      },
    }),
  },
};

type GivenSettings = Omit<MerchantChange, 'redirectOrigins' | 'dailyLimits'> & {
  readonly redirectOrigins: string | undefined;
  readonly dailyLimit: MerchantChange['dailyLimits'];
};

function accountChange({ redirectOrigins, dailyLimit, ...given }: GivenSettings): MerchantChange {
  const origins = redirectOrigins?.split(/[\s,]+/).filter((origin) => origin !== '');
  return {
    ...given,
    redirectOrigins: origins?.length === 0 ? null : origins,
    dailyLimits: dailyLimit,
    booksCurrency: given.booksCurrency?.toUpperCase(),
  };
}

/** The output for a merchant that was created or updated, with the webhook secret if a new one was created. */
async function showMerchant(
  { endpoints }: CommandContext,
  reader: Reader,
  merchant: Merchant,
  secret: string | undefined,
): Promise<Output> {
  const json = {
    ...merchantJson(merchant, await endpoints.list(reader)),
    ...(secret !== undefined && { webhookSecret: secret }),
  };
  const lines = Object.entries(json).map(([name, value]) => `${name.padEnd(19)} ${show(value)}`);
  // Payers whose money needs the shop can otherwise only copy a message, and must find out where to send it.
  if (merchant.supportUrl === '') lines.push('', 'Payers have no link to your help: set --support-url.');
  return { json, text: lines.map((line) => line.trimEnd()).join('\n') };
}

/** @param allEndpoints those of other merchants too */
function merchantJson({ createdAt, updatedAt, ...merchant }: Merchant, allEndpoints: readonly Endpoint[]) {
  const endpoints = allEndpoints.filter(({ merchantId }) => merchantId === merchant.id);
  const of = (mode: Mode) => endpoints.find((endpoint) => endpoint.mode === mode);
  const disabled = endpoints.flatMap(({ mode, disabledAt }) =>
    disabledAt === null ? [] : [[mode, isoTime(disabledAt)] as const],
  );
  return {
    ...merchant,
    webhookUrls: { test: of('test')?.url ?? '', live: of('live')?.url ?? '' },
    ...(disabled.length > 0 && { webhooksDisabledAt: Object.fromEntries(disabled) }),
    createdAt: isoTime(createdAt),
    updatedAt: isoTime(updatedAt),
  };
}

function show(value: string | number | null | readonly string[] | Readonly<Record<string, string>>): string {
  if (value === null) return 'not set';
  if (Array.isArray(value)) return value.join(', ');
  if (typeof value === 'object') {
    return Object.entries(value)
      .map(([name, one]) => `${name}=${one}`)
      .join(', ');
  }
  return String(value);
}
