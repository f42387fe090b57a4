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
import { listResources, type Described } from './resources.js';

/** Records that no resource retrieves. */
const others: Readonly<Record<string, z.ZodMiniType>> = {
  Bank: api.bankAccounts.listBanks.data.def.element,
  Country: api.countries.list.data.def.element,
  Balance: api.balances.list.data.def.element,
  Currency: api.currencies.list.data.def.element,
  CurrencyOption: currencyOption,
  TimeLogEntry: codedLogEntry,
  Receipt: receipt,
  Credit: credit,
  WebhookDelivery: api.webhooks.retry.data,
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

export interface Schemas {
  /** `components.schemas`: the records of the API. */
  readonly named: Readonly<Record<string, JsonSchema>>;
  /** The schema of a reply's `data` or of a webhook's body. Records are references. */
  reply(schema: z.ZodMiniType): JsonSchema;
}

export function readSchemas(described: Described): Schemas {
  const records = recordsOf(described);
  const names = new Map<z.ZodMiniType, string>();
  for (const [name, schema] of records) names.set(schema, name);
  const answered = endpointsOf({ ...described.api, sandbox }).flatMap(({ endpoint }) => endpoint.data ?? []);
  const used = [...answered, ...webhookEvent.def.options];
  used.forEach((schema, index) => {
    if (!names.has(schema)) names.set(schema, `unnamed${index}`);
  });
  const registry = z.registry<{ id: string }>();
  for (const [schema, id] of names) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, { io: 'output', uri: toReference, override: allowAdditions });
  return {
    named: Object.fromEntries(
      [...records.keys()].map((name) => [name, requireSent(name, withoutIds(schemas[name]))]),
    ),
    reply(schema) {
      const name = names.get(schema);
      if (name === undefined) throw new Error('No endpoint or webhook uses this schema');
      return records.has(name) ? { $ref: toReference(name) } : withoutIds(schemas[name]);
    },
  };
}

function recordsOf(described: Described): ReadonlyMap<string, z.ZodMiniType> {
  const retrieved = listResources(described).flatMap(({ about: { record }, verbs }) => {
    const schema = verbs['retrieve']?.data;
    return record !== undefined && schema ? [[record, schema] as const] : [];
  });
  return new Map([...retrieved, ...Object.entries(others)]);
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
