/** The shapes of replies and webhooks as JSON Schema. Records get names, so that the document can refer to them. */
import {
  api,
  codedLogEntry,
  credit,
  currencyOption,
  endpointsOf,
  receipt,
  sandbox,
  webhookEvent,
} from 'crypto-checkout/contract';
import * as z from 'zod/mini';
import type { JsonSchema } from './parameters.js';

const records: Readonly<Record<string, z.ZodMiniType>> = {
  Customer: api.customers.retrieve.data,
  BankAccount: api.bankAccounts.retrieve.data,
  Bank: api.bankAccounts.listBanks.data.def.element,
  Country: api.countries.list.data.def.element,
  Balance: api.balances.list.data.def.element,
  Currency: api.currencies.list.data.def.element,
  PaymentPlan: api.paymentPlans.retrieve.data,
  Subscriber: api.subscribers.retrieve.data,
  WalletAddress: api.walletAddresses.retrieve.data,
  Transfer: api.transfers.retrieve.data,
  Payout: api.payouts.retrieve.data,
  Payment: api.payments.retrieve.data,
  CurrencyOption: currencyOption,
  TimeLogEntry: codedLogEntry,
  Receipt: receipt,
  Credit: credit,
  Wallet: api.wallets.retrieve.data,
  Link: api.links.retrieve.data,
  Refund: api.refunds.retrieve.data,
  WebhookDelivery: api.webhooks.retry.data,
  RefundClaim: api.refundClaims.retrieve.data,
};

/**
 * Fields that this server always sends, although the contract has them as optional: the specification does not, and the
 * widget also works with servers that send no more than the specification.
 */
const alwaysSent: Readonly<Record<string, readonly string[]>> = {
  Payment: [
    ...['state', 'mode', 'txRef', 'redirectUrl', 'amount', 'amountReceived', 'amountSeen', 'amountDue'],
    ...['nairaValue', 'dollarValue', 'customerDetails', 'receipts'],
  ],
  Subscriber: ['accountId'],
  Transfer: ['walletAddress', 'walletNetwork'],
};

const toReference = (name: string) => `#/components/schemas/${name}`;

/** `named` has the records. `unnamed` has every reply and webhook, with references to the records. */
const { named, unnamed } = readSchemas();

/** `components.schemas`. */
export const recordSchemas = named;

/** The schema of a reply's `data` or of a webhook's body. Records are references. */
export function replySchema(schema: z.ZodMiniType): JsonSchema {
  const found = unnamed.get(schema);
  if (!found) throw new Error('No endpoint or webhook uses this schema');
  return found;
}

function readSchemas(): { named: Record<string, JsonSchema>; unnamed: Map<z.ZodMiniType, JsonSchema> } {
  const names = new Map<z.ZodMiniType, string>();
  for (const [name, schema] of Object.entries(records)) names.set(schema, name);
  const answered = endpointsOf({ ...api, sandbox }).flatMap(({ endpoint }) => endpoint.data ?? []);
  const used = [...answered, ...webhookEvent.def.options];
  used.forEach((schema, index) => {
    if (!names.has(schema)) names.set(schema, `unnamed${index}`);
  });
  const registry = z.registry<{ id: string }>();
  for (const [schema, id] of names) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, { io: 'output', uri: toReference, override: allowAdditions });

  const unnamed = new Map<z.ZodMiniType, JsonSchema>();
  for (const [schema, name] of names) {
    unnamed.set(schema, name in records ? { $ref: toReference(name) } : withoutIds(schemas[name]));
  }
  return {
    named: Object.fromEntries(
      Object.keys(records).map((name) => [name, requireSent(name, withoutIds(schemas[name]))]),
    ),
    unnamed,
  };
}

/** Replies may gain fields over time, so a schema must not forbid additional ones. */
function allowAdditions({ jsonSchema }: { jsonSchema: JsonSchema }): void {
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
}

function requireSent(name: string, schema: JsonSchema): JsonSchema {
  const { properties = {}, required = [] } = schema;
  const sent = alwaysSent[name]?.filter((field) => field in properties) ?? [];
  return {
    ...schema,
    required: Object.keys(properties).filter((field) => [...required, ...sent].includes(field)),
  };
}

function withoutIds(schema: JsonSchema | undefined): JsonSchema {
  const { $schema: _, $id: __, ...rest } = schema ?? {};
  return rest;
}
