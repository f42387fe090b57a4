/** The endpoints that the scopes of secret keys and the roles of people may call. */
import {
  endpointsOf,
  type CoreApi,
  type KeyScope,
  type Endpoint,
  type Endpoints,
  type Role,
  type sandbox,
} from 'crypto-checkout/contract';
import { inOne } from './in-one.js';

type Who = KeyScope | Role;
/** All verbs of a resource, those that only read, or the named ones. */
type Reach<Verb extends string = string> = 'all' | 'read' | readonly Verb[];
type Reaches<Verb extends string = string> = Readonly<Partial<Record<Who, Reach<Verb>>>>;

/** Exceptions from `usual`, by resource: its scopes and roles that reach something else. */
export type Access = Readonly<Record<string, Reaches | undefined>>;
/** `Access` to the endpoints of a table. */
export type AccessTo<Table extends Endpoints> = {
  readonly [Resource in keyof Table]?: Reaches<Extract<keyof Table[Resource], string>>;
};

const usual: Readonly<Record<Who, Reach>> = {
  full: 'all',
  read: 'read',
  verify: [],
  refunds: [],
  owner: 'all',
  manager: 'all',
  support: [],
  accountant: 'read',
};

/** The core's. Support answers payers. Someone else takes less than was due. */
export const coreAccess: AccessTo<CoreApi & { readonly sandbox: typeof sandbox }> = {
  payments: { verify: 'read', refunds: 'read', support: 'all' },
  transactions: {
    verify: 'read',
    refunds: 'read',
    support: [
      ...(['list', 'retrieve', 'verify', 'verifyCheckout'] as const),
      ...(['events', 'receipts', 'fee', 'resendWebhook'] as const),
    ],
  },
  customers: { support: 'all' },
  meta: { support: 'read' },
  currencies: { support: 'read' },
  countries: { support: 'read' },
  wallets: { support: 'read' },
  paymentPlans: { support: 'read' },
  subscribers: { support: 'read' },
  webhooks: { support: ['list', 'retrieve', 'retry'] },
  sandbox: { support: 'all' },
};

type Called = Pick<Endpoint, 'method' | 'changesOnGet'>;

export type Permissions = ReturnType<typeof createPermissions>;

/** @param parts of the core and of each module */
export function createPermissions(parts: readonly Access[]) {
  const access = inOne(parts);

  function mayCall(who: Who, resource: string, verb: string, endpoint: Called): boolean {
    const reach = access[resource]?.[who] ?? usual[who];
    if (reach === 'all') return true;
    if (reach === 'read') return endpoint.method === 'GET' && endpoint.changesOnGet !== true;
    return reach.includes(verb);
  }

  const of = (role: Role, api: Endpoints): string[] =>
    keyed(api)
      .filter(({ resource, verb, endpoint }) => mayCall(role, resource, verb, endpoint))
      .map(({ name }) => name);

  return {
    mayCall,

    /** All that a role may call, as `payments.list`. @param api the endpoints that the server has, those of the console and the sandbox too */
    of,

    /** The same, with `payments.*` for all of a resource: a page reads it before anything else, on slow networks too. */
    shortOf(role: Role, api: Endpoints): string[] {
      const allowed = new Set(of(role, api));
      const known = keyed(api);
      const whole = new Set(known.map(({ resource }) => resource));
      for (const { resource, name } of known) if (!allowed.has(name)) whole.delete(resource);
      return [
        ...new Set(
          known.flatMap(({ resource, name }) =>
            !allowed.has(name) ? [] : whole.has(resource) ? `${resource}.*` : name,
          ),
        ),
      ];
    },
  };
}

const keyed = (api: Endpoints) => endpointsOf(api).filter(({ endpoint }) => endpoint.key !== 'none');
