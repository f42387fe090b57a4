/** The OpenAPI 3.1 document of the API, generated from the contract's table. */
import { webhookEvent, type Endpoint, type WebhookEventType } from 'crypto-checkout/contract';
import { listResources, type Described } from './resources.js';
import { publicPath } from './samples.js';
import { componentsOf } from './openapi-components.js';
import { operation } from './openapi-operation.js';
import { readSchemas, type Schemas } from './openapi-schemas.js';

const about = `Accept cryptocurrency payments and manage everything around them: customers, subscriptions, balances and payouts.

Requests need an API key, unless their operation says otherwise: \`Authorization: Bearer <API_KEY>\`. Every reply is an envelope with \`status\`, \`message\`, \`data\` and, for lists of records, \`meta.pagination\`. Requests may send numbers and booleans as text. Times are ISO 8601 in UTC with milliseconds.

To take a payment, create it, set its currency and network, lock the currency, and let the customer pay to the address. Verify the transaction before you deliver.`;

/** @param serverUrl the API's base URL, without `/v1`; a relative one is resolved against the document's URL */
export function createOpenApi(serverUrl: string, described: Described): object {
  const schemas = readSchemas(described);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Crypto Checkout API',
      version: '1.0.0',
      summary: 'Crypto payments for merchants',
      description: about,
      contact: { name: 'The operator of this server' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: serverUrl, description: 'This server' }],
    security: [{ secretKey: [] }],
    tags: listResources(described).map(({ about: { title, description } }) => ({ name: title, description })),
    paths: paths(described, schemas),
    webhooks: Object.fromEntries(
      webhookEvent.def.options.flatMap((event) => webhooksOf(event, described, schemas)),
    ),
    components: componentsOf(schemas),
  };
}

function paths(described: Described, schemas: Schemas): Record<string, Record<string, object>> {
  const declared = listResources(described).flatMap(({ name: resource, about, verbs }) =>
    Object.entries(verbs).map(([verb, endpoint]) => ({ resource, tag: about.title, verb, endpoint })),
  );
  const commonPaths = createCommonPaths(declared.map(({ endpoint }) => publicPath(endpoint)));
  const paths: Record<string, Record<string, object>> = {};
  for (const { resource, tag, verb, endpoint } of declared) {
    const path = commonPaths(publicPath(endpoint));
    const methods = (paths[path] ??= {});
    methods[endpoint.method.toLowerCase()] = operation(endpoint, {
      id: resource + verb.charAt(0).toUpperCase() + verb.slice(1),
      tag,
      path,
      schemas,
    });
    if (endpoint.path.includes('{*')) {
      // It also matches nothing. OpenAPI knows no such placeholder, so that is a path of its own.
      const { params: _params, query: _query, ...whole } = endpoint;
      const base = path.replace(/\/\{\w+\}$/, '');
      paths[base] = {
        get: operation(wholeOf(whole), { id: `${resource}List`, tag, path: base, schemas }),
      };
    }
  }
  return paths;
}

/** The endpoint without the rest of its path, which then describes everything. */
function wholeOf(endpoint: Endpoint): Endpoint {
  const { message, data } = endpoint.sample;
  return {
    ...endpoint,
    description: 'Describes all endpoints.',
    sample: { message: message.replace('Endpoint', 'Endpoints'), data: [data] },
  };
}

/**
 * OpenAPI treats paths that differ only in the name of a placeholder as the same path. We call such a placeholder `id`:
 * in `/v1/payment-plan-subscribers/{id}` it is a plan's id for POST and a subscriber's for GET.
 */
function createCommonPaths(paths: readonly string[]): (path: string) => string {
  const patternOf = (path: string) => path.replace(/\{\w+\}/g, '{id}');
  const all = [...new Set(paths)];
  return (path) => {
    const pattern = patternOf(path);
    return all.some((other) => other !== path && patternOf(other) === pattern) ? pattern : path;
  };
}

function webhooksOf(
  event: (typeof webhookEvent.def.options)[number],
  { eventTypes }: Described,
  schemas: Schemas,
): [string, object][] {
  const schema = schemas.reply(event);
  const types: readonly WebhookEventType[] = event.shape.type.options;
  return types.flatMap((type): [string, object][] => {
    const described = eventTypes[type];
    if (!described) return [];
    const body = { ...schema, properties: { ...schema.properties, type: { const: type } } };
    return [[type, { post: delivery(type, described.summary, body) }]];
  });
}

function delivery(type: WebhookEventType, summary: string, schema: object): object {
  const header = (name: string, description: string) => ({
    name,
    in: 'header',
    description,
    required: true,
    schema: { type: 'string' },
  });
  return {
    operationId: `on ${type}`.replace(/[ ._](\w)/g, (_, letter: string) => letter.toUpperCase()),
    summary,
    description: `${summary}. Signed according to Standard Webhooks: verify the signature before you act on it, and reply with 2xx.`,
    security: [],
    parameters: [
      header('webhook-id', 'Identifies the event. It is the same for every delivery attempt.'),
      header('webhook-timestamp', 'When this attempt was signed, in seconds since 1970.'),
      header(
        'webhook-signature',
        '`v1,` and the base64 signature. During a secret rotation there are several, separated by spaces.',
      ),
    ],
    requestBody: { required: true, content: { 'application/json': { schema } } },
    responses: {
      '2XX': { description: 'Received. After any other status, delivery is retried.' },
      '410': { description: 'Disables the webhook endpoint.' },
    },
  };
}
