/** The module of the console: the pages at `/console` for a shop's people, how they sign in, and what those pages read. */
import { fileURLToPath } from 'node:url';
import {
  api,
  bankPayouts as bankPayoutsApi,
  cases as casesApi,
  home,
  peopleApi,
  relations as relationsApi,
  sandbox,
  settingsApi,
  transfersByHand,
  type Endpoints,
  type Role,
} from 'crypto-checkout/contract';
import { settingsOf } from '../../core/config.js';
import type { Core } from '../../core/core.js';
import { defineModule, type Running } from '../../core/module.js';
import { countQuarantined } from '../../core/payments/receipts/quarantine.js';
import { paymentRefunds } from '../../core/payments/refundable.js';
import { isoTime } from '../../core/shared/clock.js';
import type { Permissions } from '../../core/shared/permissions.js';
import type { Mode } from '../../core/shared/scope.js';
import { createAccountHandlers } from './account-handlers.js';
import { createBankPayoutHandlers } from './bank-payout-handlers.js';
import { bankPayoutTables } from './bank-payout-tables.js';
import { createBankPayouts } from './bank-payouts.js';
import { createCaseHandlers } from './case-handlers.js';
import { caseParts } from './case-store.js';
import { caseTables } from './case-tables.js';
import { createCases } from './cases.js';
import { createChanges } from './changes.js';
import { userCommands } from './commands.js';
import { consoleUrl } from './console-url.js';
import { createGoLive } from './go-live.js';
import { createHomeHandlers } from './home-handlers.js';
import { createHome } from './home.js';
import { changesRoute, changeStream } from './http/change-stream.js';
import type { ShownPage } from './http/console-page.js';
import { createSessionCookies } from './http/session-cookies.js';
import { createPeopleHandlers } from './people-handlers.js';
import { createPeople } from './people.js';
import { createRelationHandlers } from './relation-handlers.js';
import { createRelations } from './relations.js';
import { consoleSettings } from './settings.js';
import { peopleTables } from './tables.js';
import { createTransferByHandHandlers } from './transfer-handlers.js';
import { createVolume } from './volume.js';

declare module '../../core/merchants/audit-log.js' {
  interface AuditActions extends Record<
    | `person.${'invited' | 'link_made' | 'role_changed' | 'removed' | 'signed_out' | 'erased'}`
    | `session.${'started' | 'ended'}`
    | `passkey.${'added' | 'removed'}`
    | 'console.change',
    true
  > {}
}

/** The files of the pages, which `npm run build` makes. */
const builtPages = fileURLToPath(new URL('../../../dist/console', import.meta.url));

type ConsolePorts = Pick<
  Core,
  | ('config' | 'clock' | 'database' | 'log' | 'newId' | 'publicUrl' | 'described' | 'isSandboxOn' | 'hooks')
  | ('currencies' | 'rates' | 'networks' | 'connected' | 'depositKeys' | 'personalData' | 'auditLog')
  | ('merchants' | 'keys' | 'accountChanges' | 'webhooks' | 'endpoints' | 'payments' | 'balances')
  | ('transfers' | 'transfersByHand' | 'payouts' | 'payoutsByHand' | 'bankAccounts' | 'customers')
  | ('paymentPlans' | 'subscribers')
>;

const homeOf = (core: ConsolePorts) =>
  createHome({
    ...core,
    reader: core.database.reader,
    payments: core.payments.list,
    transfers: core.transfers.list,
    webhooks: (scope, query) => core.webhooks.page(core.database.reader, scope, query),
    endpoint: (scope) => core.endpoints.find(core.database.reader, scope),
    balances: core.balances.list,
    attention: core.hooks.attention,
    quarantined: (scope) => countQuarantined(core.database.reader, scope),
    volume: createVolume(core.database.reader),
  });

/** The resources that every signed-in person needs. */
const everyone = { support: 'all', accountant: 'all' } as const;

export const consoleModule = defineModule({
  name: 'console',
  contract: { home },
  resources: {
    home: {
      title: 'Home',
      noun: 'home',
      description: 'The cases that wait for a person, the sales, and the state of the networks.',
    },
  },
  consoleContract: {
    ...peopleApi,
    ...settingsApi,
    cases: casesApi,
    transfersByHand,
    bankPayouts: bankPayoutsApi,
    relations: relationsApi,
  },
  access: {
    session: everyone,
    sessions: everyone,
    passkeys: everyone,
    team: { manager: 'read', accountant: [] },
    teamSessions: { manager: [], accountant: [] },
    goLive: { accountant: [] },
    refundLimits: { manager: [] },
    cases: { support: 'all' },
    home: { support: 'read' },
    counter: { support: 'read' },
    relations: { support: 'read' },
  },
  settings: consoleSettings,
  tables: { ...peopleTables, ...caseTables, ...bankPayoutTables },
  queries: caseParts,
  create(core: ConsolePorts) {
    const { config, clock, database, log, publicUrl, described, isSandboxOn, transfers, transfersByHand } =
      core;
    const { CONSOLE: isOn } = settingsOf(config, consoleSettings);
    const { permissions } = described;
    const url = consoleUrl(publicUrl);
    const sandboxEndpoints: Endpoints = isSandboxOn ? { sandbox } : {};
    const people = createPeople({
      ...core,
      consoleUrl: url,
      permissionsOf: (role) =>
        permissions.shortOf(role, {
          ...described.api,
          ...described.console,
          ...sandboxEndpoints,
        }),
    });
    const { sessions } = people;
    const home = homeOf(core);
    const cases = createCases({ ...core, payments: paymentRefunds, people });
    const changes = createChanges({ database, log, home, openSessions: sessions.stillOpen });
    const cookies = createSessionCookies(publicUrl, sessions.authenticate);
    return {
      people,
      changes,
      handlers: { home: createHomeHandlers(home) },
      consoleHandlers: {
        ...createPeopleHandlers(people),
        ...createAccountHandlers({ ...core, reader: database.reader, goLive: createGoLive(core) }),
        cases: createCaseHandlers(cases),
        transfersByHand: createTransferByHandHandlers(transfers, transfersByHand),
        relations: createRelationHandlers(createRelations(core)),
        bankPayouts: createBankPayoutHandlers(createBankPayouts(core)),
      },
      // Named, so that its type does not depend on where Express's types are installed.
      forPeople: (): ReturnType<NonNullable<Running['forPeople']>> =>
        isOn
          ? {
              sessions: cookies,
              path: '/console',
              streams: changesRoute,
              stream: (options) => changeStream(changes, permissions, options),
            }
          : undefined,
      async pages({ merchantId }) {
        if (!isOn) return undefined;
        // On a trial server, someone must get in first. Anyone who can read its output has its shell.
        const firstLink =
          isSandboxOn && merchantId !== undefined ? await people.firstLink(merchantId) : undefined;
        const { consolePage } = await import('./http/console-page.js');
        return {
          router: consolePage(publicUrl, builtPages, async (request, shown) => {
            const token = cookies.tokenOf(request);
            const signedIn = token === undefined ? undefined : await sessions.authenticate(token);
            if (!signedIn) return undefined;
            const { merchantId, person } = signedIn;
            const at = isoTime(clock.now({ merchantId, mode: 'test' }));
            const [session, seen] = await Promise.all([
              people.viewSession(signedIn),
              watchedIn(permissions, shown, person.role, ({ mode, id }) =>
                changes.markOf({ merchantId, mode }, id),
              ),
            ]);
            return { session, at, seen };
          }),
          links: { Console: url },
          printed: { Console: firstLink ?? url },
        };
      },
      jobs: () => [
        { name: 'session uses', intervalMs: 180_000, run: () => sessions.writeUses() },
        { name: 'ended sessions', intervalMs: 3_600_000, run: () => sessions.prune() },
      ],
      onStop: () => changes.stop(),
      answers: {
        onChange: changes.wake,
        emailsOf: people.emailsOf,
        staffOf: people.staffOf,
        overview: home.retrieve,
        consoleUrl: () => (isOn ? url : undefined),
        ownerLink: async (transaction, merchantId, actor) =>
          isOn ? people.inviteFirst(transaction, merchantId, actor) : undefined,
      },
    };
  },
  commands: (rules) => [userCommands((context) => rules(context).people)],
});

/** The mark of the payment whose page is shown; undefined if it is another page, or the role may not see the payment. */
async function watchedIn(
  { mayCall }: Permissions,
  { mode, page, id }: ShownPage,
  role: Role,
  markOf: (payment: { readonly mode: Mode; readonly id: string }) => Promise<string | undefined>,
): Promise<string | undefined> {
  if (page !== 'payment' || id === undefined || (mode !== 'test' && mode !== 'live')) return undefined;
  return mayCall(role, 'transactions', 'retrieve', api.transactions.retrieve)
    ? markOf({ mode, id })
    : undefined;
}
