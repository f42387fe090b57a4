/** `merchants …`: merchant accounts and their webhook endpoints. */
import { isoTime } from '../shared/clock.js';
import type { AuditAction, AuditFields } from '../merchants/audit-log.js';
import type { Merchant, MerchantChange } from '../merchants/merchants.js';
import type { Endpoint } from '../webhooks/endpoints.js';
import {
  modeOf,
  oneOf,
  optional,
  required,
  text,
  UsageError,
  type Command,
  type CommandContext,
  type Options,
  type Output,
} from './command.js';
import { table } from './table.js';
import type { Reader, Transaction } from '../db/engine.js';
import type { Mode } from '../shared/scope.js';

const accountOptions = {
  name: text,
  'business-name': text,
  logo: text,
  'support-url': text,
  'fee-basis-points': text,
  'redirect-origins': text,
  transfers: text,
  'daily-limit': { type: 'string', multiple: true },
  'webhook-url': text,
  mode: text,
} as const;
const accountUsage = `[--business-name NAME] [--logo URL] [--support-url URL] [--fee-basis-points N] [--redirect-origins LIST] [--transfers any|saved] [--daily-limit CODE=AMOUNT]... [--webhook-url URL] [--mode test|live]`;
const accountHelp = `  --name NAME               name of the account
  --business-name NAME      name that payers see (default: the account's name)
  --logo URL                https URL of a logo that payers see
  --support-url URL         where payers get help: an https URL, or mailto: and an email. An empty one removes it
  --fee-basis-points N      service fee in basis points; 100 is 1 % (default 100)
  --redirect-origins LIST   where payments that a page created with the public key may send the payer afterwards, such as https://shop.example,https://www.shop.example. An empty list removes it
  --transfers any|saved     where transfers may go: any address (default), or only wallet addresses that were saved more than 24 hours ago
  --daily-limit CODE=AMOUNT  the most that may be transferred of a currency within 24 hours, without fees, such as USDT=1000. Repeat it for more currencies; CODE=none removes a limit
  --webhook-url URL         where webhooks of a mode are sent; http works only in test mode. An empty URL removes it. The first URL creates a signing secret, which is shown only once
  --mode test|live          the mode of the webhook: each has its own URL (default test)`;

export const merchantCommands: Readonly<Record<string, Command>> = {
  'merchants create': {
    usage: `merchants create --name NAME ${accountUsage}`,
    help: `Creates a merchant account.\n\n${accountHelp}`,
    options: accountOptions,
    positionals: [],
    async run(context, options) {
      const name = required(options, 'name');
      const change = accountChange(options);
      const mode = webhookModeOf(options);
      return context.database.write(async (transaction) => {
        const merchant = await context.merchants.create(transaction, { ...change, name });
        await context.auditLog.record(transaction, {
          merchantId: merchant.id,
          actor: context.actor,
          action: 'merchant.created',
          subjectId: merchant.id,
          after: settingsOf(merchant),
        });
        const secret =
          mode && (await changeWebhook(context, transaction, { merchantId: merchant.id, mode }, options));
        return showMerchant(context, transaction, merchant, secret);
      });
    },
  },
  'merchants update': {
    usage: `merchants update ID [--name NAME] ${accountUsage} [--rotate-webhook-secret]`,
    help: `Changes the given fields. A new fee applies to new payments only.

  ID                        the merchant, as "merchants list" shows it
${accountHelp}
  --rotate-webhook-secret   creates a new secret for the webhooks of --mode and shows it. For another 24 hours they are signed with the former one as well`,
    options: { ...accountOptions, 'rotate-webhook-secret': { type: 'boolean' } },
    positionals: ['ID'],
    async run(context, options, [id = '']) {
      const change = accountChange(options);
      const mode = webhookModeOf(options);
      if (Object.keys(change).length === 0 && mode === undefined) {
        throw new UsageError('Nothing to change: give at least one option');
      }
      return context.database.write(async (transaction) => {
        const before = await context.merchants.retrieve(transaction, id);
        const merchant =
          Object.keys(change).length === 0 ? before : await context.merchants.update(transaction, id, change);
        await context.auditLog.record(transaction, {
          merchantId: id,
          actor: context.actor,
          action: 'merchant.updated',
          subjectId: id,
          before: settingsOf(before),
          after: settingsOf(merchant),
        });
        const secret = mode && (await changeWebhook(context, transaction, { merchantId: id, mode }, options));
        return showMerchant(context, transaction, merchant, secret);
      });
    },
  },
  'merchants list': {
    usage: 'merchants list [--merchant ID]',
    help: `Lists the merchant accounts, oldest first. With --json it shows all their settings.

  --merchant ID   only this merchant`,
    options: { merchant: text },
    positionals: [],
    async run({ database, merchants, endpoints }, options) {
      const merchantId = optional(options, 'merchant');
      const accounts =
        merchantId === undefined
          ? await merchants.list(database.reader)
          : [await merchants.retrieve(database.reader, merchantId)];
      const allEndpoints = await endpoints.list(database.reader);
      return {
        json: accounts.map((account) =>
          merchantJson(
            account,
            allEndpoints.filter(({ merchantId }) => merchantId === account.id),
          ),
        ),
        text:
          accounts.length === 0
            ? 'There are no accounts'
            : table(
                ['ID', 'FEE', 'NAME'],
                accounts.map(({ id, name, feeBasisPoints }) => [id, `${feeBasisPoints} bp`, name]),
              ),
      };
    },
  },
};

/** The mode whose webhook changes; undefined if none does. */
function webhookModeOf(options: Options): Mode | undefined {
  const isChanged = ['webhook-url', 'rotate-webhook-secret'].some((name) => options[name] !== undefined);
  return isChanged ? modeOf(options, 'test') : undefined;
}

function accountChange(options: Options): MerchantChange {
  const fee = optional(options, 'fee-basis-points');
  if (fee !== undefined && !/^\d{1,6}$/.test(fee)) {
    throw new UsageError(`--fee-basis-points must be an integer, not "${fee}"`);
  }
  const name = optional(options, 'name');
  const businessName = optional(options, 'business-name');
  const logo = optional(options, 'logo');
  const supportUrl = optional(options, 'support-url');
  const origins = optional(options, 'redirect-origins');
  const limits = options['daily-limit'];
  return {
    ...(name !== undefined && { name }),
    ...(businessName !== undefined && { businessName }),
    ...(logo !== undefined && { logo }),
    ...(supportUrl !== undefined && { supportUrl }),
    ...(fee !== undefined && { feeBasisPoints: Number(fee) }),
    ...(origins !== undefined && { redirectOrigins: readOrigins(origins) }),
    ...(options['transfers'] !== undefined && { transfers: oneOf(options, 'transfers', ['any', 'saved']) }),
    ...(Array.isArray(limits) && { dailyLimits: readLimits(limits.map(String)) }),
  };
}

function readOrigins(list: string): string[] | null {
  const origins = list.split(/[\s,]+/).filter((origin) => origin !== '');
  return origins.length === 0 ? null : origins;
}

function readLimits(given: readonly string[]): Record<string, string | null> {
  return Object.fromEntries(
    given.map((limit) => {
      const [, code, amount] = /^([A-Za-z0-9]{1,20})=(.+)$/.exec(limit.trim()) ?? [];
      if (code === undefined || amount === undefined) {
        throw new UsageError(`--daily-limit must be like USDT=1000 or USDT=none, not "${limit}"`);
      }
      return [code.toUpperCase(), amount === 'none' ? null : amount];
    }),
  );
}

/** Sets the webhook URL and rotates its secret, as the options say. @returns the new secret, if there is one */
async function changeWebhook(
  { endpoints, auditLog, actor }: CommandContext,
  transaction: Transaction,
  scope: { readonly merchantId: string; readonly mode: Mode },
  options: Options,
): Promise<string | undefined> {
  const audit = (action: AuditAction, before: AuditFields | undefined, after: AuditFields | undefined) =>
    auditLog.record(transaction, { ...scope, actor, action, subjectId: scope.merchantId, before, after });
  const url = optional(options, 'webhook-url');
  let secret: string | undefined;
  if (url !== undefined) {
    const former = await endpoints.find(transaction, scope);
    const before = former && { url: withoutQuery(former.url), isDisabled: former.disabledAt !== null };
    secret = await endpoints.set(transaction, scope, url);
    if (url !== '') await audit('webhook.set', before, { url: withoutQuery(url), isDisabled: false });
    else if (before) await audit('webhook.removed', before, undefined);
  }
  if (options['rotate-webhook-secret'] === true && secret === undefined) {
    secret = await endpoints.rotateSecret(transaction, scope);
    await audit('webhook.secret_rotated', undefined, undefined);
  }
  return secret;
}

/** A query may hold a token, and the audit log is for ever. */
function withoutQuery(text: string): string {
  const url = new URL(text);
  return `${url.origin}${url.pathname}${url.search === '' ? '' : '?…'}`;
}

/** The output for a merchant that was created or updated, with the webhook secret if a new one was created. */
async function showMerchant(
  { endpoints }: CommandContext,
  reader: Reader,
  merchant: Merchant,
  secret: string | undefined,
): Promise<Output> {
  const ofMerchant = (await endpoints.list(reader)).filter(({ merchantId }) => merchantId === merchant.id);
  const json = {
    ...merchantJson(merchant, ofMerchant),
    ...(secret !== undefined && { webhookSecret: secret }),
  };
  const lines = Object.entries(json).map(([name, value]) => `${name.padEnd(19)} ${show(value)}`);
  return { json, text: lines.map((line) => line.trimEnd()).join('\n') };
}

function merchantJson({ createdAt, updatedAt, ...merchant }: Merchant, endpoints: readonly Endpoint[]) {
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

/** What the audit log keeps of an account. */
function settingsOf({
  id: _id,
  createdAt: _created,
  updatedAt: _updated,
  ...settings
}: Merchant): AuditFields {
  return settings;
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
