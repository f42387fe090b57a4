/** The endpoints that the scopes of secret keys and the roles of people may call. */
import { type Endpoint, type Endpoints, endpointsOf, type Role } from 'crypto-checkout/contract';
import type { KeyScope } from './scope.js';

/** Everything in a resource; what only reads; or the verbs that are named. */
type Reach = 'all' | 'read' | readonly string[];

/** The resources that every signed-in person needs. */
const own = { session: 'all', sessions: 'all', passkeys: 'all', ownMail: 'all' } as const;

/** By resource of the contract, `*` for those that are not named. Resources that are missing cannot be called. */
const reaches: Readonly<Record<KeyScope | Role, Readonly<Record<string, Reach>>>> = {
  full: { '*': 'all' },
  read: { '*': 'read' },
  verify: { payments: 'read', transactions: 'read' },
  refunds: { payments: 'read', transactions: 'read', refunds: 'all' },
  owner: { '*': 'all' },
  // Only an owner releases, without proof, transfers that a wallet may still send.
  manager: {
    '*': 'all',
    team: 'read',
    teamSessions: [],
    refundLimits: [],
    payoutExports: ['list', 'create', 'write', 'handOver', 'keepAnswer', 'release', 'explain'],
  },
  // Answers payers. Someone else approves their refunds, and takes less than was due.
  support: {
    ...own,
    ...{ payments: 'all', customers: 'all' },
    transactions: [
      'list',
      'retrieve',
      'verify',
      'verifyCheckout',
      'events',
      'receipts',
      'fee',
      'resendWebhook',
    ],
    cases: 'all',
    refunds: ['quote', 'list', 'retrieve', 'create', 'cancel', 'link'],
    ...{ meta: 'read', currencies: 'read', countries: 'read', wallets: 'read' },
    ...{ paymentPlans: 'read', subscribers: 'read', home: 'read', counter: 'read' },
    ...{ relations: 'read', receiptMail: 'all' },
    webhooks: ['list', 'retrieve', 'retry'],
    sandbox: 'all',
  },
  accountant: { '*': 'read', ...own, team: [], teamSessions: [], goLive: [] },
};

export type Called = Pick<Endpoint, 'method' | 'changesOnGet'>;

export function mayCall(who: KeyScope | Role, resource: string, verb: string, endpoint: Called): boolean {
  const reach = reaches[who][resource] ?? reaches[who]['*'] ?? [];
  if (reach === 'all') return true;
  if (reach === 'read') return endpoint.method === 'GET' && endpoint.changesOnGet !== true;
  return reach.includes(verb);
}

/** All that a role may call, as `payments.list`. @param api the endpoints that the server has, those of the console and the sandbox too */
export const permissionsOf = (role: Role, api: Endpoints): string[] =>
  keyed(api)
    .filter(({ resource, verb, endpoint }) => mayCall(role, resource, verb, endpoint))
    .map(({ name }) => name);

/** The same, with `payments.*` for all of a resource: a page reads it before anything else, on slow networks too. */
export function shortPermissionsOf(role: Role, api: Endpoints): string[] {
  const allowed = new Set(permissionsOf(role, api));
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
}

const keyed = (api: Endpoints) => endpointsOf(api).filter(({ endpoint }) => endpoint.key !== 'none');
