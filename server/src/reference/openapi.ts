/** The OpenAPI 3.1 document of the API, generated from the contract's table. */
import { api, sandbox, webhookEvent, type Endpoint, type WebhookEventType } from 'crypto-checkout/contract';
import { resources } from './resources.js';
import { publicPath } from './samples.js';
import { components } from './openapi-components.js';
import { operation } from './openapi-operation.js';
import { replySchema } from './openapi-schemas.js';

type Resource = keyof typeof resources;

const about = `Accept payments in crypto-currencies, and manage what belongs to them.

Every request carries a key: \`Authorization: Bearer <API_KEY>\`. Every reply is an envelope of \`status\`, \`message\`, \`data\` and, for lists of records, \`meta.pagination\`. Numbers and booleans of a request may also be sent as text. Times are ISO 8601 in UTC with milliseconds.

A payment runs like this: create it, set a currency and network, lock the currency, have the customer pay to the address, and verify the transaction before you give value.`;

const webhookTexts: Readonly<Record<WebhookEventType, string>> = {
  'payment.success': 'A payment was received in full and confirmed',
  'payment.error': 'A payment ended without success',
  'payment.cancelled': 'A payment was cancelled',
  'payment.partial': 'Less than the amount arrived, and the rest is awaited',
  'payment.overpaid': 'More than the amount arrived',
  'payment.late': 'Funds arrived after the payment ended',
  'payment.reversed': 'A settled receipt left the chain',
  'payment.updated': 'A payment in progress was asked to be told of once more',
  'wallet.transaction': 'A hosted wallet received a transaction',
  'transfer.success': 'A transfer was carried out',
  'transfer.failed': 'A transfer failed, and its amount is available again',
  'subscription.payment_due': 'A subscriber is charged, and the payment waits for them',
  'subscription.ended': 'A subscription has been charged for the last time, or was turned off',
};

/** @param serverUrl where the API is, without `/v1`; relative ones are relative to the document */
export function createOpenApi(serverUrl: string): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Crypto Checkout API',
      version: '1.0.0',
      summary: 'Crypto payments for merchants',
      description: about,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: serverUrl, description: 'This server' }],
    security: [{ secretKey: [] }],
    tags: (Object.keys(resources) as Resource[]).map((resource) => ({
      name: resources[resource].title,
      description: resources[resource].description,
    })),
    paths: paths(),
    webhooks: Object.fromEntries(webhookEvent.def.options.flatMap(webhooksOf)),
    components,
  };
}

function paths(): Record<string, Record<string, object>> {
  const tables = { ...api, sandbox };
  const declared = (Object.keys(tables) as Resource[]).flatMap((resource) =>
    Object.entries<Endpoint>(tables[resource]).map(([verb, endpoint]) => ({ resource, verb, endpoint })),
  );
  const commonPaths = createCommonPaths(declared.map(({ endpoint }) => publicPath(endpoint)));
  const paths: Record<string, Record<string, object>> = {};
  for (const { resource, verb, endpoint } of declared) {
    const path = commonPaths(publicPath(endpoint));
    const methods = (paths[path] ??= {});
    methods[endpoint.method.toLowerCase()] = operation(endpoint, {
      id: resource + verb.charAt(0).toUpperCase() + verb.slice(1),
      tag: resources[resource].title,
      path,
      isKeyed: resource !== 'sandbox',
    });
  }
  return paths;
}

/**
 * OpenAPI takes paths that differ only in a placeholder's name for one. Such a placeholder is called `id`:
 * `/v1/payment-plan-subscribers/{id}` is a plan's to POST and a subscriber's to GET.
 */
function createCommonPaths(paths: readonly string[]): (path: string) => string {
  const patternOf = (path: string) => path.replace(/\{\w+\}/g, '{id}');
  const spellings = new Map<string, Set<string>>();
  for (const path of paths) {
    const known = spellings.get(patternOf(path)) ?? new Set();
    spellings.set(patternOf(path), known.add(path));
  }
  return (path) => (spellings.get(patternOf(path))?.size === 1 ? path : patternOf(path));
}

function webhooksOf(event: (typeof webhookEvent.def.options)[number]): [string, object][] {
  const types: readonly WebhookEventType[] = event.shape.type.options;
  return types.map((type) => {
    const schema = replySchema(event);
    return [
      type,
      { post: delivery(type, { ...schema, properties: { ...schema.properties, type: { const: type } } }) },
    ];
  });
}

function delivery(type: WebhookEventType, schema: object): object {
  const header = (name: string, description: string) => ({
    name,
    in: 'header',
    description,
    required: true,
    schema: { type: 'string' },
  });
  return {
    operationId: `on ${type}`.replace(/[ ._](\w)/g, (_, letter: string) => letter.toUpperCase()),
    summary: webhookTexts[type],
    description: `${webhookTexts[type]}. Sent as Standard Webhooks says: verify the signature before you believe it, and answer 2xx.`,
    security: [],
    parameters: [
      header('webhook-id', 'The same for every delivery of one event.'),
      header('webhook-timestamp', 'When this delivery was signed, in seconds since 1970.'),
      header('webhook-signature', '`v1,` and the signature in base64; several with spaces between them.'),
    ],
    requestBody: { required: true, content: { 'application/json': { schema } } },
    responses: {
      '2XX': { description: 'Taken. Anything else is delivered again.' },
      '410': { description: 'Turns the webhook off.' },
    },
  };
}
