/** Defines modules: features that the product's list names, and that can be left out of it. */
import type { Endpoint } from 'crypto-checkout/contract';
import { named, type Handlers, type NamedHandlers } from '../api/handler.js';
import type { Group } from '../commands/command.js';
import type { CommandContext } from '../commands/context.js';
import type { Tables } from '../db/table.js';
import type { Resource } from '../reference/resources.js';
import type { Feature } from '../shared/feature.js';
import type { Core } from '../core.js';
import type { Answers } from './hooks.js';

/** Endpoints by resource and verb. */
export type Contract = Readonly<Record<string, Readonly<Record<string, Endpoint>>>>;

/** The parts of a module, which the server runs without knowing them. */
export interface Parts<C extends Contract = Contract> extends Partial<Feature> {
  readonly handlers?: Handlers<C>;
  /** Answers to the core's questions. */
  readonly answers?: Answers;
}

interface Declaration<Rules extends Parts<C>, C extends Contract> {
  /** As in the list of modules, and of its folder. */
  readonly name: string;
  /** Modules that it imports. They come earlier in the list. */
  readonly requires?: readonly Module[];
  /** Its endpoints: routes, OpenAPI, `/v1/meta` and permissions come from them. */
  readonly contract?: C;
  /** Titles and descriptions of its resources, for the docs. */
  readonly resources?: { readonly [Name in keyof C]: Resource };
  /** Its guides in `docs/`, which begin with `<!-- module: NAME -->`. */
  readonly docs?: readonly string[];
  /** Its tables, by name. Their rows' types extend `Schema`. */
  readonly tables?: Tables;
  /** Builds its rules. Called once for each server or command. */
  readonly create: (core: Core) => Rules | Promise<Rules>;
  /** @param rules finds the rules of a running command */
  readonly commands?: (rules: (context: CommandContext) => Rules) => readonly Group[];
}

export interface Module {
  readonly name: string;
  readonly requires: readonly Module[];
  readonly contract: Contract;
  readonly resources: Readonly<Record<string, Resource>>;
  readonly tables: Tables;
  readonly docs: readonly string[];
  readonly commands: readonly Group[];
  create(core: Core): Promise<{ readonly parts: Partial<Feature>; readonly handlers: NamedHandlers }>;
}

/** A module whose rules others may ask for: those that require it, and tests. */
export interface ModuleOf<Rules> extends Module {
  /** @throws if the module was not created for this core */
  rules(core: Pick<Core, 'hooks'>): Rules;
}

const none = {};

export function defineModule<Rules extends Parts<C>, const C extends Contract = typeof none>(
  declaration: Declaration<Rules, C>,
): ModuleOf<Rules> {
  const { name, requires = [], contract, resources = {}, tables = {}, docs = [] } = declaration;
  const made = new WeakMap<object, Rules>();
  const rules = ({ hooks }: Pick<Core, 'hooks'>): Rules => {
    const found = made.get(hooks);
    if (!found) throw new Error(`The module ${name} was not created: it is not in the list of modules`);
    return found;
  };
  return {
    ...{ name, requires, contract: contract ?? none, resources, tables, docs, rules },
    commands: declaration.commands?.(rules) ?? [],
    async create(core) {
      const parts = await declaration.create(core);
      made.set(core.hooks, parts);
      const { handlers, answers } = parts;
      if (answers) core.hooks.register(answers);
      return { parts, handlers: contract && handlers ? named(contract, handlers) : {} };
    },
  };
}
