/** The title and description of each API resource, for the docs. */
import { sandbox, type CoreApi, type Endpoints } from 'crypto-checkout/contract';
import type { Variables } from '../config.js';
import type { Permissions } from '../shared/permissions.js';
import type { EventTypes } from '../webhooks/event-types.js';
import texts from './texts.json' with { type: 'json' };

export interface Resource {
  readonly title: string;
  /** One of them, for titles such as `Create payment`. */
  readonly noun: string;
  /** The name of `retrieve`'s reply in the OpenAPI document; absent if the reply has none. */
  readonly record?: string;
  readonly description: string;
}

/** The core's resources, in the order of the docs: payments first, meta and the sandbox last. The sandbox has a table of its own. */
export const resources: Readonly<Record<keyof CoreApi | 'sandbox', Resource>> = texts.resources;

/** The API that a server has, and how the docs name its resources. */
export interface Described {
  /** Endpoints by resource and verb. */
  readonly api: Endpoints;
  /** The console's, which no docs describe. */
  readonly console: Endpoints;
  /** Their callers. */
  readonly permissions: Permissions;
  readonly resources: Readonly<Record<string, Resource>>;
  /** The webhook events that it sends. */
  readonly eventTypes: EventTypes;
  /** The modules that it has: guides of others are not shown. */
  readonly modules: readonly string[];
  /** The environment variables of its modules. */
  readonly settings: Variables;
}

/** The resources with their endpoints, in the order of the docs. The sandbox is one of them. */
export function listResources({ api, resources }: Described) {
  const tables: Described['api'] = { ...api, sandbox };
  return Object.entries(resources).map(([name, about]) => ({ name, about, verbs: tables[name] ?? {} }));
}
