/** Defines modules: features that the product's list names, and that can be left out of it. */
import type { Endpoints } from 'crypto-checkout/contract';
import type { ForPeople } from './api/express-app.js';
import { named, type Handlers, type NamedHandlers } from './api/handler.js';
import type { Group } from './commands/command.js';
import type { ConnectNetworks } from './chains/connected.js';
import type { CommandContext } from './commands/context.js';
import type { Variables } from './config.js';
import type { QueryParts } from './db/query-parts.js';
import type { Tables } from './db/table.js';
import type { Resource } from './reference/resources.js';
import type { Feature } from './shared/feature.js';
import type { Access, AccessTo } from './shared/permissions.js';
import { theOnly } from './shared/the-only.js';
import type { Pages, Start } from './site/pages.js';
import type { EventTypes } from './webhooks/event-types.js';
import type { Core } from './core.js';
import type { Answers } from './hooks.js';

/** The parts of a module that a server runs. */
export interface Running extends Feature {
  /** Its pages, outside of the API. Called once, when the server starts. @returns undefined if they are off */
  pages?(start: Start): Pages | undefined | Promise<Pages | undefined>;
  /** The sign-in of people. One module has it. Without it, the endpoints for the console's pages are not served. @returns undefined if it is off */
  forPeople?(): ForPeople | undefined;
  /** Ends replies that would stay open. Called once, when the server begins to stop. */
  onStop?(): void;
}

/** The parts of a module. */
export interface Parts<C extends Endpoints = Endpoints, P extends Endpoints = Endpoints> extends Running {
  readonly handlers?: Handlers<C>;
  readonly consoleHandlers?: Handlers<P>;
  /** Answers to the core's questions. */
  readonly answers?: Answers;
}

interface Declaration<Rules extends Parts<C, P> & object, C extends Endpoints, P extends Endpoints> {
  /** The name of its folder. Its guides in `docs/`, and its sections of others, begin with `<!-- module: NAME -->`. */
  readonly name: string;
  /** Its endpoints: routes, OpenAPI and `/v1/meta` come from them. */
  readonly contract?: C;
  /** Its endpoints for the console's pages. */
  readonly consoleContract?: P;
  /** Callers of its endpoints, where they are not the usual ones. */
  readonly access?: AccessTo<C & P>;
  /** Titles and descriptions of its resources, for the docs. */
  readonly resources?: { readonly [Name in keyof C]: Resource };
  /** Its webhook events, for the API description and `webhooks test`. */
  readonly eventTypes?: EventTypes;
  /** Its tables, by name. Their rows' types extend `Schema`. */
  readonly tables?: Tables;
  /** Its SQL in queries of the core. */
  readonly queries?: QueryParts;
  /** Its environment variables. `settingsOf` in config.ts reads their values. */
  readonly settings?: Variables;
  /** Connects the networks that its settings have read, before the core is assembled. One module does. */
  readonly connect?: ConnectNetworks;
  /** The modules that it imports, which are before it in the product's list. */
  readonly requires?: readonly string[];
  /** Builds its rules. Called once for each server or command. */
  readonly create: (core: Core) => Rules | Promise<Rules>;
  /** @param rules finds the rules of a running command */
  readonly commands?: (rules: (context: CommandContext) => Rules) => readonly Group[];
}

interface Made {
  /** Its name. */
  readonly module: string;
  readonly parts: Running;
  readonly handlers: NamedHandlers;
  readonly consoleHandlers: NamedHandlers;
}

export interface Module {
  readonly name: string;
  readonly contract: Endpoints;
  readonly consoleContract: Endpoints;
  readonly access: Access;
  readonly resources: Readonly<Record<string, Resource>>;
  readonly eventTypes: EventTypes;
  readonly tables: Tables;
  readonly queries: QueryParts;
  readonly settings: Variables;
  readonly requires: readonly string[];
  readonly connect: ConnectNetworks | undefined;
  readonly commands: readonly Group[];
  create(core: Core): Promise<Made>;
}

/** A module whose rules tests may ask for. */
export interface ModuleOf<Rules> extends Module {
  /** @throws if the module was not created for this core */
  rules(core: Pick<Core, 'hooks'>): Rules;
}

/** Connects the networks of the configuration. @throws if two modules do */
export const connectOf = (
  modules: readonly Pick<Module, 'name' | 'connect'>[],
): ConnectNetworks | undefined =>
  theOnly(
    'a "connect"',
    modules.flatMap(({ name, connect }) => (connect ? [{ module: name, connect }] : [])),
  )?.connect;

const none = {};

export function defineModule<
  Rules extends Parts<C, P> & object,
  const C extends Endpoints = typeof none,
  const P extends Endpoints = typeof none,
>(declaration: Declaration<Rules, C, P>): ModuleOf<Rules> {
  const {
    name,
    contract,
    consoleContract,
    access = {},
    resources = {},
    eventTypes = {},
    tables = {},
    queries = {},
    settings = {},
    requires = [],
    connect,
  } = declaration;
  const made = new WeakMap<object, Rules>();
  const rules = ({ hooks }: Pick<Core, 'hooks'>): Rules => {
    const found = made.get(hooks);
    if (!found) throw new Error(`The module ${name} was not created: it is not in the list of modules`);
    return found;
  };
  return {
    name,
    contract: contract ?? none,
    consoleContract: consoleContract ?? none,
    access,
    resources,
    eventTypes,
    tables,
    queries,
    settings,
    requires,
    connect,
    rules,
    commands: declaration.commands?.(rules) ?? [],
    async create(core) {
      const parts = await declaration.create(core);
      made.set(core.hooks, parts);
      const { handlers, consoleHandlers, answers } = parts;
      if (answers) core.hooks.register(name, answers);
      return {
        module: name,
        parts,
        handlers: contract && handlers ? named(contract, handlers) : {},
        consoleHandlers: consoleContract && consoleHandlers ? named(consoleContract, consoleHandlers) : {},
      };
    },
  };
}
